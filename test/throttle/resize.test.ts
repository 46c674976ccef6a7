// A limiter whose process has a share of the account, while that share changes.

import fc from 'fast-check'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { type AccountLimiter, createLimiter } from '../../src/throttle/limiter.ts'
import type { Permit } from '../../src/throttle/permits.ts'
import { idle, ManualClock } from '../fixtures/clock.ts'
import { tries } from '../fixtures/tries.ts'

const NOW = Date.UTC(2026, 4, 4, 9)
const FOREVER = new AbortController().signal

let clock: ManualClock
let openedMs: number
beforeEach(() => {
  clock = new ManualClock(NOW)
  openedMs = clock.monotonicMs()
})

const limiterOf = (ratePerSecond: number | null, inFlightMax = 8): AccountLimiter =>
  createLimiter({ inFlightMax, ratePerSecond, clock })

const sinceOpening = () => Math.round(clock.monotonicMs() - openedMs)

/** One request: waits for its departure and leaves. Tells when, or why not. */
async function send(limiter: AccountLimiter): Promise<number | 'pace' | 'none'> {
  const reservation = await limiter.reserve(FOREVER)
  if (reservation === null) return 'none'
  await limiter.departure()
  const why = reservation.commit()
  reservation.cancel()
  return why ?? sinceOpening()
}

/** What became of so many requests that were asked for now, in the order in which they ended. */
function sent(limiter: AccountLimiter, count: number): Array<number | 'pace' | 'none'> {
  const ended: Array<number | 'pace' | 'none'> = []
  for (let i = 0; i < count; i++) void send(limiter).then((how) => ended.push(how))
  return ended
}

describe('the rate of a share', () => {
  test('grows without a second of quiet: the next request leaves one new interval later at most', async () => {
    const limiter = limiterOf(10)
    limiter.resize({ ratePerSecond: 1, inFlightMax: 8 })
    await clock.advance(5_000)
    const ended = sent(limiter, 4)
    await clock.advance(100)
    expect(ended).toEqual([5_000])
    limiter.resize({ ratePerSecond: 10, inFlightMax: 8 })
    await clock.advance(500)
    expect(ended).toEqual([5_000, 5_201, 5_302, 5_404])
  })

  test('shrinks at once: nothing leaves until the past second holds less than the new share, and nobody is sent back', async () => {
    const limiter = limiterOf(10)
    await clock.advance(5_000)
    const ended = sent(limiter, 12)
    await clock.advance(950)
    expect(ended).toHaveLength(10)
    limiter.resize({ ratePerSecond: 5, inFlightMax: 8 })
    await clock.advance(1_000)
    // Of those that left from 5 000 to 5 911 four are within the second before 6 511, and then it catches up.
    expect(ended.slice(10)).toEqual([6_511, 6_693])
  })

  test('changes nothing where it stays the same, and keeps what is due', async () => {
    const limiter = limiterOf(10)
    await clock.advance(5_000)
    const ended = sent(limiter, 5)
    for (let i = 0; i < 10; i++) {
      await clock.advance(50)
      limiter.resize({ ratePerSecond: 10, inFlightMax: 8 - (i % 2) })
    }
    expect(ended).toEqual([5_000, 5_101, 5_202, 5_304, 5_405])
  })

  test('of 0 lets nothing start, sends back whoever is ready, and says nothing of health', async () => {
    const limiter = limiterOf(10)
    await clock.advance(5_000)
    await send(limiter)
    const ended = sent(limiter, 3)
    await clock.advance(90) // one is ready
    limiter.resize({ ratePerSecond: 0, inFlightMax: 8 })
    await idle()
    expect([ended, limiter.isOpen(), limiter.health()]).toEqual([['pace'], true, null])
    await clock.advance(300_000)
    expect(ended).toEqual(['pace'])
    expect(await limiter.acquire(FOREVER)).toBeNull()
    limiter.resize({ ratePerSecond: 10, inFlightMax: 8 })
    await clock.advance(200)
    expect(ended).toEqual(['pace', 305_090, 305_191])
  })

  test('of 0 sets no timer for longer than a timer can wait: it would go off at once', async () => {
    const limiter = limiterOf(10)
    limiter.resize({ ratePerSecond: 0, inFlightMax: 8 })
    const slept = vi.spyOn(clock, 'sleep')
    sent(limiter, 1)
    await clock.advance(200_000)
    expect(slept.mock.calls.length).toBeGreaterThan(0)
    for (const [ms] of slept.mock.calls) expect(ms).toBeLessThan(2 ** 31)
  })

  test('of 0 is judged where the first byte leaves, for a request that never started before as well', async () => {
    const limiter = limiterOf(10)
    const reservation = await clock.until(limiter.reserve(FOREVER))
    limiter.resize({ ratePerSecond: 0, inFlightMax: 8 })
    expect(reservation?.commit()).toBe('pace')
  })

  test('becomes no limit, and a limit again that counts what left under none', async () => {
    const limiter = limiterOf(null)
    limiter.resize({ ratePerSecond: 2, inFlightMax: 8 })
    const ended = sent(limiter, 6)
    await idle()
    expect(ended).toEqual([0])
    limiter.resize({ ratePerSecond: null, inFlightMax: 8 })
    await idle()
    expect(ended).toEqual([0, 0, 0, 0, 0, 0])
    limiter.resize({ ratePerSecond: 2, inFlightMax: 8 })
    const later = sent(limiter, 1)
    await clock.advance(1_004)
    expect(later).toEqual([])
    await clock.advance(1)
    expect(later).toEqual([1_005])
  })

  test('sends back whoever is ready and would wait too long under it', async () => {
    const limiter = limiterOf(10)
    await clock.advance(5_000)
    await send(limiter)
    const ended = sent(limiter, 1)
    await clock.advance(90)
    limiter.resize({ ratePerSecond: 0.1, inFlightMax: 8 })
    await idle()
    expect(ended).toEqual(['pace'])
  })
})

