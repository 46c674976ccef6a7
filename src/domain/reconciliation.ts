// Rows as results and history tell them.

import type { Actor } from './actor.ts'
import type { BatchId } from './ids.ts'
import type { Operation } from './instruction.ts'
import type { Currency } from './money.ts'
import type { ReasonCategory } from './reason-categories.ts'
import type { State } from './states.ts'
import type { AnswerFacts } from './verdict.ts'

/** A row as the reconciliation tells it. */
export interface ReconciliationRow {
  readonly rowNo: number
  readonly line: number
  readonly cells: readonly string[]
  readonly reference: string | null
  /** Of a family: the recorded row that stands for this one. Absent: it is that row itself. */
  readonly recordedAs?: { readonly batchId: BatchId; readonly rowNo: number }
  readonly state: State
  /** The row that a DUPLICATE points at, and whether its answer raised a warning; null for every other row. */
  readonly repeats: {
    readonly state: State
    readonly warned: boolean
    /** The row asks for something else than the one it points at, and was left out. */
    readonly changed?: boolean
  } | null
  /** Where the row stands that was submitted in its place after it had ended; null: none was. */
  readonly submittedAgain: State | null
  readonly operation: Operation | null
  readonly amountMinor: bigint | null
  readonly currency: Currency | null
  readonly reason: string | null
  /** What the reason counted as when it was purged; null: it was not purged, or there was none. */
  readonly categoryKept: ReasonCategory | null
  readonly facts: AnswerFacts
  readonly warning: string | null
  readonly attempts: number
  readonly sentAtMs: number | null
  readonly completedAtMs: number | null
}

/** A row as it is told where no worker runs: nothing waits for an answer to what was being sent. */
export function asLeftOpen(row: ReconciliationRow): ReconciliationRow {
  if (row.state !== 'SENDING') return row
  return { ...row, reason: 'it was being sent when the worker ended and may have been executed; no worker is running' }
}

/** How far the record had come when it was read. */
export interface Edition {
  /** Changes of the batch so far. */
  readonly version: number
  /** The newest move of the whole ledger: the rows that duplicates point at are in other batches. */
  readonly lastMove: number
}

export interface HistoryMove {
  readonly batchId: BatchId
  readonly rowNo: number
  readonly attempt: number
  readonly from: State | null
  readonly to: State
  readonly cause: string
  readonly atMs: number
  readonly by: string
  /** null: the machine. */
  readonly actor: Actor | null
  readonly httpStatus: number | null
  readonly answerText: string | null
  readonly reason: string | null
}

/** Rows of one batch that were declined, failed or came into doubt for one reason. */
export interface ReasonTotal {
  readonly state: 'DECLINED' | 'FAILED' | 'IN_DOUBT'
  /** null: there is none, or it was purged. */
  readonly reason: string | null
  /** What a purged reason counted as. */
  readonly categoryKept: ReasonCategory | null
  readonly count: number
}
