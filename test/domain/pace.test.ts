import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bookSlot, isPast, mayLeave, openPace } from '../../src/domain/pace.ts'

interface Asking {
  /** After the asking before it. */
  readonly afterMs: number
  /** From the slot to the moment the claim is back and the connection stands. */
  readonly lateMs: number
}

/** When the requests of these askings leave: a slot each, given up when past, held back when the second is full. */
function startsOf(perSecond: number, askings: readonly Asking[]): number[] {
  let pace = openPace(perSecond, 0)
  let nowMs = 0
  const ready: number[] = []
  for (const { afterMs, lateMs } of askings) {
    nowMs += afterMs
    const booked = bookSlot(pace, nowMs)
    pace = booked.pace
    const readyAtMs = Math.max(nowMs, booked.slotAtMs) + lateMs
    if (!isPast(pace, booked.slotAtMs, readyAtMs)) ready.push(readyAtMs)
  }
  const starts: number[] = []
  for (const atMs of ready.toSorted((a, b) => a - b)) if (mayLeave(pace, starts, atMs)) starts.push(atMs)
  return starts
}

/** The most starts in any window of one second, its end excluded. */
function busiestSecond(starts: readonly number[]): number {
  return Math.max(0, ...starts.map((from) => starts.filter((at) => at >= from && at < from + 1000).length))
}

const askings = fc.array(
  fc.record({
    afterMs: fc.double({ min: 0, max: 300, noNaN: true }),
    lateMs: fc.double({ min: 0, max: 400, noNaN: true }),
  }),
  { maxLength: 200 },
)

test('no window of one second holds more than the rate, whenever it is asked and however late claims return', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), askings, (perSecond, all) => {
      expect(busiestSecond(startsOf(perSecond, all))).toBeLessThanOrEqual(perSecond)
    }),
  )
})

test.each([1, 5, 50, 500])(
  'asked without pause at %i/s, every full second holds the rate but for the margin',
  (rate) => {
    const starts = startsOf(
      rate,
      Array.from({ length: rate * 5 }, () => ({ afterMs: 0, lateMs: 0 })),
    )
    expect(busiestSecond(starts)).toBeLessThanOrEqual(rate)
    const spanMs = (starts.at(-1) as number) - (starts[0] as number)
    expect((starts.length - 1) / (spanMs / 1000)).toBeCloseTo(rate / 1.02, 5)
  },
)

describe('slots', () => {
  test('the first is a whole second after opening: a dead predecessor may have used that one up', () => {
    expect(bookSlot(openPace(10, 5_000), 5_000).slotAtMs).toBe(6_000)
  })

  test('stand one interval apart, 2 % wider than the rate', () => {
    const first = bookSlot(openPace(10, 0), 0)
    expect(bookSlot(first.pace, 0).slotAtMs - first.slotAtMs).toBeCloseTo(102, 9)
  })

  test('a quiet time gives no credit', () => {
    const pace = openPace(10, 0)
    const first = bookSlot(pace, 60_000)
    expect(first.slotAtMs).toBe(60_000)
    expect(bookSlot(first.pace, 60_000).slotAtMs).toBeCloseTo(60_102, 9)
  })

  test('forgive a timer 4 ms, and are never caught up on beyond that', () => {
    const pace = { ...openPace(10, 0), nextAtMs: 1_000 }
    expect(bookSlot(pace, 1_004).slotAtMs).toBe(1_000)
    expect(bookSlot(pace, 1_005).slotAtMs).toBe(1_005)
  })

  test('are past one interval after their moment', () => {
    const pace = openPace(10, 0)
    expect(isPast(pace, 1_000, 1_000 + pace.intervalMs)).toBe(false)
    expect(isPast(pace, 1_000, 1_001 + pace.intervalMs)).toBe(true)
  })
})

describe('the last word', () => {
  test('lets the start through that comes a second after the one it would join', () => {
    const pace = openPace(3, 0)
    expect(mayLeave(pace, [], 0)).toBe(true)
    expect(mayLeave(pace, [0, 10], 20)).toBe(true)
    expect(mayLeave(pace, [0, 10, 20], 999)).toBe(false)
    expect(mayLeave(pace, [0, 10, 20], 1_000)).toBe(true)
    expect(mayLeave(pace, [0, 10, 20, 1_000], 1_005)).toBe(false)
  })
})
