// Money as whole minor units with a currency.

import { EXPONENTS } from './currencies.ts'
import { formatDecimal } from './decimal.ts'
import { toUpperAscii } from './keyword.ts'

/** An ISO 4217 code that is in the list of `currencies.ts`. Made by `parseCurrency` only. */
export type Currency = string & { readonly __brand: 'Currency' }

export interface Money {
  readonly amountMinor: bigint
  readonly currency: Currency
}

/** The most digits an amount may have, minor units included: it then fits SQLite's integers and a double exactly. */
const MAX_DIGITS = 15
/** A sum of as many amounts as a ledger can hold has fewer. */
const MAX_TOTAL_DIGITS = 30

export function parseCurrency(text: string): Currency | undefined {
  const code = Object.hasOwn(EXPONENTS, text) ? text : toUpperAscii(text.trim())
  return Object.hasOwn(EXPONENTS, code) ? (code as Currency) : undefined
}

/** Decimals that ISO 4217 gives the currency: EUR 2, JPY 0, KWD 3. */
export function exponentOf(currency: Currency): number {
  return EXPONENTS[currency] as number
}

export type AmountFault = 'not-a-number' | 'too-many-decimals' | 'too-large'

/**
 * Reads a plain decimal (`12`, `12.3`, `12.30`: ASCII digits, a point, no sign, no grouping) into minor units.
 * More decimals than the currency has is a fault, even if they are zeros: the file means another currency or scale.
 */
export function parseAmount(text: string, currency: Currency): Money | AmountFault {
  return parseMinor(text, currency, MAX_DIGITS)
}

/** A sum of amounts, written as they are. */
export function parseTotal(text: string, currency: Currency): Money | AmountFault {
  return parseMinor(text, currency, MAX_TOTAL_DIGITS)
}

function parseMinor(text: string, currency: Currency, mostDigits: number): Money | AmountFault {
  const read = readPlain(text)
  if (read === null) return 'not-a-number'
  const { whole, decimals } = read
  const exponent = exponentOf(currency)
  if (decimals.length > exponent) return 'too-many-decimals'
  if (whole.length + exponent > mostDigits) return 'too-large'
  return { amountMinor: BigInt(whole + decimals.padEnd(exponent, '0')), currency }
}

/** Of any length, so nothing is computed. The whole part comes without the zeros in front of it. */
function readPlain(text: string): { readonly whole: string; readonly decimals: string } | null {
  const [, whole, decimals = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  return whole === undefined ? null : { whole: whole.replace(/^0+(?=\d)/, ''), decimals }
}

/** `{1230n, EUR}` → `12.30`; `{5n, JPY}` → `5`. The form the gateway is sent and every output uses. */
export function formatAmount({ amountMinor, currency }: Money): string {
  return formatDecimal({ digits: amountMinor, decimals: exponentOf(currency) })
}

/**
 * Whether an amount as the gateway wrote it (`12.3000`) is this amount exactly. Compared as decimals of any length:
 * the gateway answers with four decimals whatever the currency.
 */
export function sameAmount(answered: string, asked: Money): boolean {
  return shortest(answered.trim()) === shortest(formatAmount(asked))
}

function shortest(text: string): string | null {
  const read = readPlain(text)
  return read === null ? null : `${read.whole}.${read.decimals.replace(/0+$/, '')}`
}
