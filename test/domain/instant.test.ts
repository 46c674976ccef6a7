import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isTimeZone, parseExecuteAt, parseMoment } from '../../src/domain/instant.ts'
import { isProblem } from '../../src/domain/problem.ts'

const ZONES = [
  ...['Europe/Berlin', 'America/New_York', 'America/St_Johns', 'Australia/Lord_Howe', 'Asia/Kolkata', 'Asia/Kathmandu'],
  ...['Pacific/Apia', 'Pacific/Chatham', 'Africa/Casablanca', 'America/Sao_Paulo', 'UTC'],
]
const moment = fc.integer({ min: Date.UTC(1990, 0) / 1000, max: Date.UTC(2037, 0) / 1000 }).map((at) => at * 1000)

const CLOCKS = new Map(
  ZONES.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }),
  ]),
)

/** What the clocks of the zone show, by a formatter of its own. */
function clockIn(timeZone: string, at: number): string {
  return CLOCKS.get(timeZone)!.format(at).replace(' ', 'T')
}

describe('a local time in a zone', () => {
  test('is the moment whose clocks show it, or is told to come twice and then names that moment', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), moment, (zone, at) => {
        const local = clockIn(zone, at)
        const read = parseMoment(local, zone)
        if (!isProblem(read)) {
          expect(read).toBe(at)
          return
        }
        expect(read.problem).toContain('comes twice')
        const written = `${read.remedy}`.match(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d/g) ?? []
        expect(written.map((text) => parseMoment(text))).toContain(at)
        expect(written.map((text) => clockIn(zone, parseMoment(text) as number))).toEqual([local, local])
      }),
      { numRuns: 3000 },
    )
  })

  test('that no clock shows is told not to exist', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), moment, (zone, at) => {
        const local = new Date(at).toISOString().slice(0, 19)
        const read = parseMoment(local, zone)
        if (!isProblem(read)) expect(clockIn(zone, read)).toBe(local)
      }),
      { numRuns: 3000 },
    )
  })

  test.each([
    ['Europe/Berlin', '2026-03-29T02:30', 'does not exist'],
    ['Europe/Berlin', '2026-03-29T02:00', 'does not exist'],
    ['Europe/Berlin', '2026-10-25T02:00', 'comes twice'],
    ['Europe/Berlin', '2026-10-25T02:59:59', 'comes twice'],
    ['Australia/Lord_Howe', '2026-10-04T02:15', 'does not exist'],
    ['Australia/Lord_Howe', '2026-04-05T01:45', 'comes twice'],
    ['Pacific/Apia', '2011-12-30T12:00', 'does not exist'],
    ['Europe/Berlin', '2026-02-30T12:00', 'not in the calendar'],
  ])('%s %s %s', (zone, text, problem) => {
    const read = parseMoment(text, zone)
    expect(isProblem(read) && read.problem).toContain(problem)
  })

  test.each([
    ['2026-03-29T01:59:59', '2026-03-29T00:59:59Z'],
    ['2026-03-29T03:00', '2026-03-29T01:00:00Z'],
    ['2026-10-25T01:59', '2026-10-24T23:59:00Z'],
    ['2026-10-25T03:00', '2026-10-25T02:00:00Z'],
    ['2026-12-01 09:00', '2026-12-01T08:00:00Z'],
    ['2026-12-01T09:00:00.25', '2026-12-01T08:00:00.25Z'],
  ])('%s in Europe/Berlin is %s', (local, utc) => {
    expect(parseMoment(local, 'Europe/Berlin')).toBe(parseMoment(utc))
    expect(isProblem(parseMoment(utc))).toBe(false)
  })

  test('gives way to an offset that is written', () => {
    expect(parseMoment('2026-10-25T02:30:00+01:00', 'America/New_York')).toBe(Date.UTC(2026, 9, 25, 1, 30))
    expect(parseMoment('2026-10-25T02:30Z', 'Europe/Berlin')).toBe(Date.UTC(2026, 9, 25, 2, 30))
  })
})

test('a zone is a name of the IANA list, and no offset', () => {
  for (const zone of ZONES) expect(isTimeZone(zone)).toBe(true)
  for (const wrong of ['', 'Berlin', 'Europe/Berlinn', '+01:00', 'GMT+25', 'Mars/Base']) {
    expect(isTimeZone(wrong)).toBe(false)
  }
})

describe('execute_at', () => {
  test.each([
    '0000-12-01T09:00:00Z',
    '1970-01-01T00:00:00Z',
    '1999-12-31T23:59:59Z',
    '0026-12-01T09:00:00+01:00',
    '2100-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
  ])('in the year of %s is a mistake: it is neither due now nor kept waiting', (text) => {
    expect(parseExecuteAt(text)).toMatchObject({
      problem: expect.stringContaining('2000 to 2099'),
      remedy: expect.stringContaining('year'),
    })
  })

  test.each(['2000-01-01T00:00:00Z', '2099-12-31T23:59:59Z'])('%s is a moment', (text) => {
    expect(parseExecuteAt(text)).toBe(Date.parse(text))
  })
})
