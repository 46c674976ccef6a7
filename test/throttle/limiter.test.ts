import { beforeEach, describe, expect, test } from 'vitest'
import type { RowId } from '../../src/domain/ports.ts'
import { type Gate, openGate, type Place } from '../../src/throttle/limiter.ts'
import type { Slot } from '../../src/throttle/pacer.ts'
import { fenceOf, openSendBy } from '../../src/throttle/send-deadline.ts'
import { idle, ManualClock } from '../fixtures/clock.ts'

const NOW = Date.UTC(2026, 4, 4, 9)
const FOREVER = new AbortController().signal

let clock: ManualClock
beforeEach(() => {
  clock = new ManualClock(NOW)
})

const gateOf = (inFlightMax = 8, ratePerSecond: number | null = null): Gate =>
  openGate({ inFlightMax, ratePerSecond, clock })

/** Asks for so many places and tells which were given, in the order of asking. */
async function ask(gate: Gate, count: number, turn = FOREVER): Promise<Array<Place | null | undefined>> {
  const got: Array<Place | null | undefined> = Array(count).fill(undefined)
  for (let i = 0; i < count; i++) void gate.place(turn).then((place) => (got[i] = place))
  await idle()
  return got
}

const given = (places: ReadonlyArray<Place | null | undefined>) => places.filter((place) => place != null).length

describe('the window', () => {
  test('opens with one place and doubles with every true answer, up to the most allowed', async () => {
    const gate = gateOf(6)
    for (const size of [1, 2, 4, 6, 6]) {
      const turn = new AbortController()
      const places = await ask(gate, 10, turn.signal)
      expect(given(places)).toBe(size)
      turn.abort()
      for (const place of places) place?.free()
      gate.heard('true-answer', null)
    }
  })

  test('gives places in the order in which they were asked for', async () => {
    const gate = gateOf()
    const [first, ...others] = await ask(gate, 1)
    const waiting = await ask(gate, 3)
    expect([others, waiting]).toEqual([[], [undefined, undefined, undefined]])
    first?.free()
    await idle()
    expect(waiting.map((place) => place != null)).toEqual([true, false, false])
  })

  test('a place freed twice is free once', async () => {
    const gate = gateOf()
    const [first] = await ask(gate, 1)
    const waiting = await ask(gate, 3)
    first?.free()
    first?.free()
    await idle()
    expect(given(waiting)).toBe(1)
  })

  test('falls to one with trouble: no more start until the open ones have ended', async () => {
    const gate = gateOf()
    for (let i = 0; i < 2; i++) gate.heard('true-answer', null)
    const open = await ask(gate, 4)
    expect(given(open)).toBe(4)
    gate.heard('trouble', null)
    const waiting = await ask(gate, 2)
    for (const [i, place] of open.entries()) {
      expect(given(waiting), `${i} ended`).toBe(0)
      place?.free()
      await idle()
    }
    expect(given(waiting)).toBe(1)
  })

  test('whoever stops waiting takes no place with it', async () => {
    const gate = gateOf()
    const [open] = await ask(gate, 1)
    const leaving = new AbortController()
    const left = await ask(gate, 2, leaving.signal)
    const staying = await ask(gate, 1)
    leaving.abort()
    await idle()
    expect(left).toEqual([null, null])
    open?.free()
    await idle()
    expect(given(staying)).toBe(1)
  })

  test('a turn that is over gets none, even where one is free', async () => {
    const gate = gateOf()
    expect(await gate.place(AbortSignal.abort())).toBeNull()
    expect(given(await ask(gate, 1))).toBe(1)
  })
})

