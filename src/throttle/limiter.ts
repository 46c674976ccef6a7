// Adaptive concurrency limiter and circuit breaker of one account: how many requests may be open, and when the next may leave.

import { lowerRate } from '../domain/pace.ts'
import type { Share } from '../domain/share.ts'
import type { Signal } from '../domain/verdict.ts'
import {
  afterSignal,
  backoffEndMs,
  type GatewayHealth,
  isBackingOff,
  OPENING_WINDOW,
  type Window,
} from '../domain/window.ts'
import type { Clock } from '../ports/clock.ts'
import { type ClockWatch, createClockWatch } from './clock-watch.ts'
import { createPacer, type Reservation } from './pacer.ts'
import { createPermits, type Permit } from './permits.ts'
import { createRefusals, type Refusals } from './refusals.ts'

export interface LimiterOptions {
  readonly inFlightMax: number
  /** As configured. null: as fast as the window allows. */
  readonly ratePerSecond: number | null
  readonly clock: Clock
}

export interface AccountLimiter {
  /** As configured: the most requests that may be open at a time, in all processes. */
  readonly inFlightMax: number
  /** How many permits are given and not released. */
  inFlight(): number
  /** How many permits may be given now: by the window, and by the share of this process. */
  openMost(): number
  /** The rate that holds now, of this process; null: none. */
  ratePerSecond(): number | null
  /** False while it backs off: nothing of the account starts. */
  isOpen(): boolean
  /** Whole milliseconds until our own back-off ends; 0 when there is none. A wait that the gateway asked for is the account's, not a row's. */
  backoffLeftMs(): number
  /** A permit for one open request; null when `signal` aborts, or a back-off begins or the share falls to nothing, before one is free. */
  acquire(signal: AbortSignal): Promise<Permit | null>
  /** Waits until it is time to prepare for the next departure that the rate allows; null when `signal` aborts first. */
  reserve(signal: AbortSignal): Promise<Reservation | null>
  /** Waits until the next request that is ready may leave. */
  departure(): Promise<void>
  /** Sets the rate that a person asked for; null: as configured. Returns the rate of the account from now on, null for none. */
  setRateOverride(ratePerSecond: number | null): number | null
  /**
   * Sets the share of this process; without one it has all of the account. A share is held at once: what is open beyond it ends
   * before anything new begins, and the starts of the past second count against it. Nothing starts under a rate or a number of 0.
   * Of the share and the rate that a person asked for the lower one holds, so that a dial turned down need not wait for the shares.
   */
  resize(share: Share): void
  /** What an attempt showed about the gateway; `why` in words, where it failed. */
  record(result: Signal, retryAfterMs: number | null, why?: string | null): void
  /** The gateway's health, for people; null: nothing to report. */
  health(): GatewayHealth | null
  /** Whether a refusal (403) means the account or only its row. */
  readonly refusals: Refusals
  readonly clockWatch: ClockWatch
  /** A person resumed: every back-off ends, and the window starts again. */
  reset(): void
}

/** The two clocks drift, and health is recorded whenever it differs: it must not differ by that. */
function toTenths(atMs: number): number {
  return Math.round(atMs / 100) * 100
}

export function createLimiter({ inFlightMax, ratePerSecond, clock }: LimiterOptions): AccountLimiter {
  let window: Window = OPENING_WINDOW
  /** null: all of the account. */
  let share: Share | null = null
  const permits = createPermits(() => (isBackingOff(window, clock.monotonicMs()) || hasNothing() ? null : openMost()))
  const pacer = createPacer(ratePerSecond, clock)
  /** Of the account: as configured, or as a person asked. */
  let allowedRate = ratePerSecond
  let rateNow = ratePerSecond
  let refusals = createRefusals()
  /** The first failure since the window was last fully open, and the latest one's words. */
  let failing: Pick<GatewayHealth, 'sinceMs' | 'why' | 'asksToWait'> | null = null

  const inFlightMaxNow = () => share?.inFlightMax ?? inFlightMax
  const openMost = () => Math.min(window.size, inFlightMaxNow())
  const hasNothing = () => share !== null && (share.ratePerSecond === 0 || share.inFlightMax === 0)

  function changeRate(change: (ratePerSecond: number | null) => void): void {
    const rate = share === null ? allowedRate : lowerRate(allowedRate, share.ratePerSecond)
    if (rate !== rateNow) change(rate)
    rateNow = rate
  }

  return {
    clockWatch: createClockWatch(clock),
    inFlightMax,
    inFlight: permits.inFlight,
    openMost,
    ratePerSecond: () => rateNow,
    isOpen: () => !isBackingOff(window, clock.monotonicMs()),
    backoffLeftMs: () => Math.max(0, Math.ceil(window.backoffUntilMs - clock.monotonicMs())),
    acquire: permits.acquire,
    reserve: pacer.reserve,
    departure: pacer.departure,
    setRateOverride(dial) {
      allowedRate = dial ?? ratePerSecond
      // Within a share no second of quiet is needed: no process may use more than its share, whatever the dial says.
      changeRate(share === null ? pacer.setRate : pacer.resize)
      return allowedRate
    },
    resize(to) {
      share = to
      changeRate(pacer.resize)
      permits.admit()
    },
    record(result, retryAfterMs, why = null) {
      window = afterSignal(window, result, { nowMs: clock.monotonicMs(), inFlightMax: inFlightMaxNow(), retryAfterMs })
      if (result === 'failure' || result === 'throttled') {
        const sinceMs = failing?.sinceMs ?? clock.nowMs()
        failing = { sinceMs, why: why ?? 'no reason was given', asksToWait: result === 'throttled' }
      } else if (result === 'true-answer' && window.size >= inFlightMaxNow()) failing = null
      permits.admit()
    },
    health() {
      if (failing === null) return null
      const backoffLeftMs = backoffEndMs(window) - clock.monotonicMs()
      return {
        ...failing,
        failures: window.failures,
        openMost: openMost(),
        backoffUntilMs: backoffLeftMs > 0 ? toTenths(clock.nowMs() + backoffLeftMs) : null,
      }
    },
    get refusals() {
      return refusals
    },
    reset() {
      window = OPENING_WINDOW
      refusals = createRefusals()
      failing = null
      permits.admit()
    },
  }
}
