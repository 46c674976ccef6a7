// How few acts are left of what comes without end.

import { expect, test } from 'vitest'
import { createThinning } from '../../src/server/thinning.ts'

/** Where each time counts one. */
function amounts(isOwn: boolean, times: readonly number[]) {
  return times.map((each, i) => ({ times: each, amount: each - (times[i - 1] ?? 0), isOwn }))
}

test('of a name the 1st, 5th, 50th time of a day is told, and of all names beyond the most as of one', () => {
  let now = 0
  const thin = createThinning(2, () => now)
  const told = (name: string, times: number) =>
    Array.from({ length: times }, () => thin(name)).flatMap((one) => (one === null ? [] : [one]))
  const own = (...times: number[]) => amounts(true, times)
  expect(told('a', 60)).toEqual(own(1, 5, 50))
  expect(told('b', 1)).toEqual(own(1))
  const others = Array.from({ length: 1_000 }, (_, i) => told(`c${i}`, 1)).flat()
  expect(others).toEqual(amounts(false, [1, 5, 50, 500]))
  expect(told('a', 440)).toEqual([{ times: 500, amount: 450, isOwn: true }])
  now = 86_400_000
  expect(told('c7', 2)).toEqual(own(1))
})
