import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fingerprintOf, type Interpretation, parseFingerprint } from '../../src/domain/interpretation.ts'
import type { Currency } from '../../src/domain/money.ts'

const left = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined })
const interpretations: fc.Arbitrary<Interpretation> = fc.record({
  operation: left(fc.constantFrom('REFUND', 'CAPTURE', 'CANCEL')),
  currency: left(fc.constantFrom('EUR' as Currency, 'JPY' as Currency)),
  decimal: left(fc.constantFrom('.', ',')),
  sheet: left(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })),
  timeZone: left(fc.constantFrom('Europe/Berlin', 'UTC')),
  map: left(
    fc.array(
      fc.record({
        column: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
        field: fc.constantFrom('amount', 'reference', ''),
      }),
      { maxLength: 4 },
    ),
  ),
  retry: left(fc.subarray(['FAILED', 'CANCELLED', 'INVALID'] as const)),
})

/** Columns and states in one order. */
function inOrder({ map = [], retry = [], ...said }: Interpretation) {
  const columns = map.map(({ column, field }) => JSON.stringify([column, field])).toSorted()
  return { ...said, map: columns, retry: retry.toSorted() }
}

describe('the fingerprint of an interpretation', () => {
  test('is read back as what was said', () => {
    fc.assert(
      fc.property(interpretations, (said) => {
        const read = parseFingerprint(fingerprintOf(said))
        expect(fingerprintOf(read)).toBe(fingerprintOf(said))
        expect(read).toMatchObject(JSON.parse(JSON.stringify({ ...said, map: undefined, retry: undefined })))
      }),
    )
  })

  test('is the same in whatever order columns and states are named', () => {
    fc.assert(
      fc.property(interpretations, (said) => {
        const turned = { ...said, map: said.map?.toReversed(), retry: said.retry?.toReversed() }
        expect(fingerprintOf(turned)).toBe(fingerprintOf(said))
      }),
    )
  })

  test('is another for another interpretation', () => {
    fc.assert(
      fc.property(interpretations, interpretations, (one, other) => {
        const isSame = isDeepStrictEqual(inOrder(one), inOrder(other))
        expect(fingerprintOf(one) === fingerprintOf(other)).toBe(isSame)
      }),
    )
  })

  test('is another where a minus, minor units or the line of the names is said, and is read back', () => {
    fc.assert(
      fc.property(interpretations, (said) => {
        const scaled = fingerprintOf({ ...said, scale: 'minor' })
        expect(scaled).not.toBe(fingerprintOf(said))
        expect(parseFingerprint(scaled).scale).toBe('minor')
        const titled = fingerprintOf({ ...said, headerRow: 3 })
        expect(titled).not.toBe(fingerprintOf(said))
        expect(parseFingerprint(titled).headerRow).toBe(3)
        const signed = fingerprintOf({ ...said, sign: 'minus' })
        expect(signed).not.toBe(fingerprintOf(said))
        expect(parseFingerprint(signed).sign).toBe('minus')
      }),
    )
  })

  test('of nothing said is empty', () => {
    expect(fingerprintOf({ map: [], retry: [] })).toBe('')
    expect(parseFingerprint('')).toEqual({})
  })
})
