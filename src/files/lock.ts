// A lock between processes that the kernel frees when its holder dies, however it dies: an exclusive transaction on an
// SQLite file of its own. Who holds it stands in another file, because opening and closing the locked file with `fs` in
// the process that holds it would drop the lock.

import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import { openConnection } from './sqlite-file.ts'

/** Who holds a lock, for people. Never evidence that it is held: a dead holder leaves it behind. */
export interface Holder {
  readonly pid: number
  readonly host: string
  readonly command: string
  readonly startedAtMs: number
  /** Of a worker: the merchants that it sends for. Absent: it is no worker. */
  readonly merchants?: readonly string[]
}

export interface Lock {
  readonly kind: 'taken'
  /** As its holder says it. */
  readonly startedAtMs: number
  /** Idempotent. */
  release(): void
}

export interface Held {
  readonly kind: 'held'
  /** null: it is held, but the holder could not be read. */
  readonly heldBy: Holder | null
}

const SQLITE_BUSY = 5

/** Long enough for two takers in the same instant to sort it out, short enough for a process that is sending. */
const CONTENTION_MS = 5

/** Open locks. A connection without a reference is garbage-collected, and that would free its lock. */
const taken = new Set<DatabaseSync>()

/**
 * The directory of `path` must exist, on a disk of this host: network file systems do not keep such locks.
 * Two takers in the same instant can each see the other's first step and both be refused, unless they wait a little.
 * The event loop stands still for `waitMs` when the lock is held: more than a few only where nothing is being sent.
 */
export function takeLock(path: string, holder: Holder, waitMs = CONTENTION_MS): Lock | Held {
  const db = openAndBegin(path, 'BEGIN EXCLUSIVE', waitMs)
  if (db === 'busy') return { kind: 'held', heldBy: readHolder(path) }
  taken.add(db)
  chmodSync(path, 0o600)
  writeHolder(path, holder)
  return {
    kind: 'taken',
    startedAtMs: holder.startedAtMs,
    release: () => {
      if (!taken.delete(db)) return
      rmSync(holderFile(path), { force: true })
      db.close()
    },
  }
}

/** Which process holds the lock at this moment, without taking it. null: none. */
export function lockHeld(path: string): Held | null {
  // A read lock for an instant: a taker who meets it waits it out.
  const db = openAndBegin(path, 'BEGIN; SELECT count(*) FROM sqlite_master', 0)
  if (db === 'busy') return { kind: 'held', heldBy: readHolder(path) }
  db.close()
  return null
}

function openAndBegin(path: string, sql: string, waitMs: number): DatabaseSync | 'busy' {
  let db: DatabaseSync | undefined
  try {
    db = openConnection(path, { timeout: waitMs })
    db.exec(sql)
    return db
  } catch (error) {
    if (db?.isOpen) db.close()
    if (isBusy(error)) return 'busy'
    throw new Fault('storage', `The lock file ${path} cannot be used (${messageOf(error)}). Nothing was sent.`, {
      cause: error,
    })
  }
}

function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0
  return (code & 0xff) === SQLITE_BUSY
}

function holderFile(path: string): string {
  return `${path}.json`
}

/** The lock stands without this file, so a disk that is full must not take it away; but an old name must not stay. */
function writeHolder(path: string, holder: Holder): void {
  const unfinished = `${holderFile(path)}.${process.pid}.new`
  try {
    writeFileSync(unfinished, `${JSON.stringify(holder)}\n`, { mode: 0o600 })
    renameSync(unfinished, holderFile(path))
  } catch {
    rmSync(unfinished, { force: true })
    rmSync(holderFile(path), { force: true })
  }
}

function readHolder(path: string): Holder | null {
  try {
    return parseHolder(JSON.parse(readFileSync(holderFile(path), 'utf8')))
  } catch {
    return null
  }
}

function parseHolder(value: unknown): Holder | null {
  if (typeof value !== 'object' || value === null) return null
  const { pid, host, command, startedAtMs, merchants } = value as Record<string, unknown>
  if (typeof pid !== 'number' || typeof startedAtMs !== 'number') return null
  if (typeof host !== 'string' || typeof command !== 'string') return null
  const holder = { pid, host, command, startedAtMs }
  return isNames(merchants) ? { ...holder, merchants } : holder
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}
