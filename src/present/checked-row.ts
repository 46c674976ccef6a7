// A row of a file that was checked, as an object for a program.

import type { CheckedRow } from '../domain/draft.ts'
import { amountText } from './text.ts'

/** As text: of its cells only the text is there. */
export function checkedRowJson(row: CheckedRow): string {
  const { rowNo, line, reference, status, operation, amountMinor, currency, orderId, vaultId, dueAtMs } = row
  const own = JSON.stringify({
    row: rowNo,
    line,
    status,
    reference,
    operation,
    amount: amountMinor === null || currency === null ? null : amountText(amountMinor, currency),
    currency,
    order_id: orderId,
    vault_id: vaultId,
    due_at: dueAtMs === null ? null : new Date(dueAtMs).toISOString(),
  })
  return `${own.slice(0, -1)},"cells":${row.cellsJson}}`
}
