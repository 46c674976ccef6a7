// An xtl_order_id names one row. It ties an answer to its request, and a person looks a doubt up by it: where two rows had one,
// what became of the one would be taken for the other.

import type { DraftHeader } from '../../../domain/draft.ts'
import type { BatchId } from '../../../domain/ids.ts'
import { xtlTakenText } from '../../rules/arriving.ts'
import { SALES } from '../../rules/order-book.ts'
import { listOf } from '../conditions.ts'
import { change, exists, one, type Script } from '../script.ts'
import { DRAFT_FAULT, RUNS_AGAIN } from './draft-rows.ts'
import { type Arriving, lookalikeSince, MOVED_NOTHING, OTHER_RUN_KEY, STILL_COUNTS } from './lookalikes.ts'

type Row = 'd' | 'i' | 'x' | 'f'

/** Compared as the echo of an answer is, without leading zeros. */
const keyOf = (row: Row) => `ltrim(${row}.xtl_order_id, '0')`

/** An AUTH and its CAUTH may have the order's id both: REQUEST_ACTION tells them apart, in the answer and at the gateway. */
const IS_AUTH = (row: Row) => `(${row}.operation = 'AUTH')`

/** Whether a recorded row and another one have one xtl_order_id and are different instructions. */
export const sameXtl = (recorded: 'i' | 'x', row: 'd' | 'f') => `${keyOf(recorded)} = ${keyOf(row)}
  AND ${recorded}.xtl_order_id IS NOT NULL AND ${row}.xtl_order_id IS NOT NULL
  AND ${IS_AUTH(recorded)} = ${IS_AUTH(row)} AND ${recorded}.reference <> ${row}.reference`

/**
 * A declined charge is asked for once more under an xtl_order_id made from the new reference, and stays the payment that the id of the
 * first attempt names.
 */
const FIRST = (row: 'd' | 'i') => `coalesce(${row}.reattempt_of, ${row}.reference)`

/** Under the reference of another row, these may have an id that was never sent. */
const NEVER_ASKED = "'INVALID', 'DUPLICATE'"

/**
 * The latest row that has the xtl_order_id of row `of`, itself or as another attempt at a row that has it; NULL: none. What moved money,
 * or may have, counts for ever. Only under another run key a roster comes again with the ids of last month.
 */
const recordedXtl = (of: 'd' | 'f') => `
  FROM instruction x JOIN instruction i ON i.account_id = x.account_id AND (i.id = x.id OR i.reattempt_of = x.reference)
    JOIN batch b ON b.id = i.batch_id
  WHERE x.account_id = :account AND ${sameXtl('x', of)} AND x.state NOT IN (${NEVER_ASKED}) AND ${FIRST('i')} <> ${FIRST('d')}
    AND (${STILL_COUNTS} OR (b.stage = 'open' AND NOT (${MOVED_NOTHING}) AND NOT (${OTHER_RUN_KEY})))`

const RECORDED_XTL = `SELECT max(i.id) ${recordedXtl('d')}`

/** Whether row `d` asks once more for what was declined, and row `f` is a first attempt at it. */
const ASKS_AGAIN = `d.state = 'READY' AND d.reattempt_of IS NOT NULL AND (${RUNS_AGAIN})`
const IS_FIRST = `f.account_id = :account AND f.reference = d.reattempt_of AND f.state NOT IN (${NEVER_ASKED})`

/** The same for the id of the first attempt. */
const OF_FIRST_XTL = `${recordedXtl('f').replace('FROM', 'FROM instruction f CROSS JOIN')} AND ${IS_FIRST}`
const RECORDED_FIRST_XTL = `SELECT max(i.id) ${OF_FIRST_XTL}`

const REMEDY = 'give every row an xtl_order_id of its own; where the cell is empty, one is made from the reference'
/** For what comes again every month. */
const OR_RUN_KEY = `${REMEDY}. A file that comes again every month needs a run key of its month`
/** Under an xtl_order_id of its own, what has been paid would be charged a second time. */
const REMEDY_AGAIN = 'if the other instruction pays for it, take the row out'

export function* refuseXtlRepeats(): Script<void> {
  yield* change(`
    INSERT INTO ${DRAFT_FAULT}
    SELECT row_no, line, 'xtl_order_id', xtl_order_id,
      'the xtl_order_id is in more than one row of this file (line ' || other || ')', '${REMEDY}'
    FROM (
      SELECT d.row_no, d.line, d.xtl_order_id, coalesce(lag(d.line) OVER same, lead(d.line) OVER same) AS other
      FROM draft_row d WHERE d.state = 'READY' AND d.xtl_order_id IS NOT NULL AND ${keyOf('d')} IN (
        SELECT ltrim(xtl_order_id, '0') FROM draft_row WHERE xtl_order_id IS NOT NULL GROUP BY 1 HAVING count(*) > 1)
      WINDOW same AS (PARTITION BY ${keyOf('d')}, ${IS_AUTH('d')} ORDER BY d.row_no)) AS r
    WHERE other IS NOT NULL`)
}

