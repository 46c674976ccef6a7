// The rows of a reviewed draft, each as it was understood and with what would become of it.

import type { CheckedRow, CheckedStatus } from '../../../domain/draft.ts'
import type { Operation } from '../../../domain/instruction.ts'
import type { Currency } from '../../../domain/money.ts'
import { lists, type Script } from '../script.ts'

/** A duplicate is left out by what an earlier file holds, or by what it asks for: see `corrections.ts` and `review.ts`. */
const STATUS = `CASE state WHEN 'READY' THEN 'accepted' WHEN 'INVALID' THEN 'invalid'
      ELSE CASE WHEN earlier IS NULL AND reason IS NULL THEN 'duplicate' ELSE 'left_out' END END`

const ROWS = `
    SELECT row_no, line, reference, ${STATUS}, operation, amount_minor, currency, order_id, vault_id, execute_at, cells
    FROM draft_row WHERE row_no > :last ORDER BY row_no LIMIT :most`

type Found = readonly [
  rowNo: number,
  line: number,
  reference: string,
  status: CheckedStatus,
  operation: Operation | null,
  amountMinor: number | null,
  currency: Currency | null,
  orderId: string | null,
  vaultId: string | null,
  dueAtMs: number | null,
  cellsJson: string,
]

/** Those after row `last`. */
export function* checkedRowsAfter(last: number, most: number): Script<CheckedRow[]> {
  return (yield* lists<Found>(ROWS, { last, most })).map(toCheckedRow)
}

function toCheckedRow(found: Found): CheckedRow {
  const [rowNo, line, reference, status, operation, amount, currency, orderId, vaultId, dueAtMs, cellsJson] = found
  const amountMinor = amount === null ? null : BigInt(amount)
  return { rowNo, line, reference, status, operation, amountMinor, currency, orderId, vaultId, dueAtMs, cellsJson }
}
