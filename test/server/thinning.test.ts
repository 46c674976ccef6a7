// How few acts are left of what comes without end.

import { expect, test } from 'vitest'
import { createThinning } from '../../src/server/thinning.ts'

test('of a name the 1st, 5th, 50th time of a day is told, and of all names beyond the most as of one', () => {
  let now = 0
  const thin = createThinning(2, () => now)
  const told = (name: string, times: number) =>
    Array.from({ length: times }, () => thin(name)).flatMap((one) => (one === null ? [] : [one]))
  const own = (...times: number[]) => times.map((each) => ({ times: each, isOwn: true }))
  expect(told('a', 60)).toEqual(own(1, 5, 50))
  expect(told('b', 1)).toEqual(own(1))
  const others = Array.from({ length: 1_000 }, (_, i) => told(`c${i}`, 1)).flat()
  expect(others).toEqual([1, 5, 50, 500].map((times) => ({ times, isOwn: false })))
  expect(told('a', 440)).toEqual(own(500))
  now = 86_400_000
  expect(told('c7', 2)).toEqual(own(1))
})
