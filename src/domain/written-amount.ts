// Amounts as people write them: digits with one decimal sign, and thousands parted by another.

import { type Currency, formatAmount, type Money, parseCurrency, parseTotal } from './money.ts'

export type DecimalSign = '.' | ','

// Thousands are parted by the other sign, an apostrophe or a space, always the same one, three digits each. A grouped
// number does not begin with 0: `0,123` is never 123.
const GROUPS = "'’ \\u00a0\\u202f\\u2009"
const UNDER: Readonly<Record<DecimalSign, RegExp>> = {
  '.': new RegExp(`^(\\d+|[1-9]\\d{0,2}([,${GROUPS}])\\d{3}(?:\\2\\d{3})*)(?:\\.(\\d+))?$`),
  ',': new RegExp(`^(\\d+|[1-9]\\d{0,2}([.${GROUPS}])\\d{3}(?:\\2\\d{3})*)(?:,(\\d+))?$`),
}

/** The amount as a plain decimal (`1234.56`) if it is one under this sign, else null. */
export function readUnder(text: string, sign: DecimalSign): string | null {
  const match = UNDER[sign].exec(text)
  if (match === null) return null
  const whole = match[2] === undefined ? (match[1] as string) : (match[1] as string).replace(/\D/g, '')
  return match[3] === undefined ? whole : `${whole}.${match[3]}`
}

/** Of what a person types as a total. */
const LONGEST = 200

/**
 * A total as a person writes it, with or without its currency or the sign of the expected one before or behind it, under whichever sign it has no more decimals
 * than the currency. `1.234` is one number in EUR, and two in KWD.
 */
export function parseWrittenTotal(text: string, expected: Currency): Money | 'unread' | 'ambiguous' {
  if (text.length > LONGEST) return 'unread'
  const [, before, amount = '', behind] =
    /^([a-z]{3})?\s*(.*?)\s*([a-z]{3})?$/i.exec(withoutSign(text.trim(), expected)) ?? []
  if (before !== undefined && behind !== undefined) return 'unread'
  const named = before ?? behind
  const currency = named === undefined ? expected : parseCurrency(named)
  if (currency === undefined) return 'unread'
  const read = (['.', ','] as const).flatMap((sign) => {
    const plain = readUnder(amount, sign)
    const money = plain === null ? 'not-a-number' : parseTotal(plain, currency)
    return typeof money === 'object' ? [money] : []
  })
  const [one, other] = read
  if (one === undefined) return 'unread'
  return other === undefined || other.amountMinor === one.amountMinor ? one : 'ambiguous'
}

/** `€`, `$`, `kr`: as it is written where no other is meant. */
function withoutSign(text: string, currency: Currency): string {
  const shown = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })
  const sign = shown.formatToParts(0).find(({ type }) => type === 'currency')?.value ?? currency
  if (/^[A-Z]{3}$/.test(sign)) return text
  if (text.startsWith(sign)) return text.slice(sign.length).trim()
  return text.endsWith(sign) ? text.slice(0, -sign.length).trim() : text
}

/** A total with its currency in front or behind, or `EUR=…`; `KWD=12.345` is read exactly as this program writes it. null: it is none, or two. */
export function parseNamedTotal(text: string): Money | null {
  const [, before, behind] = /^([a-z]{3})[\s=]|([a-z]{3})$/i.exec(text.trim()) ?? []
  const currency = parseCurrency(before ?? behind ?? '')
  if (currency === undefined) return null
  const amount = text.trim().replace(/^[a-z]{3}[\s=]+/i, '')
  const plain = parseTotal(amount, currency)
  const read = typeof plain === 'object' && formatAmount(plain) === amount ? plain : parseWrittenTotal(amount, currency)
  return typeof read === 'object' && read.currency === currency ? read : null
}
