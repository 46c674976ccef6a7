import { beforeEach, describe, expect, test } from 'vitest'
import type { RowId } from '../../src/domain/ids.ts'
import { type AccountLimiter, createLimiter } from '../../src/throttle/limiter.ts'
import type { Reservation } from '../../src/throttle/pacer.ts'
import type { Permit } from '../../src/throttle/permits.ts'
import { createSendDeadline, fenceOf } from '../../src/throttle/send-deadline.ts'
import { idle, ManualClock } from '../fixtures/clock.ts'

const NOW = Date.UTC(2026, 4, 4, 9)
const FOREVER = new AbortController().signal

let clock: ManualClock
beforeEach(() => {
  clock = new ManualClock(NOW)
})

const limiterOf = (inFlightMax = 8, ratePerSecond: number | null = null): AccountLimiter =>
  createLimiter({ inFlightMax, ratePerSecond, clock })

/** Asks for so many places and tells which were given, in the order of asking. */
async function ask(
  limiter: AccountLimiter,
  count: number,
  signal = FOREVER,
): Promise<Array<Permit | null | undefined>> {
  const got: Array<Permit | null | undefined> = Array(count).fill(undefined)
  for (let i = 0; i < count; i++) void limiter.acquire(signal).then((permit) => (got[i] = permit))
  await idle()
  return got
}

const given = (places: ReadonlyArray<Permit | null | undefined>) => places.filter((place) => place != null).length

describe('the window', () => {
  test('opens with one place and doubles with every true answer, up to the most allowed', async () => {
    const limiter = limiterOf(6)
    for (const size of [1, 2, 4, 6, 6]) {
      const turn = new AbortController()
      const places = await ask(limiter, 10, turn.signal)
      expect(given(places)).toBe(size)
      turn.abort()
      for (const place of places) place?.release()
      limiter.record('true-answer', null)
    }
  })

  test('gives places in the order in which they were asked for', async () => {
    const limiter = limiterOf()
    const [first, ...others] = await ask(limiter, 1)
    const waiting = await ask(limiter, 3)
    expect([others, waiting]).toEqual([[], [undefined, undefined, undefined]])
    first?.release()
    await idle()
    expect(waiting.map((place) => place != null)).toEqual([true, false, false])
  })

  test('a place freed twice is free once', async () => {
    const limiter = limiterOf()
    const [first] = await ask(limiter, 1)
    const waiting = await ask(limiter, 3)
    first?.release()
    first?.release()
    await idle()
    expect(given(waiting)).toBe(1)
  })

  test('falls to one with trouble: no more start until the open ones have ended', async () => {
    const limiter = limiterOf()
    for (let i = 0; i < 2; i++) limiter.record('true-answer', null)
    const open = await ask(limiter, 4)
    expect(given(open)).toBe(4)
    limiter.record('failure', null)
    const waiting = await ask(limiter, 2)
    for (const [i, place] of open.entries()) {
      expect(given(waiting), `${i} ended`).toBe(0)
      place?.release()
      await idle()
    }
    expect(given(waiting)).toBe(1)
  })

  test('an attempt that stops waiting takes no place with it', async () => {
    const limiter = limiterOf()
    const [open] = await ask(limiter, 1)
    const leaving = new AbortController()
    const left = await ask(limiter, 2, leaving.signal)
    const staying = await ask(limiter, 1)
    leaving.abort()
    await idle()
    expect(left).toEqual([null, null])
    open?.release()
    await idle()
    expect(given(staying)).toBe(1)
  })

  test('each of several that wait behind one another stops with its own signal', async () => {
    const limiter = limiterOf()
    const [open] = await ask(limiter, 1)
    const [a, b] = [new AbortController(), new AbortController()]
    const ofA = await ask(limiter, 1, a.signal)
    const ofB = await ask(limiter, 2, b.signal)
    const laterOfA = await ask(limiter, 1, a.signal)
    a.abort()
    await idle()
    expect([...ofA, ...laterOfA, ...ofB]).toEqual([null, null, undefined, undefined])
    b.abort()
    await idle()
    expect(ofB).toEqual([null, null])
    open?.release()
  })

  test('a turn that is over gets none, even where one is free', async () => {
    const limiter = limiterOf()
    expect(await limiter.acquire(AbortSignal.abort())).toBeNull()
    expect(given(await ask(limiter, 1))).toBe(1)
  })
})

