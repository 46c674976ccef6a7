// An xtl_order_id names one row. It ties an answer to its request, and a person looks a doubt up by it: where two rows had one,
// what became of the one would be taken for the other.

import type { DraftHeader } from '../../../domain/draft.ts'
import { xtlTakenText } from '../../rules/arriving.ts'
import { change, one, type Script } from '../script.ts'
import { DRAFT_FAULT } from './draft-rows.ts'
import { type Arriving, lookalikeSince, MOVED_NOTHING, OTHER_RUN_KEY, STILL_COUNTS } from './lookalikes.ts'

/** Compared as the echo of an answer is, without leading zeros. */
const keyOf = (row: 'd' | 'i') => `ltrim(${row}.xtl_order_id, '0')`

/** An AUTH and its CAUTH may have the order's id both: REQUEST_ACTION tells them apart, in the answer and at the gateway. */
const IS_AUTH = (row: 'd' | 'i') => `(${row}.operation = 'AUTH')`

/** Whether rows `d` and `i` have one xtl_order_id and are different instructions. */
export const SAME_XTL = `${keyOf('i')} = ${keyOf('d')} AND i.xtl_order_id IS NOT NULL AND d.xtl_order_id IS NOT NULL
  AND ${IS_AUTH('i')} = ${IS_AUTH('d')} AND i.reference <> d.reference`

/**
 * The latest row that has the xtl_order_id of row `d`; NULL: none. What moved money, or may have, counts for ever. Only under another run
 * key a roster comes again with the ids of last month.
 */
const RECORDED_XTL = `
  SELECT max(i.id) FROM instruction i JOIN batch b ON b.id = i.batch_id
  WHERE i.account_id = :account AND ${SAME_XTL} AND (${STILL_COUNTS} OR (b.stage = 'open' AND NOT (${MOVED_NOTHING}) AND NOT (${OTHER_RUN_KEY})))`

const REMEDY = 'give every row an xtl_order_id of its own; where the cell is empty, one is made from the reference'
/** For what comes again every month. */
const OR_RUN_KEY = `${REMEDY}. A file that comes again every month needs a run key of its month`

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

/** After the repeats within the file are out: each recorded row is then met by one row of it. */
export function* refuseXtlTaken(header: DraftHeader): Script<void> {
  yield* change(
    `
    INSERT INTO ${DRAFT_FAULT}
    SELECT d.row_no, d.line, 'xtl_order_id', d.xtl_order_id,
      'the xtl_order_id is that of another instruction (row ' || i.row_no || ' of batch ' || i.batch_id || ', ' || CASE i.state WHEN 'READY' THEN 'PENDING' ELSE i.state END || ')',
      '${OR_RUN_KEY}'
    FROM draft_row d JOIN instruction i ON i.id = (${RECORDED_XTL})
    WHERE d.state = 'READY' AND d.xtl_order_id IS NOT NULL`,
    lookalikeSince(header),
  )
}

const TAKEN = `
  SELECT i.batch_id AS "batchId", i.row_no AS "rowNo", i.reference, i.state FROM instruction i
  WHERE i.id = (SELECT (${RECORDED_XTL}) FROM (
    SELECT :xtl AS xtl_order_id, :operation AS operation, :reference AS reference, :runKey AS run_key) d)`

/** The same for a single message: why its xtl_order_id is taken; null: it is free. */
export function* xtlTaken(arriving: Arriving, xtl: string | null, operation: string): Script<string | null> {
  if (xtl === null) return null
  const { reference, runKey } = arriving
  const values = { ...lookalikeSince(arriving), xtl, operation, reference, runKey }
  const found = yield* one<Parameters<typeof xtlTakenText>[1]>(TAKEN, values)
  return found === undefined ? null : xtlTakenText(xtl, found)
}
