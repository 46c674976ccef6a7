// Messages of three services while the intake is killed: the smaller one. `flood.search.test.ts` has 20,000.

import { expect, test } from 'vitest'
import { eachOnce } from './flood.ts'

const MESSAGES = 600

test('each message of three services is one instruction, executed at most once, though the intake is killed', {
  timeout: 180_000,
}, async () => {
  const became = await eachOnce(MESSAGES, 2)
  expect(became.refusals).toBeGreaterThan(0)
})