describe('a rest', () => {
  const trouble = (limiter: AccountLimiter, times = 3) => {
    for (let i = 0; i < times; i++) limiter.record('failure', null)
  }

  test('begins with the third trouble in a row and sends everyone away who waits', async () => {
    const limiter = limiterOf()
    const open = await ask(limiter, 1)
    const waiting = await ask(limiter, 2)
    trouble(limiter, 2)
    await idle()
    expect([limiter.isOpen(), ...waiting]).toEqual([true, undefined, undefined])
    trouble(limiter, 1)
    await idle()
    expect([limiter.isOpen(), ...waiting]).toEqual([false, null, null])
    expect(await limiter.acquire(FOREVER)).toBeNull()
    open[0]?.release()
  })

  test('is over after its time, and its length is told in whole milliseconds that cover it', async () => {
    const limiter = limiterOf()
    trouble(limiter)
    await clock.advance(333.4)
    expect(limiter.backoffLeftMs()).toBe(667)
    await clock.advance(limiter.backoffLeftMs())
    expect([limiter.isOpen(), limiter.backoffLeftMs()]).toEqual([true, 0])
    expect(given(await ask(limiter, 3))).toBe(1)
  })

  test('lasts as long as the gateway asked, and tells rows of its own part only', async () => {
    const limiter = limiterOf()
    limiter.record('throttled', 60_000)
    expect(limiter.backoffLeftMs()).toBe(1_000)
    limiter.record('throttled', 2_000)
    await clock.advance(59_999)
    expect([limiter.isOpen(), limiter.backoffLeftMs()]).toEqual([false, 0])
    await clock.advance(1)
    expect(limiter.isOpen()).toBe(true)
  })

  test('ends with a true answer', () => {
    const limiter = limiterOf()
    trouble(limiter)
    limiter.record('true-answer', null)
    expect(limiter.isOpen()).toBe(true)
  })

  test('ends when a person says go on, with one place and nothing held against anyone', async () => {
    const limiter = limiterOf()
    const row = (n: number) => n as RowId
    limiter.refusals.forbidden(row(1), 1)
    limiter.refusals.forbidden(row(2), 1)
    limiter.record('true-answer', null)
    limiter.record('throttled', 600_000)
    limiter.reset()
    expect(limiter.isOpen()).toBe(true)
    expect(given(await ask(limiter, 5))).toBe(1)
    expect(limiter.refusals.forbidden(row(3), 1)).toBe('wait')
  })
})

describe('the rate dial', () => {
  /** Whether a start is let go now, and whether a second one behind it is. */
  const twoLeave = async (limiter: AccountLimiter) => {
    const reservation = await clock.until(limiter.reserve(FOREVER))
    await clock.until(limiter.departure())
    return [reservation?.commit(), reservation?.commit()]
  }

  test('takes the place of the configured rate until it is turned back', async () => {
    const limiter = limiterOf(8, 1)
    expect(await twoLeave(limiter)).toEqual([null, 'pace'])
    expect(limiter.setRateOverride(2)).toBe(2)
    expect(await twoLeave(limiter)).toEqual([null, null])
    expect(limiter.setRateOverride(null)).toBe(1)
    expect(await twoLeave(limiter)).toEqual([null, 'pace'])
  })

  test('gives a rate where none is configured, and takes it away again', async () => {
    const limiter = limiterOf(8, null)
    expect(limiter.setRateOverride(1)).toBe(1)
    expect(await twoLeave(limiter)).toEqual([null, 'pace'])
    expect(limiter.setRateOverride(null)).toBeNull()
    expect(await twoLeave(limiter)).toEqual([null, null])
  })

  test('turned to where it stands costs nothing: no request waits a second for it', async () => {
    const limiter = limiterOf(8, 50)
    await clock.advance(5_000)
    limiter.setRateOverride(50)
    limiter.setRateOverride(null)
    const from = clock.monotonicMs()
    await clock.until(limiter.departure())
    expect(clock.monotonicMs()).toBe(from)
  })
})

