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
  /** How long it rests, as the worker that sent it said. */
  readonly restMs: number
  /** Other rows that wait for this one, because they name the same order. */
  readonly holdsUp: number
  readonly reason: string | null
  /** One person alone does not have it sent again: one proposes it, another one confirms. */
  readonly twoPeople: boolean
  /** null: nobody proposed to send it again, or the proposal lapsed. Look at it with `standingProposal`. */
  readonly proposal: Proposal | null
  readonly instruction: Instruction
}

/** That a row be sent once more, of the attempt that is in doubt. */
export interface Proposal {
  /** Who proposed it, in words. */
  readonly by: string
  readonly reason: string
  readonly atMs: number
  /** It lapses then. */
  readonly untilMs: number
}

export const PROPOSAL_LIVES_MS = 7 * 86_400_000

/** null: there is none, or nobody confirmed it in time. */
export function standingProposal({ proposal }: Pick<DoubtRow, 'proposal'>, nowMs: number): Proposal | null {
  return proposal !== null && nowMs < proposal.untilMs ? proposal : null
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
  /** Of `send-again`: when the proposal was made that the person was shown; null: none was shown. Another one is not confirmed. Absent: not told. */
  readonly proposedAtMs?: number | null
  /** Of `send-again`: the person was told that it sends nothing before another one confirms it. Absent: false. */
  readonly onlyProposes?: boolean
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
  /** Nothing was sent and nothing will be: another person has to confirm it first. */
  | { readonly kind: 'proposed'; readonly batchId: BatchId; readonly rowNo: number; readonly proposal: Proposal }
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
        | 'order-id'
        | 'expired'
        | 'cancelled'
        | 'a-key'
        | 'proposal'
      /** What it means and what to do, one sentence. */
      readonly reason: Text
    }

/** What `resolve` would answer. */
export type Foreseen =
  | { readonly kind: 'would-resolve'; readonly doubt: DoubtRow; readonly state: State }
  | { readonly kind: 'would-propose'; readonly doubt: DoubtRow }
  | Exclude<Resolved, { kind: 'resolved' }>

/** A proposal that is not to be followed. */
export interface ProposalRefusal {
  readonly batchId: BatchId
  readonly rowNo: number
  /** Of the proposal that the person was shown. */
  readonly proposedAtMs: number
  readonly reason: string
}