describe('a rest', () => {
  const trouble = (gate: Gate, times = 3) => {
    for (let i = 0; i < times; i++) gate.heard('trouble', null)
  }

  test('begins with the third trouble in a row and sends everyone away who waits', async () => {
    const gate = gateOf()
    const open = await ask(gate, 1)
    const waiting = await ask(gate, 2)
    trouble(gate, 2)
    await idle()
    expect([gate.isOpen(), ...waiting]).toEqual([true, undefined, undefined])
    trouble(gate, 1)
    await idle()
    expect([gate.isOpen(), ...waiting]).toEqual([false, null, null])
    expect(await gate.place(FOREVER)).toBeNull()
    open[0]?.free()
  })

  test('is over after its time, and its length is told in whole milliseconds that cover it', async () => {
    const gate = gateOf()
    trouble(gate)
    await clock.advance(333.4)
    expect(gate.restLeftMs()).toBe(667)
    await clock.advance(gate.restLeftMs())
    expect([gate.isOpen(), gate.restLeftMs()]).toEqual([true, 0])
    expect(given(await ask(gate, 3))).toBe(1)
  })

  test('lasts as long as the gateway asked, where that is longer, and tells rows of its own part only', async () => {
    const gate = gateOf()
    gate.heard('throttled', 60_000)
    expect(gate.restLeftMs()).toBe(1_000)
    gate.heard('throttled', 2_000)
    await clock.advance(59_999)
    expect([gate.isOpen(), gate.restLeftMs()]).toEqual([false, 0])
    await clock.advance(1)
    expect(gate.isOpen()).toBe(true)
  })

  test('ends with a true answer', () => {
    const gate = gateOf()
    trouble(gate)
    gate.heard('true-answer', null)
    expect(gate.isOpen()).toBe(true)
  })

  test('ends when a person says go on, with one place and nothing held against anyone', async () => {
    const gate = gateOf()
    const row = (n: number) => n as RowId
    gate.refusals.judge(row(1), 1)
    gate.refusals.judge(row(2), 1)
    gate.heard('true-answer', null)
    gate.heard('throttled', 600_000)
    gate.reset()
    expect(gate.isOpen()).toBe(true)
    expect(given(await ask(gate, 5))).toBe(1)
    expect(gate.refusals.judge(row(3), 1)).toBe('wait')
  })
})

describe('the rate dial', () => {
  /** Whether a start is let go now, and whether a second one behind it is. */
  const twoLeave = async (gate: Gate) => {
    const slot = await clock.until(gate.slot(FOREVER))
    await clock.until(gate.moment())
    return [slot?.leave(), slot?.leave()]
  }

  test('takes the place of the configured rate until it is turned back', async () => {
    const gate = gateOf(8, 1)
    expect(await twoLeave(gate)).toEqual([null, 'pace'])
    expect(gate.turnDial(2)).toBe(2)
    expect(await twoLeave(gate)).toEqual([null, null])
    expect(gate.turnDial(null)).toBe(1)
    expect(await twoLeave(gate)).toEqual([null, 'pace'])
  })

  test('gives a rate where none is configured, and takes it away again', async () => {
    const gate = gateOf(8, null)
    expect(gate.turnDial(1)).toBe(1)
    expect(await twoLeave(gate)).toEqual([null, 'pace'])
    expect(gate.turnDial(null)).toBeNull()
    expect(await twoLeave(gate)).toEqual([null, null])
  })

  test('turned to where it stands costs nothing: nobody waits a second for it', async () => {
    const gate = gateOf(8, 50)
    await clock.advance(5_000)
    gate.turnDial(50)
    gate.turnDial(null)
    const from = clock.monotonicMs()
    await clock.until(gate.moment())
    expect(clock.monotonicMs()).toBe(from)
  })
})

