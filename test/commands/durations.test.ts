// How long a command waits for rows that do not move, as a person says it or leaves it unsaid.

import { expect, test } from 'vitest'
import { GIVE_UP_HELP } from '../../src/cli/options.ts'
import { parseDurationMs, parseGiveUpAfterMs } from '../../src/commands/durations.ts'
import { Fault } from '../../src/domain/fault.ts'

const attended = { isAttended: true }
const unattended = { isAttended: false }

test('a command waits two hours without a terminal, and for ever at one', () => {
  expect(parseGiveUpAfterMs(undefined, unattended)).toBe(7_200_000)
  expect(parseGiveUpAfterMs(undefined, attended)).toBeNull()
  expect(GIVE_UP_HELP).toContain('(default: 2h without a terminal, otherwise never)')
})

test.each(['0', '0m', 'never'])('%s switches it off', (given) => {
  expect(parseGiveUpAfterMs(given, unattended)).toBeNull()
})

test.each([
  ['90', 90_000],
  ['90s', 90_000],
  ['15m', 900_000],
  ['2h', 7_200_000],
])('%s is so long, with a terminal and without', (given, ms) => {
  expect([attended, unattended].map((terminal) => parseGiveUpAfterMs(given, terminal))).toEqual([ms, ms])
})

test.each(['', 'soon', '-1', '1.5h', '1d'])('%j is no duration', (given) => {
  expect(() => parseDurationMs(given, '--stable-for')).toThrow(Fault)
})
