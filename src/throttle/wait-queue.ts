// FIFO whose head is released at a computed time. A waiter that aborts uses up no release.

import type { Clock } from '../ports/clock.ts'

export interface WaitQueue<T> {
  /** What its release yields; null when the signal aborts first or all are released early. */
  wait(until?: AbortSignal): Promise<T | null>
  /** The time of the head may have changed. */
  recheck(): void
  releaseAll(): void
}

interface Waiter<T> {
  readonly resolve: (got: T | null) => void
}

/** A timer cannot be set for longer than 24 days, and the head may have no time to go at all. */
const LONGEST_SLEEP_MS = 60_000

/** `goesAtMs`: when the head may go; Infinity: not before a `recheck`. `go`: what it gets; the clock has reached that time by then. */
export function createWaitQueue<T>(clock: Clock, goesAtMs: () => number, go: (atMs: number) => T): WaitQueue<T> {
  let waiters: Waiter<T>[] = []
  let sleeping = new AbortController()
  let running = false

  async function run(): Promise<void> {
    if (running) return
    running = true
    while (waiters.length > 0) {
      const atMs = goesAtMs()
      const waitMs = atMs - clock.monotonicMs()
      if (waitMs > 0) {
        sleeping = new AbortController()
        await clock.sleep(Math.min(waitMs, LONGEST_SLEEP_MS), sleeping.signal) // may be woken early, or find another head: look again
      } else waiters.shift()?.resolve(go(atMs))
    }
    running = false
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
            until?.removeEventListener('abort', leave) // a signal may outlive many waits
            resolve(got)
          },
        }
        until?.addEventListener('abort', leave, { once: true })
        waiters.push(waiter)
        void run()
      })
    },
    recheck: () => sleeping.abort(),
    releaseAll() {
      const rejected = waiters
      waiters = []
      sleeping.abort()
      for (const waiter of rejected) waiter.resolve(null)
    },
  }
}
