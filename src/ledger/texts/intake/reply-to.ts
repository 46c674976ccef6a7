// The queues in which services hear what becomes of a row.

import type { BatchId } from '../../../domain/ids.ts'
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
