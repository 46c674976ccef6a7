// Group commit: writes that arrive together share one transaction, and no caller is told before its COMMIT has returned.

import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../domain/fault.ts'
import { type Boot, systemBoot } from './clock-steps.ts'

/** The most writes in one transaction: it then stays far below the 50 ms that others may be made to wait. */
const WRITES_PER_COMMIT = 256
const BUSY_PAUSE_MS = 4
const FULL_PAUSE_MS = 250

export interface Committer {
  /**
   * Runs `work` in a transaction shared with its neighbours and resolves after the commit. When `work` throws, it alone is
   * rolled back and rejects with what it threw; its neighbours are written without it, so `work` may run more than once.
   * Another process's lock is waited out.
   * - `refusable`: when the commit cannot be written, resolves with what `refused` answers. For claims.
   * - `kept`: tried again until it is written. For settlements.
   * - `faulting`: rejects with a Fault. For people's commands.
   */
  write<T>(work: () => T, mode: Mode<T>): Promise<T>
  /** Runs at the end of every transaction, inside it. */
  beforeCommit(run: () => void): void
  /** Runs when a transaction was rolled back. */
  afterRollback(run: () => void): void
  /** Resolves when nothing is left to write. */
  drained(): Promise<void>
}

/** When the queue of writes is looked at, and what time it is. A simulation brings its own. */
export interface Timing {
  nowMs(): number
  /** null or absent: nothing is known of it. */
  boot?(): Boot | null
  /** Runs it when whatever is under way now has handed in its writes. */
  soon(run: () => void): void
  later(run: () => void, afterMs: number): void
}

export const SYSTEM_TIMING: Timing = {
  nowMs: () => Date.now(),
  boot: systemBoot,
  soon: (run) => void setImmediate(run),
  later: (run, afterMs) => void setTimeout(run, afterMs),
}

export type Mode<T> =
  | { readonly kind: 'refusable'; readonly refused: (why: 'full' | 'busy') => T; readonly giveUp: () => boolean }
  | { readonly kind: 'kept' }
  | { readonly kind: 'faulting' }

interface Entry {
  readonly run: () => void
  readonly committed: () => void
  /** Its own write threw: it is answered with that. */
  readonly broke: (error: unknown) => void
  /** True when the entry has been answered and must not be tried again. */
  readonly notWritten: (why: 'full' | 'busy') => boolean
}

/** How a transaction ended. Unless it was written, nothing of it is in the ledger. */
type Transacted =
  | { readonly kind: 'written' }
  | { readonly kind: 'not-written'; readonly why: 'full' | 'busy' }
  /** One of its writes threw. */
  | { readonly kind: 'broke'; readonly error: unknown }

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

/**
 * `die` is called for errors after which nothing this process believes can be trusted (I/O errors, corruption): the caller
 * ends the process. What was claimed and not answered then turns IN_DOUBT at the next start.
 */
export function openCommitter(
  db: DatabaseSync,
  die: (error: unknown) => never,
  timing: Timing = SYSTEM_TIMING,
  place: Pick<Place, 'begun' | 'committed'> = NO_PLACE,
): Committer {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const endings: Array<() => void> = []
  const rollbacks: Array<() => void> = []
  let waiting: Entry[] = []
  /** So many of those that wait are written one by one: a transaction they shared broke, and one of them is why. */
  let alone = 0
  let scheduled = false
  let idle: Array<() => void> = []

  function schedule(pauseMs: number): void {
    if (scheduled) return
    scheduled = true
    if (pauseMs === 0) timing.soon(flush)
    else timing.later(flush, pauseMs)
  }

  function flush(): void {
    scheduled = false
    const entries = waiting.slice(0, alone > 0 ? 1 : WRITES_PER_COMMIT)
    const later = waiting.slice(entries.length)
    const transacted: Transacted = entries.length === 0 ? { kind: 'written' } : transact(entries)
    const kept = settle(entries, transacted)
    alone =
      transacted.kind === 'broke' && kept.length > 0 ? kept.length : Math.max(0, alone - entries.length + kept.length)
    waiting = [...kept, ...later]
    if (waiting.length > 0) schedule(pauseAfter(transacted))
    else {
      const told = idle
      idle = []
      for (const tell of told) tell()
    }
  }

  /** Answers those that are over. Returns the others, to be tried again. */
  function settle(entries: readonly Entry[], transacted: Transacted): readonly Entry[] {
    switch (transacted.kind) {
      case 'written':
        for (const entry of entries) entry.committed()
        return []
      case 'not-written':
        return entries.filter((entry) => !entry.notWritten(transacted.why))
      case 'broke':
        if (entries.length > 1) return entries
        for (const entry of entries) entry.broke(transacted.error)
        return []
    }
  }

  function transact(entries: readonly Entry[]): Transacted {
    let inWrites = false
    try {
      begin.run()
      place.begun()
      inWrites = true
      for (const entry of entries) entry.run()
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

  return {
    write<T>(work: () => T, mode: Mode<T>): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        let result: T
        waiting.push({
          run: () => {
            result = work()
          },
          committed: () => resolve(result),
          broke: reject,
          notWritten: (why) => {
            switch (mode.kind) {
              case 'kept':
                return false
              case 'refusable':
                if (why === 'busy' && !mode.giveUp()) return false
                resolve(mode.refused(why))
                return true
              case 'faulting':
                if (why === 'busy') return false
                reject(fullFault())
                return true
            }
          },
        })
        schedule(0)
      })
    },
    beforeCommit: (run) => void endings.push(run),
    afterRollback: (run) => void rollbacks.push(run),
    drained: () =>
      waiting.length === 0 && !scheduled ? Promise.resolve() : new Promise((resolve) => idle.push(resolve)),
  }
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

function pauseAfter(transacted: Transacted): number {
  if (transacted.kind !== 'not-written') return 0
  return transacted.why === 'busy' ? BUSY_PAUSE_MS : FULL_PAUSE_MS
}

function fullFault(cause?: unknown): Fault {
  return new Fault(
    'full',
    'The disk of the data directory is full. Nothing of this was recorded and nothing of it was sent. Free some space and run it again.',
    { cause },
  )
}
