// What digits must be to be a card number: in the range of an issuer, as long as its numbers are, with a check digit that fits.

import { ISSUER_RANGES } from './issuer-ranges.ts'

export const SHORTEST_PAN = 12
export const LONGEST_PAN = 19

/** By the first two digits, whether any issuer has numbers of a length: most ids fall out here. */
const BEGINNINGS = Uint8Array.from({ length: 100 }, (_, two) =>
  ISSUER_RANGES.reduce(
    (all, [from, to, lengths]) => (from < (two + 1) * 10_000 && to >= two * 10_000 ? all | lengths : all),
    0,
  ),
)

/** `iin`: the first six digits. */
export function isIssued(iin: number, length: number): boolean {
  const bit = 1 << (length - SHORTEST_PAN)
  if (((BEGINNINGS[Math.floor(iin / 10_000)] as number) & bit) === 0) return false
  return ISSUER_RANGES.some(([from, to, lengths]) => iin >= from && iin <= to && (lengths & bit) !== 0)
}

export function isInRange(digits: string): boolean {
  return isIssued(Number(digits.slice(0, 6)), digits.length)
}

/**
 * Whether the text may be a card number that a spreadsheet took for a number: it keeps 15 digits and makes the others
 * zeros, so that the check digit is lost and range and length alone must do. There is always a last digit that fits.
 */
export function isRoundedPan(text: string): boolean {
  return /^\d{15}0{1,4}$/.test(text) && isInRange(text)
}

export function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    const doubled = i % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
