// The queues in which services hear what becomes of a row.

import type { BatchId } from '../../../domain/ids.ts'
import { change, type Script } from '../script.ts'

/** What becomes of a duplicate becomes of the row that it repeats. */
const REPLY_TO = `
    INSERT INTO reply_to (row_id, queue) SELECT coalesce(duplicate_of, id), :queue FROM instruction
    WHERE batch_id = :batchId AND (:rowNo = 0 OR row_no = :rowNo)
    ON CONFLICT (row_id, queue) DO NOTHING`

/** A service that hands in a known one again is told of what is still to come as well. `rowNo` 0: every row of the batch. */
export function* keepReplyTo(batchId: BatchId, queue: string | null | undefined, rowNo = 0): Script<void> {
  if (queue != null) yield* change(REPLY_TO, { queue, batchId, rowNo })
}
