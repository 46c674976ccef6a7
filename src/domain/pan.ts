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

const CANDIDATE = /(?<![\d.])\d(?:[ -]?\d){12,18}(?!\d)/g

/** Whether the text holds something that is a card number by range, length and check digit. */
export function holdsPan(text: string): boolean {
  if (text.length < 13) return false
  for (const match of text.matchAll(CANDIDATE)) if (isPan(digitsOf(match[0]))) return true
  return false
}

/**
 * The text with every card number cut down to its first six and last four digits. The number of characters stays, and
 * only digits are put in, so that a JSON line with an unquoted number stays JSON.
 */
export function maskPans(text: string): string {
  if (text.length < 13) return text
  return text.replace(CANDIDATE, (found) => {
    if (!isPan(digitsOf(found))) return found
    const digits = digitsOf(found)
    return digits.slice(0, 6) + '0'.repeat(digits.length - 10) + digits.slice(-4)
  })
}

function digitsOf(text: string): string {
  return text.replace(/[ -]/g, '')
}

function isPan(digits: string): boolean {
  const iin = Number(digits.slice(0, 6))
  const inRange = RANGES.some(([from, to, lengths]) => iin >= from && iin <= to && lengths.includes(digits.length))
  return inRange && passesLuhn(digits)
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
