// Counts and amounts per batch and state, gathered while a transaction runs and written once at its end.

import type { State } from '../../../domain/states.ts'
import { change, type Script } from '../script.ts'

export interface Counted {
  readonly batch_id: string
  readonly operation: string | null
  readonly currency: string | null
  readonly amount_minor: number | bigint | null
}

export interface Tally {
  /** Notes that a row went from one state to another, or `rows` of them that have this amount together; `from` null: it is new. */
  moved(row: Counted, from: State | null, to: State, rows?: number): void
  /** Notes a change of a row that is no move. */
  touched(batchId: string): void
  /** What was noted and changes anything. */
  noted(): { readonly sums: readonly Sum[]; readonly batches: readonly string[] }
  write(): Script<void>
  forget(): void
}

export interface Sum extends Key {
  readonly count: number
  readonly amountMinor: bigint
}

interface Key {
  readonly batchId: string
  readonly operation: string
  readonly currency: string
  readonly state: State
}

const ADD = `
    INSERT INTO tally (batch_id, operation, currency, state, count, amount_minor)
    VALUES (:batchId, :operation, :currency, :state, @greatest(CAST(:count AS BIGINT), 0), :amountMinor)
    ON CONFLICT (batch_id, operation, currency, state)
    DO UPDATE SET count = tally.count + CAST(:count AS BIGINT), amount_minor = tally.amount_minor + excluded.amount_minor`

const TOUCH = 'UPDATE batch SET version = version + 1 WHERE id = :batchId'

export function createTally(): Tally {
  const noted = new Map<string, { key: Key; count: number; amountMinor: bigint }>()
  const changed = new Set<string>()

  function note(row: Counted, state: State, sign: 1 | -1, rows: number): void {
    const key = { batchId: row.batch_id, operation: row.operation ?? '', currency: row.currency ?? '', state }
    const name = `${key.batchId}|${key.operation}|${key.currency}|${state}`
    const entry = noted.get(name) ?? { key, count: 0, amountMinor: 0n }
    entry.count += sign * rows
    entry.amountMinor += BigInt(sign) * BigInt(row.amount_minor ?? 0)
    noted.set(name, entry)
  }

  function notedNow() {
    const sums = [...noted.values()].map(({ key, ...sum }) => ({ ...key, ...sum }))
    return { sums: sums.filter(({ count, amountMinor }) => count !== 0 || amountMinor !== 0n), batches: [...changed] }
  }

  return {
    moved(row, from, to, rows = 1) {
      if (from !== null) note(row, from, -1, rows)
      note(row, to, 1, rows)
      changed.add(row.batch_id)
    },
    touched: (batchId) => void changed.add(batchId),
    noted: notedNow,
    *write() {
      const { sums, batches } = notedNow()
      for (const sum of sums) yield* change(ADD, { ...sum })
      for (const batchId of batches) yield* change(TOUCH, { batchId })
    },
    forget() {
      noted.clear()
      changed.clear()
    },
  }
}
