import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Signal } from '../../src/domain/verdict.ts'
import { afterSignal, backoffEndMs, isBackingOff, OPENING_WINDOW, type Window } from '../../src/domain/window.ts'

const IN_FLIGHT_MAX = 32

function told(window: Window, signal: Signal, nowMs = 0, retryAfterMs: number | null = null): Window {
  return afterSignal(window, signal, { nowMs, inFlightMax: IN_FLIGHT_MAX, retryAfterMs })
}

/** The window after three failures in a row, the third at `nowMs`. */
function resting(nowMs: number): Window {
  return told(told(told(OPENING_WINDOW, 'failure', nowMs), 'failure', nowMs), 'failure', nowMs)
}

test('it opens at one and doubles with every true answer up to the most allowed', () => {
  const sizes: number[] = []
  let window = OPENING_WINDOW
  for (let i = 0; i < 8; i++) {
    sizes.push(window.size)
    window = told(window, 'true-answer')
  }
  expect(sizes).toEqual([1, 2, 4, 8, 16, 32, 32, 32])
})

test('a most that is no power of two is reached and not passed', () => {
  const at = { nowMs: 0, inFlightMax: 5, retryAfterMs: null }
  let window = OPENING_WINDOW
  for (let i = 0; i < 5; i++) window = afterSignal(window, 'true-answer', at)
  expect(window.size).toBe(5)
})

describe('failure', () => {
  test('sets it to one; the first two let it go on', () => {
    const wide: Window = { ...OPENING_WINDOW, size: 32 }
    const once = told(wide, 'failure')
    expect(once).toMatchObject({ size: 1, failures: 1 })
    expect(isBackingOff(once, 0)).toBe(false)
    expect(isBackingOff(told(once, 'failure'), 0)).toBe(false)
  })

  test('three in a row rest a second', () => {
    const window = resting(100)
    expect(isBackingOff(window, 100)).toBe(true)
    expect(isBackingOff(window, 1_099)).toBe(true)
    expect(isBackingOff(window, 1_100)).toBe(false)
  })

  test('each one after a rest doubles it, up to 15 s', () => {
    const rests: number[] = []
    let window = resting(0)
    for (let i = 0; i < 7; i++) {
      rests.push(window.backoffMs)
      window = told(window, 'failure', window.backoffUntilMs)
    }
    expect(rests).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000])
  })

  test('the late failures of one burst count as one rest', () => {
    let window = resting(0)
    for (let nowMs = 1; nowMs < 1_000; nowMs += 30) window = told(window, 'failure', nowMs)
    expect(window).toMatchObject({ backoffMs: 1_000, backoffUntilMs: 1_000 })
  })

  test('two, an answer and two more are not three in a row', () => {
    let window = told(told(OPENING_WINDOW, 'failure'), 'failure')
    window = told(window, 'true-answer')
    window = told(told(window, 'failure'), 'failure')
    expect(isBackingOff(window, 0)).toBe(false)
  })

  test('a true answer ends the rest and forgets how long it was', () => {
    const window = told(told(resting(0), 'failure', 1_000), 'true-answer', 1_500)
    expect(isBackingOff(window, 1_500)).toBe(false)
    expect(window).toMatchObject({ size: 2, failures: 0, backoffMs: 0 })
  })
})

describe('throttling', () => {
  test('rests at once, at a width of one', () => {
    const window = told({ ...OPENING_WINDOW, size: 32 }, 'throttled', 10)
    expect(window).toMatchObject({ size: 1, backoffUntilMs: 1_010 })
  })

  test.each([
    [300, 1_000],
    [7_000, 7_000],
    [null, 1_000],
  ])('of Retry-After %s and the rest the later wins', (retryAfterMs, backoffUntilMs) => {
    expect(backoffEndMs(told(OPENING_WINDOW, 'throttled', 0, retryAfterMs))).toBe(backoffUntilMs)
  })

  test('a later Retry-After prolongs a rest that has begun, an earlier one does not shorten it', () => {
    const window = told(OPENING_WINDOW, 'throttled', 0, 7_000)
    expect(backoffEndMs(told(window, 'throttled', 1_000, 9_000))).toBe(10_000)
    expect(backoffEndMs(told(window, 'throttled', 1_000, 2_000))).toBe(7_000)
  })
})

test('what says nothing about the road changes nothing', () => {
  const window = resting(0)
  expect(told(window, 'none', 5, 99_999)).toBe(window)
})

test('the size stays between one and the most, and our own rest never exceeds 15 s', () => {
  const step = fc.record({
    signal: fc.constantFrom<Signal>('true-answer', 'failure', 'throttled', 'none'),
    passedMs: fc.nat({ max: 20_000 }),
    inFlightMax: fc.integer({ min: 0, max: 64 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let window = OPENING_WINDOW
      let nowMs = 0
      let widest = 1
      for (const { signal, passedMs, inFlightMax } of steps) {
        nowMs += passedMs
        widest = Math.max(widest, inFlightMax)
        window = afterSignal(window, signal, { nowMs, inFlightMax, retryAfterMs: null })
        expect(window.size).toBeGreaterThanOrEqual(1)
        expect(window.size).toBeLessThanOrEqual(widest)
        expect(window.backoffUntilMs).toBeLessThanOrEqual(nowMs + 15_000)
        if (signal === 'failure' || signal === 'throttled') expect(window.size).toBe(1)
        if (signal === 'true-answer') expect(isBackingOff(window, nowMs)).toBe(false)
      }
    }),
  )
})

test('a true answer ends our own rest, and not the wait that the gateway asked for', () => {
  const asked = told(resting(0), 'throttled', 0, 60_000)
  const after = told(asked, 'true-answer', 10)
  expect(after.backoffUntilMs).toBe(OPENING_WINDOW.backoffUntilMs)
  expect(isBackingOff(after, 59_999)).toBe(true)
  expect(isBackingOff(after, 60_000)).toBe(false)
})
