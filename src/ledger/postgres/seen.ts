// Which claims, plain settlements and beats of this process are known to be committed, of late: a server that lacks any of them was put back.

import type { Clock } from '../../ports/clock.ts'

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
export const SEEN_FOR_MS = 86_400_000

export function createSeen({ monotonicMs }: Pick<Clock, 'monotonicMs'>): SeenCommits {
  const last = new Map<number, { readonly no: number; readonly atMs: number }>()
  return {
    committed(transactor, no) {
      last.set(transactor, { no: Math.max(no, last.get(transactor)?.no ?? 0), atMs: monotonicMs() })
    },
    all: () =>
      Array.from(last).flatMap(([transactor, { no, atMs }]) =>
        monotonicMs() - atMs < SEEN_FOR_MS ? [{ transactor, no }] : [],
      ),
  }
}
