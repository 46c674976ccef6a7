import { expect, test } from 'vitest'
import { mostInASecond } from './pace.ts'

const every = (ms: number, count: number, fromMs = 0) => Array.from({ length: count }, (_, i) => fromMs + i * ms)
const ALWAYS = every(5, 2_000)

test('requests at the rate are no more than it, and a faster one is noticed', () => {
  expect(mostInASecond(every(20, 200, 1_000), ALWAYS)).toBeLessThanOrEqual(50)
  expect(mostInASecond(every(18, 200, 1_000), ALWAYS)).toBeGreaterThan(50)
  expect(mostInASecond([...every(20, 100, 1_000), 2_000, 2_001, 2_002], ALWAYS)).toBeGreaterThan(50)
})

test('where the machine kept this process waiting, a request may have been on its way as long, and no longer', () => {
  const busy = ALWAYS.filter((ms) => ms <= 980 || ms >= 1_010)
  const firstLate = [1_028, 1_028, ...every(20, 58, 1_040)]
  expect(mostInASecond(firstLate, ALWAYS)).toBe(51)
  expect(mostInASecond(firstLate, busy)).toBeLessThanOrEqual(50)
  expect(mostInASecond(every(18, 200, 1_000), busy)).toBeGreaterThan(50)
})

test('what a process that stood still noted late is not taken for haste', () => {
  const stoodStill = ALWAYS.filter((ms) => ms <= 1_000 || ms >= 1_400)
  const noted = every(20, 200, 1_000).map((ms) => (ms > 1_000 && ms < 1_400 ? 1_400 : ms))
  expect(mostInASecond(noted, ALWAYS)).toBeGreaterThan(60)
  expect(mostInASecond(noted, stoodStill)).toBeLessThanOrEqual(50)
})
