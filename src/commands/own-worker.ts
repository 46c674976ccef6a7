// A worker beside this process, as a child of it: it lives no longer than its parent, and it alone sends.

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { environmentWith } from '../app/ingest-process.ts'
import type { App } from '../app.ts'

export interface OwnWorker {
  /** Its exit code, when it has ended by itself or because it was stopped. */
  readonly ended: Promise<number>
  /** Gracefully: open requests are awaited. Resolves to its exit code. */
  stop(): Promise<number>
}

const DIED = 1

/** `env`: over that of this run. When this process dies, however it does, the channel between the two closes, and the worker ends gracefully. */
export function startOwnWorker({ io }: App, env: NodeJS.ProcessEnv): OwnWorker {
  const command = fileURLToPath(new URL('../../bin/tranche.js', import.meta.url))
  const child = spawn(process.execPath, [command, 'worker'], {
    env: environmentWith(io.env, env),
    stdio: ['ignore', io.stderr.fd ?? 'ignore', io.stderr.fd ?? 'ignore', 'ipc'],
    detached: true, // Ctrl-C reaches this process alone: two signals would mean "leave at once"
  })
  const ended = endOf(child)
  let isStopping = false
  return {
    ended,
    stop() {
      if (!isStopping) child.kill('SIGTERM')
      isStopping = true
      return ended
    },
  }
}

function endOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(DIED))
    child.once('exit', (code) => resolve(code ?? DIED))
  })
}
