// Proving the record in a process of its own: it reads everything that was ever recorded, and the server must not stand still for it.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { environmentWith, saidBy } from '../app/ingest-process.ts'
import type { App } from '../app.ts'
import type { Verify } from '../ports/ledger/audit.ts'
import type { ProofAsked } from './prove.ts'

/** Of a ledger of many millions of rows: what takes longer hangs. */
const TAKES_MOST_MS = 3 * 3_600_000

/** As `tranche audit verify` does, without an act: who asked is known here. `env`: over that of this run. */
export function verifyWith({ io }: Pick<App, 'io'>, env: NodeJS.ProcessEnv): Verify {
  return async (anchor) => {
    const command = fileURLToPath(new URL('../../bin/tranche.js', import.meta.url))
    const child = spawn(process.execPath, [command, 'prove'], {
      ...{ env: environmentWith(io.env, env), stdio: ['ignore', 'pipe', 'ignore', 'ipc'], timeout: TAKES_MOST_MS },
      detached: true, // Ctrl-C is for the server, with which it ends
    })
    child.send({ anchor } satisfies ProofAsked, () => {})
    const { said } = await saidBy(child)
    const { ok, head, disagreements } = (said ?? {}) as Record<string, unknown>
    if (ok === true && typeof head === 'string') return { kind: 'whole', head }
    if (ok === false && Array.isArray(disagreements)) return { kind: 'disagrees', disagreements }
    return { kind: 'unknown' }
  }
}
