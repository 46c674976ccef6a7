// The way to one account: how many requests may be open, when the next may leave, and whether the account is worth asking.

import type { Clock } from '../domain/ports.ts'
import type { Signal } from '../domain/verdict.ts'
import { afterSignal, isResting, OPENING_WINDOW, type RoadCondition, restEndMs, type Window } from '../domain/window.ts'
import { openPacer, type Slot } from './pacer.ts'
import { openRefusals, type Refusals } from './refusals.ts'

export interface GateOptions {
  readonly inFlightMax: number
  /** As configured. null: as fast as the window allows. */
  readonly ratePerSecond: number | null
  readonly clock: Clock
}

export interface Gate {
  /** False during a rest: nothing of the account starts. */
  isOpen(): boolean
  /** Whole milliseconds until our own rest is over; 0 when there is none. What the gateway asked for holds the account, not a row. */
  restLeftMs(): number
  /** A place among the open requests; null when the turn ended or a rest began before one was free. */
  place(turn: AbortSignal): Promise<Place | null>
  /** Waits until it is time to get ready for a moment of the rate; null when the turn ended first. */
  slot(turn: AbortSignal): Promise<Slot | null>
  /** Waits for the moment at which the next request that is ready may leave. */
  moment(): Promise<void>
  /** The rate a person turned the dial to; null: as configured. Answers with the rate that holds now, null for none. */
  turnDial(ratePerSecond: number | null): number | null
  /** What an attempt told about the road; `why` in words, where it is trouble. */
  heard(signal: Signal, retryAfterMs: number | null, why?: string | null): void
  /** How the road is, for people; null: nothing to tell. */
  condition(): RoadCondition | null
  /** Whether a refusal (403) means the account or only its row. */
  readonly refusals: Refusals
  /** A person said go on: every rest ends, the window opens anew. */
  reset(): void
}

export interface Place {
  free(): void
}

/** The two clocks never agree to the millisecond: what is told again only when it changes must not change by that. */
function toTenths(atMs: number): number {
  return Math.round(atMs / 100) * 100
}

interface Waiter {
  readonly turn: AbortSignal
  readonly resolve: (got: Place | null) => void
}

export function openGate({ inFlightMax, ratePerSecond, clock }: GateOptions): Gate {
  let window: Window = OPENING_WINDOW
  let open = 0
  let waiters: Waiter[] = []
  const pacer = openPacer(ratePerSecond, clock)
  let rateNow = ratePerSecond
  let refusals = openRefusals()
  /** Since the first trouble after the window was last wholly open, and the latest one's words. */
  let trouble: { readonly sinceMs: number; readonly why: string } | null = null

  function letIn(): void {
    if (isResting(window, clock.monotonicMs())) {
      const sentAway = waiters
      waiters = []
      for (const waiter of sentAway) waiter.resolve(null)
      return
    }
    while (open < window.size) {
      const next = waiters.shift()
      if (next === undefined) return
      if (next.turn.aborted) {
        next.resolve(null)
        continue
      }
      open += 1
      next.resolve(placeOf())
    }
  }

  function placeOf(): Place {
    let held = true
    return {
      free() {
        if (!held) return
        held = false
        open -= 1
        letIn()
      },
    }
  }

  return {
    isOpen: () => !isResting(window, clock.monotonicMs()),
    restLeftMs: () => Math.max(0, Math.ceil(window.restUntilMs - clock.monotonicMs())),
    place(turn) {
      if (turn.aborted) return Promise.resolve(null)
      return new Promise((resolve) => {
        waiters.push({ turn, resolve })
        turn.addEventListener('abort', dropEnded, { once: true })
        letIn()
      })
    },
    slot: pacer.slot,
    moment: pacer.moment,
    turnDial(dial) {
      const wanted = dial ?? ratePerSecond
      if (wanted !== rateNow) pacer.setRate(wanted)
      rateNow = wanted
      return wanted
    },
    heard(signal, retryAfterMs, why = null) {
      window = afterSignal(window, signal, { nowMs: clock.monotonicMs(), inFlightMax, retryAfterMs })
      if (signal === 'trouble' || signal === 'throttled') {
        trouble = { sinceMs: trouble?.sinceMs ?? clock.nowMs(), why: why ?? 'no reason was given' }
      } else if (signal === 'true-answer' && window.size === inFlightMax) trouble = null
      letIn()
    },
    condition() {
      if (trouble === null) return null
      const restLeftMs = restEndMs(window) - clock.monotonicMs()
      return {
        ...trouble,
        troubles: window.troubles,
        openMost: window.size,
        restUntilMs: restLeftMs > 0 ? toTenths(clock.nowMs() + restLeftMs) : null,
      }
    },
    get refusals() {
      return refusals
    },
    reset() {
      window = OPENING_WINDOW
      refusals = openRefusals()
      trouble = null
      letIn()
    },
  }

  function dropEnded(): void {
    const ended = waiters.filter((waiter) => waiter.turn.aborted)
    if (ended.length === 0) return
    waiters = waiters.filter((waiter) => !waiter.turn.aborted)
    for (const waiter of ended) waiter.resolve(null)
  }
}
