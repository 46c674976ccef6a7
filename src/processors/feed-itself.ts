// Keeps work going while the queue is away: after 5 s the slices that are offered run in this process, until the queue takes them
// again. Rows are claimed in the ledger either way, so that none is sent twice.

import type { BatchId } from '../domain/ids.ts'
import { createToldTrouble, shownOf } from '../domain/trouble.ts'
import type { Clock } from '../ports/clock.ts'
import type { Dispatch, Slice } from '../ports/dispatch.ts'
import type { Log } from '../ports/log.ts'
import { atMost } from './at-most.ts'

export interface FeedParts {
  readonly queue: Dispatch
  /** Slices that run at the same time, of those that do not come from the queue. */
  readonly concurrency: number
  /** As for the queue. */
  readonly work: (slice: Slice) => Promise<number>
  readonly clock: Clock
  readonly log: Log
  /** Told once when the queue takes nothing, with the reason, and once with null when it does again. */
  readonly onAway?: ((error: unknown) => void) | undefined
}

const PATIENCE_MS = 5_000
/** So long it must have taken everything before it is trusted again: some of its answers may be errors, and others not. */
const STEADY_MS = 1_000

export function feedItself({ queue, clock, log, onAway, ...parts }: FeedParts): Dispatch {
  const own = createOwnPlaces({ ...parts, clock, log })
  /** When the first offer was made that the queue did not take; null: it takes them. */
  let awaySinceMs: number | null = null
  let failedAtMs = 0
  let asking = false

  const isOver = () => awaySinceMs !== null && clock.monotonicMs() - awaySinceMs >= PATIENCE_MS

  function lost(error: unknown, askedAtMs: number): void {
    failedAtMs = clock.monotonicMs()
    if (awaySinceMs !== null) return
    awaySinceMs = askedAtMs
    log.warn(shownOf(error), AWAY)
    onAway?.(error)
  }

  function answered(): void {
    if (awaySinceMs === null || clock.monotonicMs() - failedAtMs < STEADY_MS) return
    awaySinceMs = null
    own.forgetWaiting()
    log.info({}, 'Redis can be used again: rows are handed out through it')
    onAway?.(null)
  }

  /** Never rejects: what is due stays due, and is offered again. */
  async function ask(slices: readonly Slice[]): Promise<void> {
    const askedAtMs = clock.monotonicMs()
    try {
      await inTime(queue.offer(slices), clock)
      answered()
    } catch (error) {
      lost(error, askedAtMs)
    }
  }

  return {
    async offer(slices) {
      if (!isOver()) await ask(slices)
      else if (!asking) {
        asking = true
        void ask(slices).finally(() => {
          asking = false
        })
      }
      if (isOver()) own.offer(slices)
    },
    onFreed(listener) {
      queue.onFreed(listener)
      own.onFreed(listener)
    },
    async close(withinMs) {
      await Promise.all([queue.close(withinMs), own.close(withinMs)])
    },
  }
}

const AWAY =
  'Redis cannot be used. Nothing is lost and nothing is sent twice. After 5 s without it this process takes its rows from the ledger itself; messages of other services wait. It goes on by itself: see that Redis runs'

/** A queue that is frozen takes an offer and never says so. */
async function inTime(offered: Promise<void>, clock: Clock): Promise<void> {
  const over = new AbortController()
  const silence = clock.sleep(PATIENCE_MS, over.signal).then(() => {
    if (!over.signal.aborted) throw new Error(`no answer within ${PATIENCE_MS / 1_000} s`)
  })
  try {
    await Promise.race([offered, silence])
  } finally {
    over.abort()
  }
}

interface OwnPlaces extends Pick<Dispatch, 'onFreed' | 'close'> {
  offer(slices: readonly Slice[]): void
  /** Those that run come to their end. */
  forgetWaiting(): void
}

/** Places in this process. First come, first served, so that batches take turns here too. */
function createOwnPlaces({ concurrency, work, clock, log }: Omit<FeedParts, 'queue' | 'onAway'>): OwnPlaces {
  const waiting = new Map<string, Slice>()
  const running = new Map<string, Promise<void>>()
  let listener: (batchId: BatchId, rows: number) => void = () => {}
  const trouble = createToldTrouble()
  let closing = false

  async function run(key: string, slice: Slice): Promise<void> {
    const rows = await work(slice).catch((error: unknown) => {
      if (trouble.isNew(error))
        log.error({ err: error, batch: slice.batchId }, 'a slice broke off; its rows stay as the ledger has them')
      return null
    })
    if (rows !== null) trouble.over()
    running.delete(key)
    startWaiting()
    if (rows !== null) listener(slice.batchId, rows)
  }

  function startWaiting(): void {
    for (const [key, slice] of waiting) {
      if (closing || running.size >= concurrency) return
      waiting.delete(key)
      running.set(key, run(key, slice))
    }
  }

  return {
    offer(slices) {
      for (const slice of slices) {
        const key = `${slice.batchId}-${slice.place}`
        if (!running.has(key) && !waiting.has(key)) waiting.set(key, slice)
      }
      startWaiting()
    },
    forgetWaiting: () => waiting.clear(),
    onFreed(told) {
      listener = told
    },
    async close(withinMs) {
      closing = true
      await atMost(clock, withinMs, Promise.all(running.values()))
    },
  }
}
