// A row on its way, as whatever moves it needs it.

import type { Hold } from '../../../domain/batch.ts'
import type { State } from '../../../domain/states.ts'
import { type Engine, KEPT } from '../engine.ts'
import type { Book } from '../record/book.ts'
import type { Counted } from '../record/tally.ts'
import type { Script } from '../script.ts'

export interface OpenRow extends Counted {
  readonly id: number
  readonly account_id: number
  readonly state: State
  readonly attempt: number
  readonly hold: Hold
  readonly warning: string | null
  readonly row_no: number
}

export interface SettlingRow extends OpenRow {
  /** How many rows its batch runs first, before a person has looked; null: there is no canary. */
  readonly canary: number | null
  readonly max_declined: number | null
  readonly transactionId: string | null
  readonly wasFound: number
}

/** The columns of an `OpenRow`: of row `i` and its batch `b`. */
export const OPEN_ROW =
  'i.id, i.batch_id, i.account_id, i.state, i.attempt, i.operation, i.currency, i.amount_minor, i.warning, b.hold, i.row_no'

/** Rows moved in one transaction, where many are. */
export const ROWS_PER_STEP = 500

/** Until a step moves fewer rows than it may. Resolves to how many were moved in all. */
export async function stepwise(engine: Engine, step: (book: Book) => Script<number>): Promise<number> {
  let total = 0
  for (;;) {
    const moved = await engine.write(step, KEPT)
    total += moved
    if (moved < ROWS_PER_STEP) return total
  }
}