describe('the share and the dial', () => {
  /** How many leave in three seconds. */
  async function inThreeSeconds(limiter: AccountLimiter): Promise<number> {
    const ended = sent(limiter, 100)
    await clock.advance(3_000)
    return ended.filter((how) => typeof how === 'number').length
  }

  test('the lower of the two holds: a dial turned down need not wait for the shares', async () => {
    const limiter = limiterOf(20)
    limiter.resize({ ratePerSecond: 5, inFlightMax: 8 })
    await clock.advance(2_000)
    expect(limiter.setRateOverride(2)).toBe(2)
    expect(await inThreeSeconds(limiter)).toBe(6)
  })

  test('a dial turned up grows no share', async () => {
    const limiter = limiterOf(20)
    limiter.resize({ ratePerSecond: 2, inFlightMax: 8 })
    await clock.advance(2_000)
    expect(limiter.setRateOverride(50)).toBe(50)
    expect(limiter.setRateOverride(null)).toBe(20)
    expect(await inThreeSeconds(limiter)).toBe(6)
  })

  test('a dial limits a share without a limit', async () => {
    const limiter = limiterOf(null)
    limiter.resize({ ratePerSecond: null, inFlightMax: 8 })
    expect(limiter.setRateOverride(2)).toBe(2)
    expect(await inThreeSeconds(limiter)).toBe(6)
  })
})

