// The transactions of one connection: writes share them, and none is told before its COMMIT has returned.

import type { DatabaseSync } from 'node:sqlite'
import type { Mode } from '../texts/engine.ts'
import { createWriteQueue, type Turns } from '../write-queue.ts'
import { type Boot, systemBoot } from './clock-steps.ts'
import { prepareOwnVersion } from './make-tables.ts'
import { createTransactions, NO_PLACE, type Place } from './transaction.ts'

export interface Committer {
  /** Runs `work` in a transaction that it may share: see `WriteQueue`. */
  write<T>(work: () => T, mode: Mode<T>): Promise<T>
  /** Runs at the end of every transaction, inside it. */
  beforeCommit(run: () => void): void
  /** Runs when a transaction was rolled back. */
  afterRollback(run: () => void): void
  /** Resolves when nothing is left to write. */
  drained(): Promise<void>
}

/** When the queue of writes is looked at, and what time it is. A simulation brings its own. */
export interface Timing extends Turns {
  nowMs(): number
  /** null or absent: nothing is known of it. */
  boot?(): Boot | null
}

export const SYSTEM_TIMING: Timing = {
  nowMs: () => Date.now(),
  boot: systemBoot,
  soon: (run) => void setImmediate(run),
  later: (run, afterMs) => void setTimeout(run, afterMs),
}

const FULL =
  'The disk of the data directory is full. Nothing was recorded and nothing was sent. Free some space and try again.'

/** `die` ends the process, after an error that leaves nothing to trust. */
export function createCommitter(
  db: DatabaseSync,
  die: (error: unknown) => never,
  timing: Timing = SYSTEM_TIMING,
  place: Pick<Place, 'begun' | 'committed'> = NO_PLACE,
): Committer {
  const { transact, endings, rollbacks } = createTransactions(db, die, place)
  const assertOwnVersion = prepareOwnVersion(db)
  const queue = createWriteQueue<() => unknown>(
    (entries, ended) => ended(entries.length === 0 ? { kind: 'written' } : transact(entries)),
    FULL,
    timing,
  )
  return {
    write<T>(work: () => T, mode: Mode<T>) {
      const checked = () => {
        assertOwnVersion()
        return work()
      }
      // What was sent is recorded all the same, and nothing else.
      return queue.write(mode.kind === 'kept' ? work : checked, mode as Mode<unknown>) as Promise<T>
    },
    beforeCommit: (run) => void endings.push(run),
    afterRollback: (run) => void rollbacks.push(run),
    drained: queue.drained,
  }
}
