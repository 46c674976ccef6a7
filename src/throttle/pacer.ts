// Keeps a rate at two places: rows begin to get ready shortly before their moment, and leave one at a time, each in one.

import { afterMoment, beginsAt, mayLeave, nextMoment, openPace, type Pace } from '../domain/pace.ts'
import type { Clock } from '../domain/ports.ts'
import { openLine } from './wait-queue.ts'

/** Getting ready for a moment: the row is being claimed, the connection opened. */
export interface Slot {
  /** The last look at the rate, where the first byte leaves. Counts the start if it lets it go. */
  leave(): 'pace' | null
  /** It will not leave: somebody else may get ready in its place. */
  giveBack(): void
}

export interface Pacer {
  /** When it is time to get ready; null when the turn ended first. */
  slot(turn: AbortSignal): Promise<Slot | null>
  /** When the next request that is ready may leave. */
  moment(): Promise<void>
  /** null: no limit. */
  setRate(ratePerSecond: number | null): void
}

/** Longer than any window that is judged by the second. The last one of all is kept, for rates below one. */
const REMEMBERED_MS = 1_100

export function openPacer(ratePerSecond: number | null, clock: Clock): Pacer {
  let pace: Pace | null = null
  /** Who gets ready or is, and has not left. */
  let ready = new Set<Slot>()
  const momentsMs: number[] = []
  // Kept under no rate as well: one that is set later holds for the second that is under way.
  const startsMs: number[] = []

  /** By moments and by starts: a moment may have been taken by a request that left late, or not at all. */
  const later = (timeOf: (pace: Pace, takenMs: readonly number[]) => number) =>
    pace === null ? 0 : Math.max(timeOf(pace, momentsMs), timeOf(pace, startsMs))

  const entrance = openLine<Slot>(
    clock,
    () => later((pace, takenMs) => beginsAt(pace, takenMs, ready.size, clock.monotonicMs())),
    openSlot,
  )
  const exit = openLine<void>(
    clock,
    () => later(nextMoment),
    (atMs) => {
      const nowMs = clock.monotonicMs()
      if (pace === null) return
      pace = afterMoment(pace, atMs, nowMs)
      remember(momentsMs, nowMs)
    },
  )

  function openSlot(): Slot {
    const given = ready
    const slot: Slot = {
      leave() {
        const nowMs = clock.monotonicMs()
        if (pace !== null && !mayLeave(pace, startsMs, nowMs)) return 'pace'
        remember(startsMs, nowMs)
        given.delete(slot)
        return null
      },
      giveBack() {
        if (given.delete(slot)) entrance.look()
      },
    }
    given.add(slot)
    return slot
  }

  function setRate(perSecond: number | null): void {
    pace = perSecond === null ? null : openPace(perSecond, clock.monotonicMs())
    ready = new Set()
    entrance.look()
    // Whoever is ready tries at once and is judged by the new rate; under a slow one it would wait too long.
    exit.turnAllAway()
  }

  setRate(ratePerSecond)
  return {
    // Without a rate nobody waits, and thousands a second need not stand in line for it.
    async slot(turn) {
      if (pace !== null) return entrance.wait(turn)
      return turn.aborted ? null : openSlot()
    },
    async moment() {
      if (pace !== null) await exit.wait()
    },
    setRate,
  }
}

/** What is too old goes in one sweep now and then: without a rate there may be thousands in a second. */
function remember(timesMs: number[], nowMs: number): void {
  const [first] = timesMs
  if (first !== undefined && nowMs - first > 2 * REMEMBERED_MS) {
    const kept = timesMs.findIndex((atMs) => nowMs - atMs <= REMEMBERED_MS)
    timesMs.splice(0, kept === -1 ? timesMs.length : kept)
  }
  timesMs.push(nowMs)
}
