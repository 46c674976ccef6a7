// The moments that a row names: from when on it may be sent, until when, and which of them cannot be meant. Pure.

import { isoOf } from '../../domain/batch-status.ts'
import type { DraftHeader } from '../../domain/draft.ts'

const DAY_MS = 86_400_000
/** A file may be written in the evening and handed in the next morning. */
const EARLIEST_DAYS = 1
const LATEST_DAYS = 400

export interface Moments {
  readonly executeAtMs: number | null
  readonly expiresAtMs: number | null
}

export type DatesVerdict =
  | 'fits'
  | {
      readonly kind: 'wrong'
      readonly column: 'expires_at'
      readonly value: string
      readonly problem: string
      readonly remedy: string
    }
  /** A person says that it is meant. `code` names the question. */
  | { readonly kind: 'asked'; readonly code: 'execute_at'; readonly problem: string }

/** When the rows of a file, or of a batch of a service, were handed in: what waited in the queue is no older for that. */
export function madeAtOf({ nowMs, queued }: Pick<DraftHeader, 'nowMs' | 'queued'>): number {
  return queued?.queuedAtMs ?? nowMs
}

/** An `execute_at` before or after these is asked about. `madeAtMs`: when the row was handed in, or its message was made. */
export function executeAtBounds(madeAtMs: number): { readonly earliestMs: number; readonly latestMs: number } {
  return { earliestMs: madeAtMs - EARLIEST_DAYS * DAY_MS, latestMs: madeAtMs + LATEST_DAYS * DAY_MS }
}

/** `accepted`: a person said that a far `execute_at` is meant. */
export function judgeDates({ executeAtMs, expiresAtMs }: Moments, madeAtMs: number, accepted: boolean): DatesVerdict {
  if (expiresAtMs !== null && expiresAtMs <= madeAtMs)
    return { kind: 'wrong', column: 'expires_at', value: isoOf(expiresAtMs), ...EXPIRED }
  if (executeAtMs === null || accepted) return 'fits'
  const { earliestMs, latestMs } = executeAtBounds(madeAtMs)
  if (executeAtMs < earliestMs)
    return asked(`execute_at ${isoOf(executeAtMs)} is more than a day ago: the row would be sent at once`)
  if (executeAtMs > latestMs)
    return asked(
      `execute_at ${isoOf(executeAtMs)} is more than ${LATEST_DAYS} days ahead: the row would wait until then`,
    )
  return 'fits'
}

function asked(problem: string): DatesVerdict {
  return { kind: 'asked', code: 'execute_at', problem }
}

const EXPIRED = {
  problem: 'has already passed: the row would not be sent',
  remedy: 'write a later moment, or take the row out',
}

/** Whether a row leaves more than so many days after its authorization or sale was approved. null: it is not asked. */
export function isOver(
  { atMs, executeAtMs }: { readonly atMs: number; readonly executeAtMs: number | null },
  nowMs: number,
  days: number | null,
): boolean {
  return days !== null && Math.max(nowMs, executeAtMs ?? 0) > atMs + days * DAY_MS
}

/** Until when a row may be sent that names no `expires_at`, by the limit of its file; null: it does not expire. */
export function expiryBy(executeAtMs: number | null, handedInMs: number, expiresAfterMs: number | null): number | null {
  return expiresAfterMs === null ? null : Math.max(handedInMs, executeAtMs ?? 0) + expiresAfterMs
}

export function expiredReason(expiresAtMs: number): string {
  return `expired at ${isoOf(expiresAtMs)}: not sent`
}
