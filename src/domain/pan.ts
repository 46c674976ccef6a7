// Finds card numbers in any text: issuer range, length and Luhn together. Luhn alone hits one millisecond time in ten.

// Issuer ranges as [first six digits from, to, lengths]. Source: ISO/IEC 7812 ranges as published by the networks.
const RANGES: ReadonlyArray<readonly [from: number, to: number, lengths: readonly number[]]> = [
  [400000, 499999, [13, 16, 19]], // Visa
  [510000, 559999, [16]], // Mastercard
  [222100, 272099, [16]], // Mastercard 2-series
  [340000, 349999, [15]], // American Express
  [370000, 379999, [15]], // American Express
  [300000, 305999, [14, 16]], // Diners Club
  [309500, 309599, [14, 16]], // Diners Club
  [360000, 369999, [14, 16]], // Diners Club
  [380000, 399999, [14, 16]], // Diners Club
  [601100, 601199, [16, 19]], // Discover
  [644000, 659999, [16, 19]], // Discover
  [352800, 358999, [16, 17, 18, 19]], // JCB
  [620000, 629999, [16, 17, 18, 19]], // UnionPay
  [500000, 509999, [13, 14, 15, 16, 17, 18, 19]], // Maestro
  [560000, 589999, [13, 14, 15, 16, 17, 18, 19]], // Maestro
  [639000, 639099, [16, 17, 18, 19]], // Maestro
  [670000, 679999, [13, 14, 15, 16, 17, 18, 19]], // Maestro
]

/** First digits of the ranges above. Most ids fall out here, which keeps masking cheap on every answer. */
const MAY_BEGIN = /[2-6]/

/** Any space in a line, any dash: numbers that were copied from a page or a document have spaces that do not break. */
const SEPARATOR = /[\p{Zs}\p{Pd}\u2212]/gu
/** Digits with single separators between them: a card number may stand anywhere in such a run. */
const RUN = /\d(?:[\p{Zs}\p{Pd}\u2212]?\d){12,}/gu
const LONGEST = 19
const SHORTEST = 13
/** With a space or a dash between any two digits. */
const LONGEST_WRITTEN = 2 * LONGEST - 1

/** Whether the text holds something that is a card number by range, length and check digit. */
export function holdsPan(text: string): boolean {
  if (text.length < SHORTEST) return false
  for (const run of text.matchAll(RUN)) if (findPan(text, run.index, run[0]) !== null) return true
  return false
}

/**
 * The text with every card number cut down to its first six and last four digits, in one piece. Only digits are put in,
 * so that a JSON line with an unquoted number stays JSON.
 */
export function maskPans(text: string): string {
  if (text.length < SHORTEST) return text
  return text.replace(RUN, (run, at: number) => maskRun(text, at, run))
}

/** From one card number to the next: a run may hold as many as fit a text. */
function maskRun(text: string, at: number, run: string): string {
  let masked = ''
  let rest = run
  for (;;) {
    const found = findPan(text, at + run.length - rest.length, rest)
    if (found === null) return masked + rest
    const digits = rest.slice(found.from, found.to).replace(SEPARATOR, '')
    masked += rest.slice(0, found.from) + digits.slice(0, 6) + '0'.repeat(digits.length - 10) + digits.slice(-4)
    rest = rest.slice(found.to)
  }
}

/**
 * The first card number in a run of digits. Written in one piece it must be a piece of its own: an id of twenty digits
 * has a "card number" somewhere in it far too often. Written in groups it may begin and end at any group.
 */
function findPan(text: string, at: number, run: string): { from: number; to: number } | null {
  for (let from = 0; from <= run.length - SHORTEST; from++) {
    if (!MAY_BEGIN.test(run.charAt(from)) || isDigit(run, from - 1)) continue
    if (from === 0 && isFraction(text, at)) continue
    // No further than the longest number reaches: a cell may be a run of thousands of digits.
    for (let to = Math.min(run.length, from + LONGEST_WRITTEN); to >= from + SHORTEST; to--) {
      if (!isDigit(run, to - 1) || isDigit(run, to)) continue
      const digits = run.slice(from, to).replace(SEPARATOR, '')
      if (digits.length < SHORTEST || digits.length > LONGEST) continue
      if (isPan(digits)) return { from, to }
    }
  }
  return null
}

function isDigit(text: string, at: number): boolean {
  const character = text[at]
  return character !== undefined && character >= '0' && character <= '9'
}

/** The decimals of a number such as `0.4111111111111111` are no card number. */
function isFraction(text: string, at: number): boolean {
  return text[at - 1] === '.' && /\d/.test(text[at - 2] ?? '')
}

function isPan(digits: string): boolean {
  return isInRange(digits) && passesLuhn(digits)
}

function isInRange(digits: string): boolean {
  const iin = Number(digits.slice(0, 6))
  return RANGES.some(([from, to, lengths]) => iin >= from && iin <= to && lengths.includes(digits.length))
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
