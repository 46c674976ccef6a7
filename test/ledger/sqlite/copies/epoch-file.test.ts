import fc from 'fast-check'
import { expect, test } from 'vitest'
import { generationOf } from '../../../../src/ledger/rules/alarming.ts'
import { nextEpoch } from '../../../../src/ledger/sqlite/copies/epoch-file.ts'

test('the next epoch has a readable number that is no earlier, whatever was read before', () => {
  const number = fc.oneof(
    fc.constantFrom('0', '1', '999999999998', '999999999999', '1000000000000', '999999999999999', '9'.repeat(16)),
    fc.bigInt({ min: 0n, max: 10n ** 18n }).map(String),
  )
  fc.assert(
    fc.property(fc.array(number.map((digits) => `${digits}-word`)), (before) => {
      const next = generationOf(nextEpoch(before))
      expect(next).toBeGreaterThan(0)
      expect(next).toBeGreaterThanOrEqual(Math.max(0, ...before.map(generationOf)))
    }),
  )
})

test('a number that no ledger can have come to is no epoch', () => {
  expect(['7-a', '999999999999-a', '1000000000000-a', '999999999999999-a', 'word'].map(generationOf)).toEqual([
    ...[7, 999_999_999_999],
    ...[0, 0, 0],
  ])
  expect(nextEpoch(['7-a', '999999999999999-a'])).toMatch(/^8-/)
})
