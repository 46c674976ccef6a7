// What is wrong with the rows of a draft, read from its temporary tables a page at a time: a file may be wrong in a million rows.

import type { DatabaseSync } from 'node:sqlite'
import type { FaultCause, Reject, RowFault } from '../../domain/draft.ts'
import type { Pages } from '../../domain/pages.ts'
import { findRows } from './found.ts'
import { pagesOf, ROWS_PER_PAGE } from './pages.ts'

/** Without it every bad row would be looked up among all faults. */
export const FAULT_INDEX = 'CREATE INDEX IF NOT EXISTS temp.draft_fault_row ON draft_fault (row_no)'

/** So many rows with one and the same trouble are named one by one; more are one cause. */
const ROWS_NAMED = 5

export function faultsIn(db: DatabaseSync): Pages<RowFault> {
  const page = db.prepare(`
    SELECT row_no AS rowNo, rowid AS id, line, column_name AS "column", value, problem, remedy FROM temp.draft_fault
    WHERE (row_no, rowid) > (?, ?) ORDER BY row_no, rowid LIMIT ${ROWS_PER_PAGE}`)
  const read = (last: FoundFault | null) => findRows<FoundFault>(page, last?.rowNo ?? 0, last?.id ?? 0)
  return pagesOf(read, ({ id: _, ...fault }) => fault)
}

type FoundFault = RowFault & { readonly id: number }

export function countFaults(db: DatabaseSync): number {
  return (db.prepare('SELECT count(*) AS n FROM temp.draft_fault').get() as { n: number }).n
}

/** What stands in brackets at the end of a problem is of the one row (the line of the other, the batch it is in). */
const PROBLEM = `CASE WHEN problem LIKE '% (%)' THEN substr(problem, 1, instr(problem, ' (') - 1) ELSE problem END`

export function causesIn(db: DatabaseSync, limit: number): readonly FaultCause[] {
  const found = db.prepare(`
    WITH fault AS (SELECT rowid AS id, *, ${PROBLEM} AS cause FROM temp.draft_fault),
    told AS (
      SELECT id, row_no, line, column_name, value, problem, cause, remedy, count(*) OVER same AS rows,
        min(line) OVER same AS firstLine, max(line) OVER same AS lastLine,
        max(row_no) OVER same - min(row_no) OVER same + 1 = count(*) OVER same AS together,
        count(value) OVER same = count(*) OVER same AND min(value) OVER same = max(value) OVER same AS sameValue,
        min(problem) OVER same = max(problem) OVER same AS sameProblem,
        row_number() OVER (PARTITION BY column_name, cause, remedy ORDER BY row_no, id) AS place
      FROM fault WINDOW same AS (PARTITION BY column_name, cause, remedy))
    SELECT CASE WHEN rows <= ${ROWS_NAMED} THEN 1 ELSE rows END AS rows,
      CASE WHEN rows <= ${ROWS_NAMED} THEN line ELSE firstLine END AS firstLine,
      CASE WHEN rows <= ${ROWS_NAMED} THEN line ELSE lastLine END AS lastLine,
      rows <= ${ROWS_NAMED} OR together AS together, column_name AS "column", value,
      rows <= ${ROWS_NAMED} OR sameValue AS sameValue,
      CASE WHEN rows <= ${ROWS_NAMED} OR sameProblem THEN problem ELSE cause END AS problem, remedy
    FROM told WHERE rows <= ${ROWS_NAMED} OR place = 1 ORDER BY row_no, id LIMIT ?`)
  type Found = Omit<FaultCause, 'together' | 'sameValue'> & { together: number; sameValue: number }
  return findRows<Found>(found, limit).map(({ together, sameValue, ...cause }) => {
    return { ...cause, together: together === 1, sameValue: sameValue === 1 }
  })
}

interface RejectColumns {
  readonly rowNo: number
  readonly line: number
  readonly cells: string
  readonly reference: string
  readonly came_batch: string | null
  readonly came_row: number | null
}

export function rejectsIn(db: DatabaseSync): Pages<Reject> {
  const page = db.prepare(`
    SELECT d.row_no AS rowNo, d.line, d.cells, d.reference, d.came_batch, d.came_row FROM temp.draft_row d
    WHERE d.row_no > ? AND EXISTS (SELECT 1 FROM temp.draft_fault f WHERE f.row_no = d.row_no)
    ORDER BY d.row_no LIMIT ${ROWS_PER_PAGE}`)
  const faultsOf = db.prepare(`
    SELECT row_no AS rowNo, line, column_name AS "column", value, problem, remedy FROM temp.draft_fault
    WHERE row_no = ? ORDER BY rowid`)
  const read = (last: RejectColumns | null) => findRows<RejectColumns>(page, last?.rowNo ?? 0)
  return pagesOf(read, ({ rowNo, line, cells, reference, came_batch, came_row }) => ({
    ...{ rowNo, line, reference, cells: JSON.parse(cells) as string[] },
    cameFrom: came_batch === null || came_row === null ? null : { batchId: came_batch, rowNo: came_row },
    faults: findRows<RowFault>(faultsOf, rowNo),
  }))
}
