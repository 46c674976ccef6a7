// The way to one account: how many requests may be open, when the next may leave, and whether the account is worth asking.

import { bookSlot, isPast, mayLeave, openPace, type Pace } from '../domain/pace.ts'
import type { Clock, Fence, RowId } from '../domain/ports.ts'
import type { Signal } from '../domain/verdict.ts'
import { afterSignal, isResting, OPENING_WINDOW, restEndMs, type Window } from '../domain/window.ts'

export interface GateOptions {
  readonly inFlightMax: number
  /** null: as fast as the window allows. */
  readonly ratePerSecond: number | null
  readonly clock: Clock
}

export interface Gate {
  /** False during a rest: nothing of the account starts. */
  isOpen(): boolean
  /** Whole milliseconds until the rest is over; 0 when there is none. */
  restLeftMs(): number
  /** A place among the open requests; null when the turn ended or a rest began before one was free. */
  place(turn: AbortSignal): Promise<Place | null>
  /** Waits for a send time; null when the turn ended first. */
  slot(turn: AbortSignal): Promise<Slot | null>
  /** The last look at the rate, where the first byte leaves. Counts the start if it lets it go. */
  leave(): 'pace' | null
  /** What an attempt told about the road. */
  heard(signal: Signal, retryAfterMs: number | null): void
  /** Whether a refusal (403) means the account or only its row. */
  readonly refusals: Refusals
  /** A person said go on: every rest ends, the window opens anew. */
  reset(): void
}

export interface Place {
  free(): void
}

export interface Slot {
  /** Whether the send time has passed so far that it must be given up for another. */
  isPast(): boolean
}

/** Who was answered 403 since anything last passed. */
export interface Refusals {
  /** What a 403 for this row, its `count`th, means. */
  judge(rowId: RowId, count: number): 'wait' | 'give-up-row' | 'stop-account'
  passed(): void
}

interface Waiter<T> {
  readonly turn: AbortSignal
  readonly resolve: (got: T | null) => void
}

export function openGate({ inFlightMax, ratePerSecond, clock }: GateOptions): Gate {
  let window: Window = OPENING_WINDOW
  let open = 0
  let waiters: Waiter<Place>[] = []
  const pacer = ratePerSecond === null ? null : openPacer(ratePerSecond, clock)
  let refusals = openRefusals()

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
    restLeftMs: () => Math.max(0, Math.ceil(restEndMs(window) - clock.monotonicMs())),
    place(turn) {
      if (turn.aborted) return Promise.resolve(null)
      return new Promise((resolve) => {
        waiters.push({ turn, resolve })
        turn.addEventListener('abort', dropEnded, { once: true })
        letIn()
      })
    },
    slot: (turn) => (pacer === null ? Promise.resolve(ALWAYS) : pacer.slot(turn)),
    leave: () => pacer?.leave() ?? null,
    heard(signal, retryAfterMs) {
      window = afterSignal(window, signal, { nowMs: clock.monotonicMs(), inFlightMax, retryAfterMs })
      letIn()
    },
    get refusals() {
      return refusals
    },
    reset() {
      window = OPENING_WINDOW
      refusals = openRefusals()
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

const ALWAYS: Slot = { isPast: () => false }

interface Pacer {
  slot(turn: AbortSignal): Promise<Slot | null>
  leave(): 'pace' | null
}

/** One dispenser: slots are booked one at a time at the head of the queue, so that whoever leaves it wastes none. */
function openPacer(ratePerSecond: number, clock: Clock): Pacer {
  let pace: Pace = openPace(ratePerSecond, clock.monotonicMs())
  const starts: number[] = []
  const waiters: Waiter<Slot>[] = []
  let dispensing = false

  async function dispense(): Promise<void> {
    if (dispensing) return
    dispensing = true
    while (waiters.length > 0) {
      const waitMs = pace.nextAtMs - clock.monotonicMs()
      if (waitMs > 0) await clock.sleep(waitMs)
      const next = waiters.shift()
      if (next === undefined) break
      if (next.turn.aborted) {
        next.resolve(null)
        continue
      }
      const booked = bookSlot(pace, clock.monotonicMs())
      pace = booked.pace
      next.resolve({ isPast: () => isPast(pace, booked.slotAtMs, clock.monotonicMs()) })
    }
    dispensing = false
  }

  return {
    slot(turn) {
      if (turn.aborted) return Promise.resolve(null)
      return new Promise((resolve) => {
        const leave = () => {
          const at = waiters.indexOf(waiter)
          if (at >= 0) waiters.splice(at, 1)
          resolve(null)
        }
        const waiter: Waiter<Slot> = {
          turn,
          resolve(slot) {
            turn.removeEventListener('abort', leave) // a turn may outlive many slots
            resolve(slot)
          },
        }
        turn.addEventListener('abort', leave, { once: true })
        waiters.push(waiter)
        void dispense()
      })
    },
    leave() {
      const nowMs = clock.monotonicMs()
      if (!mayLeave(pace, starts, nowMs)) return 'pace'
      starts.push(nowMs)
      if (starts.length > Math.max(1, Math.floor(pace.perSecond))) starts.shift()
      return null
    },
  }
}

const ROWS_BEFORE_STOP = 3
const REFUSALS_BEFORE_GIVING_UP = 3

function openRefusals(): Refusals {
  const sinceLastPass = new Set<RowId>()
  let anyPassed = false
  return {
    judge(rowId, count) {
      sinceLastPass.add(rowId)
      if (sinceLastPass.size >= ROWS_BEFORE_STOP) return 'stop-account'
      if (count < REFUSALS_BEFORE_GIVING_UP) return 'wait'
      return anyPassed ? 'give-up-row' : 'stop-account'
    },
    passed() {
      anyPassed = true
      sinceLastPass.clear()
    },
  }
}

export interface SendBy {
  readonly sendByMs: number
  /** Whether it is too late to send: by either clock, or because the wall clock ran backwards. */
  isOver(): boolean
}

/** How long a claim may wait for its first byte. */
const SEND_WITHIN_MS = 15_000

/** Counted from the moment before the claim is handed to the ledger. */
export function openSendBy(clock: Clock): SendBy {
  const wallMs = clock.nowMs()
  const monotonicMs = clock.monotonicMs()
  return {
    sendByMs: wallMs + SEND_WITHIN_MS,
    isOver() {
      const nowMs = clock.nowMs()
      // Monotonic time stands still while a machine is suspended; the wall clock can be set. Either one is enough.
      return nowMs < wallMs || nowMs - wallMs > SEND_WITHIN_MS || clock.monotonicMs() - monotonicMs > SEND_WITHIN_MS
    },
  }
}

export function fenceOf(sendBy: SendBy, gate: Gate): Fence {
  return () => (sendBy.isOver() ? 'fence' : gate.leave())
}
