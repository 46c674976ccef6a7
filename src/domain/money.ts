// Money as whole minor units with a currency. No floating point comes near an amount.

import { EXPONENTS } from './currencies.ts'
import { toUpperAscii } from './keyword.ts'

/** An ISO 4217 code that is in the list of `currencies.ts`. Made by `parseCurrency` only. */
export type Currency = string & { readonly __brand: 'Currency' }

export interface Money {
  readonly amountMinor: bigint
  readonly currency: Currency
}

/** The most digits an amount may have, minor units included: it then fits SQLite's integers and a double exactly. */
const MAX_DIGITS = 15

export function parseCurrency(text: string): Currency | undefined {
  const code = toUpperAscii(text.trim())
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
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text)
  if (match === null) return 'not-a-number'
  const whole = match[1] as string
  const decimals = match[2] ?? ''
  const exponent = exponentOf(currency)
  if (decimals.length > exponent) return 'too-many-decimals'
  const digits = (whole + decimals.padEnd(exponent, '0')).replace(/^0+(?=\d)/, '')
  if (digits.length > MAX_DIGITS) return 'too-large'
  return { amountMinor: BigInt(digits), currency }
}

/** `{1230n, EUR}` → `12.30`; `{5n, JPY}` → `5`. The form the gateway is sent and every output uses. */
export function formatAmount(money: Money): string {
  const exponent = exponentOf(money.currency)
  const digits = money.amountMinor.toString().padStart(exponent + 1, '0')
  return exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`
}

/**
 * Whether an amount as the gateway wrote it (`12.3000`) is this amount exactly. Compared as decimals of any length:
 * the gateway answers with four decimals whatever the currency.
 */
export function sameAmount(answered: string, asked: Money): boolean {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(answered.trim())
  if (match === null) return false
  const plain = (whole: string, decimals: string) => `${whole.replace(/^0+(?=\d)/, '')}.${decimals.replace(/0+$/, '')}`
  const [whole, decimals = ''] = formatAmount(asked).split('.')
  return plain(match[1] as string, match[2] ?? '') === plain(whole as string, decimals)
}
