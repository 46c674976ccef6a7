// Rate limiter with two queues: rows are admitted (claim, connect) shortly before their departure, then released one at a time.

import { afterDeparture, beginsAt, mayLeave, nextDeparture, type Pace, paceOf } from '../domain/pace.ts'
import type { Clock } from '../ports/clock.ts'
import { createWaitQueue } from './wait-queue.ts'

/** A request that prepares for a departure: its row is being claimed, its connection opened. */
export interface Reservation {
  /** The last check of the rate, where the first byte leaves. Counts the start if it may go. */
  commit(): 'pace' | null
  /** It will not leave: another request may prepare instead. */
  cancel(): void
}

export interface Pacer {
  /** Resolves when it is time to prepare; null when `signal` aborts first. */
  reserve(signal: AbortSignal): Promise<Reservation | null>
  /** Resolves when the next request that is ready may leave. */
  departure(): Promise<void>
  /** Begins with quiet, of a second where nothing else is said. null: no limit. */
  setRate(ratePerSecond: number | null, quietMs?: number): void
}

/** Longer than any window of one second. The last start is always kept, for rates below one. */
const REMEMBERED_MS = 1_100

export function createPacer(ratePerSecond: number | null, clock: Clock): Pacer {
  let pace: Pace | null = null
  /** Those that prepare or are ready, and have not left. */
  let ready = new Set<Reservation>()
  const departuresMs: number[] = []
  // Kept without a rate as well: one that is set later applies to the second in progress.
  const startsMs: number[] = []

  /** By departures and by starts: a departure may belong to a request that left late, or not at all. */
  const later = (timeOf: (pace: Pace, takenMs: readonly number[]) => number) =>
    pace === null ? 0 : Math.max(timeOf(pace, departuresMs), timeOf(pace, startsMs))

  const beginsBehind = (before: number) =>
    later((pace, takenMs) => beginsAt(pace, takenMs, before, clock.monotonicMs()))
  const createReservation = () => reserveAmong(ready, start, () => entrance.recheck())
  const entrance = createWaitQueue<Reservation>(clock, () => beginsBehind(ready.size), createReservation)
  const exit = createWaitQueue<void>(
    clock,
    () => later(nextDeparture),
    (atMs) => {
      const nowMs = clock.monotonicMs()
      if (pace === null) return
      pace = afterDeparture(pace, atMs, nowMs)
      remember(departuresMs, nowMs)
    },
  )

  /** Counts the start if it may go. */
  function start(): 'pace' | null {
    const nowMs = clock.monotonicMs()
    if (pace !== null && !mayLeave(pace, startsMs, nowMs)) return 'pace'
    remember(startsMs, nowMs)
    return null
  }

  function setRate(perSecond: number | null, quietMs?: number): void {
    pace = perSecond === null ? null : paceOf(perSecond, clock.monotonicMs(), quietMs)
    ready = new Set()
    entrance.recheck()
    // Requests that are ready try at once and are checked against the new rate; under a slow one they would wait too long.
    exit.releaseAll()
  }

  setRate(ratePerSecond)
  return {
    // Without a rate there is no wait, and thousands a second need no queue for it.
    async reserve(signal) {
      if (pace !== null) return entrance.wait(signal)
      return signal.aborted ? null : createReservation()
    },
    async departure() {
      if (pace !== null) await exit.wait()
    },
    setRate,
  }
}

/** `ready`: what it is one of until it leaves, or is cancelled and makes room. */
function reserveAmong(ready: Set<Reservation>, start: () => 'pace' | null, makeRoom: () => void): Reservation {
  const reservation: Reservation = {
    commit() {
      const why = start()
      if (why === null) ready.delete(reservation)
      return why
    },
    cancel() {
      if (ready.delete(reservation)) makeRoom()
    },
  }
  ready.add(reservation)
  return reservation
}

/** Old entries are removed in one sweep now and then: without a rate there may be thousands a second. */
function remember(timesMs: number[], nowMs: number): void {
  const [first] = timesMs
  if (first !== undefined && nowMs - first > 2 * REMEMBERED_MS) {
    const kept = timesMs.findIndex((atMs) => nowMs - atMs <= REMEMBERED_MS)
    timesMs.splice(0, kept === -1 ? timesMs.length : kept)
  }
  timesMs.push(nowMs)
}
