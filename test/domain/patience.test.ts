// When a command stops waiting for rows that do not move.

import { expect, test } from 'vitest'
import { createPatience } from '../../src/domain/patience.ts'

const MIN = 60_000
const START = 5_000.375

/** The minute at which it is over, where each look is a minute behind the last. */
function overAt(giveUpAfterMs: number | null, looks: readonly (readonly [settled: number, sending: number])[]) {
  const patience = createPatience(giveUpAfterMs, START)
  const at = looks.findIndex(([settled, sending], minute) =>
    patience.isOver({ settled, sending, nowMs: START + minute * MIN }),
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

test('never is over where it was told to wait for ever', () => {
  expect(overAt(null, still(10_000))).toBeNull()
})