describe('refusals (403)', () => {
  const row = (n: number) => n as RowId

  test('of one row let it wait', () => {
    expect(limiterOf().refusals.forbidden(row(1), 1)).toBe('wait')
  })

  test('of three different rows in a row stop the account', () => {
    const { refusals } = limiterOf()
    expect([1, 2, 3].map((n) => refusals.forbidden(row(n), 1))).toEqual(['wait', 'wait', 'stop-account'])
  })

  test('of the same row again are one row', () => {
    const { refusals } = limiterOf()
    expect([refusals.forbidden(row(1), 1), refusals.forbidden(row(1), 2), refusals.forbidden(row(2), 1)]).toEqual([
      'wait',
      'wait',
      'wait',
    ])
  })

  test('are not in a row when anything passes between them', () => {
    const { refusals } = limiterOf()
    refusals.forbidden(row(1), 1)
    refusals.forbidden(row(2), 1)
    refusals.passed(row(4), NOW)
    expect(refusals.forbidden(row(3), 1)).toBe('wait')
  })

  test('give a row up at the third, where others pass', () => {
    const { refusals } = limiterOf()
    refusals.passed(row(4), NOW)
    expect([1, 2, 3].map((count) => refusals.forbidden(row(1), count))).toEqual(['wait', 'wait', 'give-up-row'])
  })

  test('give no row up where nothing has passed', () => {
    expect(limiterOf().refusals.forbidden(row(1), 3)).toBe('stop-account')
  })
})

describe('being asked to wait (429)', () => {
  const A = 1 as RowId
  const B = 2 as RowId
  const C = 3 as RowId

  test('gives the row up at the third time where others pass that were sent in between', () => {
    const { refusals } = limiterOf()
    expect(refusals.throttled(A, NOW)).toBe('wait')
    refusals.passed(B, NOW + 1_000)
    expect(refusals.throttled(A, NOW + 2_000)).toBe('wait-apart')
    expect(refusals.throttled(A, NOW + 62_000)).toBe('give-up-row')
  })

  test('gives up every row that is meant, where there are several', () => {
    const { refusals } = limiterOf()
    expect([refusals.throttled(A, NOW), refusals.throttled(B, NOW)]).toEqual(['wait', 'wait'])
    refusals.passed(C, NOW + 1_000)
    for (const means of ['wait-apart', 'give-up-row'])
      expect([refusals.throttled(A, NOW + 2_000), refusals.throttled(B, NOW + 2_000)]).toEqual([means, means])
  })

  test('gives no row up where nothing passes', () => {
    const { refusals } = limiterOf()
    refusals.passed(B, NOW - 1)
    for (let n = 0; n < 10; n++) expect(refusals.throttled(A, NOW + n)).toBe('wait')
  })

  test('does not count what was sent before it and passes after it', () => {
    const { refusals } = limiterOf()
    refusals.throttled(A, NOW)
    refusals.passed(B, NOW)
    expect([refusals.throttled(A, NOW + 1), refusals.throttled(A, NOW + 2)]).toEqual(['wait', 'wait'])
  })

  test('means the account where a row passes that was asked to wait before', () => {
    const { refusals } = limiterOf()
    refusals.throttled(A, NOW)
    refusals.throttled(B, NOW)
    refusals.passed(C, NOW + 1_000)
    expect(refusals.throttled(A, NOW + 2_000)).toBe('wait-apart')
    refusals.passed(B, NOW + 3_000)
    expect([refusals.throttled(A, NOW + 4_000), refusals.throttled(A, NOW + 5_000)]).toEqual(['wait', 'wait'])
  })

  test('means the account where another row is asked as well, and nothing has passed since', () => {
    const { refusals } = limiterOf()
    refusals.throttled(A, NOW)
    refusals.passed(C, NOW + 1_000)
    refusals.throttled(A, NOW + 2_000)
    refusals.throttled(B, NOW + 3_000)
    expect(refusals.throttled(A, NOW + 62_000)).toBe('wait')
    refusals.passed(C, NOW + 63_000)
    expect(refusals.throttled(A, NOW + 64_000)).toBe('give-up-row')
  })

  test('of a hundred different rows means the account', () => {
    const { refusals } = limiterOf()
    for (let n = 0; n < 100; n++) refusals.throttled((100 + n) as RowId, NOW)
    refusals.passed(C, NOW + 1_000)
    const again = [1_001, 1_002, 1_003].map((ms) => refusals.throttled(100 as RowId, NOW + ms))
    expect(again).toEqual(['wait', 'wait', 'wait'])
  })
})

