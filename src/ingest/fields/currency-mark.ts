// How a currency is written beside an amount: its code, its signs, and what people write for them.

import type { Currency } from '../../domain/money.ts'

/** Beside the code and the signs that Unicode has for a currency; in small letters, without a point. */
const WRITTEN_ALSO: Readonly<Record<string, readonly string[]>> = {
  ...{ EUR: ['euro', 'euros'], GBP: ['￡'], CHF: ['fr', 'sfr'], PLN: ['zl'], BGN: ['лв'], RSD: ['din', 'дин'] },
  ...{ USD: ['us$', '$us'], CAD: ['c$', '$ca', 'cdn$'], AUD: ['au$'], SGD: ['s$'], MDL: ['lei'] },
  ...{ INR: ['rs', '₨'], PKR: ['₨'], LKR: ['₨'], NPR: ['₨'], MUR: ['₨'], RUB: ['руб'], UAH: ['грн'], TRY: ['tl'] },
  ...{ JPY: ['￥', '円', 'jp¥'], CNY: ['￥', '元', 'rmb'], KRW: ['원', '￦'], TWD: ['元'] },
}

const MARKS = new Map<Currency, ReadonlySet<string>>()

/** Whether the mark may stand for the currency. A sign of several currencies, such as $, may stand for each. */
export function mayMark(mark: string, currency: Currency): boolean {
  return marksOf(currency).has(mark.toLowerCase())
}

function marksOf(currency: Currency): ReadonlySet<string> {
  let marks = MARKS.get(currency)
  if (marks === undefined) {
    const signs = (['code', 'symbol', 'narrowSymbol'] as const).map((display) => signOf(currency, display))
    marks = new Set([currency, ...signs, ...(WRITTEN_ALSO[currency] ?? [])].map((sign) => sign.toLowerCase()))
    MARKS.set(currency, marks)
  }
  return marks
}

function signOf(currency: Currency, currencyDisplay: 'code' | 'symbol' | 'narrowSymbol'): string {
  const parts = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay }).formatToParts(1)
  return parts.find(({ type }) => type === 'currency')?.value ?? currency
}
