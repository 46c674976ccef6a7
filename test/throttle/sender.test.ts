// The limiter of an account that changes hands: who sends for it begins as at a start, and others begin nothing.

import { beforeEach, expect, test } from 'vitest'
import { type AccountLimiter, createLimiter } from '../../src/throttle/limiter.ts'
import type { Permit } from '../../src/throttle/permits.ts'
import { idle, ManualClock } from '../fixtures/clock.ts'

const FOREVER = new AbortController().signal

let clock: ManualClock
beforeEach(() => {
  clock = new ManualClock(Date.UTC(2026, 4, 4, 9))
})

/** Its window is wide open. */
function openedLimiter(ratePerSecond: number | null, inFlightMax = 8): AccountLimiter {
  const limiter = createLimiter({ inFlightMax, ratePerSecond, clock })
  for (let size = 1; size < inFlightMax; size *= 2) limiter.record('true-answer', null)
  return limiter
}

async function ask(limiter: AccountLimiter, count: number): Promise<Array<Permit | null | undefined>> {
  const got: Array<Permit | null | undefined> = Array(count).fill(undefined)
  for (let i = 0; i < count; i++) void limiter.acquire(FOREVER).then((permit) => (got[i] = permit))
  await idle()
  return got
}
const given = (permits: ReadonlyArray<Permit | null | undefined>) => permits.filter((one) => one != null).length

test('while another is the sender nothing begins, and whoever waits is told at once', async () => {
  const limiter = openedLimiter(null, 1)
  const waiting = await ask(limiter, 2)
  limiter.halt()
  await idle()
  expect(waiting[1]).toBeNull()
  waiting[0]?.release()
  expect(await limiter.acquire(FOREVER)).toBeNull()
})

test('whoever becomes the sender begins with one open request and no trouble of before', async () => {
  const limiter = openedLimiter(null)
  limiter.record('failure', null, 'connection reset')
  limiter.halt()
  expect([limiter.openMost(), limiter.health()]).toEqual([0, null])
  limiter.begin()
  expect(limiter.openMost()).toBe(1)
})

test.each([
  [10, 1_000],
  [0.5, 2_000],
])('at %s a second its first request leaves when no start of the one before counts any more', async (rate, quietMs) => {
  const limiter = openedLimiter(rate)
  await clock.advance(60_000)
  limiter.halt()
  limiter.begin()
  let isGone = false
  void limiter.departure().then(() => {
    isGone = true
  })
  await clock.advance(quietMs - 1)
  expect(isGone).toBe(false)
  await clock.advance(1)
  expect(isGone).toBe(true)
})

test('a rate that a person set meanwhile holds from its first request on', async () => {
  const limiter = openedLimiter(10)
  limiter.halt()
  limiter.setRateOverride(2)
  limiter.begin()
  expect(limiter.ratePerSecond()).toBe(2)
})

test('requests that others have open count, and leave room when they are over', async () => {
  const limiter = openedLimiter(null)
  limiter.setOpenElsewhere(6)
  const waiting = await ask(limiter, 8)
  expect([given(waiting), limiter.openMost()]).toEqual([2, 2])
  limiter.setOpenElsewhere(1)
  await idle()
  expect(given(waiting)).toBe(7)
})

test('where others have all that may be open, nothing begins and no one waits', async () => {
  const limiter = openedLimiter(null)
  limiter.setOpenElsewhere(9)
  expect([await limiter.acquire(FOREVER), limiter.openMost()]).toEqual([null, 0])
})

test('what is answered after another became the sender says nothing of the gateway any more', () => {
  const limiter = openedLimiter(null)
  limiter.halt()
  limiter.record('failure', null, 'timed out')
  expect(limiter.health()).toBeNull()
  limiter.begin()
  expect([limiter.health(), limiter.isOpen()]).toEqual([null, true])
})

test('a dial that is turned in the quiet of the beginning does not end it', async () => {
  const limiter = openedLimiter(0.1)
  limiter.halt()
  limiter.begin()
  limiter.setRateOverride(0.05)
  let isGone = false
  void limiter.departure().then(() => {
    isGone = true
  })
  await clock.advance(19_000)
  expect(isGone).toBe(false)
  await clock.advance(1_500)
  expect(isGone).toBe(true)
})
