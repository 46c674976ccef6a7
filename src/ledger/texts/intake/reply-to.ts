// The queues in which services hear what becomes of a row.

import type { BatchId } from '../../../domain/ids.ts'
import { RUNS_AGAIN } from '../review/draft-rows.ts'
import { change, type Script } from '../script.ts'

/** What becomes of a duplicate becomes of the row that it repeats. */
const replyTo = (which: string) => `
    INSERT INTO reply_to (row_id, queue) SELECT coalesce(duplicate_of, id), :queue FROM instruction
    WHERE batch_id = :batchId ${which}
    ON CONFLICT (row_id, queue) DO NOTHING`
const OF_ROW = replyTo('AND row_no = :rowNo')
const OF_BATCH = replyTo('AND TRUE')

/** A service that hands in a known one again is told of what is still to come as well. Without `rowNo`: of every row of the batch. */
export function* keepReplyTo(batchId: BatchId, queue: string | null | undefined, rowNo?: number): Script<void> {
  if (queue == null) return
  yield* rowNo === undefined ? change(OF_BATCH, { queue, batchId }) : change(OF_ROW, { queue, batchId, rowNo })
}

const OF_FORMER = `
    INSERT INTO reply_to (row_id, queue) SELECT i.id, r.queue
    FROM draft_row d JOIN instruction i ON i.batch_id = :batchId AND i.row_no = d.row_no
      JOIN reply_to r ON r.row_id = coalesce(d.supersedes, d.declined_row)
    WHERE d.state = 'READY' AND (${RUNS_AGAIN})
    ON CONFLICT (row_id, queue) DO NOTHING`

/** Who heard that a row of the draft was declined, or failed, hears what becomes of it when a person has it sent once more. */
export function* keepReplyToOfFormer(batchId: BatchId): Script<void> {
  yield* change(OF_FORMER, { batchId })
}
