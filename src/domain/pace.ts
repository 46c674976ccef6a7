// When the next request may leave. A slot is a moment, not a permit; there is no burst credit.

/** Perfectly even spacing lets one more than the limit into some second by jitter alone; 2 % keeps every second within. */
const MARGIN = 1.02
/** How late a timer may fire without its slot being lost. Measured: event loops under load are 1 to 3 ms late. */
const TIMER_LATENESS_MS = 4

/** Times are the monotonic milliseconds of whoever calls. */
export interface Pace {
  readonly perSecond: number
  readonly intervalMs: number
  readonly nextAtMs: number
}

/**
 * A dead predecessor may have used the second before this one up, so the first slot is a whole second away. A fraction
 * above one is cut off: no second may hold more than two and a half, so none may hold three.
 */
export function openPace(perSecond: number, nowMs: number): Pace {
  const kept = perSecond > 1 ? Math.floor(perSecond) : perSecond
  return { perSecond: kept, intervalMs: (1000 / kept) * MARGIN, nextAtMs: nowMs + 1000 }
}

/**
 * Books the next free moment. A timer's lateness of a few milliseconds is forgiven, so that the rate is used; a moment
 * that has passed by more is lost, so that none is ever caught up on.
 */
export function bookSlot(pace: Pace, nowMs: number): { readonly slotAtMs: number; readonly pace: Pace } {
  const forgivenMs = Math.min(pace.intervalMs, TIMER_LATENESS_MS)
  const slotAtMs = nowMs - pace.nextAtMs <= forgivenMs ? pace.nextAtMs : nowMs
  return { slotAtMs, pace: { ...pace, nextAtMs: slotAtMs + pace.intervalMs } }
}

/** A slot that has passed by more than one interval is given up: using it would send two requests at once. */
export function isPast(pace: Pace, slotAtMs: number, nowMs: number): boolean {
  return nowMs - slotAtMs > pace.intervalMs
}

/**
 * The last word, where the first byte leaves: whether one more start at `nowMs` keeps every window of one second within
 * the rate. `startsMs` are the latest starts, oldest first, at least `perSecond` of them where there were as many.
 */
export function mayLeave(pace: Pace, startsMs: readonly number[], nowMs: number): boolean {
  const allowed = Math.max(1, Math.floor(pace.perSecond))
  const oldest = startsMs.at(-allowed)
  // Below one a second, one start must be a whole interval away from the next.
  const spanMs = Math.max(1000, 1000 / pace.perSecond)
  return oldest === undefined || nowMs - oldest >= spanMs
}
