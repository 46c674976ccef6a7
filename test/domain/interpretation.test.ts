import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  fingerprintOf,
  type Interpretation,
  isSameFingerprint,
  parseFingerprint,
} from '../../src/domain/interpretation.ts'
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

/** As versions before this one stored it, by code of its own. */
function asOptions({ operation, currency, decimal, sheet, timeZone, map = [], retry = [] }: Interpretation): string {
  return [
    operation === undefined ? '' : `--operation ${operation}`,
    currency === undefined ? '' : `--currency ${currency}`,
    decimal === undefined ? '' : `--decimal ${decimal}`,
    sheet === undefined ? '' : `--sheet ${JSON.stringify(sheet)}`,
    timeZone === undefined ? '' : `--timezone ${timeZone}`,
    ...map.map(({ column, field }) => `--map ${JSON.stringify(`${column}=${field || 'ignore'}`)}`).toSorted(),
    retry.length === 0 ? '' : `--retry ${retry.toSorted().join(',').toLowerCase()}`,
  ]
    .filter((part) => part !== '')
    .join(' ')
}

describe('the fingerprint of an interpretation', () => {
  test('is read back as what was said', () => {
    fc.assert(
      fc.property(interpretations, (said) => {
        const read = parseFingerprint(fingerprintOf(said))
        expect(read === null ? null : fingerprintOf(read)).toBe(fingerprintOf(said))
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
        const sameOptions = asOptions(one) === asOptions(other)
        expect(isSameFingerprint(fingerprintOf(one), fingerprintOf(other))).toBe(sameOptions)
      }),
    )
  })

  test('agrees with the options that earlier versions stored', () => {
    fc.assert(
      fc.property(interpretations, interpretations, (one, other) => {
        expect(isSameFingerprint(asOptions(one), fingerprintOf(one))).toBe(true)
        expect(isSameFingerprint(asOptions(one), fingerprintOf(other))).toBe(asOptions(one) === asOptions(other))
      }),
    )
  })

  test('is another where a minus or the line of the names is said, and is read back', () => {
    fc.assert(
      fc.property(interpretations, (said) => {
        const titled = fingerprintOf({ ...said, headerRow: 3 })
        expect(isSameFingerprint(fingerprintOf(said), titled)).toBe(false)
        expect(parseFingerprint(titled)?.headerRow).toBe(3)
        const signed = fingerprintOf({ ...said, sign: 'minus' })
        expect(isSameFingerprint(fingerprintOf(said), signed)).toBe(false)
        expect(isSameFingerprint(asOptions(said), signed)).toBe(false)
        expect(parseFingerprint(signed)?.sign).toBe('minus')
        expect(isSameFingerprint(signed, signed)).toBe(true)
      }),
    )
  })

  test('of nothing said is empty', () => {
    expect(fingerprintOf({ map: [], retry: [] })).toBe('')
    expect(isSameFingerprint('', '')).toBe(true)
  })

  test.each(['how it was read', '--decimal ;', '--sheet "open', '--operation REFUND and more'])(
    'agrees with nothing where no version wrote it: %s',
    (text) => {
      expect(isSameFingerprint(text, '')).toBe(false)
      expect(isSameFingerprint(text, fingerprintOf({ operation: 'REFUND' }))).toBe(false)
    },
  )
})
