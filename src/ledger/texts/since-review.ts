// What was recorded between the review of a draft and the moment in which it becomes visible. It was compared with none of that, and
// no person was asked about it.

import type { DraftHeader } from '../../domain/draft.ts'
import { COUNTS_ALWAYS, COUNTS_FOR_A_WHILE } from '../rules/lookalikes.ts'
import { EXECUTED, listOf } from './conditions.ts'
import { NO_LONGER_DECLINED } from './reattempts.ts'
import { stillFits } from './refunds.ts'
import { exists, type Script } from './script.ts'
import { SAME_XTL } from './xtl-order-ids.ts'

/** `seen`: the last row that the review saw. `batchId`: of the rows of the draft itself, which are recorded by now. */
export interface Seen {
  readonly seen: number
  readonly batchId: string
}

/** Whether all that the review said still holds. */
export function* holdsStill(header: DraftHeader, { seen, batchId }: Seen): Script<boolean> {
  const account = header.accountId
  // A late answer may have said that a row was executed which is about to run again.
  if (yield* exists(ANSWERED)) return false
  if (yield* exists(NO_LONGER_DECLINED)) return false
  // A message may look like a row of this file, have its xtl_order_id, or refund an order of it.
  if (yield* exists(NEWCOMER, { seen, account })) return false
  if ((yield* exists(REFUND, { seen, account, batchId })) && !(yield* stillFits(header))) return false
  return true
}

const ANSWERED = `
    SELECT 1 FROM draft_row d JOIN instruction i ON i.id = d.supersedes
    WHERE i.state NOT IN ('FAILED', 'CANCELLED') OR EXISTS (SELECT 1 FROM instruction e WHERE ${EXECUTED}) LIMIT 1`

const NEWCOMER = `
    WITH newcomer AS MATERIALIZED (
      SELECT i.reference, i.lookalike, i.operation, i.xtl_order_id FROM instruction i JOIN batch b ON b.id = i.batch_id
      WHERE i.id > :seen AND i.account_id = :account AND b.stage = 'open'
        AND (i.state IN (${listOf([...COUNTS_ALWAYS, ...COUNTS_FOR_A_WHILE])}) OR i.money_warning = 1))
    SELECT 1 FROM newcomer i JOIN draft_row d ON d.lookalike = i.lookalike
    WHERE i.lookalike IS NOT NULL AND i.reference <> d.reference AND d.state = 'READY'
    UNION ALL
    SELECT 1 FROM newcomer i JOIN draft_row d ON ${SAME_XTL} WHERE d.state = 'READY' LIMIT 1`

const REFUND = `
    SELECT 1 FROM instruction i
    WHERE EXISTS (SELECT 1 FROM draft_order) AND i.id > :seen AND i.account_id = :account AND i.batch_id <> :batchId AND i.operation = 'REFUND'
      AND i.order_key IN (SELECT order_key FROM draft_order) LIMIT 1`
