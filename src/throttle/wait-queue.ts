// A queue whose head goes when its time has come. Whoever leaves it takes nothing along.

import type { Clock } from '../domain/ports.ts'

export interface Line<T> {
  /** What its turn gives; null when the signal aborted first or all were turned away. */
  wait(until?: AbortSignal): Promise<T | null>
  /** The time of the head may be another now. */
  look(): void
  turnAllAway(): void
}

interface Waiter<T> {
  readonly resolve: (got: T | null) => void
}

/** `goesAtMs` tells when the head may go, `go` what it gets: the clock has reached that time by then. */
export function openLine<T>(clock: Clock, goesAtMs: () => number, go: (atMs: number) => T): Line<T> {
  let waiters: Waiter<T>[] = []
  let asleep = new AbortController()
  let walking = false

  async function walk(): Promise<void> {
    if (walking) return
    walking = true
    while (waiters.length > 0) {
      const atMs = goesAtMs()
      const waitMs = atMs - clock.monotonicMs()
      if (waitMs > 0) {
        asleep = new AbortController()
        await clock.sleep(waitMs, asleep.signal) // may be woken early, or find another head: look again
      } else waiters.shift()?.resolve(go(atMs))
    }
    walking = false
  }

  return {
    wait(until) {
      if (until?.aborted === true) return Promise.resolve(null)
      return new Promise((resolve) => {
        const leave = () => {
          waiters = waiters.filter((other) => other !== waiter)
          resolve(null)
        }
        const waiter: Waiter<T> = {
          resolve(got) {
            until?.removeEventListener('abort', leave) // a turn may outlive many waits
            resolve(got)
          },
        }
        until?.addEventListener('abort', leave, { once: true })
        waiters.push(waiter)
        void walk()
      })
    },
    look: () => asleep.abort(),
    turnAllAway() {
      const sentAway = waiters
      waiters = []
      asleep.abort()
      for (const waiter of sentAway) waiter.resolve(null)
    },
  }
}
