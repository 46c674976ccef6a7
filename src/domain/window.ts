// How many requests of one account may be open at once: breaker, probe and slow start in one small arithmetic.

import type { Signal } from './verdict.ts'

const REST_MIN_MS = 1_000
const REST_MAX_MS = 15_000
const TROUBLES_BEFORE_REST = 3

/** How the way to an account is while it is in trouble, for people. Times are epoch milliseconds. */
export interface RoadCondition {
  /** The first trouble since the window was last wholly open. */
  readonly sinceMs: number
  /** What went wrong last, in words. */
  readonly why: string
  /** Troubles since the last true answer; 0: answers come again and the window is opening. */
  readonly troubles: number
  /** Requests that may be open at a time now. */
  readonly openMost: number
  /** Nothing is sent until then; null: no rest. */
  readonly restUntilMs: number | null
}

/** Times are the monotonic milliseconds of whoever calls. */
export interface Window {
  /** Requests that may be open now. */
  readonly size: number
  /** Infrastructure failures since the last true answer. */
  readonly troubles: number
  /** Length of the latest rest; 0 when there has been none since the last true answer. */
  readonly restMs: number
  readonly restUntilMs: number
  /** Until when the gateway asked to wait. An answer to a request that was open before does not take that back. */
  readonly askedUntilMs: number
}

export const OPENING_WINDOW: Window = {
  size: 1,
  troubles: 0,
  restMs: 0,
  restUntilMs: Number.NEGATIVE_INFINITY,
  askedUntilMs: Number.NEGATIVE_INFINITY,
}

export function isResting(window: Window, nowMs: number): boolean {
  return nowMs < restEndMs(window)
}

/** The later of our own rest and what the gateway asked for. */
export function restEndMs(window: Window): number {
  return Math.max(window.restUntilMs, window.askedUntilMs)
}

/** `retryAfterMs` is what the gateway asked for, from now; the later of it and our own rest wins. */
export function afterSignal(
  window: Window,
  signal: Signal,
  at: { readonly nowMs: number; readonly inFlightMax: number; readonly retryAfterMs: number | null },
): Window {
  switch (signal) {
    case 'none':
      return window
    case 'true-answer':
      return { ...OPENING_WINDOW, size: Math.min(at.inFlightMax, window.size * 2), askedUntilMs: window.askedUntilMs }
    case 'trouble':
      return rested(
        { ...window, size: 1, troubles: window.troubles + 1 },
        at,
        window.troubles + 1 >= TROUBLES_BEFORE_REST,
      )
    case 'throttled':
      return rested({ ...window, size: 1 }, at, true)
  }
}

function rested(
  window: Window,
  at: { readonly nowMs: number; readonly retryAfterMs: number | null },
  needsRest: boolean,
): Window {
  const askedUntilMs =
    at.retryAfterMs === null ? window.askedUntilMs : Math.max(window.askedUntilMs, at.nowMs + at.retryAfterMs)
  // Requests that were already open when the rest began fail one after the other: they are one trouble, not many.
  if (!needsRest || isResting(window, at.nowMs)) return { ...window, askedUntilMs }
  const restMs = Math.min(REST_MAX_MS, Math.max(REST_MIN_MS, window.restMs * 2))
  return { ...window, restMs, restUntilMs: at.nowMs + restMs, askedUntilMs }
}
