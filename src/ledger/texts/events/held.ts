// What holds the rows of a batch that wait: whoever hands one in while it lasts is told of it.

import type { Held } from '../../../domain/event.ts'
import type { BatchId } from '../../../domain/ids.ts'
import { one, type Script } from '../script.ts'

/** Of batch `b` and its account `a`; NULL: nothing. The account comes first: no approval lets anything go meanwhile. */
export const HELD_BY = `
    CASE WHEN a.stopped_reason IS NOT NULL OR a.held_reason IS NOT NULL THEN 'account.stopped'
      WHEN b.hold = 'paused' THEN 'batch.paused'
      WHEN b.hold = 'none' AND b.approvals_needed > b.approvals_given THEN 'batch.awaiting_approval' END`
export const HELD_FOR = `
    CASE WHEN a.stopped_reason IS NOT NULL OR a.held_reason IS NOT NULL THEN coalesce(a.stopped_reason, a.held_reason)
      WHEN b.hold = 'paused' THEN b.hold_reason END`

const HELD = `
    SELECT ${HELD_BY} AS by, ${HELD_FOR} AS reason FROM batch b JOIN account a ON a.id = b.account_id WHERE b.id = :batchId`

export function* heldBy(batchId: BatchId): Script<Held | null> {
  const found = yield* one<{ by: Held['by'] | null; reason: string | null }>(HELD, { batchId })
  return found === undefined || found.by === null ? null : { by: found.by, reason: found.reason }
}
