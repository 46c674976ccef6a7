import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Currency, exponentOf, formatAmount, type Money } from '../../../src/domain/money.ts'
import { isProblem } from '../../../src/domain/problem.ts'
import { spell } from '../../../src/domain/words.ts'
import type { DecimalSign } from '../../../src/domain/written-amount.ts'
import { parseMoney, parsePlainDecimal } from '../../../src/ingest/fields/amount.ts'
import { AMBIGUOUS, DecimalEvidence, signShownBy } from '../../../src/ingest/fields/decimal-sign.ts'
import { commandLine } from '../../../src/present/command-line.ts'

const EUR = 'EUR' as Currency
const JPY = 'JPY' as Currency
const KWD = 'KWD' as Currency

describe('what an amount shows about its file', () => {
  test.each([
    ['12.34', '.'],
    ['0.5', '.'],
    ['0.123', '.'],
    ['1234.567', '.'],
    ['1,234.5', '.'],
    ['1,234,567', '.'],
    ["1'234.567", '.'],
    ['1.2345', '.'],
    ['12,34', ','],
    ['0,123', ','],
    ['1.234,56', ','],
    ['1.234.567', ','],
    ['1 234,567', ','],
    ['12', 'either'],
    ["1'234", 'either'],
    ['1\u202f234', 'either'],
    ['1.234', 'ambiguous'],
    ['1,234', 'ambiguous'],
    ['999,999', 'ambiguous'],
    ['1,23,4', 'malformed'],
    ['1.234,567.8', 'malformed'],
    ['12.', 'malformed'],
    ['.5', 'malformed'],
    ['', 'malformed'],
    ['1 2345', 'malformed'],
    ['1’234 567', 'malformed'],
  ])('%s: %s', (text, sign) => {
    expect(signShownBy(text)).toBe(sign)
  })
})

describe('the sign of a file', () => {
  const evidenceOf = (...amounts: string[]) => {
    const evidence = new DecimalEvidence()
    amounts.forEach((amount, i) => {
      evidence.see(amount, i + 2)
    })
    return evidence
  }

  test('one amount settles it for all', () => {
    expect(evidenceOf('1.234', '7', '1,234.50').decide(undefined)).toBe('.')
    expect(evidenceOf('1.234', '7,5').decide(undefined)).toBe(',')
  })

  test('without evidence it is not decided', () => {
    expect(evidenceOf('1.234', '1,234', '7').decide(undefined)).toBeNull()
  })

  test('two signs are a structural fault that names the first line of each', () => {
    const fault = evidenceOf('1', '1,50', '2,50', '1.50').decide(undefined)
    expect(fault).toMatchObject({ kind: 'refused', line: 5 })
    expect(isProblem(fault) && fault.problem).toBe('line 5 writes decimals with a point and line 3 with a comma')
  })

  test('what is declared wins over everything', () => {
    expect(evidenceOf('1,50', '1.50').decide(',')).toBe(',')
  })
})

