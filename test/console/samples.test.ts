// What is kept of each minute: an hour of it, with gaps that stay gaps.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSamples, MINUTE_MS, MINUTES_SHOWN, type Taken } from '../../src/console/samples.ts'

const BEGAN = Date.UTC(2026, 10, 26, 14, 2, 30)
const FIRST = BEGAN + MINUTE_MS / 2
const at = (minute: number) => FIRST + minute * MINUTE_MS
const taken = (over: Partial<Taken> = {}) =>
  new Map([['shop', { approved: 0, declined: 0, failed: 0, inDoubt: 0, open: 0, ...over }]])

test('the first sample has what stands open, and no figure for a minute that was not seen whole', () => {
  const samples = createSamples(BEGAN)
  expect(samples.of('shop', at(0))).toEqual([])
  samples.keep(at(0), taken({ approved: 40, open: 3 }))
  const [first] = samples.of('shop', at(0) + 1)
  expect(first).toEqual({ endMs: at(0), approved: null, declined: null, failed: null, inDoubt: 0, open: 3 })
  expect(samples.sinceMs()).toBe(BEGAN)
})

test('a minute that was not looked at is not known, nor is what came in it or in the next', () => {
  const samples = createSamples(BEGAN)
  for (const minute of [0, 1, 3, 4]) samples.keep(at(minute), taken({ approved: minute * 10 }))
  const shown = samples.of('shop', at(4))
  expect(shown.map(({ approved }) => approved)).toEqual([null, 10, null, null, 10])
  expect(shown.map(({ open }) => open)).toEqual([0, 0, null, 0, 0])
  expect(samples.of('shop', at(6)).map(({ open }) => open)).toEqual([0, 0, null, 0, 0, null, null])
})

test('a sample may be on its way for some seconds, and is missed after that', () => {
  const samples = createSamples(BEGAN)
  samples.keep(at(0), taken())
  expect(samples.of('shop', at(1) + 4_000)).toHaveLength(1)
  expect(samples.of('shop', at(1) + 6_000).map(({ open }) => open)).toEqual([0, null])
})

test('where rows were corrected away from an outcome, how many came to it is not known', () => {
  const samples = createSamples(BEGAN)
  samples.keep(at(0), taken({ failed: 2 }))
  samples.keep(at(1), taken({ failed: 1, approved: 1 }))
  expect(samples.of('shop', at(1)).at(-1)).toMatchObject({ failed: null, approved: 1, declined: 0 })
})

test('where the clock is set back, it begins anew', () => {
  const samples = createSamples(BEGAN)
  for (const minute of [0, 1, 2]) samples.keep(at(minute), taken({ approved: minute }))
  samples.keep(at(1), taken({ approved: 9 }))
  expect(samples.of('shop', at(1))).toMatchObject([{ endMs: at(1), approved: null }])
  expect(samples.sinceMs()).toBe(at(1))
})

test('an hour is kept, and adds up to what came in it', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000), { minLength: 1, maxLength: 150 }), (came) => {
      const samples = createSamples(BEGAN)
      let approved = 0
      for (const [minute, more] of came.entries()) {
        approved += more
        samples.keep(at(minute), taken({ approved }))
        samples.keep(at(minute), taken({ approved: approved + 1 })) // a second look at the same minute
      }
      const shown = samples.of('shop', at(came.length - 1)).map((minute) => minute.approved)
      expect(shown).toEqual([null, ...came.slice(1)].slice(-MINUTES_SHOWN))
    }),
  )
})