describe('refusals (403)', () => {
  const row = (n: number) => n as RowId

  test('of one row let it wait', () => {
    expect(gateOf().refusals.judge(row(1), 1)).toBe('wait')
  })

  test('of three different rows in a row stop the account', () => {
    const { refusals } = gateOf()
    expect([1, 2, 3].map((n) => refusals.judge(row(n), 1))).toEqual(['wait', 'wait', 'stop-account'])
  })

  test('of the same row again are one row', () => {
    const { refusals } = gateOf()
    expect([refusals.judge(row(1), 1), refusals.judge(row(1), 2), refusals.judge(row(2), 1)]).toEqual([
      'wait',
      'wait',
      'wait',
    ])
  })

  test('are not in a row when anything passes between them', () => {
    const { refusals } = gateOf()
    refusals.judge(row(1), 1)
    refusals.judge(row(2), 1)
    refusals.passed()
    expect(refusals.judge(row(3), 1)).toBe('wait')
  })

  test('give a row up at the third, where others pass', () => {
    const { refusals } = gateOf()
    refusals.passed()
    expect([1, 2, 3].map((count) => refusals.judge(row(1), count))).toEqual(['wait', 'wait', 'give-up-row'])
  })

  test('give no row up where nothing has passed', () => {
    expect(gateOf().refusals.judge(row(1), 3)).toBe('stop-account')
  })
})

describe('the fence', () => {
  test('is open for fifteen seconds from the moment before the claim', () => {
    const sendBy = openSendBy(clock)
    expect(sendBy.sendByMs).toBe(NOW + 15_000)
    clock.jump(15_000)
    expect(sendBy.isOver()).toBe(false)
    clock.jump(1)
    expect(sendBy.isOver()).toBe(true)
  })

  test('closes when either clock says so: a suspended machine stops the one, a person may set the other', () => {
    const suspended = openSendBy(clock)
    clock.setWall(15_001)
    expect(suspended.isOver()).toBe(true)
    const set = openSendBy(clock)
    clock.jumpMonotonic(15_001)
    expect(set.isOver()).toBe(true)
  })

  test('closes when the wall clock ran backwards', () => {
    const sendBy = openSendBy(clock)
    clock.setWall(-1)
    expect(sendBy.isOver()).toBe(true)
  })

  test('counts a start against the rate only where it lets it go', async () => {
    const slot = (await clock.until(gateOf(8, 1).slot(FOREVER))) as Slot
    const late = openSendBy(clock)
    clock.jump(15_001)
    expect(fenceOf(late, slot)()).toBe('fence')
    const sendBy = openSendBy(clock)
    expect([fenceOf(sendBy, slot)(), fenceOf(sendBy, slot)()]).toEqual([null, 'pace'])
  })
})

describe('the condition of the road', () => {
  test('is none until there is trouble, and tells of it from the first until the window is wholly open again', async () => {
    const gate = openGate({ inFlightMax: 4, ratePerSecond: null, clock })
    gate.heard('true-answer', null)
    expect(gate.condition()).toBeNull()
    const sinceMs = clock.nowMs()
    gate.heard('trouble', null, 'connection refused')
    clock.jump(5_000)
    gate.heard('trouble', null, 'connection reset')
    gate.heard('trouble', null, 'connection reset')
    expect(gate.condition()).toEqual({
      ...{ sinceMs, why: 'connection reset', troubles: 3, openMost: 1 },
      restUntilMs: clock.nowMs() + 1_000,
    })
    clock.jump(1_000)
    expect(gate.condition()).toMatchObject({ restUntilMs: null })
    gate.heard('true-answer', null)
    expect(gate.condition()).toMatchObject({ sinceMs, troubles: 0, openMost: 2 })
    gate.heard('true-answer', null)
    expect(gate.condition()).toBeNull()
  })

  test('does not end with what tells nothing of the road, where one request may be open at a time', () => {
    const gate = openGate({ inFlightMax: 1, ratePerSecond: null, clock })
    gate.heard('trouble', null, 'connection refused')
    gate.heard('none', null)
    expect(gate.condition()).toMatchObject({ why: 'connection refused' })
    gate.heard('true-answer', null)
    expect(gate.condition()).toBeNull()
  })

  test('tells until when the gateway asked to wait, and ends with a reset', () => {
    const gate = openGate({ inFlightMax: 4, ratePerSecond: null, clock })
    gate.heard('throttled', 30_000, 'too many requests')
    expect(gate.condition()).toMatchObject({ why: 'too many requests', restUntilMs: clock.nowMs() + 30_000 })
    gate.reset()
    expect(gate.condition()).toBeNull()
  })
})
