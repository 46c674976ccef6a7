// `execute_at` and `expires_at`: a moment, the same wherever the file is read. A time without an offset is one in a time zone only.

import type { Problem } from './problem.ts'
import { type Text, words } from './words.ts'

const ISO = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d)?$/
const EXAMPLE = '2026-12-01T09:00:00+01:00'
const DAY_MS = 24 * 3600 * 1000

const EARLIEST_MS = Date.UTC(2000, 0, 1)
const TOO_LATE_MS = Date.UTC(2100, 0, 1)

/**
 * A moment of these times. What lies far in the past would be due at once, what lies far ahead would wait without end: both are
 * a slip, or a program's zero or never. The bounds do not move with the clock, so that a file means the same whenever it is read.
 */
export function parseExecuteAt(text: string, timeZone: string | null = null): number | Problem<Text> {
  return parseNear(text, timeZone, 'to send it at once leave it empty')
}

export function parseExpiresAt(text: string, timeZone: string | null = null): number | Problem<Text> {
  return parseNear(text, timeZone, 'where the row does not expire leave it empty')
}

function parseNear(text: string, timeZone: string | null, otherwise: string): number | Problem<Text> {
  const moment = parseMoment(text, timeZone)
  if (typeof moment !== 'number' || (moment >= EARLIEST_MS && moment < TOO_LATE_MS)) return moment
  return { problem: 'is not in the years 2000 to 2099', remedy: `correct the year; ${otherwise}` }
}

/** Epoch milliseconds; what is finer is cut off. Without a zone, a time without an offset is a fault. */
export function parseMoment(text: string, timeZone: string | null = null): number | Problem<Text> {
  const match = ISO.exec(text)
  if (match === null) return notIso(text, timeZone)
  const localMs = parseLocal(match)
  const offset = match[8]
  const offsetMs = offset === undefined ? 0 : offsetOf(offset)
  if (localMs === null || offsetMs === null) {
    return { problem: 'is not in the calendar', remedy: 'check day, time and offset' }
  }
  if (offset !== undefined) return localMs - offsetMs
  if (timeZone !== null) return parseInZone(localMs, timeZone)
  return {
    problem: 'has no UTC offset, so it would mean another moment on another machine',
    remedy: words`add Z or the offset, for example ${EXAMPLE}${{ set: 'timezone', to: 'Europe/Berlin', lead: ', or say where it is meant, for example ' }}`,
  }
}

/** Whether a name is a time zone of the IANA list, as this machine knows it. */
export function isTimeZone(name: string): boolean {
  // An offset is a zone to Intl, but one that knows no summer: it belongs behind each time.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    formatterOf(name)
    return true
  } catch {
    return false
  }
}

/** From its first moment to that of the next. 23 or 25 hours, where the clocks change. */
export interface Day {
  readonly startsAtMs: number
  readonly endsAtMs: number
}

/** The last day that was asked for in each zone: most moments are of the day of the one before. */
const DAYS = new Map<string, Day>()

/** The day of a moment in the calendar of a zone. Midnight itself may not exist on it. */
export function dayOf(moment: number, timeZone: string): Day {
  const known = DAYS.get(timeZone)
  if (known !== undefined && known.startsAtMs <= moment && moment < known.endsAtMs) return known
  const dateAt = (at: number) => Math.floor((at + lookUpOffsetMs(at, timeZone)) / DAY_MS)
  const date = dateAt(moment)
  const day = {
    startsAtMs: firstMoment(moment - 2 * DAY_MS, moment, (at) => dateAt(at) >= date),
    endsAtMs: firstMoment(moment, moment + 2 * DAY_MS, (at) => dateAt(at) > date),
  }
  DAYS.set(timeZone, day)
  return day
}

/** From which moment on it is true. It is false at `after` and true at `upTo`. */
function firstMoment(after: number, upTo: number, isTrue: (at: number) => boolean): number {
  let [no, yes] = [after, upTo]
  while (yes - no > 1) {
    const middle = Math.floor((no + yes) / 2)
    if (isTrue(middle)) yes = middle
    else no = middle
  }
  return yes
}

