// Files that came over the network, and what was found in them: in a folder of the data directory, for its owner alone, for a day.
// Nothing that a caller sends is ever part of a path.

import { mkdirSync } from 'node:fs'
import { chmod, readdir, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Fault } from '../domain/fault.ts'
import { syncDirectory } from '../files/durable.ts'
import { takeLock } from '../files/lock.ts'
import { type Incoming, newId, receive } from './incoming.ts'
import { createRoom, type RoomLimits } from './room.ts'
import { KEPT_MS, readDescription, removeUpload, type Upload } from './uploads.ts'

export interface SpoolOptions extends RoomLimits {
  readonly dataDir: string
  /** Of one file. */
  readonly bytesMost: number
  readonly nowMs: () => number
}

export interface Spool {
  /** `bytes`: how many the caller announced; null: it did not. Rejects with NotTaken. */
  receive(by: string, bytes: number | null): Promise<Incoming>
  /** null: there is none, or its day is over. */
  upload(id: string): Promise<(Upload & { readonly path: string }) | null>
  removeUpload(id: string): Promise<void>
  /** A new folder for what is found in a file. */
  newCheck(): Promise<{ readonly id: string; readonly path: string }>
  /** Where it would be; nothing is said of whether it is there. null: that is no id. */
  checkPath(id: string): string | null
  checks(): Promise<readonly string[]>
  /** Removes what is past its day. */
  sweep(): Promise<void>
  close(): void
}

const ID = /^[0-9a-f]{32}$/
const CHECK = 'check-'
const SWEPT_EVERY_MS = 600_000

/** Removes what an earlier process left unfinished. Only one process has a spool: in another, whatever is asked faults. */
export async function openSpool(options: SpoolOptions): Promise<Spool> {
  const { dataDir, bytesMost, nowMs } = options
  const lock = takeLock(join(dataDir, 'spool.lock'), {
    ...{ pid: process.pid, host: hostname(), command: 'serve', startedAtMs: nowMs() },
  })
  if (lock.kind === 'held') return spoolOfAnother()
  const directory = join(dataDir, 'spool')
  mkdirSync(directory, { mode: 0o700, recursive: true })
  await chmod(directory, 0o700)
  await sweepAtStart(directory, nowMs())
  const room = createRoom(directory, options)
  await room.count()
  const sweep = async () => {
    await sweepOld(directory, nowMs())
    await room.count()
  }
  // Where nobody uploads anything, too. What could not be removed is tried again.
  const sweeping = setInterval(() => void sweep().catch(() => {}), SWEPT_EVERY_MS).unref()
  return {
    receive: (by, announced) => receive({ directory, room, bytesMost, nowMs, by, announced }),
    async upload(id) {
      const path = join(directory, ID.test(id) ? id : 'none')
      const found = await readDescription(path)
      return found === null || found.expiresAtMs <= nowMs() ? null : { ...found, path }
    },
    async removeUpload(id) {
      if (ID.test(id)) await removeUpload(join(directory, id))
      await room.count()
    },
    async newCheck() {
      const id = newId()
      const path = join(directory, `${CHECK}${id}`)
      mkdirSync(path, { mode: 0o700 })
      return { id, path }
    },
    checkPath: (id) => (ID.test(id) ? join(directory, `${CHECK}${id}`) : null),
    checks: () => checksIn(directory),
    sweep,
    close() {
      clearInterval(sweeping)
      lock.release()
    },
  }
}

function spoolOfAnother(): Spool {
  const refuse = async (): Promise<never> => {
    throw new Fault(
      'unavailable',
      'Another server takes the files of this data directory. Nothing was recorded and nothing was sent. Ask that one, or stop it first.',
    )
  }
  return {
    ...{ receive: refuse, upload: refuse, removeUpload: refuse, newCheck: refuse, sweep: async () => {} },
    ...{ checkPath: () => null, checks: async () => [], close() {} },
  }
}

async function checksIn(directory: string): Promise<string[]> {
  const names = await readdir(directory)
  return names.filter((name) => name.startsWith(CHECK)).map((name) => name.slice(CHECK.length))
}

/** Whatever has no description was on its way in when its process died. */
async function sweepAtStart(directory: string, nowMs: number): Promise<void> {
  await sweepOld(directory, nowMs)
  const names = new Set(await readdir(directory))
  for (const name of names) {
    const isWhole = ID.test(name) && names.has(`${name}.json`)
    const isDescription = name.endsWith('.json') && names.has(name.slice(0, -'.json'.length))
    if (!isWhole && !isDescription && !name.startsWith(CHECK))
      await rm(join(directory, name), { force: true, recursive: true })
  }
  await syncDirectory(directory)
}

async function sweepOld(directory: string, nowMs: number): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name)
    if (ID.test(name)) {
      const found = await readDescription(path)
      if (found !== null && found.expiresAtMs <= nowMs) await removeUpload(path)
    } else if (name.startsWith(CHECK)) {
      const made = await stat(path).catch(() => null)
      if (made !== null && made.birthtimeMs + KEPT_MS <= nowMs) await rm(path, { force: true, recursive: true })
    }
  }
}
