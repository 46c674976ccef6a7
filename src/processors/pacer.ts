// Hands out the moments at which a request may leave, one at a time and never faster than the rate.

import { bookSlot, isPast, mayLeave, openPace, type Pace } from '../domain/pace.ts'
import type { Clock } from '../domain/ports.ts'

export interface Slot {
  /** Whether the send time has passed so far that it must be given up for another. */
  isPast(): boolean
}

interface Waiter {
  readonly turn: AbortSignal
  readonly resolve: (got: Slot | null) => void
}

export interface Pacer {
  slot(turn: AbortSignal): Promise<Slot | null>
  leave(): 'pace' | null
}

/** One dispenser: slots are booked one at a time at the head of the queue, so that whoever leaves it wastes none. */
export function openPacer(ratePerSecond: number, clock: Clock): Pacer {
  let pace: Pace = openPace(ratePerSecond, clock.monotonicMs())
  const starts: number[] = []
  const waiters: Waiter[] = []
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
        const waiter: Waiter = {
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
