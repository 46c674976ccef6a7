// Messages of three services while the intake is killed: the smaller one. `flood.exhaustive.test.ts` has 20,000.

import { expect, test } from 'vitest'
import { flood } from './flood.ts'

const MESSAGES = 600

test('each message of three services is one instruction, executed at most once, though the intake is killed', {
  timeout: 180_000,
}, async () => {
  const { office, ...became } = await flood(MESSAGES, 2)
  await office.close()
  expect(became).toMatchObject({ recorded: MESSAGES, references: MESSAGES, lost: 0 })
  expect(became.orders).toBe(became.executed) // at most once
  expect(became.executed).toBeGreaterThanOrEqual(MESSAGES - became.inDoubt)
  expect(became.seen.accepted + became.seen.duplicate).toBe(MESSAGES * 1.1)
  expect([became.seen.wrong, became.disagreements]).toEqual([0, []])
  expect(became.refusals).toBeGreaterThan(0)
})
