// When the next request may leave. A departure goes to a request that is ready, and cannot be kept for later.

/**
 * Perfectly even spacing lets one more than the limit into some second by jitter alone. 1.2 % wider is 12 ms for
 * every second: more than a first byte lags behind its departure, or one arrives later than another, on a machine that
 * is not overloaded. Narrower, single seconds were seen to be over where requests arrive; wider, 98 % would not be used.
 */
const MARGIN = 1.012
/**
 * How much of a delay is not passed on to the next departure: a third of an interval, but 4 ms at least, which timers are late
 * even where nothing is the matter. On a busy machine every timer is late; if all were passed on, each would cost rate.
 */
const FORGIVEN = 1 / 3
const FORGIVEN_MIN_MS = 4
/** The least distance of departures, in intervals, while they catch up: faster by a ninth, never in a burst. */
const NEAREST = 0.9
/** Departures missed within this time, while no request was ready, are caught up on. A longer gap is lost: idle time gives no credit. */
const CAUGHT_UP_MS = 500
/**
 * Beyond the second itself, for the same jitter while departures are caught up on. Not more: where a second is full, every
 * lateness of a timer is handed on to the second behind it, and MARGIN less this is what makes up for it.
 */
const CLEAR_MS = 5
/** How long before its departure a request begins to prepare, if intervals are no shorter than that. */
const LEAD_MS = 25

/** Times are the caller's monotonic milliseconds. */
export interface Pace {
  readonly perSecond: number
  readonly intervalMs: number
  /** When the next departure is due; in the past while departures are caught up on. */
  readonly dueAtMs: number
  /** When the latest one was, less the lateness forgiven. */
  readonly lastAtMs: number
}

/** A fraction above one is cut off: no second may hold more than two and a half, so none may hold three. */
function usableRate(perSecond: number): number {
  return perSecond > 1 ? Math.floor(perSecond) : perSecond
}

/** How long a start counts against the rate. Below one a second, one start must be a whole interval away from the next. */
export function spanMs(perSecond: number): number {
  return Math.max(1000, 1000 / perSecond)
}

/** A predecessor may have used up the time before: so the first departure is a whole second away, or the time for which its start counts. */
export function paceOf(perSecond: number, nowMs: number, quietMs = 1000): Pace {
  const kept = usableRate(perSecond)
  const dueAtMs = nowMs + quietMs
  return { perSecond: kept, intervalMs: (1000 / kept) * MARGIN, dueAtMs, lastAtMs: Number.NEGATIVE_INFINITY }
}

/**
 * The earliest next departure: when it is due, but not too soon after the one before, and not in a second that is full.
 * `takenMs`: the latest departures, oldest first.
 */
export function nextDeparture(pace: Pace, takenMs: readonly number[]): number {
  return Math.max(pace.dueAtMs, pace.lastAtMs + NEAREST * pace.intervalMs, fullUntil(pace, takenMs))
}

function fullUntil(pace: Pace, takenMs: readonly number[]): number {
  const oldest = takenMs.at(-allowedIn(pace))
  return oldest === undefined ? Number.NEGATIVE_INFINITY : oldest + spanMs(pace.perSecond) + CLEAR_MS
}

/** The pace after the departure `atMs` took place at `nowMs`. */
export function afterDeparture(pace: Pace, atMs: number, nowMs: number): Pace {
  const lastAtMs = Math.max(atMs, nowMs - Math.max(FORGIVEN * pace.intervalMs, FORGIVEN_MIN_MS))
  return { ...pace, dueAtMs: dueAt(pace, nowMs) + pace.intervalMs, lastAtMs }
}

/**
 * When one more request should begin to prepare, with `before` others ahead of it. Where that takes longer than the lead,
 * departures fall behind, and the next ones begin earlier by just as much: the rate is used.
 */
export function beginsAt(pace: Pace, takenMs: readonly number[], before: number, nowMs: number): number {
  const departureMs = Math.max(dueAt(pace, nowMs) + before * pace.intervalMs, fullUntil(pace, takenMs))
  return departureMs - Math.min(LEAD_MS, pace.intervalMs)
}

function dueAt(pace: Pace, nowMs: number): number {
  return nowMs - pace.dueAtMs > CAUGHT_UP_MS ? nowMs : pace.dueAtMs
}

/**
 * The last check, where the first byte leaves: whether one more start at `nowMs` keeps every window of one second within
 * the rate. `startsMs` are the latest starts, oldest first: all of the last second, and the last one of all.
 */
export function mayLeave(pace: Pace, startsMs: readonly number[], nowMs: number): boolean {
  const oldest = startsMs.at(-allowedIn(pace))
  return oldest === undefined || nowMs - oldest >= spanMs(pace.perSecond)
}

function allowedIn(pace: Pace): number {
  return Math.max(1, pace.perSecond)
}
