import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { createPacer, type Pacer, type Reservation } from '../../src/throttle/pacer.ts'
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

const sinceOpening = () => Math.round(clock.monotonicMs() - openedMs)

/** When a promise was kept, in milliseconds since the opening; undefined while it was not. */
function whenKept(promises: ReadonlyArray<Promise<unknown>>): Array<number | null | undefined> {
  const times: Array<number | null | undefined> = promises.map(() => undefined)
  for (const [i, promise] of promises.entries())
    void promise.then((got) => {
      times[i] = got === null ? null : sinceOpening()
    })
  return times
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)

/** One request: gets ready, waits for its moment, leaves. Answers with when, or why not. */
async function send(pacer: Pacer, readyInMs = 0): Promise<number | 'pace'> {
  const reservation = (await pacer.reserve(FOREVER)) as Reservation
  if (readyInMs > 0) await clock.sleep(readyInMs)
  await pacer.departure()
  const why = reservation.commit()
  reservation.cancel()
  return why ?? sinceOpening()
}

describe('without a rate', () => {
  test('everything goes at once', async () => {
    const pacer = createPacer(null, clock)
    expect(await Promise.all(times(50, () => send(pacer)))).toEqual(Array(50).fill(0))
  })
})

describe('requests', () => {
  test('leave from a second after the opening on, one interval apart', async () => {
    const pacer = createPacer(10, clock)
    expect(await clock.until(Promise.all(times(4, () => send(pacer))))).toEqual([1_000, 1_101, 1_202, 1_304])
  })

  test('leave evenly although getting ready takes now longer, now shorter', async () => {
    const pacer = createPacer(10, clock)
    const readyInMs = [24, 2, 20, 1, 13]
    expect(await clock.until(Promise.all(readyInMs.map((ms) => send(pacer, ms))))).toEqual([
      1_000, 1_101, 1_202, 1_304, 1_405,
    ])
  })

  test('that get ready late leave when they are ready, without loss of rate', async () => {
    const pacer = createPacer(50, clock)
    const left = await clock.until(Promise.all(times(100, () => send(pacer, 90))))
    expect(left).not.toContain('pace')
    const [first, last] = [left[0] as number, left.at(-1) as number]
    expect(99 / ((last - first) / 1_000)).toBeGreaterThanOrEqual(49)
  })

  test('are not caught up on after a quiet time', async () => {
    const pacer = createPacer(10, clock)
    await clock.advance(60_000)
    expect(await clock.until(Promise.all(times(3, () => send(pacer))))).toEqual([60_000, 60_101, 60_202])
  })
})

describe('slots', () => {
  test('are given 25 ms before their moments', async () => {
    const pacer = createPacer(10, clock)
    const given = whenKept(times(3, () => pacer.reserve(FOREVER)))
    await clock.advance(2_000)
    expect(given).toEqual([975, 1_076, 1_177])
  })

  test('given back are given to the next at once', async () => {
    const pacer = createPacer(10, clock)
    const reservation = (await clock.until(pacer.reserve(FOREVER))) as Reservation
    const next = whenKept([pacer.reserve(FOREVER), pacer.reserve(FOREVER)])
    await clock.advance(5)
    reservation.cancel()
    reservation.cancel() // is one reservation all the same
    await clock.advance(200)
    expect(next).toEqual([980, 1_076])
  })

  test('are not wasted on requests that leave the queue', async () => {
    const pacer = createPacer(10, clock)
    const [leaving, later] = [new AbortController(), new AbortController()]
    const before = whenKept([pacer.reserve(FOREVER)])
    const left = whenKept([leaving, later, leaving].map(({ signal }) => pacer.reserve(signal)))
    const after = whenKept([pacer.reserve(FOREVER)])
    await clock.advance(1_000)
    leaving.abort()
    await idle()
    expect(left).toEqual([null, undefined, null])
    later.abort()
    await clock.advance(1_000)
    expect([before, left, after]).toEqual([[975], [null, null, null], [1_076]])
  })

  test('are not taken by a turn that is over', async () => {
    const pacer = createPacer(10, clock)
    expect(await pacer.reserve(AbortSignal.abort())).toBeNull()
    const given = whenKept([pacer.reserve(FOREVER)])
    await clock.advance(2_000)
    expect(given).toEqual([975])
  })
})

