// A row of a file that was checked, as an object for a program.

import type { CheckedRow, DraftRow } from '../domain/draft.ts'
import type { FirstRow } from '../domain/ingest.ts'
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

/** While the others are still being read. */
export function firstRowJson({ line, reference, instruction, faults }: DraftRow): FirstRow {
  const money = instruction?.money ?? null
  return {
    line,
    bad: faults.length > 0,
    reference,
    operation: instruction?.operation ?? null,
    amount: money === null ? null : amountText(money.amountMinor, money.currency),
    currency: money?.currency ?? null,
    order_id: instruction?.orderId ?? null,
    vault_id: instruction?.vaultId ?? null,
  }
}
