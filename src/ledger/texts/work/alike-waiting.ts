// Pauses batches that would send what was executed already. A row had been called not executed, so rows like it were taken without a
// question; then its answer came, or a person corrected the finding.

import type { BatchId } from '../../../domain/ids.ts'
import { MERCHANT_DEFAULTS } from '../../../domain/merchant.ts'
import { lookalikeWindow } from '../../rules/lookalikes.ts'
import { pauseForAlike } from '../../rules/pausing.ts'
import { SAME_TARGET, targetOf } from '../review/corrections.ts'
import { IS_ONE_MADE, OTHER_RUN_KEY } from '../review/lookalikes.ts'
import { all, type Script } from '../script.ts'
import type { SettlingRow } from './open-rows.ts'
import { pauseBatch } from './pausing.ts'

interface Waiting extends Pick<SettlingRow, 'account_id'> {
  readonly batch_id: BatchId
  readonly rowNo: number
  readonly executed: string
}

/**
 * Rows that look like row `d`, and those with another amount or date for its target where either reference was made. A row that is being
 * sent or in doubt may be sent again. The other rows of a file were meant beside `d`; a day's messages were not. Under another run key
 * a row that asks for just the same is one of another month, unless `d` was sent too lately.
 */
const WAITING = `
    SELECT i.batch_id, i.account_id, min(i.row_no) AS "rowNo", 'row ' || d.row_no || ' of batch ' || d.batch_id AS executed
    FROM (SELECT r.*, ${targetOf('r')} AS target FROM instruction r WHERE r.id = :id) AS d CROSS JOIN instruction i CROSS JOIN batch b
    WHERE ${SAME_TARGET} AND i.state IN ('READY', 'SENDING', 'IN_DOUBT') AND i.reference <> d.reference
      AND b.id = i.batch_id AND b.stage = 'open' AND (i.batch_id <> d.batch_id OR b.source = 'queue')
      AND CASE WHEN ${OTHER_RUN_KEY} THEN i.lookalike = d.lookalike AND coalesce(d.sent_at, d.claimed_at, d.completed_at) >= :otherRunKeySince
        ELSE i.lookalike = d.lookalike OR ${IS_ONE_MADE} END
    GROUP BY i.batch_id, i.account_id, d.row_no, d.batch_id`

/** Of a row that was executed after all. Answers with the batches that are paused for it. */
export function* pauseAlike(row: Pick<SettlingRow, 'id' | 'account_id'>, atMs: number): Script<BatchId[]> {
  const { otherRunKeySinceMs: otherRunKeySince } = lookalikeWindow(atMs, MERCHANT_DEFAULTS.lookalikeDays)
  const waiting = yield* all<Waiting>(WAITING, { id: row.id, account: row.account_id, otherRunKeySince })
  const paused: BatchId[] = []
  for (const row of waiting) {
    const reason = yield* pauseBatch(row, pauseForAlike(row), atMs)
    if (reason !== null) paused.push(row.batch_id)
  }
  return paused
}