describe('amounts', () => {
  const minor = (text: string, sign: DecimalSign | null, currency = EUR) => {
    const money = parseMoney(parsePlainDecimal(text, sign), currency)
    return isProblem(money) ? money.problem : money.amountMinor
  }

  test('are read in minor units of their currency', () => {
    expect(minor('1.234,5', ',')).toBe(123450n)
    expect(minor('1,234', '.')).toBe(123400n)
    expect(minor('1234', null, JPY)).toBe(1234n)
    expect(minor('1\u00a0234.567', '.', KWD)).toBe(1234567n)
    expect(minor('007.50', '.')).toBe(750n)
  })

  test.each([
    ['-5', 'has a sign'],
    ['+5', 'has a sign'],
    ['5-', 'has a sign'],
    ['−5', 'has a sign'],
    ['(5.00)', 'has a sign'],
    ['1.2E+3', 'is in scientific notation'],
    ['3O.00', 'has a letter in the place of a digit'],
    ['l2.50', 'has a letter in the place of a digit'],
    ['O', 'has letters or a currency symbol in it'],
    ['3O X', 'has letters or a currency symbol in it'],
    ['€5', 'has letters or a currency symbol in it'],
    ['5 EUR', 'has letters or a currency symbol in it'],
    ['5.-', 'has a sign'],
    ['12,34', 'is not an amount with "." as the decimal sign'],
    ['0,123', 'is not an amount with "." as the decimal sign'],
    ['1,23,456', 'is not an amount with "." as the decimal sign'],
    ['5%', 'is not an amount with "." as the decimal sign'],
    ['٣', 'is not an amount with "." as the decimal sign'],
    ['1.234', 'EUR has 2 decimals and this amount has more'],
    ['1.500', 'EUR has 2 decimals and this amount has more'],
    ['0', 'is zero'],
    ['0.00', 'is zero'],
    ['12345678901234.56', 'has more than 15 digits'],
  ])('%s: %s', (text, problem) => {
    expect(minor(text, '.')).toBe(problem)
  })

  test('an ambiguous one in a file that does not settle it names the remedy', () => {
    expect(parsePlainDecimal('1.234', null)).toBe(AMBIGUOUS)
    expect(spell(AMBIGUOUS.remedy, commandLine)).toBe(
      'choose the decimal sign of this file with --decimal . or --decimal ,',
    )
    expect(minor('1,2,3', null)).toBe('is not an amount')
  })

  test('a yen has no decimals', () => {
    expect(minor('5.00', '.', JPY)).toBe('JPY has no decimals and this amount has more')
    for (const [plain, remedy] of [
      ['1200.00', 'if 1200 JPY is meant, write it without the zeros: decimals are not cut'],
      ['1200.50', expect.stringContaining('check the currency')],
      ['1.000', expect.stringContaining('check the currency')],
    ])
      expect(parseMoney(plain, JPY)).toMatchObject({ remedy })
  })
})

const STYLES = fc.record({
  sign: fc.constantFrom<DecimalSign>('.', ','),
  group: fc.constantFrom('', 'other', "'", '’', ' ', '\u00a0', '\u202f'),
})

function written(money: Money, sign: DecimalSign, group: string): string {
  const [whole, decimals] = formatAmount(money).split('.') as [string, string | undefined]
  const between = group === 'other' ? (sign === '.' ? ',' : '.') : group
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, between)
  return decimals === undefined ? grouped : `${grouped}${sign}${decimals}`
}

test('amounts written in one style are read as they were or reported, never as others', () => {
  const files = fc.tuple(
    STYLES,
    fc.constantFrom(EUR, JPY, KWD),
    fc.array(fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }), { minLength: 1, maxLength: 5 }),
  )
  fc.assert(
    fc.property(files, ([{ sign, group }, currency, amounts]) => {
      const evidence = new DecimalEvidence()
      const texts = amounts.map((amountMinor) => written({ amountMinor, currency }, sign, group))
      texts.forEach((text, i) => {
        evidence.see(text, i)
      })
      const decided = evidence.decide(undefined)
      expect(decided === null || decided === sign).toBe(true)
      texts.forEach((text, i) => {
        const money = { amountMinor: amounts[i] as bigint, currency }
        expect(parseMoney(parsePlainDecimal(text, sign), currency)).toEqual(money)
        const undeclared = parseMoney(parsePlainDecimal(text, decided as DecimalSign | null), currency)
        if (isProblem(undeclared)) expect(undeclared).toBe(AMBIGUOUS)
        else expect(undeclared).toEqual(money)
      })
    }),
    { numRuns: 2000 },
  )
})

test('any text is a problem or an amount that is written with its digits in their order', () => {
  const text = fc.string({ unit: fc.constantFrom(..."0123456789.,' -+eE€".split('')), maxLength: 14 })
  fc.assert(
    fc.property(text, fc.constantFrom<DecimalSign | null>('.', ',', null), (cell, sign) => {
      const money = parseMoney(parsePlainDecimal(cell, sign), KWD)
      if (isProblem(money)) return
      const digits = cell.replace(/\D/g, '').replace(/^0+/, '')
      expect(money.amountMinor.toString().startsWith(digits)).toBe(true)
      expect(money.amountMinor.toString().length - digits.length).toBeLessThanOrEqual(exponentOf(KWD))
    }),
    { numRuns: 2000 },
  )
})