describe('the fence', () => {
  test('is open for fifteen seconds from the moment before the claim', () => {
    const sendDeadline = createSendDeadline(clock)
    expect(sendDeadline.sendByMs).toBe(NOW + 15_000)
    clock.jump(15_000)
    expect(sendDeadline.isOver()).toBe(false)
    clock.jump(1)
    expect(sendDeadline.isOver()).toBe(true)
  })

  test('closes when either clock says so: one stops in suspension, a person may set the other', () => {
    const suspended = createSendDeadline(clock)
    clock.setWall(15_001)
    expect(suspended.isOver()).toBe(true)
    const set = createSendDeadline(clock)
    clock.jumpMonotonic(15_001)
    expect(set.isOver()).toBe(true)
  })

  test('closes when the wall clock ran backwards', () => {
    const sendDeadline = createSendDeadline(clock)
    clock.setWall(-1)
    expect(sendDeadline.isOver()).toBe(true)
  })

  test('counts a start against the rate only where it lets it go', async () => {
    const reservation = (await clock.until(limiterOf(8, 1).reserve(FOREVER))) as Reservation
    const late = createSendDeadline(clock)
    clock.jump(15_001)
    expect(fenceOf(late, reservation, () => true)()).toBe('fence')
    const sendDeadline = createSendDeadline(clock)
    expect(fenceOf(sendDeadline, reservation, () => false)()).toBe('fence')
    expect([
      fenceOf(sendDeadline, reservation, () => true)(),
      fenceOf(sendDeadline, reservation, () => true)(),
    ]).toEqual([null, 'pace'])
  })
})

describe('the condition of the road', () => {
  test('is none until there is trouble, and lasts until the window is wholly open again', async () => {
    const limiter = createLimiter({ inFlightMax: 4, ratePerSecond: null, clock })
    limiter.record('true-answer', null)
    expect(limiter.health()).toBeNull()
    const sinceMs = clock.nowMs()
    limiter.record('failure', null, 'connection refused')
    clock.jump(5_000)
    limiter.record('failure', null, 'connection reset')
    limiter.record('failure', null, 'connection reset')
    expect(limiter.health()).toEqual({
      ...{ sinceMs, why: 'connection reset', asksToWait: false, failures: 3, openMost: 1 },
      backoffUntilMs: clock.nowMs() + 1_000,
    })
    clock.jump(1_000)
    expect(limiter.health()).toMatchObject({ backoffUntilMs: null })
    limiter.record('true-answer', null)
    expect(limiter.health()).toMatchObject({ sinceMs, failures: 0, openMost: 2 })
    limiter.record('true-answer', null)
    expect(limiter.health()).toBeNull()
  })

  test('does not end with what tells nothing of the road, where one request may be open at a time', () => {
    const limiter = createLimiter({ inFlightMax: 1, ratePerSecond: null, clock })
    limiter.record('failure', null, 'connection refused')
    limiter.record('none', null)
    expect(limiter.health()).toMatchObject({ why: 'connection refused' })
    limiter.record('true-answer', null)
    expect(limiter.health()).toBeNull()
  })

  test('tells until when the gateway asked to wait, and ends with a reset', () => {
    const limiter = createLimiter({ inFlightMax: 4, ratePerSecond: null, clock })
    limiter.record('throttled', 30_000, 'too many requests')
    expect(limiter.health()).toMatchObject({
      ...{ why: 'too many requests', asksToWait: true, backoffUntilMs: clock.nowMs() + 30_000 },
    })
    limiter.reset()
    expect(limiter.health()).toBeNull()
  })
})
