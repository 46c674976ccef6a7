// Rows that wait to be sent and ask for what was thought to have moved nothing. It was executed after all: an answer came late, or a
// person corrected a finding. When they came nobody was asked about them, so their batches are paused.

import type { DatabaseSync } from 'node:sqlite'
import type { BatchId } from '../../domain/ids.ts'
import { pauseForAlike } from '../rules/pausing.ts'
import { SAME_TARGET, targetOf } from '../texts/corrections.ts'
import { OTHER_RUN_KEY } from '../texts/lookalikes.ts'
import { findRows } from './found.ts'
import type { SettlingRow } from './moves.ts'
import { prepareBatchPause } from './pauses.ts'

interface Waiting extends Pick<SettlingRow, 'account_id'> {
  readonly batch_id: BatchId
  readonly rowNo: number
  readonly executed: string
}

/**
 * Rows that look like row `d`, and where a reference was made those that ask for its target otherwise. What is open or in doubt now may be
 * sent again. In a file the other rows were meant beside it; the batch of a queue has whatever came on its day.
 */
const WAITING = `
    SELECT i.batch_id, i.account_id, min(i.row_no) AS rowNo, 'row ' || d.row_no || ' of batch ' || d.batch_id AS executed
    FROM (SELECT r.*, ${targetOf('r')} AS target FROM instruction r WHERE r.id = :id) AS d CROSS JOIN instruction i CROSS JOIN batch b
    WHERE ${SAME_TARGET} AND i.state IN ('READY', 'SENDING', 'IN_DOUBT') AND i.reference <> d.reference
      AND b.id = i.batch_id AND b.stage = 'open' AND (i.batch_id <> d.batch_id OR b.source = 'queue')
      AND CASE WHEN i.lookalike = d.lookalike THEN NOT (${OTHER_RUN_KEY})
        ELSE i.run_key IS NOT DISTINCT FROM d.run_key AND (i.made = 1 OR d.made = 1) END
    GROUP BY i.batch_id`

export type PauseAlike = (row: Pick<SettlingRow, 'id' | 'account_id'>, atMs: number) => readonly BatchId[]

/** Of a row that was executed after all. Answers with the batches that are paused for it. */
export function preparePausingAlike(db: DatabaseSync): PauseAlike {
  const waiting = db.prepare(WAITING)
  const pause = prepareBatchPause(db)
  return ({ id, account_id: account }, atMs) =>
    findRows<Waiting>(waiting, { id, account })
      .filter((row) => pause(row, pauseForAlike(row), atMs) !== null)
      .map((row) => row.batch_id)
}
