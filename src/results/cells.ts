// One recorded row → one line of the reconciliation: the cells as they came, then what became of them.

import type { BatchView } from '../domain/batch.ts'
import { formatExpiry } from '../domain/card.ts'
import { maskCardData } from '../domain/card-secrets.ts'
import { assert } from '../domain/fault.ts'
import { guardCell } from '../domain/formula-guard.ts'
import { isVaultOperation } from '../domain/instruction.ts'
import { parseFingerprint } from '../domain/interpretation.ts'
import type { ReconciliationRow } from '../domain/reconciliation.ts'
import { FAMILY_RESULT_COLUMN, RESULT_COLUMNS, VAULT_RESULT_COLUMNS } from '../domain/result-columns.ts'
import { resultStatusOf } from '../domain/states.ts'
import type { BatchReading } from '../ports/ledger/queries.ts'
import { type CategoryOfRow, categoriesBy, remembering } from './remembered.ts'
import { toTimestamp } from './timestamps.ts'

/** What stands under `result_batch`. Results of the sandbox must never pass for real ones. */
export const SANDBOX_MARK = 'SANDBOX-'

/** In front of the newest batch of a family. Its results must never pass for those of that batch alone. */
export const FAMILY_MARK = 'FAMILY-'

export function batchMarkOf(batch: Pick<BatchView, 'batchId' | 'sandbox'>): string {
  return batch.sandbox ? `${SANDBOX_MARK}${batch.batchId}` : batch.batchId
}

type ResultColumn =
  | (typeof RESULT_COLUMNS)[number]
  | (typeof VAULT_RESULT_COLUMNS)[number]
  | typeof FAMILY_RESULT_COLUMN

/** The shape of one batch's reconciliation. */
export interface Layout {
  readonly columns: readonly string[]
  /** Places of the input's columns that are carried over. */
  readonly carried: readonly number[]
  /** Our own, behind those. */
  readonly added: readonly ResultColumn[]
  readonly batchMark: string
  readonly sandbox: boolean
  /** `oneLine` of few texts: most rows share theirs. */
  readonly onOneLine: (text: string | null) => string
  readonly categoryOf: CategoryOfRow
}

/** Our own columns in the input are of an earlier reconciliation; both would make a header that cannot be read back. */
export function layoutOf(
  reading: Pick<BatchReading, 'columns' | 'batch'>,
  categoryOf: CategoryOfRow = categoriesBy([]),
  isFamily = false,
): Layout {
  const ours: readonly string[] = [...RESULT_COLUMNS, ...VAULT_RESULT_COLUMNS, FAMILY_RESULT_COLUMN]
  const ofVault = isOfVault(reading.batch) ? VAULT_RESULT_COLUMNS : []
  const ofFamily = isFamily ? ([FAMILY_RESULT_COLUMN] as const) : []
  const added = [...RESULT_COLUMNS, ...ofVault, ...ofFamily]
  const carried = [...reading.columns.keys()].filter(
    (i) => !ours.includes((reading.columns[i] as string).trim().toLowerCase()),
  )
  return {
    columns: reading.columns,
    carried,
    added,
    batchMark: `${isFamily ? FAMILY_MARK : ''}${batchMarkOf(reading.batch)}`,
    sandbox: reading.batch.sandbox,
    onOneLine: remembering(oneLine),
    categoryOf,
  }
}

function isOfVault({ fingerprint }: Pick<BatchView, 'fingerprint'>): boolean {
  const { operation } = parseFingerprint(fingerprint)
  return operation !== undefined && isVaultOperation(operation)
}

export function toHeaderCells(layout: Layout): string[] {
  return [...layout.carried.map((i) => guardCell(layout.columns[i] as string)), ...layout.added]
}

export function toResultCells(row: ReconciliationRow, layout: Layout): string[] {
  assert(row.cells.length <= layout.columns.length, `row ${row.rowNo} has no more cells than the header has columns`)
  const cells: string[] = []
  for (const i of layout.carried) cells.push(guardCell(row.cells[i] ?? ''))
  for (const name of layout.added) cells.push(guardCell(RESULT[name](row, layout)))
  return cells
}

const RESULT: Readonly<Record<ResultColumn, (row: ReconciliationRow, layout: Layout) => string>> = {
  result_status: ({ state }) => resultStatusOf(state),
  result_reason: ({ reason }, { onOneLine }) => onOneLine(reason),
  result_transaction_id: ({ facts }) => facts.transactionId ?? '',
  result_order_id: ({ facts }) => facts.orderId ?? '',
  result_record_id: ({ facts }) => facts.recordId ?? '',
  result_amount: ({ facts }) => facts.amount ?? '',
  result_currency: ({ facts }) => facts.currency ?? '',
  result_vault_id: ({ facts }) => facts.vaultId ?? '',
  result_xtl_order_id: ({ facts }) => facts.xtlOrderId ?? '',
  result_warning: ({ warning }, { onOneLine }) => onOneLine(warning),
  result_attempts: ({ attempts }) => String(attempts),
  result_sent_at: ({ sentAtMs }) => toTimestamp(sentAtMs),
  result_completed_at: ({ state, completedAtMs }) =>
    resultStatusOf(state) === 'PENDING' ? '' : toTimestamp(completedAtMs),
  result_row: ({ rowNo, recordedAs }) => String(recordedAs?.rowNo ?? rowNo),
  result_reference: ({ reference }) => reference ?? '',
  result_batch: ({ recordedAs }, { batchMark, sandbox }) =>
    recordedAs === undefined ? batchMark : batchMarkOf({ sandbox, ...recordedAs }),
  result_reason_category: (row, { categoryOf }) => categoryOf(row),
  result_customer_id: ({ facts }) => facts.customerId ?? '',
  result_card_bin: ({ facts }) => facts.card?.bin ?? '',
  result_card_last4: ({ facts }) => facts.card?.lastFour ?? '',
  result_card_expiry: ({ facts }) => (facts.card === null ? '' : formatExpiry(facts.card.expiry)),
  result_family: (_row, { batchMark }) => batchMark,
}

/** Rows that a person must look at: all but what was approved, now or as an earlier row, and raised no warning. */
export function isException(row: ReconciliationRow): boolean {
  if (row.state === 'DUPLICATE') return row.repeats?.state !== 'APPROVED' || row.repeats.warned
  return row.state !== 'APPROVED' || row.warning !== null
}

/** Words from outside: whatever is in them, they stay on one line and carry no card number. */
export function oneLine(text: string | null): string {
  return maskCardData((text ?? '').replace(/[\s\p{Cc}]+/gu, ' ').trim())
}
