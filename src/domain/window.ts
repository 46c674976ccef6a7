// How many requests of one account may be open at once: breaker, probe and slow start in one small arithmetic.

import type { Signal } from './verdict.ts'

const BACKOFF_MIN_MS = 1_000
const BACKOFF_MAX_MS = 15_000
const FAILURES_BEFORE_BACKOFF = 3

/** The gateway of an account while it fails, for people. Times are epoch milliseconds. */
export interface GatewayHealth {
  /** The first failure since the window was last fully open. */
  readonly sinceMs: number
  /** What went wrong last, in words. */
  readonly why: string
  /** Whether that was a request to wait (429), which proves that nothing was executed. */
  readonly asksToWait: boolean
  /** Consecutive failures since the last true answer; 0: answers come again and the window is opening. */
  readonly failures: number
  /** Requests that may be open at a time now. */
  readonly openMost: number
  /** Nothing is sent until then; null: it does not back off. */
  readonly backoffUntilMs: number | null
}

/** Times are the caller's monotonic milliseconds. */
export interface Window {
  /** Requests that may be open now. */
  readonly size: number
  /** Infrastructure failures since the last true answer. */
  readonly failures: number
  /** Length of the latest back-off; 0 when there has been none since the last true answer. */
  readonly backoffMs: number
  readonly backoffUntilMs: number
  /** Until when the gateway asked to wait. An answer to a request that was open before does not take that back. */
  readonly askedUntilMs: number
}

export const OPENING_WINDOW: Window = {
  size: 1,
  failures: 0,
  backoffMs: 0,
  backoffUntilMs: Number.NEGATIVE_INFINITY,
  askedUntilMs: Number.NEGATIVE_INFINITY,
}

export function isBackingOff(window: Window, nowMs: number): boolean {
  return nowMs < backoffEndMs(window)
}

/** The later of our own back-off and what the gateway asked for. */
export function backoffEndMs(window: Window): number {
  return Math.max(window.backoffUntilMs, window.askedUntilMs)
}

/** `retryAfterMs` is what the gateway asked for, from now; the later of it and our own back-off wins. */
export function afterSignal(
  window: Window,
  signal: Signal,
  at: { readonly nowMs: number; readonly inFlightMax: number; readonly retryAfterMs: number | null },
): Window {
  switch (signal) {
    case 'none':
      return window
    case 'true-answer':
      return { ...OPENING_WINDOW, size: doubled(window.size, at.inFlightMax), askedUntilMs: window.askedUntilMs }
    case 'failure':
      return withBackoff(
        { ...window, size: 1, failures: window.failures + 1 },
        at,
        window.failures + 1 >= FAILURES_BEFORE_BACKOFF,
      )
    case 'throttled':
      return withBackoff({ ...window, size: 1 }, at, true)
  }
}

/** Never 0, even where nothing may be open for now: doubled, it would stay 0. */
function doubled(size: number, inFlightMax: number): number {
  return Math.max(1, Math.min(inFlightMax, size * 2))
}

function withBackoff(
  window: Window,
  at: { readonly nowMs: number; readonly retryAfterMs: number | null },
  backsOff: boolean,
): Window {
  const askedUntilMs =
    at.retryAfterMs === null ? window.askedUntilMs : Math.max(window.askedUntilMs, at.nowMs + at.retryAfterMs)
  // Requests that were open when the back-off began fail one after the other: they count as one failure.
  if (!backsOff || isBackingOff(window, at.nowMs)) return { ...window, askedUntilMs }
  const backoffMs = Math.min(BACKOFF_MAX_MS, Math.max(BACKOFF_MIN_MS, window.backoffMs * 2))
  return { ...window, backoffMs, backoffUntilMs: at.nowMs + backoffMs, askedUntilMs }
}
