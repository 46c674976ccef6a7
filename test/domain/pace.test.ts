import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { afterDeparture, beginsAt, mayLeave, nextDeparture, paceOf } from '../../src/domain/pace.ts'

interface Going {
  /** How long nobody was ready. */
  readonly idleMs: number
  /** From the moment as it was planned to the moment as it was taken. */
  readonly lateMs: number
  /** From there to the first byte. */
  readonly byteMs: number
}

const PROMPT: Going = { idleMs: 0, lateMs: 0, byteMs: 0 }

/** When requests leave that go one behind the other; `refused` are those held back where the first byte leaves. */
function leave(perSecond: number, goings: readonly Going[]): { starts: number[]; refused: number } {
  let pace = paceOf(perSecond, 0)
  let nowMs = 0
  let refused = 0
  const moments: number[] = []
  const starts: number[] = []
  for (const { idleMs, lateMs, byteMs } of goings) {
    nowMs += idleMs
    const atMs = Math.max(nextDeparture(pace, moments), nextDeparture(pace, starts))
    nowMs = Math.max(nowMs, atMs) + lateMs
    pace = afterDeparture(pace, atMs, nowMs)
    moments.push(nowMs)
    const startMs = Math.max(nowMs + byteMs, starts.at(-1) ?? 0)
    if (mayLeave(pace, starts, startMs)) starts.push(startMs)
    else refused += 1
  }
  return { starts, refused }
}

/** The most starts in any window of that length, its end excluded. */
function fullest(starts: readonly number[], windowMs: number): number {
  return Math.max(
    0,
    ...starts.map((from, i) => {
      const beyond = starts.findIndex((at, j) => j > i && at >= from + windowMs)
      return (beyond < 0 ? starts.length : beyond) - i
    }),
  )
}

function meanOf(starts: readonly number[]): number {
  return (starts.length - 1) / (((starts.at(-1) as number) - (starts[0] as number)) / 1000)
}

const upTo = (max: number) => fc.double({ min: 0, max, noNaN: true })
const anyGoings = fc.array(fc.record({ idleMs: upTo(300), lateMs: upTo(400), byteMs: upTo(400) }), { maxLength: 200 })

test('no window of one second holds more than the rate, however late first bytes leave', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), anyGoings, (perSecond, goings) => {
      expect(fullest(leave(perSecond, goings).starts, 1_000)).toBeLessThanOrEqual(perSecond)
    }),
  )
})

describe('on a busy machine, with late timers and now and then a stall of up to 60 ms', () => {
  const jitter = fc.record({ lateMs: upTo(3), stallMs: upTo(60), byteMs: upTo(2) })

  test.each([
    { perSecond: 1, in100Ms: 1 },
    { perSecond: 5, in100Ms: 1 },
    { perSecond: 50, in100Ms: 6 },
  ])('at $perSecond/s 97 % of the rate is used, evenly, and nothing is held back', ({ perSecond, in100Ms }) => {
    const minLength = perSecond * 20
    fc.assert(
      fc.property(fc.array(jitter, { minLength, maxLength: minLength }), (jitters) => {
        const isStalled = (i: number) => i % (perSecond + 7) === 0
        const goings = jitters.map(({ lateMs, stallMs, byteMs }, i) => {
          return { idleMs: 0, lateMs: isStalled(i) ? stallMs : lateMs, byteMs }
        })
        const { starts, refused } = leave(perSecond, goings)
        expect(refused).toBe(0)
        expect(meanOf(starts)).toBeGreaterThanOrEqual(perSecond * 0.97)
        expect(fullest(starts, 1_000)).toBeLessThanOrEqual(perSecond)
        expect(fullest(starts, 100)).toBeLessThanOrEqual(in100Ms)
      }),
      { numRuns: 40, endOnFailure: true },
    )
  })
})

