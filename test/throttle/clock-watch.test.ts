import { expect, test } from 'vitest'
import { createClockWatch } from '../../src/throttle/clock-watch.ts'

test.each([
  ['that agrees, a minute later', [0, 59_000], 59_999, 60_000],
  ['that differs, a second later', [3_600_000, 3_590_000], 999, 1_000],
])('a clock %s, is told of again, since another host may have told the ledger otherwise', (_, said, tooSoon, again) => {
  let nowMs = 5
  const watch = createClockWatch({ monotonicMs: () => nowMs })
  const [first = 0, second = 0] = said
  expect([watch.isNews(first), watch.isNews(second)]).toEqual([true, false])
  nowMs = 5 + tooSoon
  expect(watch.isNews(second)).toBe(false)
  nowMs = 5 + again
  expect([watch.isNews(second), watch.isNews(first)]).toEqual([true, false])
})

test('a clock that says something else is told of at once', () => {
  const watch = createClockWatch({ monotonicMs: () => 5 })
  expect([0, 3_600_000, 3_600_000, 0].map(watch.isNews)).toEqual([true, true, false, true])
})
