// What becomes of a message that arrives, and why one is not accepted. Pure.

import type { BatchId } from '../../domain/ids.ts'
import type { IntakeAnswer, MessageBatch } from '../../domain/message.ts'
import { type Acceptable, answerTo } from '../../domain/refusal-code.ts'
import { type State, statusWord } from '../../domain/states.ts'

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
  readonly recordedAtMs: number
  /** How it was approved otherwise than asked; null: it was not. */
  readonly moneyWarning: string | null
}

/** A reference names one instruction: the same content is the same instruction again, and other content is an error. */
export function answerForKnown(known: RecordedRow, content: string): IntakeAnswer | 'held-by-draft' {
  const { batchId, rowNo, state, recordedAtMs, moneyWarning } = known
  if (known.stage === 'draft') return 'held-by-draft'
  if (known.content === content) {
    const said = moneyWarning === null ? {} : { moneyWarning }
    return { kind: 'duplicate', batchId, rowNo, state, recordedAtMs, ...said }
  }
  return {
    kind: 'refused',
    reason: `other_content: the reference is recorded with other content (row ${rowNo} of batch ${batchId}, ${statusWord(state)})`,
  }
}

/** A question that its producer may answer with yes. */
export function questionText(code: Acceptable, problem: string): string {
  return `${code}: ${problem}. If it is meant, hand it in again with ${answerTo(code)}`
}

/** A program that answers every question beforehand answers those that it never saw. null: each answer has its question. */
export function unaskedText(accept: readonly Acceptable[], asked: readonly Acceptable[]): string | null {
  const unasked = accept.find((code) => !asked.includes(code))
  return unasked === undefined
    ? null
    : `accept: ${unasked} is not asked about this instruction. Leave it out, and write it only in answer to a refusal that begins with it`
}

/** Why an instruction cannot be counted with the others of its batch; null: it can. */
export function beyondCounting(batchId: BatchId, sumMinor: number, amountMinor: number | null): string | null {
  if (sumMinor + (amountMinor ?? 0) <= MOST_MINOR) return null
  return `the messages of this day add up to more than can be counted exactly (batch ${batchId}): check their amounts. When they are wrong, cancel that batch; messages then go into a new one`
}

/** What the batch that takes a message is known by, beside its account: a day or an hour in UTC, or a name. */
export function sourceOf(into: MessageBatch, nowMs: number): string {
  if (typeof into === 'object') return namedSource(into.name)
  return new Date(nowMs).toISOString().slice(0, into === 'day' ? 10 : 13)
}

/** No moment begins so, and no name has a `#`, behind which batches that wait for approval are counted. */
export const NAMED = 'named/'

export function namedSource(name: string): string {
  return `${NAMED}${name}`
}

/** A batch that exists under the name that a message gives. */
export interface BatchUnderName {
  readonly id: BatchId
  readonly stage: 'draft' | 'open'
  readonly hold: 'none' | 'paused' | 'cancelled'
  readonly sha256: string | null
  readonly purgedTo: number
}

/** Why a named batch takes no more messages; null: it does. One name is one batch, for ever. */
export function closedText(name: string, { id, hold, sha256, purgedTo }: BatchUnderName): string | null {
  const why =
    sha256 !== null
      ? 'was handed in as a whole'
      : hold === 'cancelled'
        ? 'was cancelled'
        : purgedTo > 0
          ? 'was purged'
          : null
  return why === null ? null : `batch: "${name}" ${why} (batch ${id}) and takes no more: name another one`
}

/** Why an xtl_order_id cannot be taken: another instruction has it. */
export function xtlTakenText(
  xtlOrderId: string,
  { reference, rowNo, batchId, state }: { reference: string; rowNo: number; batchId: string; state: string },
): string {
  return `xtl_order_id_taken: ${xtlOrderId} is that of ${reference} (row ${rowNo} of batch ${batchId}, ${statusWord(state)}). Give each instruction one of its own, or leave it out`
}
