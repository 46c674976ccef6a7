import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseRetryAfter } from '../../src/gateway/retry-after.ts'

const NOW_MS = Date.UTC(2026, 10, 20, 12, 0, 0)

test.each([
  ['0', 0],
  ['120', 120_000],
  [' 7 ', 7_000],
  ['3601', 3_600_000],
  ['9'.repeat(400), 3_600_000],
  ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
  ['Friday, 20-Nov-26 12:00:30 GMT', 30_000],
  ['Fri Nov 20 12:00:30 2026', 30_000],
  ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
  ['Fri, 20 Nov 2027 12:00:00 GMT', 3_600_000],
  ['', null],
  ['-5', null],
  ['1.5', null],
  ['1e3', null],
  ['2026-11-20', null],
  ['Fri, 99 Nov 2026 12:00:00 GMT', null],
  ['soon', null],
])('%s', (header, ms) => {
  expect(parseRetryAfter(header, NOW_MS)).toBe(ms)
})

test('none is null, and of several the longest counts', () => {
  expect(parseRetryAfter(undefined, NOW_MS)).toBeNull()
  expect(parseRetryAfter(['5', 'x', '60', '7'], NOW_MS)).toBe(60_000)
})

test('whatever the header says, the wait is null or between nothing and an hour', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.date().map(String), fc.integer().map(String)), (header) => {
      const ms = parseRetryAfter(header, NOW_MS)
      expect(ms === null || (ms >= 0 && ms <= 3_600_000)).toBe(true)
    }),
  )
})
