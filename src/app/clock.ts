// The clock of this machine, and the one of a server that several machines share.

import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import type { Clock, SharedClock } from '../ports/clock.ts'

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

/** What the network adds to a question is no step of a clock. */
const NO_STEP_MS = 100

/** This machine's own time until the server has told its own. */
export function createSharedClock(host: Clock = systemClock): SharedClock {
  let aheadMs = 0
  let last: { readonly serverMs: number; readonly atMs: number } | null = null

  const byHost = () => host.nowMs() + aheadMs
  const bySteadyTime = () => (last === null ? byHost() : Math.floor(last.serverMs + host.monotonicMs() - last.atMs))
  return {
    ...{ host, monotonicMs: host.monotonicMs, sleep: host.sleep },
    // Steady time stands still while the machine is suspended, and the host's time may be set back: the later one is right.
    nowMs: () => Math.max(byHost(), bySteadyTime()),
    reachedMs: () => Math.min(host.nowMs(), byHost(), bySteadyTime()),
    follow(serverMs, askedAtMs, answeredAtMs) {
      const halfMs = (answeredAtMs - askedAtMs) / 2
      const nowMs = serverMs + host.monotonicMs() - answeredAtMs + halfMs
      const isOff = (saidMs: number) => Math.abs(nowMs - saidMs) > halfMs + NO_STEP_MS
      if (isOff(byHost())) aheadMs = Math.round(nowMs - host.nowMs())
      if (last === null || isOff(bySteadyTime())) last = { serverMs: nowMs, atMs: host.monotonicMs() }
    },
  }
}
