// The clock of this machine.

import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import type { Clock } from '../ports/clock.ts'

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done, { once: true })
    }),
}

/** The program is not older than this: a clock that says so is wrong. */
const WRITTEN_MS = Date.UTC(2026, 10, 1)

/** A clock that is years late would hide from look-alikes what is recorded now, and date results with lies. Or the fault. */
export function assertClock({ clock }: Pick<App, 'clock'>): void {
  if (clock.nowMs() >= WRITTEN_MS) return
  throw new Fault(
    'config',
    `The clock of this machine says ${new Date(clock.nowMs()).toISOString()}, which is before this program was written. Nothing was recorded and nothing was sent. Set the clock.`,
  )
}
