// Moments as results show them.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toTimestamp } from '../../src/results/timestamps.ts'

const LAST_MS = 8_640_000_000_000_000

test('every moment is written as the language writes it, wherever the ones before it were', () => {
  const moment = fc.oneof(
    fc.integer({ min: -LAST_MS, max: LAST_MS }),
    fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 0, 1, 0, 5) }),
    fc.constantFrom(0, -1, 59_999, 60_000, -60_000, Date.UTC(2024, 1, 29, 23, 59, 59, 999), -LAST_MS, LAST_MS),
  )
  fc.assert(
    fc.property(moment, (atMs) => {
      expect(toTimestamp(atMs)).toBe(new Date(atMs).toISOString())
    }),
    { numRuns: 5000 },
  )
})

test('no moment is an empty cell', () => {
  expect(toTimestamp(null)).toBe('')
})
