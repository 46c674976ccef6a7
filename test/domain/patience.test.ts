// When a command stops waiting for rows that do not move.

import { expect, test } from 'vitest'
import { createPatience } from '../../src/domain/patience.ts'

const MIN = 60_000
const START = 5_000.375

type Seen = readonly [settled: number, sending: number, asksToWait?: boolean]

/** The minute at which it is over, where each look is a minute behind the last. */
function overAt(ms: number | null, looks: readonly Seen[], askedToWaitMs: number | null = null) {
  const patience = createPatience({ ms, askedToWaitMs }, START)
  const at = looks.findIndex(
    ([settled, sending, asksToWait = false], minute) =>
      patience.overAfterMs({ settled, sending, asksToWait, nowMs: START + minute * MIN }) !== null,
  )
  return at < 0 ? null : at
}

const still = (minutes: number, settled = 0, sending = 0) => Array(minutes).fill([settled, sending] as const)

test('is over when nothing was settled for longer than was said', () => {
  expect(overAt(60 * MIN, still(61))).toBeNull()
  expect(overAt(60 * MIN, still(62))).toBe(61)
})

test('begins again with every row that is settled', () => {
  expect(overAt(60 * MIN, [...still(50), ...still(70, 1)])).toBe(50 + 61)
})

test('waits for an answer, but not for longer than any request may take', () => {
  expect(overAt(2 * MIN, [...still(10, 0, 3), ...still(5)])).toBe(10)
  expect(overAt(2 * MIN, still(20, 0, 3))).toBe(16)
})

test('has a limit of its own where the gateway only asks to wait, counted from the last settled row as well', () => {
  const asked = Array<Seen>(30).fill([7, 0, true])
  expect(overAt(60 * MIN, asked, 10 * MIN)).toBe(11)
  expect(overAt(60 * MIN, [...still(5, 6), ...asked], 10 * MIN)).toBe(16)
  expect(overAt(10 * MIN, asked)).toBeNull()
})

test('counts from the first time that it was asked to wait, where a gateway comes back after an outage', () => {
  expect(overAt(60 * MIN, [...still(20), ...Array<Seen>(30).fill([0, 0, true])], 10 * MIN)).toBe(31)
})

test('never is over where it was told to wait for ever', () => {
  expect(overAt(null, still(10_000))).toBeNull()
})
