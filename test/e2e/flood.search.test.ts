// TRANCHE_TEST_MESSAGES: how many; 20,000 where nothing is said.

import { test } from 'vitest'
import { eachOnce } from './flood.ts'

const MESSAGES = Number(process.env.TRANCHE_TEST_MESSAGES ?? 20_000)

test('each of 20,000 messages is one instruction, executed at most once, though the intake is killed five times', {
  timeout: 900_000,
}, async () => {
  const became = await eachOnce(MESSAGES, 5)
  process.stdout.write(`${JSON.stringify(became)}\n`)
})
