// The heartbeat of a worker: looks into the ledger for what is due and offers it as slices. The ledger is the only clock.

import type { AccountId, BatchId, BookLedger, Clock, Dispatch, Log, WorkLedger } from '../domain/ports.ts'
import type { Road } from './execute-slice.ts'

const EVERY_MS = 250
/** Rows in one slice. */
export const ROWS_PER_SLICE = 100
/** Slices of one batch in the queue at a time: enough to keep the window full, few enough for batches to take turns. */
const PLACES_PER_BATCH = 4

export interface TickParts {
  readonly ledger: Pick<WorkLedger, 'workable' | 'finishCancelling'> & Pick<BookLedger, 'resumes'>
  readonly dispatch: Pick<Dispatch, 'offer' | 'onFreed'>
  readonly roads: ReadonlyMap<AccountId, Road>
  readonly clock: Clock
  readonly log: Log
  /** Work off this batch only. */
  readonly only: BatchId | null
  /** Told once when no work can be handed out, with the reason, and once with null when it can be again. */
  readonly onTrouble?: ((error: unknown) => void) | undefined
}

export interface Tick {
  /** Resolves when the step under way has ended; none follows. */
  stop(): Promise<void>
}

export function openTick(parts: TickParts): Tick {
  const { dispatch, clock, log, onTrouble } = parts
  const stopping = new AbortController()
  const resumesSeen = new Map<AccountId, number>()
  let failing = false

  async function beat(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await step(parts, resumesSeen)
        if (failing) {
          log.info({}, 'work is being handed out again')
          onTrouble?.(null)
        }
        failing = false
      } catch (error) {
        // Redis away, mostly. What is due stays due: the next beat finds it again.
        if (!failing) {
          log.warn({ err: error }, 'no work could be handed out; trying again')
          onTrouble?.(error)
        }
        failing = true
      }
      await clock.sleep(EVERY_MS, stopping.signal)
    }
  }

  // A slice that found nothing leaves its place to the next beat: filling it at once would spin.
  dispatch.onFreed((batchId, rows) => {
    if (rows > 0 && !stopping.signal.aborted) offerDue(parts, batchId).catch(() => {})
  })
  const beating = beat()
  return {
    async stop() {
      stopping.abort()
      await beating
    },
  }
}

async function step(parts: TickParts, resumesSeen: Map<AccountId, number>): Promise<void> {
  const { ledger, roads, clock, only } = parts
  await ledger.finishCancelling(clock.nowMs())
  for (const [accountId, road] of roads) {
    const resumes = await ledger.resumes(accountId)
    if (resumes > (resumesSeen.get(accountId) ?? resumes)) road.gate.reset()
    resumesSeen.set(accountId, resumes)
  }
  await offerDue(parts, only)
}

async function offerDue({ ledger, dispatch, roads, clock }: TickParts, only: BatchId | null): Promise<void> {
  const batches = await ledger.workable(clock.nowMs(), PLACES_PER_BATCH * ROWS_PER_SLICE, only ?? undefined)
  for (const { batchId, accountId, due } of batches) {
    if (roads.get(accountId)?.gate.isOpen() !== true) continue
    const places = Math.min(PLACES_PER_BATCH, Math.ceil(due / ROWS_PER_SLICE))
    await dispatch.offer({ batchId, rows: ROWS_PER_SLICE }, places)
  }
}
