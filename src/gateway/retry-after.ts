// How long the gateway asks us to wait, and what time it says it is.

/** Whatever it asks for, a person has long been called by then. */
const MAX_MS = 3_600_000

/** The three date forms of HTTP begin with the name of the day; `Date.parse` alone would take `1.5` for a date. */
const HTTP_DATE = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i

/** Seconds or an HTTP date, as milliseconds from now, an hour at most; null where there is none that can be read. */
export function parseRetryAfter(header: string | readonly string[] | undefined, nowMs: number): number | null {
  if (header === undefined) return null
  const waits = [header].flat().map((text) => waitOf(text.trim(), nowMs))
  return waits.reduce((longest, wait) => (wait === null ? longest : Math.max(longest ?? 0, wait)), null)
}

function waitOf(text: string, nowMs: number): number | null {
  if (/^\d+$/.test(text)) return Math.min(MAX_MS, Number(text) * 1000)
  const atMs = parseHttpDate(text)
  return atMs === null ? null : Math.min(MAX_MS, Math.max(0, atMs - nowMs))
}

/** null: it is none, or more than one. */
export function parseHttpDate(text: string | readonly string[] | undefined): number | null {
  if (typeof text !== 'string' || !HTTP_DATE.test(text)) return null
  const atMs = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(atMs) ? null : atMs
}