/** As if it stood in UTC; null: the calendar or the clock does not have it. */
function parseLocal(match: RegExpExecArray): number | null {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const local = new Date(0)
  local.setUTCFullYear(year, month - 1, day)
  local.setUTCHours(hour, minute, second, Number((match[7] ?? '').padEnd(3, '0').slice(0, 3)))
  // A day or hour that does not exist rolls over into another; so do 24:00 and a leap second.
  const told = [local.getUTCMonth() + 1, local.getUTCDate(), local.getUTCHours(), local.getUTCMinutes()]
  const exists = told.join() === [month, day, hour, minute].join() && local.getUTCSeconds() === second
  return exists ? local.getTime() : null
}

function offsetOf(offset: string): number | null {
  if (offset === 'Z') return 0
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(4, 6))
  if (minutes > 59 || hours * 60 + minutes > 14 * 60) return null
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/** No zone changes its clocks twice within two days, so that the offsets a day before and a day after are all there can be. */
function parseInZone(localMs: number, timeZone: string): number | Problem {
  const around = [zoneOffsetMs(localMs - DAY_MS, timeZone), zoneOffsetMs(localMs + DAY_MS, timeZone)]
  const moments = [...new Set(around)]
    .map((offsetMs) => localMs - offsetMs)
    .filter((moment) => zoneOffsetMs(moment, timeZone) === localMs - moment)
  const [moment] = moments
  if (moment !== undefined && moments.length === 1) return moment
  const [before = 0, after = 0] = around
  if (moment === undefined) {
    return {
      problem: `does not exist in ${timeZone}: the clocks go forward over it`,
      remedy: `write a time that exists, or add the offset that is meant, for example ${written(localMs, before)}`,
    }
  }
  return {
    problem: `comes twice in ${timeZone}: the clocks go back over it`,
    remedy: `add the offset that is meant: ${written(localMs, before)} is the first, ${written(localMs, after)} the second`,
  }
}

function written(localMs: number, offsetMs: number): string {
  const minutes = Math.round(Math.abs(offsetMs) / 60_000)
  const two = (number: number) => String(number).padStart(2, '0')
  const sign = offsetMs < 0 ? '-' : '+'
  return `${new Date(localMs).toISOString().slice(0, 19)}${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

const FORMATTERS = new Map<string, Intl.DateTimeFormat>()

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = FORMATTERS.get(timeZone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-u-ca-iso8601-hc-h23', {
    timeZone,
    ...({ year: 'numeric', month: 'numeric', day: 'numeric' } as const),
    ...({ hour: 'numeric', minute: 'numeric', second: 'numeric' } as const),
  })
  FORMATTERS.set(timeZone, made)
  return made
}

/** Files name few moments many times, and a look into the zone's history costs more than all else in a row. */
const OFFSETS = new Map<string, number>()
const OFFSETS_KEPT = 10_000

function zoneOffsetMs(moment: number, timeZone: string): number {
  const key = `${timeZone} ${moment}`
  const known = OFFSETS.get(key)
  if (known !== undefined) return known
  if (OFFSETS.size >= OFFSETS_KEPT) OFFSETS.clear()
  const offsetMs = lookUpOffsetMs(moment, timeZone)
  OFFSETS.set(key, offsetMs)
  return offsetMs
}

/** What the zone's clocks are ahead of UTC at a moment. */
function lookUpOffsetMs(moment: number, timeZone: string): number {
  const shown: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {}
  for (const { type, value } of formatterOf(timeZone).formatToParts(moment)) shown[type] = Number(value)
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = shown
  const local = new Date(0)
  local.setUTCFullYear(year, month - 1, day)
  local.setUTCHours(hour, minute, second)
  return local.getTime() - Math.floor(moment / 1000) * 1000
}

function notIso(text: string, timeZone: string | null): Problem {
  const example = timeZone === null ? EXAMPLE : EXAMPLE.slice(0, 19)
  const remedy = `write it as ISO 8601${timeZone === null ? ' with an offset' : ''}, for example ${example}`
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return { problem: 'is a day without a time', remedy }
  if (/^\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d\d)\b/.test(text)) {
    return { problem: 'is ambiguous: its day and month cannot be told apart', remedy }
  }
  if (/^\d{5}(?:[.,]\d+)?$/.test(text)) {
    return { problem: "is a spreadsheet's own number for a day", remedy: `format the column as Text and ${remedy}` }
  }
  return { problem: 'is not a date and time', remedy }
}
