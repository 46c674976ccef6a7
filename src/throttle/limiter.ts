// Adaptive concurrency limiter and circuit breaker of one account: how many requests may be open, and when the next may leave.

import { spanMs } from '../domain/pace.ts'
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
  /** As configured: the most requests that may be open at a time. */
  readonly inFlightMax: number
  /** How many permits are given and not released. */
  inFlight(): number
  /** How many permits may be given now: by the window, and by what others have open. */
  openMost(): number
  /** The rate at which this process may send now; null: as fast as the window allows. */
  ratePerSecond(): number | null
  /** False while it backs off: nothing of the account starts. */
  isOpen(): boolean
  /** Whole milliseconds until our own back-off ends; 0 when there is none. A wait that the gateway asked for is the account's, not a row's. */
  backoffLeftMs(): number
  /** A permit for one open request; null when `signal` aborts, or a back-off begins or others have all that may be open, before one is free. */
  acquire(signal: AbortSignal): Promise<Permit | null>
  /** Waits until it is time to prepare for the next departure that the rate allows; null when `signal` aborts first. */
  reserve(signal: AbortSignal): Promise<Reservation | null>
  /** Waits until the next request that is ready may leave. */
  departure(): Promise<void>
  /** Sets the rate that a person asked for; null: as configured. Returns the rate of the account from now on, null for none. */
  setRateOverride(ratePerSecond: number | null): number | null
  /** Another process is the sender: nothing begins here, and nothing of before counts, nor what is still answered. */
  halt(): void
  /** Whether it still keeps the quiet that `begin` asks for. */
  isQuiet(): boolean
  /** This process is the sender from now on: as at a start, with one open request, and only after the time for which a start of the one before counts. */
  begin(): void
  /** So many requests of others may be open: they count. */
  setOpenElsewhere(requests: number): void
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
  let isHalted = false
  let openElsewhere = 0
  let quietUntilMs = Number.NEGATIVE_INFINITY
  const permits = createPermits(() => (isBackingOff(window, clock.monotonicMs()) || hasNothing() ? null : openMost()))
  const pacer = createPacer(ratePerSecond, clock)
  /** As configured, or as a person asked. */
  let rateNow = ratePerSecond
  let refusals = createRefusals()
  /** The first failure since the window was last fully open, and the latest one's words. */
  let failing: Pick<GatewayHealth, 'sinceMs' | 'why' | 'asksToWait'> | null = null

  const room = () => inFlightMax - openElsewhere
  const openMost = () => (isHalted ? 0 : Math.max(0, Math.min(window.size, room())))
  const hasNothing = () => isHalted || room() <= 0

  const isQuiet = () => clock.monotonicMs() < quietUntilMs
  const quietAt = (rate: number | null) => (rate === null ? 0 : spanMs(rate))

  function reset(): void {
    window = OPENING_WINDOW
    refusals = createRefusals()
    failing = null
    permits.admit()
  }

  return {
    clockWatch: createClockWatch(clock),
    inFlightMax,
    inFlight: permits.inFlight,
    openMost,
    ratePerSecond: () => (isHalted ? 0 : rateNow),
    isOpen: () => !isBackingOff(window, clock.monotonicMs()),
    backoffLeftMs: () => Math.max(0, Math.ceil(window.backoffUntilMs - clock.monotonicMs())),
    acquire: permits.acquire,
    reserve: pacer.reserve,
    departure: pacer.departure,
    setRateOverride(dial) {
      const rate = dial ?? ratePerSecond
      if (rate !== rateNow) pacer.setRate(rate, isQuiet() ? quietAt(rate) : undefined)
      rateNow = rate
      return rate
    },
    halt() {
      isHalted = true
      reset()
    },
    begin() {
      isHalted = false
      pacer.setRate(rateNow, quietAt(rateNow))
      quietUntilMs = clock.monotonicMs() + quietAt(rateNow)
      reset()
    },
    isQuiet,
    setOpenElsewhere(requests) {
      openElsewhere = requests
      permits.admit()
    },
    record(result, retryAfterMs, why = null) {
      if (isHalted) return
      window = afterSignal(window, result, { nowMs: clock.monotonicMs(), inFlightMax, retryAfterMs })
      if (result === 'failure' || result === 'throttled') {
        const sinceMs = failing?.sinceMs ?? clock.nowMs()
        failing = { sinceMs, why: why ?? 'no reason was given', asksToWait: result === 'throttled' }
      } else if (result === 'true-answer' && window.size >= inFlightMax) failing = null
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
    reset,
  }
}
