// How long a worker may believe that others take it for alive. Its lease is counted by the server's clock, its belief by its own, which
// ends earlier: a worker that no server has answered sends nothing more before another may give it up.

import type { Clock } from '../../ports/clock.ts'

/** For how long others wait for a word of a worker before they give it up. */
export const LEASE_MS = 15_000
/** How much earlier it stops believing. */
export const MARGIN_MS = 2_000

export interface Moment {
  readonly wallMs: number
  readonly monotonicMs: number
}

export interface Trust {
  /** Its lease was renewed by a question that it began to ask then. */
  renewed(since: Moment): void
  /** Whether it may send. */
  holds(): boolean
  /** Until it is renewed. */
  withdraw(): void
}

export function momentOf(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>): Moment {
  return { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
}

/** `clock`: of this machine. Either of its two times ends the trust: one stands still while it is suspended, the other can be set. */
export function createTrust(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>): Trust {
  let since: Moment | null = null
  const isPast = (fromMs: number, nowMs: number) => nowMs < fromMs || nowMs - fromMs > LEASE_MS - MARGIN_MS
  return {
    renewed(moment) {
      since = moment
    },
    holds() {
      if (since === null) return false
      const now = momentOf(clock)
      return !isPast(since.wallMs, now.wallMs) && !isPast(since.monotonicMs, now.monotonicMs)
    },
    withdraw() {
      since = null
    },
  }
}
