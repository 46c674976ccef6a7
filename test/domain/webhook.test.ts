import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAskedFor, isEventPattern } from '../../src/domain/event.ts'
import { isTaken, nextAttemptMs, retryAfterMs, SCHEDULE_MS } from '../../src/domain/webhook.ts'

const NOW = Date.UTC(2026, 10, 25, 10)

test('the next attempt is within a tenth of its time, or later where that was asked for; after eleven there is none', () => {
  const asked = fc.record({
    attempts: fc.integer({ min: 1, max: 12 }),
    wait: fc.option(fc.nat(3 * 86_400_000)),
    random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  })
  fc.assert(
    fc.property(asked, ({ attempts, wait, random }) => {
      const at = nextAttemptMs(attempts, wait, NOW, random)
      if (attempts >= 11) {
        expect(at).toBeNull()
        return
      }
      const delay = SCHEDULE_MS[attempts] as number
      const least = Math.max(delay * 0.9, Math.min(wait ?? 0, 86_400_000))
      expect(at).toBeGreaterThanOrEqual(NOW + Math.floor(least))
      expect(at).toBeLessThanOrEqual(NOW + Math.ceil(Math.max(delay * 1.1, least)))
    }),
  )
  expect(SCHEDULE_MS.reduce((sum, delay) => sum + delay) / 3_600_000).toBeCloseTo(75.6, 1)
})

test.each([
  ['7', 7_000],
  ['Wed, 25 Nov 2026 10:00:30 GMT', 30_000],
  ['Wed, 25 Nov 2026 09:00:00 GMT', 0],
  ['999999999', 86_400_000],
  ['1.5', null],
  ['soon', null],
  ['', null],
  [null, null],
])('Retry-After %s is %s ms', (header, ms) => {
  expect(retryAfterMs(header, NOW)).toBe(ms)
})

test.each([
  [200, true],
  [299, true],
  [199, false],
  [302, false],
  [410, false],
  [null, false],
])('%s: taken %s', (status, taken) => {
  expect(isTaken(status)).toBe(taken)
})

test('rows are told of by subscription only, and groups are all of their types', () => {
  expect(isAskedFor('row.settled', null)).toBe(false)
  expect(isAskedFor('access.new_address', null)).toBe(false)
  expect(isAskedFor('access.new_address', ['access.*'])).toBe(true)
  expect(isAskedFor('batch.finished', null)).toBe(true)
  expect(isAskedFor('row.settled', ['row.*'])).toBe(true)
  expect(isAskedFor('batch.finished', ['row.*', 'batch.started'])).toBe(false)
  expect(['batch.*', 'ping', 'row.settled'].every(isEventPattern)).toBe(true)
  expect(['batch', '*', 'batch.none', 'ping2'].some(isEventPattern)).toBe(false)
})
