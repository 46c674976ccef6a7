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
  readonly until: AbortSignal | undefined
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

  function dropAborted(): void {
    const left = waiters.filter(({ until }) => until?.aborted)
    waiters = waiters.filter(({ until }) => !until?.aborted)
    for (const waiter of left) waiter.resolve(null)
  }

  return {
    wait(until) {
      if (until?.aborted === true) return Promise.resolve(null)
      return new Promise((resolve) => {
        // Rows of one slice wait one behind the other, and a signal need be listened to once.
        if (waiters.at(-1)?.until !== until) until?.addEventListener('abort', dropAborted, { once: true })
        waiters.push({ until, resolve })
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
