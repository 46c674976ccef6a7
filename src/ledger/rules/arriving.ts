// What becomes of a message that arrives, and why one is not accepted. Pure.

import type { BatchId } from '../../domain/ids.ts'
import type { IntakeAnswer } from '../../domain/message.ts'
import type { State } from '../../domain/states.ts'

/**
 * What the amounts of a batch may add up to, all currencies together. Sums are kept in 64 bits, which hold twice that: what is
 * written in one commit with a message that just passed still fits.
 */
export const MOST_MINOR = 4e18

/** The row that is recorded under the reference of a message. */
export interface RecordedRow {
  readonly batchId: BatchId
  readonly rowNo: number
  readonly state: State
  readonly content: string
  readonly stage: 'draft' | 'open'
}

/** A reference names one instruction: the same content is the same instruction again, and other content is an error. */
export function answerForKnown(known: RecordedRow, content: string): IntakeAnswer | 'held-by-draft' {
  const { batchId, rowNo, state } = known
  if (known.stage === 'draft') return 'held-by-draft'
  if (known.content === content) return { kind: 'duplicate', batchId, rowNo, state }
  return {
    kind: 'refused',
    reason: `the reference is recorded with other content (row ${rowNo} of batch ${batchId}, ${state})`,
  }
}

/** Why an instruction cannot be counted with the others of its batch; null: it can. */
export function beyondCounting(batchId: BatchId, sumMinor: number, amountMinor: number | null): string | null {
  if (sumMinor + (amountMinor ?? 0) <= MOST_MINOR) return null
  return `the messages of this day add up to more than can be counted exactly (batch ${batchId}): check their amounts. When they are wrong, cancel that batch; messages then go into a new one`
}

/** The day, in UTC, whose batch takes the messages of that moment. */
export function dayOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 10)
}

/** Why an xtl_order_id cannot be taken: another instruction has it. */
export function xtlTakenText(
  xtlOrderId: string,
  { reference, rowNo, batchId, state }: { reference: string; rowNo: number; batchId: string; state: string },
): string {
  return `xtl_order_id ${xtlOrderId} is that of ${reference} (row ${rowNo} of batch ${batchId}, ${state}). Give each instruction one of its own, or leave it out`
}
