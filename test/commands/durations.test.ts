// How long a command waits for rows that do not move, as a person says it or leaves it unsaid.

import { expect, test } from 'vitest'
import { GIVE_UP_HELP } from '../../src/cli/options.ts'
import { parseDurationMs, parseGiveUpAfter } from '../../src/commands/durations.ts'
import { Fault } from '../../src/domain/fault.ts'

const attended = { isAttended: true }
const unattended = { isAttended: false }

test('a command waits ten minutes where the gateway only asks to wait, else two hours without a terminal and for ever at one', () => {
  expect(parseGiveUpAfter(undefined, unattended)).toEqual({ ms: 7_200_000, askedToWaitMs: 600_000 })
  expect(parseGiveUpAfter(undefined, attended)).toEqual({ ms: null, askedToWaitMs: 600_000 })
  expect(GIVE_UP_HELP).toContain(
    '(default: 10m where the gateway only asks to wait, otherwise 2h without a terminal, and never with one)',
  )
})

test.each(['0', '0m', 'never'])('%s switches it off', (given) => {
  expect(parseGiveUpAfter(given, unattended)).toEqual({ ms: null, askedToWaitMs: null })
})

test.each([
  ['90', 90_000],
  ['90s', 90_000],
  ['15m', 900_000],
  ['2h', 7_200_000],
  ['3d', 259_200_000],
])('%s is so long, with a terminal and without', (given, ms) => {
  const limits = { ms, askedToWaitMs: ms }
  expect([attended, unattended].map((terminal) => parseGiveUpAfter(given, terminal))).toEqual([limits, limits])
})

test.each(['', 'soon', '-1', '1.5h', '1w'])('%j is no duration', (given) => {
  expect(() => parseDurationMs(given, '--stable-for')).toThrow(Fault)
})
