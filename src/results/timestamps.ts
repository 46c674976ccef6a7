// Moments as results show them.

const MINUTE_MS = 60_000
/** `SS.` and `mmmZ`, which end every one. */
const SECONDS = Array.from({ length: 60 }, (_, i) => `${String(i).padStart(2, '0')}.`)
const MILLISECONDS = Array.from({ length: 1000 }, (_, i) => `${String(i).padStart(3, '0')}Z`)

/** Minutes, with the calendar's part of their text: rows next to each other were sent soon one after the other. */
const minutes = new Map<number, string>()
const MINUTES_MOST = 1000

/** UTC, ISO 8601: whole milliseconds as `toISOString` writes them, at a third of its cost. */
export function toTimestamp(atMs: number | null): string {
  if (atMs === null) return ''
  const minute = Math.floor(atMs / MINUTE_MS)
  const restMs = atMs - minute * MINUTE_MS
  const second = Math.floor(restMs / 1000)
  return `${minutes.get(minute) ?? addMinute(minute)}${SECONDS[second]}${MILLISECONDS[restMs - second * 1000]}`
}

function addMinute(minute: number): string {
  if (minutes.size >= MINUTES_MOST) minutes.clear()
  const text = new Date(minute * MINUTE_MS).toISOString().slice(0, -'00.000Z'.length)
  minutes.set(minute, text)
  return text
}
