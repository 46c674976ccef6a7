// What is wrong with the rows of a draft, a page at a time: a file may be wrong in a million rows.

import type { FaultCause, Reject, RowFault } from '../../../domain/draft.ts'
import { all, count, type Script } from '../script.ts'

/** So many rows with one and the same trouble are named one by one; more are one cause. */
const ROWS_NAMED = 5

const COLUMNS = 'row_no AS "rowNo", line, column_name AS "column", value, problem, remedy'

export type FoundFault = RowFault & { readonly id: number }

/** Those after `last`; null: the first. */
export function* faultsAfter(last: FoundFault | null, most: number): Script<FoundFault[]> {
  return yield* all<FoundFault>(
    `
    SELECT id, ${COLUMNS} FROM draft_fault
    WHERE (row_no, id) > (:lastRow, :lastId) ORDER BY row_no, id LIMIT :most`,
    { lastRow: last?.rowNo ?? 0, lastId: last?.id ?? 0, most },
  )
}

export function* countFaults(): Script<number> {
  return yield* count('SELECT count(*) AS n FROM draft_fault')
}

/** What stands in brackets at the end of a problem is of the one row (the line of the other, the batch it is in). */
const CAUSE = `CASE WHEN problem LIKE '% (%)' THEN substr(problem, 1, @position(problem, ' (') - 1) ELSE problem END`

const HAVE_ONE_VALUE = 'count(value) OVER same = count(*) OVER same AND min(value) OVER same = max(value) OVER same'

const CAUSES = `
    WITH fault AS (SELECT id, row_no, line, column_name, value, problem, remedy, ${CAUSE} AS cause FROM draft_fault),
    told AS (
      SELECT id, row_no, line, column_name, value, problem, cause, remedy, count(*) OVER same AS rows,
        min(line) OVER same AS first_line, max(line) OVER same AS last_line,
        CASE WHEN max(row_no) OVER same - min(row_no) OVER same + 1 = count(*) OVER same THEN 1 ELSE 0 END AS together,
        CASE WHEN ${HAVE_ONE_VALUE} THEN 1 ELSE 0 END AS same_value,
        CASE WHEN min(problem) OVER same = max(problem) OVER same THEN 1 ELSE 0 END AS same_problem,
        row_number() OVER (PARTITION BY column_name, cause, remedy ORDER BY row_no, id) AS place
      FROM fault WINDOW same AS (PARTITION BY column_name, cause, remedy))
    SELECT CASE WHEN rows <= ${ROWS_NAMED} THEN 1 ELSE rows END AS rows,
      CASE WHEN rows <= ${ROWS_NAMED} THEN line ELSE first_line END AS "firstLine",
      CASE WHEN rows <= ${ROWS_NAMED} THEN line ELSE last_line END AS "lastLine",
      CASE WHEN rows <= ${ROWS_NAMED} THEN 1 ELSE together END AS together, column_name AS "column", value,
      CASE WHEN rows <= ${ROWS_NAMED} THEN 1 ELSE same_value END AS "sameValue",
      CASE WHEN rows <= ${ROWS_NAMED} OR same_problem = 1 THEN problem ELSE cause END AS problem, remedy
    FROM told WHERE rows <= ${ROWS_NAMED} OR place = 1 ORDER BY row_no, id LIMIT :limit`

export function* causes(limit: number): Script<readonly FaultCause[]> {
  type Found = Omit<FaultCause, 'together' | 'sameValue'> & { together: number; sameValue: number }
  return (yield* all<Found>(CAUSES, { limit })).map(({ together, sameValue, ...cause }) => {
    return { ...cause, together: together === 1, sameValue: sameValue === 1 }
  })
}

interface FoundReject {
  readonly rowNo: number
  readonly line: number
  readonly cells: string
  readonly reference: string
  readonly cameBatch: string | null
  readonly cameRow: number | null
}

/** Those after row `last`. */
export function* rejectsAfter(last: number, most: number): Script<Reject[]> {
  const found = yield* all<FoundReject>(
    `
    SELECT d.row_no AS "rowNo", d.line, d.cells, d.reference, d.came_batch AS "cameBatch", d.came_row AS "cameRow" FROM draft_row d
    WHERE d.row_no > :last AND EXISTS (SELECT 1 FROM draft_fault f WHERE f.row_no = d.row_no)
    ORDER BY d.row_no LIMIT :most`,
    { last, most },
  )
  const rejects: Reject[] = []
  for (const { rowNo, line, cells, reference, cameBatch, cameRow } of found) {
    rejects.push({
      ...{ rowNo, line, reference, cells: JSON.parse(cells) as string[] },
      cameFrom: cameBatch === null || cameRow === null ? null : { batchId: cameBatch, rowNo: cameRow },
      faults: yield* faultsOf(rowNo),
    })
  }
  return rejects
}

function* faultsOf(rowNo: number): Script<RowFault[]> {
  return yield* all<RowFault>(`SELECT ${COLUMNS} FROM draft_fault WHERE row_no = :rowNo ORDER BY id`, { rowNo })
}
