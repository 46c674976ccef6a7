// One read transaction over a batch: what results and reports are made from.

import type { DatabaseSync } from 'node:sqlite'
import type { BatchId } from '../../domain/ids.ts'
import type { Operation } from '../../domain/instruction.ts'
import type { Currency } from '../../domain/money.ts'
import type { Pages } from '../../domain/pages.ts'
import { parseReasonCategory } from '../../domain/reason-categories.ts'
import type { ReconciliationRow } from '../../domain/reconciliation.ts'
import { resultStatusOf, type State } from '../../domain/states.ts'
import type { BatchReading } from '../../ports/ledger/queries.ts'
import { columnsOf, viewOf } from './batch-view.ts'
import { findRows } from './found.ts'
import { pagesOf, ROWS_PER_PAGE } from './pages.ts'
import { DOUBT_BEFORE, type FactColumns, originalOf, toFacts } from './rows.ts'

export function openReading(db: DatabaseSync, batchId: BatchId, nowMs: number): BatchReading {
  db.exec('BEGIN')
  const batch = viewOf(db, batchId) // the first read fixes the moment that all later ones see
  const { columns, version } = columnsOf(db, batchId)
  const { lastMove } = db.prepare('SELECT coalesce(max(id), 0) AS lastMove FROM move').get() as { lastMove: number }
  return {
    atMs: nowMs,
    edition: { version, lastMove },
    batch,
    columns: JSON.parse(columns) as string[],
    rows: (sinceMs) => rowsOf(db, batchId, sinceMs ?? null),
    close: async () => db.close(),
  }
}

/** What became of a row, as its own columns tell it. */
export interface OutcomeColumns extends FactColumns {
  line: number
  reference: string
  state: State
  operation: Operation | null
  amount_minor: number | null
  currency: Currency | null
  reason: string | null
  warning: string | null
  attempt: number
  sent_at: number | null
  completed_at: number | null
}

/** Those of row `i` or `s`, but for its line. */
export function outcomeColumns(row: 'i' | 's'): string {
  return OUTCOME.map((column) => `${row}.${column}`).join(', ')
}

const OUTCOME: readonly (keyof OutcomeColumns)[] = [
  ...(['reference', 'state', 'operation', 'amount_minor', 'currency', 'reason', 'transaction_id'] as const),
  ...([
    'answered_order_id',
    'answered_record_id',
    'answered_amount',
    'answered_currency',
    'answered_vault_id',
  ] as const),
  ...(['answered_xtl_order_id', 'answered_customer_id', 'answered_card', 'warning', 'attempt'] as const),
  ...(['sent_at', 'completed_at'] as const),
]

export function toOutcome(row: OutcomeColumns) {
  return {
    line: row.line,
    reference: row.reference,
    state: row.state,
    operation: row.operation,
    amountMinor: row.amount_minor === null ? null : BigInt(row.amount_minor),
    currency: row.currency,
    facts: toFacts(row),
    attempts: row.attempt,
    sentAtMs: row.sent_at,
    completedAtMs: row.completed_at,
  }
}

interface ReadColumns extends OutcomeColumns {
  rowNo: number
  cells: string
  firstBatch: string | null
  firstRow: number | null
  firstState: State | null
  /** It is an earlier row than this one: 0 or 1. */
  firstIsEarlier: number
  firstWarned: number
  waitsFor: string | null
  isPurged: number
}

/** Whether row `i`, or the row that stands for it now (see `originalOf`), changed or came at that moment or later. */
const CHANGED_SINCE = `(?2 IS NULL OR coalesce(i.arrived_at, b.created_at) >= ?2 OR i.noted_at >= ?2 OR p.noted_at >= ?2 OR o.noted_at >= ?2
  OR EXISTS (SELECT 1 FROM batch ob WHERE ob.id = o.batch_id AND ob.created_at >= ?2)
  OR EXISTS (SELECT 1 FROM move m WHERE m.row_id = i.id AND m.at >= ?2)
  OR EXISTS (SELECT 1 FROM move m WHERE m.row_id = o.id AND m.at >= ?2))`

/** Instead of its reason: empty cells would pass for what the file had. */
const PURGED = 'its cells and texts were purged from the record'

/** In a read transaction of its own: every page is of the same moment. */
function rowsOf(db: DatabaseSync, batchId: BatchId, sinceMs: number | null): Pages<ReconciliationRow> {
  const page = db.prepare(`
    SELECT i.row_no AS rowNo, i.line, i.cells, ${outcomeColumns('i')},
      o.batch_id AS firstBatch, o.row_no AS firstRow, o.state AS firstState, o.id < i.id AS firstIsEarlier,
      coalesce(p.warning, o.warning) IS NOT NULL AS firstWarned, ${DOUBT_BEFORE} AS waitsFor, i.row_no <= b.purged_to AS isPurged
    FROM instruction i JOIN batch b ON b.id = i.batch_id ${originalOf('i', 'LEFT JOIN')}
    WHERE i.batch_id = ?1 AND i.row_no > ?3 AND ${CHANGED_SINCE} ORDER BY i.row_no LIMIT ${ROWS_PER_PAGE}`)
  const read = (last: ReadColumns | null) => findRows<ReadColumns>(page, batchId, sinceMs, last?.rowNo ?? 0)
  return pagesOf(read, toReconciliationRow)
}

function toReconciliationRow(row: ReadColumns): ReconciliationRow {
  const changed = row.reason !== null // a duplicate has a reason where it asks for something else
  return {
    ...toOutcome(row),
    rowNo: row.rowNo,
    cells: JSON.parse(row.cells) as string[],
    repeats:
      row.state !== 'DUPLICATE' || row.firstState === null
        ? null
        : { state: row.firstState, warned: row.firstWarned === 1 || changed, changed },
    submittedAgain: row.state === 'DUPLICATE' ? null : row.firstState,
    reason: originalText(row) ?? row.waitsFor ?? (row.isPurged === 1 ? PURGED : row.reason),
    categoryKept: row.isPurged === 1 ? parseReasonCategory(row.reason) : null,
    warning: warningOf(row),
  }
}

function originalText(row: ReadColumns): string | null {
  const now = standsNow(row)
  if (now === null || row.state !== 'DUPLICATE') return null
  if (row.reason === null) return `the same instruction is ${now}; not sent again`
  return `the reference is ${now}, recorded with other content (${row.reason}); not sent`
}

/** A row that ended here may have been paid in another batch: read alone, it would be paid once more by hand. */
function warningOf(row: ReadColumns): string | null {
  const now = row.state === 'DUPLICATE' ? null : standsNow(row)
  if (now === null) return row.warning
  const where =
    row.firstIsEarlier === 1 ? 'it was not sent, and the row that it was to run again is' : 'it was submitted again as'
  return [`${where} ${now}`, ...(row.warning === null ? [] : [row.warning])].join('; ')
}

function standsNow({ firstBatch, firstRow, firstState }: ReadColumns): string | null {
  return firstState === null ? null : `row ${firstRow} of batch ${firstBatch}: ${resultStatusOf(firstState)}`
}
