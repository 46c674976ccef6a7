// What a person types as a total, and what it is read as.

import { expect, test } from 'vitest'
import { type Currency, formatAmount } from '../../src/domain/money.ts'
import { parseNamedTotal, parseWrittenTotal } from '../../src/domain/written-amount.ts'

function readAs(typed: string, currency: string): string {
  const read = parseWrittenTotal(typed, currency as Currency)
  return typeof read === 'string' ? read : `${read.currency} ${formatAmount(read)}`
}

test.each([
  ...['10.879,77', '10 879,77', '10,879.77', '10879.77', '10879,77', "10'879.77", '10\u202f879,77', ' 10879.77 '],
  ...['EUR 10.879,77', '10 879,77 EUR', 'eur10,879.77', '10.879,77eur'],
  ...['10 879,77 €', '€ 10.879,77', '€10,879.77', '10.879,77\u00a0€'],
])('%s is 10879.77 in EUR', (typed) => {
  expect(readAs(typed, 'EUR')).toBe('EUR 10879.77')
})

test.each([
  ...([['9', 'EUR', 'EUR 9.00'] as const, ['9,5', 'EUR', 'EUR 9.50'], ['1.234', 'EUR', 'EUR 1234.00']] as const),
  ...([['1.234', 'JPY', 'JPY 1234'] as const, ['0,234', 'KWD', 'KWD 0.234'], ['01,234', 'KWD', 'KWD 1.234']] as const),
  ...([['1.234,000', 'KWD', 'KWD 1234.000'] as const, ['9.00 USD', 'EUR', 'USD 9.00']] as const),
  ...([
    ['$9.00', 'USD', 'USD 9.00'] as const,
    ['9,00 kr', 'SEK', 'SEK 9.00'],
    ['CHF 9.00', 'CHF', 'CHF 9.00'],
  ] as const),
])('%s in %s is %s', (typed, currency, read) => {
  expect(readAs(typed, currency)).toBe(read)
})

test('what could be two numbers of the currency is neither', () => {
  expect(readAs('1.234', 'KWD')).toBe('ambiguous')
  expect(readAs('KWD 1,234', 'KWD')).toBe('ambiguous')
})

test.each([
  '',
  'EUR',
  '10.879.77',
  '1,0879.77',
  '10,8797',
  '-9.00',
  '9.00 EUR EUR',
  'EUR 9.00 EUR',
  'XYZ 9.00',
  '9 rows',
  '€ 9.00 €',
  '$ 9.00',
  '€',
  '٩',
])('“%s” cannot be read in EUR', (typed) => {
  expect(readAs(typed, 'EUR')).toBe('unread')
})

test.each([
  ...(['EUR 10.879,77', '10 879,77 EUR', 'eur=10879.77', 'EUR=10,879.77'] as const).map(
    (text) => [text, 'EUR 10879.77'] as const,
  ),
  ...([
    ['KWD 12.345', 'KWD 12.345'],
    ['KWD=1.234,000', 'KWD 1234.000'],
    ['KWD 1,234', null],
  ] as const),
  ...([
    ['10879.77', null],
    ['EUR', null],
    ['EUR=9.00 USD', null],
    ['XYZ 9.00', null],
    ['EUR=-9', null],
  ] as const),
])('%s names the total %s', (text, total) => {
  const read = parseNamedTotal(text)
  expect(read && `${read.currency} ${formatAmount(read)}`).toBe(total)
})
