// Durations as a person writes them, and how long a command waits for rows that do not move.

import { Fault } from '../domain/fault.ts'
import type { GiveUpAfter } from '../domain/patience.ts'
import type { Terminal } from './terminal.ts'

/** `90s`, `15m`, `2h`, `3d`; plain digits are seconds. */
export function parseDurationMs(text: string, option: string): number {
  const match = /^(\d{1,6})(s|m|h|d)?$/.exec(text)
  if (match === null)
    throw new Fault('usage', `${option} ${text}: write a duration such as 90s, 15m, 2h or 3d. Nothing was sent.`)
  const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[(match[2] ?? 's') as 's' | 'm' | 'h' | 'd']
  return Number(match[1]) * unitMs
}

/** Without a terminal, an endless wait goes unnoticed. Longer than any Retry-After that is honoured. */
export const UNATTENDED_HOURS = 2
/** A gateway that answers nothing but 429 does not fail: waiting at it for longer only puts off the results of the other rows. */
export const ASKED_TO_WAIT_MINUTES = 10

/** No limit is what `0` and `never` say, and what a person at a terminal may decide with Ctrl-C. */
export function parseGiveUpAfter(given: string | undefined, { isAttended }: Pick<Terminal, 'isAttended'>): GiveUpAfter {
  if (given === undefined)
    return { ms: isAttended ? null : UNATTENDED_HOURS * 3_600_000, askedToWaitMs: ASKED_TO_WAIT_MINUTES * 60_000 }
  const ms = (given === 'never' ? 0 : parseDurationMs(given, '--give-up-after')) || null
  return { ms, askedToWaitMs: ms }
}