test.each([1, 5, 50, 500])('asked without pause at %i/s, all of the rate but for 1.2 % is used', (perSecond) => {
  const { starts, refused } = leave(perSecond, Array(perSecond * 5).fill(PROMPT))
  expect(refused).toBe(0)
  expect(fullest(starts, 1_000)).toBeLessThanOrEqual(perSecond)
  expect(meanOf(starts)).toBeCloseTo(perSecond / 1.012, 5)
})

describe('moments', () => {
  const startsOf = (perSecond: number, ...goings: ReadonlyArray<Partial<Going>>) =>
    leave(
      perSecond,
      goings.map((going) => ({ ...PROMPT, ...going })),
    ).starts.map((atMs) => Math.round(atMs))

  test('begin a whole second after opening: a dead predecessor may have used that one up', () => {
    expect(nextDeparture(paceOf(10, 5_000), [])).toBe(6_000)
  })

  test('stand one interval apart, 1.2 % wider than the rate', () => {
    expect(startsOf(10, {}, {}, {})).toEqual([1_000, 1_101, 1_202])
  })

  test('of a quiet time give no credit', () => {
    expect(startsOf(10, { idleMs: 60_000 }, {}, {})).toEqual([60_000, 60_101, 60_202])
  })

  test('missed by little are caught up on, a tenth of an interval at a time', () => {
    expect(startsOf(10, {}, { lateMs: 60 }, {}, {}, {}, {})).toEqual([1_000, 1_161, 1_219, 1_310, 1_405, 1_506])
  })

  test('are not moved by timers that are late by up to a third of an interval', () => {
    expect(startsOf(10, {}, { lateMs: 33 }, { lateMs: 20 }, {})).toEqual([1_000, 1_134, 1_222, 1_304])
  })

  test('stay where they are under timers that are late by 4 ms, however short the interval', () => {
    expect(startsOf(250, {}, { lateMs: 4 }, { lateMs: 4 }, { lateMs: 4 }, {})).toEqual([
      1_000, 1_008, 1_012, 1_016, 1_016,
    ])
  })

  test('missed by more than half a second are lost', () => {
    expect(startsOf(10, {}, { lateMs: 501 }, {}, {})).toEqual([1_000, 1_602, 1_703, 1_805])
  })

  test('wait for a second that is full', () => {
    const pace = { ...paceOf(3, 0), dueAtMs: 2_000 }
    expect(nextDeparture(pace, [1_500, 1_600])).toBe(2_000)
    expect(nextDeparture(pace, [1_500, 1_600, 1_700])).toBe(2_505)
  })

  test('are prepared for 25 ms before, one interval at most, each in its turn', () => {
    const pace = paceOf(10, 0)
    expect([0, 1, 2].map((before) => beginsAt(pace, [], before, 0))).toEqual([975, 1_076.2, 1_177.4])
    expect(beginsAt(paceOf(500, 0), [], 0, 0)).toBeCloseTo(998, 1)
  })

  test('are not prepared for while their second is full', () => {
    expect(beginsAt(paceOf(0.1, 0), [500], 0, 0)).toBe(10_480)
  })

  test('are prepared for as much earlier as they fall behind, but not after a quiet time', () => {
    const pace = paceOf(10, 0)
    expect([1_500, 1_501].map((nowMs) => beginsAt(pace, [], 5, nowMs))).toEqual([1_481, 1_982])
  })
})

describe('the last word', () => {
  test('lets the start through that comes a second after the one it would join', () => {
    const pace = paceOf(3, 0)
    expect(mayLeave(pace, [], 0)).toBe(true)
    expect(mayLeave(pace, [0, 10], 20)).toBe(true)
    expect(mayLeave(pace, [0, 10, 20], 999)).toBe(false)
    expect(mayLeave(pace, [0, 10, 20], 1_000)).toBe(true)
    expect(mayLeave(pace, [0, 10, 20, 1_000], 1_005)).toBe(false)
  })

  test('below one a second keeps one start a whole interval away from the next', () => {
    expect([3_999, 4_000].map((atMs) => mayLeave(paceOf(0.25, 0), [0], atMs))).toEqual([false, true])
  })
})
