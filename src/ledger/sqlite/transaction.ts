// One transaction of the ledger, and how it ended. Unless it was written, nothing of it is there.

import type { DatabaseSync } from 'node:sqlite'
import type { Entry, Transacted } from '../write-queue.ts'

/** The files of the ledger. Each of these throws when they are not those, or not as this process left them. */
export interface Place {
  /** Inside every transaction, before its first write. */
  begun(): void
  /** After every commit, before anyone is told of it. */
  committed(): void
  /** While nothing is committed. */
  look(): void
  close(): void
}

/** Of a ledger in memory. */
export const NO_PLACE: Place = { begun() {}, committed() {}, look() {}, close() {} }

export interface Transactions {
  /** Runs these in one. */
  transact(entries: readonly Entry<() => unknown>[]): Transacted
  /** At the end of every transaction, inside it. */
  readonly endings: Array<() => void>
  /** When one was rolled back. */
  readonly rollbacks: Array<() => void>
}

/**
 * `die` is called for errors after which nothing this process believes can be trusted (I/O errors, corruption): the caller
 * ends the process. What was claimed and not answered then turns IN_DOUBT at the next start.
 */
export function createTransactions(
  db: DatabaseSync,
  die: (error: unknown) => never,
  place: Pick<Place, 'begun' | 'committed'>,
): Transactions {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const endings: Array<() => void> = []
  const rollbacks: Array<() => void> = []

  function transact(entries: readonly Entry<() => unknown>[]): Transacted {
    let inWrites = false
    try {
      begin.run()
      place.begun()
      inWrites = true
      for (const entry of entries) entry.result = entry.work()
      for (const end of endings) end()
      inWrites = false
      commit.run()
    } catch (error) {
      rollBack()
      const why = whyNotWritten(error)
      if (why !== null) return { kind: 'not-written', why }
      return inWrites && isOfOneWrite(error) ? { kind: 'broke', error } : die(error)
    }
    try {
      place.committed() // not before: between the look and the commit the file could go, and a claim with it
    } catch (error) {
      die(error)
    }
    return { kind: 'written' }
  }

  function rollBack(): void {
    try {
      if (db.isTransaction) db.exec('ROLLBACK')
    } catch (error) {
      die(error)
    }
    for (const run of rollbacks) run()
  }

  return { transact, endings, rollbacks }
}

// Primary result codes of SQLite, the low byte of the extended ones.
const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6
const SQLITE_FULL = 13
/** Extended: the index of the write-ahead log could not grow. That file knows no other word for a full disk. */
const SQLITE_IOERR_SHMSIZE = 4874

/** What can be waited out; null for everything else. */
export function whyNotWritten(error: unknown): 'full' | 'busy' | null {
  const extended = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0
  const code = extended & 0xff
  if (code === SQLITE_BUSY || code === SQLITE_LOCKED) return 'busy'
  if (code === SQLITE_FULL || extended === SQLITE_IOERR_SHMSIZE) return 'full'
  return null
}

/** What the writing of one statement can come to by itself, whatever the state of the disk and the file. */
const OF_ONE_WRITE: ReadonlySet<number> = new Set([
  1, // SQLITE_ERROR: a sum beyond 64 bits, for one
  18, // SQLITE_TOOBIG
  19, // SQLITE_CONSTRAINT
  20, // SQLITE_MISMATCH
  25, // SQLITE_RANGE
])

/** Otherwise the disk, the file or the memory is to blame: the next write meets the same. */
function isOfOneWrite(error: unknown): boolean {
  return !(error instanceof Error && 'errcode' in error) || OF_ONE_WRITE.has(Number(error.errcode) & 0xff)
}
