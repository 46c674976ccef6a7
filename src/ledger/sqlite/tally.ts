// Counts and amounts per batch and state, gathered while a transaction runs and written once at its end.

import type { DatabaseSync } from 'node:sqlite'
import type { State } from '../../domain/states.ts'
import type { Committer } from './commit.ts'

export interface Counted {
  readonly batch_id: string
  readonly operation: string | null
  readonly currency: string | null
  readonly amount_minor: number | null
}

export interface Tally {
  /** Notes that a row went from one state to another; `from` null: it is new. */
  moved(row: Counted, from: State | null, to: State): void
  /** Notes a change of a row that is no move. */
  touched(batchId: string): void
}

/** What was noted is written at the end of the committer's transaction, and forgotten where that is rolled back. */
export function createTally(db: DatabaseSync, committer: Pick<Committer, 'beforeCommit' | 'afterRollback'>): Tally {
  const add = db.prepare(`
    INSERT INTO tally (batch_id, operation, currency, state, count, amount_minor) VALUES (?, ?, ?, ?, max(?, 0), ?)
    ON CONFLICT DO UPDATE SET count = count + ?, amount_minor = amount_minor + excluded.amount_minor`)
  const touch = db.prepare('UPDATE batch SET version = version + 1 WHERE id = ?')
  const noted = new Map<string, { key: [string, string, string, string]; count: number; amountMinor: bigint }>()
  const changed = new Set<string>()

  function note(row: Counted, state: State, count: 1 | -1): void {
    const key: [string, string, string, string] = [row.batch_id, row.operation ?? '', row.currency ?? '', state]
    const name = key.join('|')
    const entry = noted.get(name) ?? { key, count: 0, amountMinor: 0n }
    entry.count += count
    entry.amountMinor += BigInt(row.amount_minor ?? 0) * BigInt(count)
    noted.set(name, entry)
  }

  function forget(): void {
    noted.clear()
    changed.clear()
  }

  function flush(): void {
    for (const { key, count, amountMinor } of noted.values()) {
      if (count !== 0 || amountMinor !== 0n) add.run(...key, count, amountMinor, count)
    }
    for (const batchId of changed) touch.run(batchId)
    forget()
  }

  committer.beforeCommit(flush)
  committer.afterRollback(forget)
  return {
    moved(row, from, to) {
      if (from !== null) note(row, from, -1)
      note(row, to, 1)
      changed.add(row.batch_id)
    },
    touched: (batchId) => void changed.add(batchId),
  }
}
