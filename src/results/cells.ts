// One recorded row → one line of the reconciliation: the cells as they came, then what became of them.

import type { BatchView } from '../domain/batch.ts'
import { formatExpiry } from '../domain/card.ts'
import { maskCardData } from '../domain/card-secrets.ts'
import { assert } from '../domain/fault.ts'
import { guardCell } from '../domain/formula-guard.ts'
import { isVaultOperation } from '../domain/instruction.ts'
import { parseFingerprint } from '../domain/interpretation.ts'
import { categoryOfRow, type ReasonRule } from '../domain/reason-categories.ts'
import type { ReconciliationRow } from '../domain/reconciliation.ts'
import { FAMILY_RESULT_COLUMN, RESULT_COLUMNS, VAULT_RESULT_COLUMNS } from '../domain/result-columns.ts'
import { resultStatusOf } from '../domain/states.ts'
import type { BatchReading } from '../ports/ledger/queries.ts'

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
  /** The merchant's own categories of reasons. */
  readonly reasonRules: readonly ReasonRule[]
}

/** Our own columns in the input are of an earlier reconciliation; both would make a header that cannot be read back. */
export function layoutOf(
  reading: Pick<BatchReading, 'columns' | 'batch'>,
  reasonRules: readonly ReasonRule[] = [],
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
    reasonRules,
  }
}

function isOfVault({ fingerprint }: Pick<BatchView, 'fingerprint'>): boolean {
  const { operation } = parseFingerprint(fingerprint) ?? {}
  return operation !== undefined && isVaultOperation(operation)
}

export function toHeaderCells(layout: Layout): string[] {
  return [...layout.carried.map((i) => guardCell(layout.columns[i] as string)), ...layout.added]
}

export function toResultCells(row: ReconciliationRow, layout: Layout): string[] {
  assert(row.cells.length <= layout.columns.length, `row ${row.rowNo} has no more cells than the header has columns`)
  const status = resultStatusOf(row.state)
  const result: Record<ResultColumn, string> = {
    result_status: status,
    result_reason: oneLine(row.reason),
    result_transaction_id: row.facts.transactionId ?? '',
    result_order_id: row.facts.orderId ?? '',
    result_record_id: row.facts.recordId ?? '',
    result_amount: row.facts.amount ?? '',
    result_currency: row.facts.currency ?? '',
    result_vault_id: row.facts.vaultId ?? '',
    result_xtl_order_id: row.facts.xtlOrderId ?? '',
    result_warning: oneLine(row.warning),
    result_attempts: String(row.attempts),
    result_sent_at: toTimestamp(row.sentAtMs),
    result_completed_at: status === 'PENDING' ? '' : toTimestamp(row.completedAtMs),
    result_row: String(row.recordedAs?.rowNo ?? row.rowNo),
    result_reference: row.reference ?? '',
    result_batch: row.recordedAs === undefined ? layout.batchMark : batchMarkOf({ ...layout, ...row.recordedAs }),
    result_reason_category: categoryOfRow(row, layout.reasonRules),
    result_customer_id: row.facts.customerId ?? '',
    result_card_bin: row.facts.card?.bin ?? '',
    result_card_last4: row.facts.card?.lastFour ?? '',
    result_card_expiry: row.facts.card === null ? '' : formatExpiry(row.facts.card.expiry),
    result_family: layout.batchMark,
  }
  const carried = layout.carried.map((i) => row.cells[i] ?? '')
  return [...carried, ...layout.added.map((name) => result[name])].map(guardCell)
}

/** Rows that a person must look at: all but what was approved, now or as an earlier row, and raised no warning. */
export function isException(row: ReconciliationRow): boolean {
  if (row.state === 'DUPLICATE') return row.repeats?.state !== 'APPROVED' || row.repeats.warned
  return row.state !== 'APPROVED' || row.warning !== null
}

/** UTC, ISO 8601. */
export function toTimestamp(atMs: number | null): string {
  return atMs === null ? '' : new Date(atMs).toISOString()
}

/** Words from outside: whatever is in them, they stay on one line and carry no card number. */
export function oneLine(text: string | null): string {
  return maskCardData((text ?? '').replace(/[\s\p{Cc}]+/gu, ' ').trim())
}
