// What a process saw committed of late.

import { expect, test } from 'vitest'
import { createSeen } from '../../../src/ledger/postgres/seen.ts'

const HOUR_MS = 3_600_000

function seenOn() {
  const clock = { wallMs: 0, steadyMs: 0 }
  const seen = createSeen({ nowMs: () => clock.wallMs, monotonicMs: () => clock.steadyMs })
  seen.committed(7, 2)
  seen.committed(7, 1)
  return { clock, seen }
}

test('the highest number of each transactor is known for a day', () => {
  const { clock, seen } = seenOn()
  seen.committed(8, 1)
  clock.wallMs = clock.steadyMs = 23 * HOUR_MS
  seen.committed(8, 2)
  const both = [
    { transactor: 7, no: 2 },
    { transactor: 8, no: 2 },
  ]
  expect(seen.all()).toEqual(both)
  clock.wallMs = clock.steadyMs = 25 * HOUR_MS
  expect(seen.all()).toEqual([{ transactor: 8, no: 2 }])
})

test('nothing is known after a month in which the machine was suspended, or its clock stood', () => {
  for (const time of ['wallMs', 'steadyMs'] as const) {
    const { clock, seen } = seenOn()
    clock[time] = 31 * 24 * HOUR_MS
    expect(seen.all()).toEqual([])
  }
})

test('what was committed before the clock was set back is known', () => {
  const { clock, seen } = seenOn()
  clock.wallMs = -HOUR_MS
  expect(seen.all()).toEqual([{ transactor: 7, no: 2 }])
})
