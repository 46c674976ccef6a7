// When the next request may leave. A moment is given to a request that is ready to go, and is not a permit to keep.

/**
 * Perfectly even spacing lets one more than the limit into some second by jitter alone. 1.2 % wider is 12 ms for
 * every second: more than a first byte is late behind its moment, or later than another where it arrives, on a machine that
 * is not overloaded. Narrower, single seconds were seen to be over where requests arrive; wider, 98 % would not be used.
 */
const MARGIN = 1.012
/**
 * How much of a lateness is not passed on to the next moment: a third of an interval, but 4 ms at least, which timers are late
 * even where nothing is the matter. On a busy machine every timer is late; if all were passed on, each would cost rate.
 */
const FORGIVEN = 1 / 3
const FORGIVEN_MIN_MS = 4
/** How near moments may come to each other, in intervals, while they catch up: faster by a ninth and never in a burst. */
const NEAREST = 0.9
/** Moments missed within so long, while nobody was ready, are caught up on. A longer gap is lost: quiet gives no credit. */
const CAUGHT_UP_MS = 500
/**
 * Beyond the second itself, for the same jitter while moments are caught up on. Not more: where a second is full, every
 * lateness of a timer is handed on to the second behind it, and MARGIN less this is what makes up for it.
 */
const CLEAR_MS = 5
/** How long before its moment a request begins to get ready, if intervals are no shorter than that. */
const LEAD_MS = 25

/** Times are the monotonic milliseconds of whoever calls. */
export interface Pace {
  readonly perSecond: number
  readonly intervalMs: number
  /** Where the next moment belongs; behind the present while moments are being caught up on. */
  readonly dueAtMs: number
  /** When the latest one was, less the lateness forgiven. */
  readonly lastAtMs: number
}

/**
 * A dead predecessor may have used the second before this one up, so the first moment is a whole second away. A fraction
 * above one is cut off: no second may hold more than two and a half, so none may hold three.
 */
export function openPace(perSecond: number, nowMs: number): Pace {
  const kept = perSecond > 1 ? Math.floor(perSecond) : perSecond
  const intervalMs = (1000 / kept) * MARGIN
  return { perSecond: kept, intervalMs, dueAtMs: nowMs + 1000, lastAtMs: Number.NEGATIVE_INFINITY }
}

/**
 * The earliest next moment: where it belongs, but not too near to the one before it, and not in a second that is full.
 * `takenMs` are the latest moments that were taken, oldest first.
 */
export function nextMoment(pace: Pace, takenMs: readonly number[]): number {
  return Math.max(pace.dueAtMs, pace.lastAtMs + NEAREST * pace.intervalMs, fullUntil(pace, takenMs))
}

function fullUntil(pace: Pace, takenMs: readonly number[]): number {
  const oldest = takenMs.at(-allowedIn(pace))
  return oldest === undefined ? Number.NEGATIVE_INFINITY : oldest + spanOf(pace) + CLEAR_MS
}

/** The pace after the moment `atMs` was taken at `nowMs`. */
export function afterMoment(pace: Pace, atMs: number, nowMs: number): Pace {
  const lastAtMs = Math.max(atMs, nowMs - Math.max(FORGIVEN * pace.intervalMs, FORGIVEN_MIN_MS))
  return { ...pace, dueAtMs: dueAt(pace, nowMs) + pace.intervalMs, lastAtMs }
}

/**
 * When one more request should begin to get ready, `before` others being ahead of it. Where getting ready takes longer than
 * the lead, moments fall behind where they belong, and by just as much earlier the next ones begin: the rate is used.
 */
export function beginsAt(pace: Pace, takenMs: readonly number[], before: number, nowMs: number): number {
  const momentMs = Math.max(dueAt(pace, nowMs) + before * pace.intervalMs, fullUntil(pace, takenMs))
  return momentMs - Math.min(LEAD_MS, pace.intervalMs)
}

function dueAt(pace: Pace, nowMs: number): number {
  return nowMs - pace.dueAtMs > CAUGHT_UP_MS ? nowMs : pace.dueAtMs
}

/**
 * The last word, where the first byte leaves: whether one more start at `nowMs` keeps every window of one second within
 * the rate. `startsMs` are the latest starts, oldest first: all of the last second, and the last one of all.
 */
export function mayLeave(pace: Pace, startsMs: readonly number[], nowMs: number): boolean {
  const oldest = startsMs.at(-allowedIn(pace))
  return oldest === undefined || nowMs - oldest >= spanOf(pace)
}

function allowedIn(pace: Pace): number {
  return Math.max(1, pace.perSecond)
}

/** Below one a second, one start must be a whole interval away from the next. */
function spanOf(pace: Pace): number {
  return Math.max(1000, 1000 / pace.perSecond)
}
