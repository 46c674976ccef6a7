// Rows that are left out because they are recorded, and differ from that in cells that are only carried through.

import type { DraftHeader } from '../../../domain/draft.ts'
import { OTHER_CELLS, otherCells } from '../../rules/other-cells.ts'
import { all, change, type Script } from '../script.ts'

const ROWS_PER_PAGE = 500

/** Of a purged row the cells are gone. */
const PAGE = `
    SELECT d.row_no AS "rowNo", d.cells, i.cells AS was, b.columns
    FROM draft_row d JOIN instruction i ON i.id = d.duplicate_of JOIN batch b ON b.id = i.batch_id
    WHERE d.duplicate_of IS NOT NULL AND d.state = 'DUPLICATE' AND d.reason IS NULL AND d.row_no > :after AND d.cells <> i.cells AND i.row_no > b.purged_to
    ORDER BY d.row_no LIMIT ${ROWS_PER_PAGE}`

interface LeftOut {
  readonly rowNo: number
  readonly cells: string
  readonly was: string
  readonly columns: string
}

/** Under a run key a reference is a customer's, who may buy twice in a month; else it names one instruction, and the rest of it may change. */
export function* noteOtherCells({ onlyNew, runKey, columns, carried = [] }: DraftHeader): Script<void> {
  if ((onlyNew !== true && runKey === null) || carried.length === 0) return
  for (let after = 0; ; ) {
    const rows: readonly LeftOut[] = yield* all<LeftOut>(PAGE, { after })
    for (const row of rows) {
      const recorded = { columns: JSON.parse(row.columns), cells: JSON.parse(row.was) }
      const differ = otherCells({ columns, cells: JSON.parse(row.cells) }, recorded, carried)
      const reason = `${OTHER_CELLS}${differ.join(', ')}`
      if (differ.length > 0)
        yield* change('UPDATE draft_row SET reason = :reason WHERE row_no = :rowNo', { reason, rowNo: row.rowNo })
    }
    if (rows.length < ROWS_PER_PAGE) return
    after = rows.at(-1)?.rowNo ?? after
  }
}
