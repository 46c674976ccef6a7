import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Currency,
  exponentOf,
  formatAmount,
  parseAmount,
  parseCurrency,
  sameAmount,
} from '../../src/domain/money.ts'

const [EUR, JPY, KWD] = ['EUR', 'JPY', 'KWD'] as unknown as readonly [Currency, Currency, Currency]
const money = fc.record({
  amountMinor: fc.bigInt({ min: 0n, max: 999_999_999_999_999n }),
  currency: fc.constantFrom(EUR, JPY, KWD),
})

test('any amount is read back from what is written', () => {
  fc.assert(
    fc.property(money, (one) => {
      expect(parseAmount(formatAmount(one), one.currency)).toEqual(one)
    }),
  )
})

test('any amount is the same as itself with zeros added before and behind, and as no other', () => {
  fc.assert(
    fc.property(money, fc.nat({ max: 6 }), fc.nat({ max: 6 }), (one, before, behind) => {
      const text = formatAmount(one)
      const point = text.includes('.') ? '' : behind > 0 ? '.' : ''
      expect(sameAmount(`${'0'.repeat(before)}${text}${point}${'0'.repeat(behind)}`, one)).toBe(true)
      expect(sameAmount(formatAmount({ ...one, amountMinor: one.amountMinor + 1n }), one)).toBe(false)
      expect(sameAmount(`${text}${text.includes('.') ? '' : '.'}0001`, one)).toBe(false)
    }),
  )
})

describe('amounts', () => {
  test.each([
    ['12', EUR, 1200n],
    ['12.3', EUR, 1230n],
    ['0012.30', EUR, 1230n],
    ['0', EUR, 0n],
    ['5', JPY, 5n],
    ['1.234', KWD, 1234n],
    ['9999999999999.99', EUR, 999_999_999_999_999n],
  ])('%s is read', (text, currency, amountMinor) => {
    expect(parseAmount(text, currency)).toEqual({ amountMinor, currency })
  })

  test.each([
    ['1.234', EUR, 'too-many-decimals'],
    ['12.300', EUR, 'too-many-decimals'],
    ['5.0', JPY, 'too-many-decimals'],
    ['99999999999999.99', EUR, 'too-large'],
    ['', EUR, 'not-a-number'],
    ['-1', EUR, 'not-a-number'],
    ['+1', EUR, 'not-a-number'],
    ['1,2', EUR, 'not-a-number'],
    ['1 000', EUR, 'not-a-number'],
    ['.5', EUR, 'not-a-number'],
    ['5.', EUR, 'not-a-number'],
    ['1e3', EUR, 'not-a-number'],
    ['0x10', EUR, 'not-a-number'],
    ['١٢', EUR, 'not-a-number'],
    ['1\n', EUR, 'not-a-number'],
  ])('%j is a fault', (text, currency, fault) => {
    expect(parseAmount(text, currency)).toBe(fault)
  })

  test.each([
    [1230n, EUR, '12.30'],
    [5n, EUR, '0.05'],
    [0n, EUR, '0.00'],
    [5n, JPY, '5'],
    [7n, KWD, '0.007'],
  ])('%s of %s is written %s', (amountMinor, currency, text) => {
    expect(formatAmount({ amountMinor, currency })).toBe(text)
  })

  test.each(['', 'x', '-12.30', '12.30 EUR', '1e1', 'NaN'])('an answer of %j is not 12.30', (text) => {
    expect(sameAmount(text, { amountMinor: 1230n, currency: EUR })).toBe(false)
  })
})

describe('currencies', () => {
  test('are known by their code in any letter case', () => {
    expect(parseCurrency(' eur ')).toBe('EUR')
    expect(exponentOf(KWD)).toBe(3)
  })

  test.each(['', 'EU', 'EURO', 'XYZ1', 'constructor', '__proto__'])('%j is none', (text) => {
    expect(parseCurrency(text)).toBeUndefined()
  })
})

test('a currency is written in the letters A to Z, small or capital', () => {
  expect([' eur ', 'Usd', 'INR'].map(parseCurrency)).toEqual(['EUR', 'USD', 'INR'])
  for (const other of ['\u0131nr', '\u017fgd', 'u\u017fd', '\uff25UR', 'EU\u0280'])
    expect(parseCurrency(other)).toBeUndefined()
})
