// `execute_at`: a moment, the same wherever the file is read. A time without an offset is not one.

import type { Problem } from './problem.ts'

const ISO = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d)?$/
const EXAMPLE = '2026-12-01T09:00:00+01:00'

/** Epoch milliseconds; what is finer is cut off. */
export function parseMoment(text: string): number | Problem {
  const match = ISO.exec(text)
  if (match === null) {
    return { problem: 'is not a date and time', remedy: `write it as ISO 8601 with an offset, for example ${EXAMPLE}` }
  }
  const offset = match[8]
  if (offset === undefined) {
    return {
      problem: 'says no offset, so that it would mean another moment on another machine',
      remedy: `add Z or the offset, for example ${EXAMPLE}`,
    }
  }
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const local = new Date(0)
  local.setUTCFullYear(year, month - 1, day)
  local.setUTCHours(hour, minute, second, Number((match[7] ?? '').padEnd(3, '0').slice(0, 3)))
  // A day or hour that does not exist rolls over into another; so do 24:00 and a leap second.
  const told = [local.getUTCMonth() + 1, local.getUTCDate(), local.getUTCHours(), local.getUTCMinutes()]
  const exists = told.join() === [month, day, hour, minute].join() && local.getUTCSeconds() === second
  const offsetMs = offsetOf(offset)
  if (!exists || offsetMs === null) return { problem: 'is not in the calendar', remedy: 'check day, time and offset' }
  return local.getTime() - offsetMs
}

function offsetOf(offset: string): number | null {
  if (offset === 'Z') return 0
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(4, 6))
  if (minutes > 59 || hours * 60 + minutes > 14 * 60) return null
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}
