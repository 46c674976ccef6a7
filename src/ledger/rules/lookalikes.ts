// Which recorded instructions count for one that looks like them, and for how long. Pure.

import { type Actor, isOsActor } from '../../domain/actor.ts'
import { type State, statusWord } from '../../domain/states.ts'
import { LONG_AGO_MS } from '../../domain/submission.ts'

const DAY_MS = 86_400_000

/** Still to be sent, so both would be sent from now on: these count however old they are and whatever their run key. */
export const COUNTS_ALWAYS: readonly State[] = ['READY', 'SENDING']

/** Sent, or perhaps sent: these count for a while. Any other state was not executed and counts no more, except as below. */
export const COUNTS_FOR_A_WHILE: readonly State[] = ['IN_DOUBT', 'APPROVED']

/**
 * Of a row that was in doubt and sent more than once these count like an approval. Only a person ends such a row so, and what they
 * saw was one of its requests: another may have been executed.
 */
export const COUNTS_IF_SENT_TWICE: readonly State[] = ['DECLINED', 'FAILED', 'CANCELLED']

/** Behind the reference of the row that was wrong, people write one of these. */
export const CORRECTED: readonly string[] =
  `corr correct corrected correction fix fixed mended new again retry resend korr korrigiert korrektur neu nochmal erneut
  corrige corrigé nouveau corregido nuevo corretto nuovo`.split(/\s+/)

/** Whether nobody may have looked at the rows that a number let pass: a script gives the same one every time. */
export function isConstant(by: Actor | null): boolean {
  if (by === null) return false
  return isOsActor(by) ? by.terminal === null : by.kind === 'key'
}

export interface LookalikeWindow {
  /** Of sales, what was approved counts if it was sent at that moment or later. */
  readonly approvedSinceMs: number
  /** Of rows under another run key, what was sent counts if that was at that moment or later: it is last month's charge. */
  readonly otherRunKeySinceMs: number
}

/** `lookalikeDays`: of rows under another run key. */
export function lookalikeWindow(nowMs: number, lookalikeDays: number): LookalikeWindow {
  return { approvedSinceMs: nowMs - LONG_AGO_MS, otherRunKeySinceMs: nowMs - lookalikeDays * DAY_MS }
}

/** A recorded row that a new one looks like. */
export interface LikeRow {
  readonly reference: string
  readonly batchId: string
  readonly rowNo: number
  /** With what it warns of about money. */
  readonly state: string
}

/** What a message looks like. */
export interface Likeness {
  readonly reference: string
  readonly at: { readonly batchId: string | null; readonly rowNo: number }
  readonly text: string
}

/** Named, and not waved through: a service that writes its answer as a constant is asked again about the next row. */
export function lookalikeRefusal({ reference, text }: Likeness): string {
  return `lookalike: ${text}. If it is meant all the same, set allow_lookalike_of to ${JSON.stringify(reference)}`
}

/** Which recorded row a message looks like, in words. */
export function likenessText({ reference, rowNo, batchId, state }: LikeRow): string {
  return `it looks like ${reference} (row ${rowNo} of batch ${batchId}, ${statusWord(state)}): same operation, amount and target`
}
