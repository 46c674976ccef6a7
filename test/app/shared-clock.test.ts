// The clock of a server that several machines share, as each of them reads it.

import { expect, test } from 'vitest'
import { createSharedClock } from '../../src/app/clock.ts'
import { ManualClock } from '../fixtures/clock.ts'
import { NOW } from '../fixtures/ledgers.ts'

/** A machine whose clock is off by so much, and which has asked the server once. */
function asking(offMs: number) {
  const host = new ManualClock(NOW + offMs)
  const clock = createSharedClock(host)
  const ask = (serverMs = NOW) => clock.follow(serverMs, host.monotonicMs(), host.monotonicMs())
  ask()
  return { host, clock, ask }
}

test.each([-60_000, 0, 60_000])('a machine that is off by %i ms tells the time of the server', (offMs) => {
  const { host, clock } = asking(offMs)
  expect(clock.nowMs()).toBe(NOW)
  host.jump(1_000)
  expect(clock.nowMs()).toBe(NOW + 1_000)
})

test.each([
  [-60_000, NOW - 60_000],
  [60_000, NOW],
])('where it is off by %i ms, neither clock that is ahead makes anything due', (offMs, reachedMs) => {
  expect(asking(offMs).clock.reachedMs()).toBe(reachedMs)
})

test('a clock that is set back meanwhile takes no time back', () => {
  const { host, clock } = asking(0)
  host.setWall(-3_600_000)
  host.jump(1_000)
  expect(clock.nowMs()).toBe(NOW + 1_000)
  expect(clock.reachedMs()).toBe(NOW - 3_600_000 + 1_000)
})

test('a clock that is set forward makes nothing due', () => {
  const { host, clock } = asking(0)
  host.setWall(3_600_000)
  expect(clock.reachedMs()).toBe(NOW)
})

test('a machine that was suspended knows by its wall clock how late it is', () => {
  const { host, clock } = asking(0)
  host.setWall(60_000)
  expect(clock.nowMs()).toBe(NOW + 60_000)
})

test('what a question takes on its way is no step', () => {
  const { host, clock } = asking(0)
  host.jump(1_000)
  const beforeMs = clock.nowMs()
  clock.follow(NOW + 1_080, host.monotonicMs(), host.monotonicMs())
  expect(clock.nowMs()).toBe(beforeMs)
  clock.follow(NOW + 1_000, host.monotonicMs() - 800, host.monotonicMs())
  expect(clock.nowMs()).toBe(beforeMs)
})

test('a server that is set right is followed', () => {
  const { clock, ask } = asking(0)
  ask(NOW + 5_000)
  expect([clock.nowMs(), clock.reachedMs()]).toEqual([NOW + 5_000, NOW])
})
