// Follows a batch until it moves no further by itself.

import type { BatchView } from '../domain/batch.ts'
import { countIn, type Ending, endingOf, givenUp, settledIn } from '../domain/batch-status.ts'
import { assert } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import { createPatience, type GiveUpAfter } from '../domain/patience.ts'
import type { Clock } from '../ports/clock.ts'
import type { QueryLedger } from '../ports/ledger/queries.ts'

const LOOK_EVERY_MS = 200

export interface Followed {
  readonly batch: BatchView
  readonly ending: Ending
}

export interface Following {
  readonly ledger: Pick<QueryLedger, 'batch' | 'waitsFor'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Counts from the last row that was settled, of this batch or of the one before it. */
  readonly giveUpAfter: GiveUpAfter
  /** How long it waits for people to approve the batch. */
  readonly waitForApprovalMs: number
  /** Runs between looks. Resolves to whether no other batch is worked off meanwhile. */
  readonly step: () => Promise<boolean>
  /** Rows settled so far of the batch that another run works off before this one. */
  readonly settledAhead: () => Promise<number>
  /** Whether the one who works sends for the merchant of the batch. */
  readonly isServed: (batch: BatchView) => boolean
  /** What keeps rows from being handed out, in words; null: not known. */
  readonly trouble: () => Promise<string | null>
  readonly onLook: (batch: BatchView) => void
}

/** Resolves to null where the signal aborted first. */
export async function followBatch(batchId: BatchId, following: Following): Promise<Followed | null> {
  const { ledger, clock, signal, giveUpAfter, waitForApprovalMs, step, settledAhead, isServed, trouble, onLook } =
    following
  const patience = createPatience(giveUpAfter, clock.monotonicMs())
  const approvalUntilMs = clock.monotonicMs() + waitForApprovalMs
  let alone = false
  while (!signal.aborted) {
    const batch = await ledger.batch(batchId)
    assert(batch !== null, `batch ${batchId} is gone`)
    onLook(batch)
    const ending = endingOf(batch, clock.nowMs(), isServed(batch))
    const waits =
      ending?.kind === 'stuck' && ending.state === 'awaiting_approval' && clock.monotonicMs() < approvalUntilMs
    if (ending !== null && !waits) return { batch, ending }
    if (waits) {
      await clock.sleep(LOOK_EVERY_MS, signal)
      continue
    }
    const settled = settledIn(batch) + (alone ? 0 : await settledAhead())
    const overAfterMs = patience.overAfterMs({
      ...{ settled, sending: countIn(batch, 'SENDING'), nowMs: clock.monotonicMs() },
      asksToWait: batch.gatewayHealth?.asksToWait === true,
    })
    if (overAfterMs !== null) return { batch, ending: givenUp(batch, overAfterMs, await trouble()) }
    alone = await step()
    const other = alone && countIn(batch, 'SENDING') === 0 ? await ledger.waitsFor(batchId, clock.nowMs()) : null
    if (other !== null) {
      const why = [{ code: 'waits-for-batch', batchId: other } as const]
      return { batch, ending: { kind: 'stuck', state: 'waiting', why } }
    }
    await clock.sleep(LOOK_EVERY_MS, signal)
  }
  return null
}
