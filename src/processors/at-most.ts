// Waiting for something, but not for ever.

import type { Clock } from '../ports/clock.ts'

/** Resolves when `done` has, or after `ms`, and leaves no timer behind. */
export async function atMost(clock: Clock, ms: number, done: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  await Promise.race([done, clock.sleep(ms, over.signal)]).finally(() => over.abort())
}
