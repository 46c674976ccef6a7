// Which claims, plain settlements and beats of this process are known to be committed, of late: a server that lacks any of them was put back.

import type { Clock } from '../../ports/clock.ts'
import { type Moment, momentOf } from '../rules/trust.ts'

/** The last transaction of a transactor. */
export interface Seen {
  readonly transactor: number
  readonly no: number
}

export interface SeenCommits {
  committed(transactor: number, no: number): void
  all(): readonly Seen[]
}

/** The ledger forgets a transactor that has rested for a month: what was committed within a day must be there. */
const SEEN_FOR_MS = 86_400_000

/** By both times of the clock: one stands still while a machine is suspended, the other can be set. */
export function isOfLate(since: Moment, clock: Pick<Clock, 'nowMs' | 'monotonicMs'>): boolean {
  const { wallMs, monotonicMs } = momentOf(clock)
  return wallMs - since.wallMs < SEEN_FOR_MS && monotonicMs - since.monotonicMs < SEEN_FOR_MS
}

export function createSeen(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>): SeenCommits {
  const last = new Map<number, { readonly no: number; readonly at: Moment }>()
  return {
    committed(transactor, no) {
      last.set(transactor, { no: Math.max(no, last.get(transactor)?.no ?? 0), at: momentOf(clock) })
    },
    all: () =>
      Array.from(last).flatMap(([transactor, { no, at }]) => (isOfLate(at, clock) ? [{ transactor, no }] : [])),
  }
}
