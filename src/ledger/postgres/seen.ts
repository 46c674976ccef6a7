// What this process knows to be committed, of late: a server that lacks any of it was put back.

import type { Clock } from '../../ports/clock.ts'

/** The last transaction of a lane. */
export interface Seen {
  readonly lane: number
  readonly no: number
}

export interface SeenCommits {
  committed(lane: number, no: number): void
  all(): readonly Seen[]
}

/** The ledger forgets a lane that has rested for a month: what was committed within a day must be there. */
export const SEEN_FOR_MS = 86_400_000

export function createSeen({ monotonicMs }: Pick<Clock, 'monotonicMs'>): SeenCommits {
  const last = new Map<number, { readonly no: number; readonly atMs: number }>()
  return {
    committed(lane, no) {
      last.set(lane, { no: Math.max(no, last.get(lane)?.no ?? 0), atMs: monotonicMs() })
    },
    all: () =>
      Array.from(last).flatMap(([lane, { no, atMs }]) => (monotonicMs() - atMs < SEEN_FOR_MS ? [{ lane, no }] : [])),
  }
}
