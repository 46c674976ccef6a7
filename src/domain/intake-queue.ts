// The queue of messages, as a monitor looks at it: whether somebody takes what waits there. Pure.

/** Where BullMQ keeps jobs that wait. */
export const WAITING_STATES = ['waiting', 'prioritized', 'delayed', 'waiting-children'] as const

export interface WaitingJobs {
  readonly state: (typeof WAITING_STATES)[number]
  readonly count: number
  /** When the oldest of those that were looked at should have been taken; null: there are none. */
  readonly oldestAtMs: number | null
}

export interface IntakeSeen {
  readonly prefix: string
  /** The ledger that takes its messages; null: none has yet. */
  readonly owner: string | null
  readonly isPaused: boolean
  /** Of all workers together; null: as many as they like. */
  readonly concurrency: number | null
  readonly waiting: readonly WaitingJobs[]
  /** Queues of the same name under other prefixes, which no ledger takes from. */
  readonly unowned: readonly { readonly prefix: string; readonly count: number }[]
}

export type IntakeTrouble =
  | { readonly kind: 'other-ledger'; readonly prefix: string; readonly owner: string }
  | { readonly kind: 'paused' | 'no-concurrency'; readonly prefix: string }
  | { readonly kind: 'not-taken'; readonly prefix: string; readonly jobs: WaitingJobs; readonly sinceMs: number }
  | { readonly kind: 'other-prefix'; readonly prefix: string; readonly other: string; readonly count: number }

/** A worker takes what it can within seconds. */
const TAKEN_WITHIN_MS = 300_000

export function troublesOfIntake(seen: IntakeSeen, ledgerId: string, nowMs: number): readonly IntakeTrouble[] {
  const { prefix, owner, isPaused, concurrency, waiting, unowned } = seen
  const elsewhere = unowned.map(
    (one) => ({ kind: 'other-prefix', prefix, other: one.prefix, count: one.count }) as const,
  )
  if (owner !== null && owner !== ledgerId) return [{ kind: 'other-ledger', prefix, owner }, ...elsewhere]
  return [
    ...(isPaused ? [{ kind: 'paused', prefix } as const] : []),
    ...(concurrency === 0 ? [{ kind: 'no-concurrency', prefix } as const] : []),
    ...waiting.flatMap((jobs): IntakeTrouble[] => {
      const sinceMs = nowMs - (jobs.oldestAtMs ?? nowMs)
      return sinceMs < TAKEN_WITHIN_MS ? [] : [{ kind: 'not-taken', prefix, jobs, sinceMs }]
    }),
    ...elsewhere,
  ]
}
