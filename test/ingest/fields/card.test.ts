// What is a number, a code, an expiry of a card, and what is wrong with one.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isProblem } from '../../../src/domain/problem.ts'
import {
  parseCardCode,
  parseCardExpiry,
  parseCardNumber,
  parseExpiryMonth,
  parseExpiryYear,
  toExpiry,
} from '../../../src/ingest/fields/card.ts'
import {
  AMEX,
  card,
  cardNumber,
  expiryText,
  grouped,
  hasNumberInFront,
  NOW,
  VISA,
  withCheckDigit,
} from '../cards/card-files.ts'

const problemOf = (parsed: unknown) => (isProblem(parsed) ? String(parsed.problem) : parsed)

describe('a card number', () => {
  test('is read with blanks or hyphens between its groups', () => {
    fc.assert(
      fc.property(cardNumber, fc.constantFrom('', ' ', '-', '\u00a0', ' - ', '\u2011'), (number, sign) => {
        fc.pre(sign === '' || !hasNumberInFront(number))
        expect(parseCardNumber(grouped(number, sign))).toBe(number)
      }),
    )
  })

  test('with its code behind it is none, though all of it may fit', () => {
    for (const text of ['4012888888881881 508', '4111111111111111-123', '378282246310005 9173'])
      expect(problemOf(parseCardNumber(text))).toContain('behind a whole card number')
  })

  test('with one digit wrong, or two neighbours swapped, is none', () => {
    fc.assert(
      fc.property(cardNumber, fc.nat(13), fc.integer({ min: 1, max: 9 }), (number, at, more) => {
        const other = (Number(number[at]) + more) % 10
        expect(isProblem(parseCardNumber(number.slice(0, at) + other + number.slice(at + 1)))).toBe(true)
      }),
    )
  })

  test.each([
    ['4.11111E+15', 'rounded number'],
    ['4,11111E15', 'rounded number'],
    ['4111111111111111.0', 'decimal number'],
    ['4111111111111110', 'only zeros after its 15th digit'],
    [withCheckDigit('411111111111111000').replace(/.$/, '0'), 'only zeros after its 15th digit'],
    ['411111******1111', 'is masked'],
    ['XXXX XXXX XXXX 1111', 'is masked'],
    ['41111111111', 'has 11 digits'],
    ['41111111111111111111', 'has 20 digits'],
    ['9111111111111111', 'begins as no card number'],
    ['411111111111111', 'begins as no card number'],
    ['4111111111111112', 'check digit'],
    ['card 4111', 'is not digits only'],
    ['４１１１１１１１１１１１１１１１', 'is not digits only'],
    ["'4111111111111111", 'apostrophe'],
    ['=4111111111111111', 'formula'],
    ['4111111111111111\u200b', 'invisible character'],
  ])('%s is none, and it is said why', (text, why) => {
    expect(problemOf(parseCardNumber(text))).toContain(why)
  })

  test('that ends in a zero is one, unless a workbook stores it as a number', () => {
    expect(parseCardNumber('3530111333300000')).toBe('3530111333300000')
    expect(problemOf(parseCardNumber('3530111333300000', 'number'))).toContain('only zeros')
    expect(parseCardNumber(AMEX, 'number')).toBe(AMEX)
  })

  test('that is wrong is not repeated', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[\d x*.E+-]{5,24}$/), (text) => {
        const parsed = parseCardNumber(text)
        if (!isProblem(parsed)) return
        const told = JSON.stringify(parsed)
        for (const run of text.match(/\d{4,}/g) ?? []) expect(told).not.toContain(run)
      }),
    )
  })
})

describe('a code', () => {
  test('has three digits, and four for American Express', () => {
    expect(parseCardCode('012', VISA)).toBe('012')
    expect(parseCardCode('0123', AMEX)).toBe('0123')
    expect(problemOf(parseCardCode('1234', VISA))).toContain('more digits than the 3')
    expect(problemOf(parseCardCode('123', AMEX))).toContain('American Express')
    expect(problemOf(parseCardCode('123', '340000000000009'))).toContain('American Express')
    for (const code of ['123', '1234']) expect(parseCardCode(code, null)).toBe(code)
  })

  test('whose leading zero a spreadsheet took is told so', () => {
    for (const [code, number] of [
      ['12', VISA],
      ['7', VISA],
      ['123', AMEX],
      ['12', null],
    ] as const)
      expect(problemOf(parseCardCode(code, number))).toContain('leading zero')
  })

  test.each(['12a', '***', '１２３', '123.0', '1 23', "'012", '1E+02'])('%s is none', (text) => {
    expect(isProblem(parseCardCode(text, VISA))).toBe(true)
  })
})

describe('an expiry', () => {
  test.each(['04/2031', '4/2031', '04/31', '4/31', '04-2031', '04-31', '0431', '04 / 31'])(
    '%s is April 2031',
    (text) => {
      expect(parseCardExpiry(text, NOW)).toEqual({ month: '04', year: '2031' })
    },
  )

  test.each([
    ['431', 'leading zero'],
    ['13/2031', 'not a month and a year'],
    ['00/31', 'not a month and a year'],
    ['2031-04', 'not a month and a year'],
    ['2031-04-01', 'not a month and a year'],
    ['Apr 31', 'not a month and a year'],
    ['04/1931', 'not a month and a year'],
    ['04/203', 'not a month and a year'],
    ["'0431", 'apostrophe'],
  ])('%s is none', (text, why) => {
    expect(problemOf(parseCardExpiry(text, NOW))).toContain(why)
  })

  test('is good to the end of its month, UTC', () => {
    expect(isProblem(parseCardExpiry('11/2026', Date.UTC(2026, 11, 1) - 1))).toBe(false)
    expect(problemOf(parseCardExpiry('11/2026', Date.UTC(2026, 11, 1)))).toBe('has expired')
    expect(problemOf(parseCardExpiry('12/2025', NOW))).toBe('has expired')
  })

  test('is not more than 30 years ahead', () => {
    expect(isProblem(parseCardExpiry('11/2056', NOW))).toBe(false)
    expect(problemOf(parseCardExpiry('12/2056', NOW))).toContain('30 years')
    expect(problemOf(parseCardExpiry('04/99', NOW))).toContain('30 years')
  })

  test('in two columns is the same one', () => {
    fc.assert(
      fc.property(card, (one) => {
        const { month, year } = one.expiry
        expect(parseCardExpiry(expiryText(one), NOW)).toEqual(one.expiry)
        expect(toExpiry(String(Number(month)), year.slice(2), NOW)).toEqual(one.expiry)
      }),
    )
    expect([parseExpiryMonth('4'), parseExpiryYear('31'), parseExpiryYear('2031')]).toEqual(['4', '31', '2031'])
    for (const wrong of [parseExpiryMonth('13'), parseExpiryMonth('0'), parseExpiryYear('9'), parseExpiryYear('1931')])
      expect(isProblem(wrong)).toBe(true)
  })
})