describe('what may be open under a share', () => {
  async function ask(limiter: AccountLimiter, count: number): Promise<Array<Permit | null | undefined>> {
    const got: Array<Permit | null | undefined> = Array(count).fill(undefined)
    for (let i = 0; i < count; i++) void limiter.acquire(FOREVER).then((permit) => (got[i] = permit))
    await idle()
    return got
  }
  const given = (permits: ReadonlyArray<Permit | null | undefined>) => permits.filter((one) => one != null).length

  const opened = (inFlightMax = 8): AccountLimiter => {
    const limiter = limiterOf(null, inFlightMax)
    for (let size = 1; size < inFlightMax; size *= 2) limiter.record('true-answer', null)
    return limiter
  }

  test('below what is open: nothing more until less is open than that', async () => {
    const limiter = opened()
    const open = await ask(limiter, 4)
    limiter.resize({ ratePerSecond: null, inFlightMax: 2 })
    const waiting = await ask(limiter, 3)
    expect([given(waiting), limiter.inFlight()]).toEqual([0, 4])
    open[0]?.release()
    open[1]?.release()
    await idle()
    expect([given(waiting), limiter.inFlight()]).toEqual([0, 2])
    open[2]?.release()
    await idle()
    expect([given(waiting), limiter.inFlight()]).toEqual([1, 2])
  })

  test('that grows lets those begin who wait, up to the window that answers have opened', async () => {
    const limiter = opened()
    limiter.resize({ ratePerSecond: null, inFlightMax: 2 })
    const waiting = await ask(limiter, 10)
    expect(given(waiting)).toBe(2)
    limiter.resize({ ratePerSecond: null, inFlightMax: 5 })
    await idle()
    expect(given(waiting)).toBe(5)
    limiter.resize({ ratePerSecond: null, inFlightMax: 100 })
    await idle()
    expect(given(waiting)).toBe(8)
    limiter.record('true-answer', null)
    await idle()
    expect(given(waiting)).toBe(10)
  })

  test('of nothing: whoever waits is told at once, and the window goes on when there is a share again', async () => {
    const limiter = opened()
    limiter.resize({ ratePerSecond: null, inFlightMax: 1 })
    const waiting = await ask(limiter, 3)
    limiter.resize({ ratePerSecond: null, inFlightMax: 0 })
    await idle()
    expect(waiting.slice(1)).toEqual([null, null])
    expect([await limiter.acquire(FOREVER), limiter.isOpen()]).toEqual([null, true])
    limiter.record('true-answer', null)
    limiter.resize({ ratePerSecond: null, inFlightMax: 8 })
    limiter.record('true-answer', null)
    waiting[0]?.release()
    expect(given(await ask(limiter, 8))).toBe(2)
  })

  test('trouble is over when the window is as open as the share allows', () => {
    const limiter = opened(32)
    limiter.resize({ ratePerSecond: null, inFlightMax: 2 })
    limiter.record('failure', null, 'connection reset')
    expect(limiter.health()).toMatchObject({ openMost: 1 })
    limiter.record('true-answer', null)
    expect(limiter.health()).toBeNull()
  })

  test('a back-off is told by a limiter without a share as well', () => {
    const limiter = limiterOf(null)
    limiter.resize({ ratePerSecond: 0, inFlightMax: 0 })
    for (let i = 0; i < 3; i++) limiter.record('failure', null)
    expect([limiter.isOpen(), limiter.backoffLeftMs()]).toEqual([false, 1_000])
  })
})

test('no second up to a start holds more than the share of that start, however it changes', async () => {
  const change = fc.record({
    afterMs: fc.integer({ min: 0, max: 1_500 }),
    ratePerSecond: fc.option(fc.constantFrom(0, 0.5, 1, 3, 7, 20), { nil: null }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
      clock = new ManualClock(NOW)
      const limiter = limiterOf(5)
      const starts: Array<{ readonly atMs: number; readonly rate: number | null }> = []
      let rate: number | null = 5
      const asking = new AbortController()
      const lane = async () => {
        for (;;) {
          const reservation = await limiter.reserve(asking.signal)
          if (reservation === null) return
          await clock.sleep(7)
          await limiter.departure()
          if (reservation.commit() === null) starts.push({ atMs: clock.monotonicMs(), rate })
          reservation.cancel()
          await clock.sleep(80)
        }
      }
      for (let i = 0; i < 3; i++) void lane()
      for (const { afterMs, ratePerSecond } of changes) {
        await clock.advance(afterMs)
        rate = ratePerSecond
        limiter.resize({ ratePerSecond, inFlightMax: 8 })
      }
      await clock.advance(2_500)
      asking.abort()
      for (const last of starts) {
        if (last.rate === null) continue
        const within = starts.filter(({ atMs }) => atMs > last.atMs - 1_000 && atMs <= last.atMs).length
        expect(within).toBeLessThanOrEqual(Math.ceil(last.rate))
      }
    }),
    { numRuns: tries(25), endOnFailure: true },
  )
})
