// An xtl_order_id names one row. It ties an answer to its request, and a person looks a doubt up by it: where two rows had one,
// what became of the one would be taken for the other.

import type { DatabaseSync } from 'node:sqlite'
import type { DraftHeader } from '../../domain/draft.ts'
import type { IntakeMessage } from '../../ports/ledger/intake.ts'
import { xtlTakenText } from '../rules/arriving.ts'
import { lookalikeSince, STILL_COUNTS } from './lookalikes.ts'
import type { InstructionColumns } from './rows.ts'

/** Compared as the echo of an answer is, without leading zeros. */
const keyOf = (row: 'd' | 'i') => `ltrim(${row}.xtl_order_id, '0')`

export const XTL_INDEX = `
  CREATE INDEX instruction_xtl ON instruction (account_id, ltrim(xtl_order_id, '0')) WHERE xtl_order_id IS NOT NULL;
`

/** An AUTH and its CAUTH may have the order's id both: REQUEST_ACTION tells them apart, in the answer and at the gateway. */
const IS_AUTH = (row: 'd' | 'i') => `(${row}.operation = 'AUTH')`

/** Whether rows `d` and `i` have one xtl_order_id and are different instructions. */
export const SAME_XTL = `${keyOf('i')} = ${keyOf('d')} AND i.xtl_order_id IS NOT NULL AND d.xtl_order_id IS NOT NULL
  AND ${IS_AUTH('i')} = ${IS_AUTH('d')} AND i.reference <> d.reference`

/** The latest row that has the xtl_order_id of row `d`; NULL: none. What is long settled does not count: a month's roster comes again. */
const RECORDED_XTL = `
  SELECT max(i.id) FROM instruction i JOIN batch b ON b.id = i.batch_id
  WHERE i.account_id = $account AND ${SAME_XTL} AND ${STILL_COUNTS}`

const REMEDY = 'give every row an xtl_order_id of its own; where the cell is empty, one is made from the reference'

export function refuseXtlRepeats(db: DatabaseSync): void {
  // For newcomers between review and record.
  db.exec(`
    CREATE INDEX IF NOT EXISTS temp.draft_xtl ON draft_row (ltrim(xtl_order_id, '0'), row_no) WHERE xtl_order_id IS NOT NULL;
    INSERT INTO temp.draft_fault
    SELECT row_no, line, 'xtl_order_id', xtl_order_id,
      'the xtl_order_id stands in more than one row of this file (line ' || other || ')', '${REMEDY}'
    FROM (
      SELECT d.row_no, d.line, d.xtl_order_id, coalesce(lag(d.line) OVER same, lead(d.line) OVER same) AS other
      FROM temp.draft_row d WHERE d.state = 'READY' AND d.xtl_order_id IS NOT NULL
      WINDOW same AS (PARTITION BY ${keyOf('d')}, ${IS_AUTH('d')} ORDER BY d.row_no))
    WHERE other IS NOT NULL`)
}

/** After the repeats within the file are out: each recorded row is then met by one row of it. */
export function refuseXtlTaken(db: DatabaseSync, header: DraftHeader): void {
  db.prepare(`
    INSERT INTO temp.draft_fault
    SELECT d.row_no, d.line, 'xtl_order_id', d.xtl_order_id,
      'the xtl_order_id is that of another instruction (row ' || i.row_no || ' of batch ' || i.batch_id || ', ' || i.state || ')',
      '${REMEDY}'
    FROM temp.draft_row d JOIN instruction i ON i.id = (${RECORDED_XTL})
    WHERE d.state = 'READY' AND d.xtl_order_id IS NOT NULL`).run(lookalikeSince(header))
}

/** The same for messages: why the xtl_order_id is taken; null: it is free. */
export function openXtlCheck(db: DatabaseSync): (message: IntakeMessage, row: InstructionColumns) => string | null {
  const taken = db.prepare(`
    SELECT i.batch_id AS batchId, i.row_no AS rowNo, i.reference, i.state FROM instruction i
    WHERE i.id = (SELECT (${RECORDED_XTL}) FROM (
      SELECT $xtl AS xtl_order_id, $operation AS operation, $reference AS reference, $runKey AS run_key) d)`)
  return (message, { xtl_order_id: xtl, operation, reference }) => {
    if (xtl === null) return null
    const { runKey } = message
    const found = taken.get({ ...lookalikeSince(message), xtl, operation, reference, runKey }) as
      | { batchId: string; rowNo: number; reference: string; state: string }
      | undefined
    return found === undefined ? null : xtlTakenText(xtl, found)
  }
}
