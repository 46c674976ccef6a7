// Whether a claim keeps within what may leave or come on one day. Pure.

import {
  type AboveLimit,
  type DailyLimits,
  directionText,
  isAboveLimit,
  type LimitedAmount,
} from '../../domain/daily-limit.ts'
import { formatAmount } from '../../domain/money.ts'
import type { State } from '../../domain/states.ts'

/** A row in these states moved its money, or may have: it counts towards the limit of the day of its claim. */
export const COUNTED: readonly State[] = ['SENDING', 'IN_DOUBT', 'APPROVED']

export function countsTowardsLimit(state: State): boolean {
  return COUNTED.includes(state)
}

/**
 * `spentMinor`: what counts already on that day. `mayExceed`: a person has accepted that the row is above the whole limit. It then has a day
 * to itself.
 */
export function fitsLimit(
  { amountMinor, limitMinor }: Pick<LimitedAmount, 'amountMinor' | 'limitMinor'>,
  spentMinor: bigint,
  mayExceed: boolean,
): boolean {
  return spentMinor + amountMinor <= limitMinor || (mayExceed && spentMinor === 0n)
}

/**
 * Whether a person has accepted that a row is above this limit. `acceptedMinor`: the limit that they were asked about; null: they were not.
 * An acceptance of a higher limit does not count for a lower one.
 */
export function isAccepted({ limitMinor }: Pick<LimitedAmount, 'limitMinor'>, acceptedMinor: bigint | null): boolean {
  return acceptedMinor !== null && acceptedMinor <= limitMinor
}

/** By when of the next day all that did not fit is due again. */
export const NEXT_DAY_BY_MS = 60_000

/** A row that needs a day to itself is due at its beginning, and all others a minute later: it would never find an empty day otherwise. */
export function dueAfterLimit(limited: LimitedAmount, mayExceed: boolean): number {
  const { endsAtMs } = limited.day
  return isAboveLimit(limited) && mayExceed ? endsAtMs : endsAtMs + NEXT_DAY_BY_MS
}

/** Whether a day that was limited like this still is. */
export function isSameLimit(
  { timeZone, currency, limitMinor }: Pick<LimitedAmount, 'timeZone' | 'currency' | 'limitMinor'>,
  limits: DailyLimits | null,
): boolean {
  return limits?.timeZone === timeZone && limits.amounts.get(currency) === limitMinor
}

/** Why a message is refused. */
export function aboveLimitText({
  direction,
  currency,
  limitMinor,
  largestMinor,
}: Omit<AboveLimit, 'rows' | 'firstLine'>): string {
  const amount = (amountMinor: bigint) => `${formatAmount({ amountMinor, currency })} ${currency}`
  return `${amount(largestMinor)} is above the limit of ${amount(limitMinor)} a day for ${directionText(direction)}`
}
