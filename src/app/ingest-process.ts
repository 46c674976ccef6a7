// Reading a file in a process of its own: a workbook takes much memory and a million rows take their time, and the server must neither
// stand still nor die with them. What the process is asked goes over a channel between the two: no argument, so nothing that a caller
// wrote can be taken for an option, and no environment, where others could read the key.

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { App } from '../app.ts'
import type { IngestAsked, IngestEnded, IngestOrder, IngestProgress } from '../domain/ingest.ts'

/** `tell`: how far it is, a few times a second. */
export type Ingest = (
  asked: IngestAsked,
  signal: AbortSignal,
  tell?: (progress: IngestProgress) => void,
) => Promise<IngestEnded>

/** The first 1,000 faults, and what a file may say in its header. More was not written by us. */
const SAID_BYTES_MOST = 16 * 1024 * 1024

/** `env`: over that of this run. When this process dies, however it does, the channel closes, and the other ends. */
export function ingestWith({ io }: Pick<App, 'io'>, env: NodeJS.ProcessEnv): Ingest {
  return (asked, signal, tell) => {
    const command = fileURLToPath(new URL('../../bin/tranche.js', import.meta.url))
    const child = spawn(process.execPath, [command, 'ingest'], {
      ...{
        env: environmentWith(io.env, env),
        stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
        signal,
        killSignal: 'SIGTERM',
      },
      detached: true, // Ctrl-C is for the server, which lets what is open come to its end
    })
    child.send({ ...asked, sandbox: isRehearsal(env) } satisfies IngestOrder, () => {})
    if (tell !== undefined) child.on('message', (progress) => tell(progress as IngestProgress))
    return saidBy(child)
  }
}

/** Its exit code, and the last object that it wrote to stdout. */
export function saidBy(child: ChildProcess): Promise<IngestEnded> {
  const said: Buffer[] = []
  let bytes = 0
  child.stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= SAID_BYTES_MOST) said.push(chunk)
  })
  return new Promise((resolve) => {
    child.once('error', () => {}) // it never ran, or was told to stop: `close` follows
    child.once('close', (exit) => resolve({ exit, said: lastObjectIn(Buffer.concat(said).toString()) }))
  })
}

function lastObjectIn(text: string): IngestEnded['said'] {
  try {
    return JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')
  } catch {
    return null
  }
}

const isRehearsal = (over: NodeJS.ProcessEnv): boolean => Object.keys(over).length > 0

/** In a rehearsal nothing of the real installation reaches it. */
export function environmentWith(env: NodeJS.ProcessEnv, over: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(([name]) => !isRehearsal(over) || !name.startsWith('TRANCHE_'))
  return { ...Object.fromEntries(own), ...over }
}
