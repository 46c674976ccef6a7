// Rows in doubt, and what a person says of one.

import type { Hold } from './batch.ts'
import type { BatchId, RowId } from './ids.ts'
import type { Instruction } from './instruction.ts'
import type { Finding } from './resolution.ts'
import type { State } from './states.ts'
import type { Text } from './words.ts'

export interface DoubtRow {
  readonly rowId: RowId
  readonly batchId: BatchId
  readonly rowNo: number
  readonly merchant: string
  readonly attempt: number
  readonly sentAtMs: number | null
  /** null: it may have been sent without this ledger, which is an older state that was put back. */
  readonly claimedAtMs: number | null
  /** When its request may have left at the latest; the rest of a doubt counts from here. */
  readonly leftByMs: number
  /** How long it rests, as the worker that sent it said; 0: an earlier version sent it. */
  readonly restMs: number
  /** Other rows that wait for this one, because they name the same order. */
  readonly holdsUp: number
  readonly reason: string | null
  readonly instruction: Instruction
}

/** What a person found out about a row in doubt, or orders. */
export interface Resolution {
  readonly reference: string
  /** null: whichever account has the doubt. */
  readonly merchant: string | null
  /** The attempt that was looked up: another one is not judged. null: the only one; of a row that was sent before, only `approved` is taken. */
  readonly attempt: number | null
  /** The row that was looked up: another one is not judged, even under the same reference. null: whichever has it. */
  readonly row: { readonly batchId: string; readonly rowNo: number } | null
  readonly finding: Finding
  /** It takes the place of what a person found of the row before. Absent: false. */
  readonly corrects?: boolean
  /** As found at the gateway. It can settle one row only. */
  readonly transactionId: string | null
  readonly reason: string
  /** Findings that wait (`waitsForRest`) are refused for so long after the request left, or for longer if the worker that sent it said so. */
  readonly restMs: number
}

export type Resolved =
  | {
      readonly kind: 'resolved'
      readonly batchId: BatchId
      readonly rowNo: number
      readonly state: State
      readonly hold: Hold
      /** Other batches, in which a row waits to be sent that asks for the same: it was executed, after it had been called otherwise. */
      readonly paused: readonly BatchId[]
    }
  /** It stands already where the finding would move it. */
  | { readonly kind: 'already'; readonly batchId: BatchId; readonly rowNo: number; readonly state: State }
  | {
      readonly kind: 'refused'
      readonly why:
        | 'unknown'
        | 'ambiguous'
        | 'not-in-doubt'
        | 'not-found-before'
        | 'other-attempt'
        | 'other-row'
        | 'too-early'
        | 'transaction-taken'
        | 'cancelled'
        | 'a-key'
      /** What it means and what to do, one sentence. */
      readonly reason: Text
    }

/** What `resolve` would answer. */
export type Foreseen =
  | { readonly kind: 'would-resolve'; readonly doubt: DoubtRow; readonly state: State }
  | Exclude<Resolved, { kind: 'resolved' }>