/** The same for rows that ask once more for what was declined, by the ids of their first attempts. */
export function* refuseFirstXtlRepeats({ accountId: account }: DraftHeader): Script<void> {
  yield* change(
    `
    WITH again AS MATERIALIZED (
      SELECT DISTINCT d.row_no, d.line, f.xtl_order_id, ${keyOf('f')} AS key FROM draft_row d CROSS JOIN instruction f
      WHERE ${ASKS_AGAIN} AND ${IS_FIRST} AND f.xtl_order_id IS NOT NULL AND ${keyOf('f')} IS DISTINCT FROM ${keyOf('d')})
    INSERT INTO ${DRAFT_FAULT}
    SELECT row_no, line, 'xtl_order_id', xtl_order_id,
      'the xtl_order_id is in more than one row of this file (line ' || min(other) || ')', '${REMEDY_AGAIN}'
    FROM (
      SELECT a.*, o.line AS other FROM again a JOIN again o ON o.key = a.key AND o.row_no <> a.row_no
      UNION ALL
      SELECT a.*, d.line FROM again a JOIN draft_row d ON ${keyOf('d')} = a.key AND d.xtl_order_id IS NOT NULL AND d.row_no <> a.row_no
      WHERE d.state = 'READY') AS r
    GROUP BY row_no, line, xtl_order_id`,
    { account },
  )
}

/** After the repeats within the file are out: each recorded row is then met by one row of it. */
export function* refuseXtlTaken(header: DraftHeader): Script<void> {
  yield* refuseTaken(header, RECORDED_XTL, 'd.xtl_order_id IS NOT NULL', 'd.xtl_order_id')
  yield* refuseTaken(header, RECORDED_FIRST_XTL, ASKS_AGAIN, 'i.xtl_order_id')
}

/** Whether sale `i` paid what the declined row `p` was to pay, in its run or in none, and nothing was to take that back. */
const PAID = `i.state = 'APPROVED' AND i.operation IN (${listOf(SALES)}) AND i.money_warning = 0 AND (i.run_key IS NULL OR i.run_key = p.run_key)
    AND i.amount_minor = p.amount_minor AND i.currency = p.currency AND NOT EXISTS (
      SELECT 1 FROM instruction u WHERE u.account_id = i.account_id AND u.order_key = ltrim(i.answered_order_id, '0') AND u.order_key IS NOT NULL
        AND u.operation IN ('REFUND', 'CANCEL') AND u.state NOT IN (${NEVER_ASKED}))`

/**
 * A declined charge for which another sale has paid since, such as an invoice that was paid with another card, is not asked for once more, and
 * keeps nothing else from being sent. What else has the id is a fault: it may be another month's, or never pay. Before references are compared.
 */
export function* leaveOutTaken(header: DraftHeader): Script<void> {
  if ((header.reattempt ?? null) === null) return
  yield* change(
    `
    UPDATE draft_row AS d SET reference = p.reference, reattempt_of = NULL, declined_row = NULL, not_asked = 'taken'
    FROM instruction p WHERE p.id = d.declined_row AND ${ASKS_AGAIN}
      AND (SELECT min(CASE WHEN ${PAID} THEN 1 ELSE 0 END) ${OF_FIRST_XTL}) = 1`,
    lookalikeSince(header),
  )
}

function* refuseTaken(header: DraftHeader, taken: string, rows: string, value: string): Script<void> {
  yield* change(
    `
    INSERT INTO ${DRAFT_FAULT}
    SELECT d.row_no, d.line, 'xtl_order_id', ${value},
      'the xtl_order_id is that of another instruction (row ' || i.row_no || ' of batch ' || i.batch_id || ', ' || CASE i.state WHEN 'READY' THEN 'PENDING' ELSE i.state END || ')',
      CASE WHEN ${RUNS_AGAIN} THEN '${REMEDY_AGAIN}' ELSE '${OR_RUN_KEY}' END
    FROM draft_row d JOIN instruction i ON i.id = (${taken})
    WHERE d.state = 'READY' AND ${rows}`,
    lookalikeSince(header),
  )
}

/** Whether another row came to have the id of a first attempt since. */
export function* isFirstXtlTaken(header: DraftHeader): Script<boolean> {
  const taken = `SELECT 1 FROM draft_row d WHERE ${ASKS_AGAIN} AND (${RECORDED_FIRST_XTL}) IS NOT NULL LIMIT 1`
  return yield* exists(taken, lookalikeSince(header))
}

const TAKEN = `
  SELECT i.batch_id AS "batchId", i.row_no AS "rowNo", i.reference, i.state FROM instruction i
  WHERE i.id = (SELECT (${RECORDED_XTL}) FROM (
    SELECT :xtl AS xtl_order_id, :operation AS operation, :reference AS reference, NULL AS reattempt_of, :runKey AS run_key) d)`

/** The same for a single message: why its xtl_order_id is taken, and where; null: it is free. */
export function* xtlTaken(arriving: Arriving, xtl: string | null, operation: string) {
  if (xtl === null) return null
  const { reference, runKey } = arriving
  const values = { ...lookalikeSince(arriving), xtl, operation, reference, runKey }
  const found = yield* one<Parameters<typeof xtlTakenText>[1] & { batchId: BatchId }>(TAKEN, values)
  return found === undefined ? null : { reason: xtlTakenText(xtl, found), at: found }
}
