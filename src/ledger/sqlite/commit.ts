// Group commit: writes that arrive together share one transaction, and no caller is told before its COMMIT has returned.

import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../domain/fault.ts'
import { type Boot, systemBoot } from './clock-steps.ts'
import { createTransactions, NO_PLACE, type Place, type Transacted } from './transaction.ts'

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

/** `die` ends the process, after an error that leaves nothing to trust. */
export function createCommitter(
  db: DatabaseSync,
  die: (error: unknown) => never,
  timing: Timing = SYSTEM_TIMING,
  place: Pick<Place, 'begun' | 'committed'> = NO_PLACE,
): Committer {
  const { transact, endings, rollbacks } = createTransactions(db, die, place)
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

  return {
    write: (work, mode) =>
      new Promise((resolve, reject) => {
        waiting.push(entryOf(work, mode, resolve, reject))
        schedule(0)
      }),
    beforeCommit: (run) => void endings.push(run),
    afterRollback: (run) => void rollbacks.push(run),
    drained: () =>
      waiting.length === 0 && !scheduled ? Promise.resolve() : new Promise((resolve) => idle.push(resolve)),
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

function entryOf<T>(
  work: () => T,
  mode: Mode<T>,
  resolve: (result: T) => void,
  reject: (error: unknown) => void,
): Entry {
  let result: T
  return {
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
  }
}

function pauseAfter(transacted: Transacted): number {
  if (transacted.kind !== 'not-written') return 0
  return transacted.why === 'busy' ? BUSY_PAUSE_MS : FULL_PAUSE_MS
}

function fullFault(): Fault {
  return new Fault(
    'full',
    'The disk of the data directory is full. Nothing was recorded and nothing was sent. Free some space and run it again.',
  )
}
