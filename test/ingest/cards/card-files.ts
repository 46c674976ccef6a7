// Card numbers that were never issued, and files that have them.

import fc from 'fast-check'
import type { CardDetails } from '../../../src/domain/card.ts'
import { passesLuhn } from '../../../src/domain/card-number.ts'
import type { ReadingOptions } from '../../../src/ingest/inspect-records.ts'

export const NOW = Date.UTC(2026, 10, 22)
export const TAKEN = { cards: 'taken', nowMs: NOW } as const satisfies Partial<ReadingOptions>

export const VISA = '4111111111111111'
export const AMEX = '378282246310005'

const digits = (count: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: count, maxLength: count }).map((all) => all.join(''))

export function withCheckDigit(start: string): string {
  return [...'0123456789'].map((last) => start + last).find(passesLuhn) as string
}

const BRANDS = [
  ['4', 16],
  ['51', 16],
  ['37', 15],
  ['3056', 14],
  ['6011', 19],
] as const

/** Of several issuers and lengths; never ending as a spreadsheet cuts off. */
export const cardNumber = fc
  .constantFrom(...BRANDS)
  .chain(([start, length]) => digits(length - start.length - 1).map((rest) => withCheckDigit(start + rest)))
  .filter((number) => !/^\d{15}0{2,}$/.test(number))

export const card: fc.Arbitrary<CardDetails> = fc
  .tuple(cardNumber, digits(4), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 2027, max: 2056 }))
  .filter(([, , month, year]) => year < 2056 || month < 11)
  .map(([number, code, month, year]) => ({
    number,
    code: /^3[47]/.test(number) ? code : code.slice(1),
    expiry: { month: String(month).padStart(2, '0'), year: String(year) },
  }))

export const expiryText = ({ expiry: { month, year } }: CardDetails) => `${month}/${year}`

/** 19 digits of which the first 16 are a number by themselves: parted there they are taken for a number and its code. */
export const hasNumberInFront = (number: string) => number.length === 19 && passesLuhn(number.slice(0, 16))

/** In groups of four, by a sign. */
export const grouped = (number: string, sign: string) => number.replace(/(?<=^(?:.{4})+)(?=.)/g, sign)

export const masked = (number: string) => `${number.slice(0, 6)}${'*'.repeat(number.length - 10)}${number.slice(-4)}`

export const PAYMENTS = [
  ...['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id', 'customer_vault_id'],
  ...['pmt_numb', 'pmt_key', 'pmt_expiry', 'note'],
]

export type Cells = Readonly<Partial<Record<string, string>>>

export const tableOf = (columns: readonly string[], rows: readonly Cells[]) => [
  columns,
  ...rows.map((cells) => columns.map((name) => cells[name] ?? '')),
]

export const csvOf = (columns: readonly string[], rows: readonly Cells[]) =>
  tableOf(columns, rows)
    .map((cells) => cells.map((text) => `"${text}"`).join(','))
    .join('\n')

export const SALE: Cells = {
  ...{ reference: 'R-1', transaction_type: 'CAPTURE', amount: '12.30', request_currency: 'EUR' },
  ...{ pmt_numb: VISA, pmt_key: '123', pmt_expiry: '04/2031' },
}
