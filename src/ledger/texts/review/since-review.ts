// What happened between the review of a draft and the moment in which it becomes visible: it was compared with none of that, and no
// person was asked about it. Rows arrive, and rows that the review saw move.

import type { DraftHeader } from '../../../domain/draft.ts'
import { OF_AN_ORDER, SALES } from '../../rules/order-book.ts'
import { EXECUTED, listOf } from '../conditions.ts'
import { exists, type Script } from '../script.ts'
import { CANCELS_ROW, isInFile, NEVER_SENT, targetOf } from './corrections.ts'
import { COUNTING, IS_ONE_MADE, OTHER_RUN_KEY } from './lookalikes.ts'
import { stillFits } from './order-book.ts'
import { NO_LONGER_DECLINED } from './reattempts.ts'
import { NEW_ELSEWHERE } from './targets/of-accounts.ts'
import { likesOf } from './targets/of-cards.ts'
import { targetsStillFit } from './targets.ts'
import { isFirstXtlTaken, sameXtl } from './xtl-order-ids.ts'

/** The last row, move and act that the review saw, by their ids. */
export interface SeenUpTo {
  readonly row: number
  readonly move: number
  readonly act: number
}

/** `batchId`: of the rows of the draft itself, which are recorded by now. */
export interface Seen {
  readonly seen: SeenUpTo
  readonly batchId: string
}

/** Whether all that the review said still holds. */
export function* holdsStill(header: DraftHeader, { seen, batchId }: Seen): Script<boolean> {
  const [sha256, sandbox] = [header.fileSha256, header.sandbox ? 1 : 0]
  const since = { ...seen, batchId, account: header.accountId, sha256, sandbox }
  // A late answer may have said that a row was executed which is about to run again.
  if (yield* exists(ANSWERED)) return false
  if (yield* exists(NO_LONGER_DECLINED)) return false
  if (yield* exists(CANCELLED_SINCE, since)) return false
  // A message may look like a row of this file, have its xtl_order_id, or capture, void or refund an order of it. So may a row that counts only now.
  if (yield* exists(NEWCOMER, since)) return false
  if (yield* isFirstXtlTaken(header)) return false
  if (yield* exists(CHANGED, since)) return false
  if (yield* exists(ELSEWHERE, since)) return false
  const namesOrders = yield* exists('SELECT 1 FROM draft_order LIMIT 1')
  if (
    namesOrders &&
    (yield* exists(OF_ORDERS, since)) &&
    !((yield* stillFits(header)) && (yield* targetsStillFit(header)))
  )
    return false
  if (yield* exists(AUTHORIZED, since)) return false
  return true
}

const ANSWERED = `
    SELECT 1 FROM draft_row d JOIN instruction i ON i.id = d.supersedes
    WHERE i.state NOT IN ('FAILED', 'CANCELLED') OR EXISTS (SELECT 1 FROM instruction e WHERE ${EXECUTED}) LIMIT 1`

/**
 * Left out as the row of an earlier file, which is not sent any more: it would be sent from this one. Or sent in place of a row that a
 * person has cancelled by its reference since: that one is not brought back.
 */
const CANCELLED_SINCE = `
    SELECT 1 FROM draft_row d JOIN instruction i ON i.id = d.earlier WHERE d.state = 'DUPLICATE' AND ${NEVER_SENT}
    UNION ALL
    SELECT 1 FROM draft_row d JOIN instruction i ON i.id = coalesce(d.supersedes, d.earlier)
    WHERE d.state = 'READY' AND EXISTS (SELECT 1 FROM act s WHERE s.id > :act AND ${CANCELS_ROW}) LIMIT 1`

/**
 * Rows that may count now and did not when the draft was reviewed: new ones; those that had ended, and were found or answered to have
 * moved money after all; and those in doubt that are to be sent again, for a doubt of last month's run may have counted no more. What
 * counted before was asked about already, and goes on meanwhile. They come first where they are joined: while nobody else may write, no
 * table of the record is read from end to end.
 */
const CAME_TO_COUNT = `
      SELECT r.id FROM instruction r WHERE r.id > :row AND r.batch_id <> :batchId
      UNION ALL
      SELECT m.row_id FROM move m
      WHERE m.id > :move AND (m.from_state NOT IN (${COUNTING}) OR (m.from_state = 'IN_DOUBT' AND m.to_state = 'READY'))
      UNION ALL
      SELECT w.id FROM act a JOIN instruction w ON w.batch_id = a.batch_id
      WHERE a.id > :act AND a.what = 'late-answer' AND w.money_warning = 1`

