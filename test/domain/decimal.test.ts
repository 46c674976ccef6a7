import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Decimal, formatDecimal, plus } from '../../src/domain/decimal.ts'

const decimal: fc.Arbitrary<Decimal> = fc.record({ digits: fc.bigInt(), decimals: fc.nat({ max: 30 }) })
const none: Decimal = { digits: 0n, decimals: 0 }

test.each([
  [1230n, 2, '12.30'],
  [-5n, 2, '-0.05'],
  [0n, 3, '0.000'],
  [7n, 0, '7'],
])('%s over ten to the %s is written %s', (digits, decimals, text) => {
  expect(formatDecimal({ digits, decimals })).toBe(text)
})

test('a sum has the decimals of the longer one, in whatever order it is made', () => {
  fc.assert(
    fc.property(decimal, decimal, (one, other) => {
      expect(plus(one, other)).toEqual(plus(other, one))
      expect(plus(one, other).decimals).toBe(Math.max(one.decimals, other.decimals))
      expect(plus(one, none)).toEqual(one)
      expect(plus(plus(one, other), { ...other, digits: -other.digits }).digits === 0n).toBe(one.digits === 0n)
    }),
  )
})
