// TRANCHE_TEST_MESSAGES: how many; 20,000 where nothing is said.

import { expect, test } from 'vitest'
import { flood } from './flood.ts'

const MESSAGES = Number(process.env.TRANCHE_TEST_MESSAGES ?? 20_000)

test('each of 20,000 messages is one instruction, executed at most once, though the intake is killed five times', {
  timeout: 900_000,
}, async () => {
  const { office, ...became } = await flood(MESSAGES, 5)
  await office.close()
  expect(became).toMatchObject({ recorded: MESSAGES, references: MESSAGES, lost: 0 })
  expect(became.orders).toBe(became.executed) // at most once
  expect(became.executed).toBeGreaterThanOrEqual(MESSAGES - became.inDoubt)
  expect(became.seen.accepted + became.seen.duplicate).toBe(MESSAGES * 1.1)
  expect([became.seen.wrong, became.disagreements]).toEqual([0, []])
  process.stdout.write(`${JSON.stringify(became)}\n`)
})