const NEWCOMERS = `
    WITH newcomer AS MATERIALIZED (
      SELECT i.id, i.reference, i.made, i.holds_reference, i.operation, i.order_id, i.vault_id, i.card, i.xtl_order_id, i.reattempt_of, i.run_key,
        i.content, i.lookalike, i.amount_minor, i.currency, ${targetOf('i')} AS target, b.source
      FROM (${CAME_TO_COUNT}) AS c CROSS JOIN instruction i CROSS JOIN batch b
      WHERE i.id = c.id AND b.id = i.batch_id AND i.account_id = :account AND b.stage = 'open' AND (i.state IN (${COUNTING}) OR i.money_warning = 1))`

const NEWCOMER = `${NEWCOMERS}
    SELECT 1 FROM newcomer i CROSS JOIN draft_row d
    WHERE d.lookalike = i.lookalike AND i.lookalike IS NOT NULL AND i.reference <> d.reference AND d.state = 'READY'
    UNION ALL
    SELECT 1 FROM newcomer i CROSS JOIN draft_row d
    WHERE i.operation IN ('CAPTURE', 'AUTH') AND i.lookalike IS NOT NULL AND d.lookalike IN (${likesOf('i')}) AND d.state = 'READY'
    UNION ALL
    SELECT 1 FROM newcomer i JOIN draft_row d ON ${sameXtl('i', 'd')} WHERE d.state = 'READY'
    UNION ALL
    SELECT 1 FROM newcomer i JOIN instruction x ON x.account_id = :account AND x.reference = i.reattempt_of
      JOIN draft_row d ON ${sameXtl('x', 'd')} WHERE d.state = 'READY' LIMIT 1`

/** A row may be one of these with another amount or date: see `findChanged`. The rows are gone through once, however many these are. */
const CHANGED = `${NEWCOMERS}
    SELECT 1 FROM draft_row d CROSS JOIN newcomer i
    WHERE EXISTS (SELECT 1 FROM newcomer) AND i.target = ${targetOf('d')} AND i.operation = d.operation AND i.source = 'file' AND ${IS_ONE_MADE} AND NOT (${OTHER_RUN_KEY})
      AND i.reference <> d.reference AND d.state = 'READY' AND NOT ${isInFile('i')}
      AND d.changed_row IS NULL LIMIT 1`

/** A sale of the draft may take a part of an authorization that arrived. */
const AUTHORIZED = `${NEWCOMERS}
    SELECT 1 FROM draft_row d CROSS JOIN newcomer i
    WHERE EXISTS (SELECT 1 FROM newcomer) AND i.target = ${targetOf('d')} AND i.operation = 'AUTH' AND d.operation = 'CAPTURE' AND d.vault_id IS NOT NULL
      AND i.currency = d.currency AND i.amount_minor > d.amount_minor AND d.state = 'READY' LIMIT 1`

/** For what another account has. All newcomers are taken at first: to leave out one account PostgreSQL would read the whole record. */
const ELSEWHERE = `
    WITH newcomer AS MATERIALIZED (
      SELECT i.* FROM (${CAME_TO_COUNT}) AS c CROSS JOIN instruction i WHERE i.id = c.id)
    ${NEW_ELSEWHERE} LIMIT 1`

const IS_OF_ORDERS = `(i.order_key IN (SELECT order_key FROM draft_order)
        OR ltrim(i.answered_order_id, '0') IN (SELECT order_key FROM draft_order))`

/** What happened to the orders that the draft names, their sales and authorizations included: whether one is known, or in doubt, decides what is asked. */
const OF_ORDERS = `
    SELECT 1 FROM (${CAME_TO_COUNT}
      UNION ALL
      SELECT s.row_id FROM move s WHERE s.id > :move AND (s.from_state = 'APPROVED' OR s.to_state IN ('APPROVED', 'IN_DOUBT'))) AS c CROSS JOIN instruction i
    WHERE i.id = c.id AND i.account_id = :account AND i.operation IN (${listOf([...new Set(['AUTH', ...SALES, ...OF_AN_ORDER])])}) AND ${IS_OF_ORDERS} LIMIT 1`
