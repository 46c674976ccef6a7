// A day as people write it, in a column that is not read: 2027-02-01, 1.2.2027, 1 Feb 2027, and 1/2/2027, which is two.

export const DAY_MS = 24 * 3600 * 1000
const YEAR_FIRST = /^(?<year>\d{4})[-/.年](?<month>\d{1,2})[-/.月](?<day>\d{1,2})(?!\d)/
const YEAR_LAST = /^(?<day>\d{1,2})(?<sign>[-/.])(?<month>\d{1,2})\k<sign>(?<year>\d{4}|\d\d)(?!\d)/
const WITH_MONTH = /^(?:\d{1,2}\.? \p{L}{3,9}\.?|\p{L}{3,9}\.? \d{1,2}),? \d{4}$/u

/** Days since 1970, as Europe reads it and as the United States do; NaN: it is no day. */
export function daysIn(cell: string): readonly [number, number] {
  const { year = '', month = '', day = '', sign } = (YEAR_FIRST.exec(cell) ?? YEAR_LAST.exec(cell))?.groups ?? {}
  const one = WITH_MONTH.test(cell) ? Math.floor(Date.parse(`${cell} UTC`) / DAY_MS) : dayOf(year, month, day)
  return [one, sign === '/' || sign === '-' ? dayOf(year, day, month) : one]
}

function dayOf(year: string, month: string, day: string): number {
  const isDay = Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= 31
  return isDay ? Date.UTC(Number(year.padStart(4, '20')), Number(month) - 1, Number(day)) / DAY_MS : Number.NaN
}