describe('where the first byte leaves', () => {
  test('no second sees more than the rate, though requests ignore their moments', async () => {
    const pacer = createPacer(3, clock)
    const reservation = (await clock.until(pacer.reserve(FOREVER))) as Reservation
    const left = times(30, () => {
      const why = reservation.commit()
      clock.jump(100)
      return why
    })
    expect(left.filter((why) => why === null)).toHaveLength(9)
    expect(left.slice(0, 10)).toEqual([null, null, null, ...Array(7).fill('pace')])
  })

  test('whatever the lateness no window of one second sees more starts than the rate', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 60 }),
        fc.array(fc.constantFrom(0, 0, 0, 1, 3, 9, 40, 700), { minLength: 1, maxLength: 40 }),
        async (rate, latenesses) => {
          clock = new ManualClock(NOW)
          const pacer = createPacer(rate, clock)
          const starts: number[] = []
          for (let i = 0; i < rate * 3; i++) {
            const reservation = (await clock.until(pacer.reserve(FOREVER))) as Reservation
            await clock.until(pacer.departure())
            clock.jump(latenesses[i % latenesses.length] as number)
            if (reservation.commit() === null) starts.push(clock.monotonicMs())
            reservation.cancel()
          }
          for (const from of starts)
            expect(starts.filter((at) => at >= from && at < from + 1_000).length).toBeLessThanOrEqual(rate)
        },
      ),
      { numRuns: tries(15) },
    )
  })

  test('any rate, whole or not, is kept by its moments: nothing is held back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 0.1, max: 80, noNaN: true }), async (rate) => {
        clock = new ManualClock(NOW)
        const pacer = createPacer(rate, clock)
        expect(await clock.until(Promise.all(times(10, () => send(pacer))))).not.toContain('pace')
      }),
      { numRuns: tries(30) },
    )
  })

  test('of a rate of 2.5 two a second leave', async () => {
    const pacer = createPacer(2.5, clock)
    expect(await clock.until(Promise.all(times(4, () => send(pacer))))).toEqual([1_000, 1_506, 2_012, 2_518])
  })
})

describe('another rate', () => {
  test('begins a second after it was set, for those who wait as well, faster or slower', async () => {
    const pacer = createPacer(0.5, clock)
    const left: number[] = []
    const lane = async () => {
      for (;;) {
        const at = await send(pacer)
        if (at !== 'pace') left.push(at)
      }
    }
    void lane()
    await clock.advance(1_500)
    pacer.setRate(10)
    await clock.advance(1_100)
    pacer.setRate(1)
    await clock.advance(3_000)
    expect(left).toEqual([1_000, 2_500, 3_600, 4_612])
  })

  test('may be none, and be set where there was none', async () => {
    const pacer = createPacer(0.1, clock)
    const waiting = whenKept(times(20, () => send(pacer)))
    await clock.advance(100)
    pacer.setRate(null)
    await idle()
    expect(waiting).toEqual(Array(20).fill(100))
    pacer.setRate(10)
    // What was sent under none counts: its second is full, and 1 ms more is kept clear of it.
    expect(await clock.until(Promise.all(times(2, () => send(pacer))))).toEqual([1_105, 1_201])
  })

  test('lets no request get ready long before a moment that a slow one puts off', async () => {
    const pacer = createPacer(null, clock)
    await send(pacer)
    pacer.setRate(0.1)
    const given = whenKept([pacer.reserve(FOREVER)])
    await clock.advance(20_000)
    expect(given).toEqual([9_980])
  })

  test('judges requests on their way: a slower one holds them back', async () => {
    const pacer = createPacer(null, clock)
    const slots = (await Promise.all(times(5, () => pacer.reserve(FOREVER)))) as Reservation[]
    expect(slots.slice(0, 2).map((reservation) => reservation.commit())).toEqual([null, null])
    pacer.setRate(2)
    expect(slots.slice(2).map((reservation) => reservation.commit())).toEqual(['pace', 'pace', 'pace'])
  })

  test('lets no request wait whose moment belonged to the old', async () => {
    const pacer = createPacer(10, clock)
    const reservation = (await clock.until(pacer.reserve(FOREVER))) as Reservation
    reservation.commit()
    const moment = whenKept([pacer.departure()])
    pacer.setRate(0.01)
    await idle()
    expect(moment).toEqual([975])
    expect(reservation.commit()).toBe('pace')
  })

  test('no second up to a start holds more than the rate of that start', async () => {
    const change = fc.record({
      afterMs: fc.integer({ min: 0, max: 2_500 }),
      rate: fc.option(fc.constantFrom(0.5, 1, 3, 7, 20), { nil: null }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
        clock = new ManualClock(NOW)
        const pacer = createPacer(5, clock)
        const starts: Array<{ atMs: number; rate: number | null }> = []
        let rate: number | null = 5
        const asking = new AbortController()
        const lane = async () => {
          for (;;) {
            const reservation = await pacer.reserve(asking.signal)
            if (reservation === null) return
            await clock.sleep(7)
            await pacer.departure()
            if (reservation.commit() === null) starts.push({ atMs: clock.monotonicMs(), rate })
            reservation.cancel()
            await clock.sleep(80)
          }
        }
        void lane()
        void lane()
        for (const { afterMs, rate: next } of changes) {
          await clock.advance(afterMs)
          rate = next
          pacer.setRate(next)
        }
        await clock.advance(2_500)
        asking.abort()
        for (const last of starts) {
          if (last.rate === null) continue
          const within = starts.filter(({ atMs }) => atMs > last.atMs - 1_000 && atMs <= last.atMs).length
          expect(within).toBeLessThanOrEqual(Math.max(1, last.rate))
        }
      }),
      { numRuns: tries(20), endOnFailure: true },
    )
  })
})
