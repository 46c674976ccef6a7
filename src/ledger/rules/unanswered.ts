// Moves that no answer makes: rows that are swept, cancelled, restored, or known to be executed before. Pure.

import { isoOf } from '../../domain/batch-status.ts'
import { Fault } from '../../domain/fault.ts'
import { type State, statusOf } from '../../domain/states.ts'

/** Why a row is in doubt whose process ended in mid-request. Whether and when a first byte left, no process knows. */
export function sweptReason(claimedAtMs: number): string {
  return `the process that claimed it at ${isoOf(claimedAtMs)} ended before the answer was recorded; it may have been executed`
}

/** Why a row is in doubt that is past its answer-by and in no process's hands. */
export function forgottenReason(claimedAtMs: number): string {
  return `what became of the attempt claimed at ${isoOf(claimedAtMs)} was lost to a failure of this program; it may have been executed`
}

/** `warning`: of the row that an answer said was executed. */
export function executedBeforeReason(warning: string): string {
  return `it was to be sent again, but it was executed before: ${warning}`
}

/** Why a row is in doubt that was open when an older state of the ledger was put back. `why`: as the person said who did. */
export function restoredReason(why: string): string {
  return `an older state of the ledger was put back (${why}); it may have been executed since that state was written`
}

/** Why a row is in doubt that may have been in the queue before an older state of the ledger was adopted. `isAhead`: its producer's clock is. */
export function queuedBeforeReason(restoredAtMs: number, isAhead: boolean): string {
  const why = isAhead ? 'the clock of its producer is ahead, so ' : ''
  return `${why}it may have been queued before an older state of the ledger was adopted at ${isoOf(restoredAtMs)}; the state that was lost may have executed it`
}

/** `why`: as the person said who cancelled the batch. */
export function cancelledReason(why: string | null): string {
  return `cancelled: ${why ?? 'no reason kept'}`
}

/** Why one row cannot be cancelled; null: it is still to be sent, or never will be. */
export function whyNotCancelled({ batchId, rowNo }: { batchId: string; rowNo: number }, state: State): Fault | null {
  if (state === 'READY' || state === 'CANCELLED') return null
  return new Fault(
    'usage',
    `Row ${rowNo} of batch ${batchId} is ${statusOf(state)}: only what was not sent yet can be cancelled. Nothing was changed.`,
    { state },
  )
}

/** A person said of it that nothing had been executed; a person who pays it another way should know that it was ever open. */
export function warningWhenCancelled(warning: string | null, wasInDoubt: boolean): string | null {
  if (!wasInDoubt) return warning
  const doubt = 'it was in doubt before: see its history'
  return warning === null ? doubt : `${warning}; ${doubt}`
}
