// A worker believes in its lease for less time than others grant it, by whichever of its clocks goes further.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTrust, LEASE_MS, momentOf } from '../../../src/ledger/rules/trust.ts'
import { ManualClock } from '../../fixtures/clock.ts'
import { NOW } from '../../fixtures/ledgers.ts'

const begun = () => {
  const clock = new ManualClock(NOW)
  const trust = createTrust(clock)
  trust.renewed(momentOf(clock))
  return { clock, trust }
}

test('a worker that never beat may not send', () => {
  expect(createTrust(new ManualClock(NOW)).holds()).toBe(false)
})

test('the trust is counted from when the question began, and ends two seconds before the lease', () => {
  const clock = new ManualClock(NOW)
  const trust = createTrust(clock)
  const asked = momentOf(clock)
  clock.jump(5_000)
  trust.renewed(asked)
  clock.jump(8_000)
  expect(trust.holds()).toBe(true)
  clock.jump(1)
  expect(trust.holds()).toBe(false)
})

test('it ends when a machine was suspended, which steady time does not show', () => {
  const { clock, trust } = begun()
  clock.setWall(LEASE_MS)
  expect(trust.holds()).toBe(false)
})

test('it ends when the wall clock stood still, which the wall clock does not show', () => {
  const { clock, trust } = begun()
  clock.jumpMonotonic(LEASE_MS)
  expect(trust.holds()).toBe(false)
})

test('it ends when the wall clock was set back', () => {
  const { clock, trust } = begun()
  clock.setWall(-1)
  expect(trust.holds()).toBe(false)
})

test('it is withdrawn at once, and begins again with the next beat', () => {
  const { clock, trust } = begun()
  trust.withdraw()
  expect(trust.holds()).toBe(false)
  trust.renewed(momentOf(clock))
  expect(trust.holds()).toBe(true)
})

test('whatever the clocks do, no trust outlives a lease that was renewed when the question arrived', () => {
  const step = fc.record({ wall: fc.integer({ min: -60_000, max: 60_000 }), passes: fc.nat(20_000) })
  fc.assert(
    fc.property(fc.nat(3_000), fc.array(step, { maxLength: 8 }), (onTheWayMs, steps) => {
      const clock = new ManualClock(NOW)
      const trust = createTrust(clock)
      const asked = momentOf(clock)
      const leaseEndsAtMs = onTheWayMs + LEASE_MS // by steady time, after the question began
      clock.jump(onTheWayMs)
      trust.renewed(asked)
      for (const { wall, passes } of steps) {
        clock.setWall(wall)
        clock.jump(passes)
        const passedMs = clock.monotonicMs() - asked.monotonicMs
        if (passedMs >= leaseEndsAtMs) expect(trust.holds()).toBe(false)
      }
    }),
  )
})
