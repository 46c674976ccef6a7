// One read transaction over a batch: what results and reports are made from.

import { parseCardMask } from '../../../domain/card.ts'
import type { BatchId } from '../../../domain/ids.ts'
import type { Operation } from '../../../domain/instruction.ts'
import type { Currency } from '../../../domain/money.ts'
import type { Pages } from '../../../domain/pages.ts'
import { parseReasonCategory } from '../../../domain/reason-categories.ts'
import type { Edition, ReconciliationRow } from '../../../domain/reconciliation.ts'
import { resultStatusOf, type State } from '../../../domain/states.ts'
import type { AnswerFacts } from '../../../domain/verdict.ts'
import type { BatchReading } from '../../../ports/ledger/queries.ts'
import { OTHER_CELLS } from '../../rules/other-cells.ts'
import type { Reader } from '../engine.ts'
import { DOUBT_BEFORE } from '../orders.ts'
import { originalOf } from '../originals.ts'
import { pagesOf, ROWS_PER_PAGE } from '../pages.ts'
import { headOf } from '../record/chain.ts'
import { count, lists, type Script } from '../script.ts'
import { columnsOf, viewOf } from './batch-view.ts'

/** Of one moment: `reader` sees nothing that is committed after its first read. */
export async function openReading(reader: Reader, batchId: BatchId, nowMs: number): Promise<BatchReading> {
  const begun = await reader.read(() => begin(batchId))
  return {
    atMs: nowMs,
    ...begun,
    rows: (sinceMs) => rowsOf(reader, batchId, sinceMs ?? null),
    close: () => reader.close(),
  }
}

function* begin(batchId: BatchId) {
  const batch = yield* viewOf(batchId)
  const { columns, edition } = yield* editionOf(batchId)
  return { batch, columns, edition, auditHead: yield* headOf() }
}

/** By which stale results are told from fresh ones. */
export function* editionOf(batchId: BatchId): Script<{ columns: readonly string[]; edition: Edition }> {
  const { columns, version } = yield* columnsOf(batchId)
  const lastMove = yield* count('SELECT coalesce(max(id), 0) AS n FROM move')
  return { columns: JSON.parse(columns) as string[], edition: { version, lastMove } }
}

/** What became of a row, as its own columns tell it: those of `OUTCOME`, in that order. */
export type OutcomeValues = readonly [
  reference: string,
  state: State,
  operation: Operation | null,
  amountMinor: number | null,
  currency: Currency | null,
  reason: string | null,
  warning: string | null,
  attempts: number,
  sentAtMs: number | null,
  completedAtMs: number | null,
  ...answered: AnsweredValues,
]

type AnsweredValues = readonly [
  transactionId: string | null,
  orderId: string | null,
  recordId: string | null,
  amount: string | null,
  currency: string | null,
  vaultId: string | null,
  xtlOrderId: string | null,
  customerId: string | null,
  card: string | null,
]

const OUTCOME = [
  ...['reference', 'state', 'operation', 'amount_minor', 'currency', 'reason', 'warning', 'attempt', 'sent_at'],
  ...['completed_at', 'transaction_id', 'answered_order_id', 'answered_record_id', 'answered_amount'],
  ...['answered_currency', 'answered_vault_id', 'answered_xtl_order_id', 'answered_customer_id', 'answered_card'],
]

/** Those of row `i` or `s`. */
export function outcomeColumns(row: 'i' | 's'): string {
  return OUTCOME.map((column) => `${row}.${column}`).join(', ')
}

export function toOutcome(values: OutcomeValues) {
  const [
    reference,
    state,
    operation,
    minor,
    currency,
    reason,
    warning,
    attempts,
    sentAtMs,
    completedAtMs,
    ...answered
  ] = values
  const amountMinor = minor === null ? null : BigInt(minor)
  const facts = toFacts(answered)
  return {
    reference,
    state,
    operation,
    amountMinor,
    currency,
    reason,
    warning,
    attempts,
    sentAtMs,
    completedAtMs,
    facts,
  }
}

function toFacts(answered: AnsweredValues): AnswerFacts {
  const [transactionId, orderId, recordId, amount, currency, vaultId, xtlOrderId, customerId, mask] = answered
  const card = mask === null ? null : parseCardMask(mask)
  return { transactionId, orderId, recordId, amount, currency, vaultId, xtlOrderId, customerId, card }
}

type ReadValues = readonly [
  rowNo: number,
  line: number,
  cells: string,
  waitsFor: string | null,
  isPurged: number,
  nowBatch: string | null,
  nowRow: number | null,
  nowState: State | null,
  nowCancelled: string | null,
  nowIsEarlier: number,
  nowWarned: number,
  ...outcome: OutcomeValues,
]

/** Whether row `i`, or the row that stands for it now (see `originalOf`), changed or came at that moment or later. */
const CHANGED_SINCE = `(coalesce(i.arrived_at, b.created_at) >= :sinceMs OR i.noted_at >= :sinceMs OR p.noted_at >= :sinceMs OR o.noted_at >= :sinceMs
  OR EXISTS (SELECT 1 FROM batch ob WHERE ob.id = o.batch_id AND ob.created_at >= :sinceMs)
  OR EXISTS (SELECT 1 FROM move m WHERE m.row_id = i.id AND m.at >= :sinceMs)
  OR EXISTS (SELECT 1 FROM move m WHERE m.row_id = o.id AND m.at >= :sinceMs))`

/** Instead of its reason: empty cells would pass for what the file had. */
const PURGED = 'its cells and texts were purged from the record'

const page = (which: string) => `
    SELECT i.row_no, i.line, i.cells, ${DOUBT_BEFORE}, CASE WHEN i.row_no <= b.purged_to THEN 1 ELSE 0 END,
      o.batch_id, o.row_no, o.state, CASE WHEN o.state = 'CANCELLED' THEN o.reason END, CASE WHEN o.id < i.id THEN 1 ELSE 0 END,
      CASE WHEN coalesce(p.warning, o.warning) IS NULL THEN 0 ELSE 1 END, ${outcomeColumns('i')}
    FROM instruction i JOIN batch b ON b.id = i.batch_id ${originalOf('i', 'LEFT JOIN')}
    WHERE i.batch_id = :batchId AND i.row_no > :after AND ${which} ORDER BY i.row_no LIMIT :most`
const ALL = page('TRUE')
const CHANGED = page(CHANGED_SINCE)

function rowsOf(reader: Reader, batchId: BatchId, sinceMs: number | null): Pages<ReconciliationRow> {
  const text = sinceMs === null ? ALL : CHANGED
  const read = (last: ReadValues | null) =>
    lists<ReadValues>(text, { batchId, sinceMs, after: last?.[0] ?? 0, most: ROWS_PER_PAGE })
  return pagesOf(reader, read, toReconciliationRow)
}

/** Without a transaction that outlives it: for one page of many that nobody reads through. */
export function* rowsAfter(batchId: BatchId, after: number, most: number): Script<readonly ReconciliationRow[]> {
  return (yield* lists<ReadValues>(ALL, { batchId, after, most })).map(toReconciliationRow)
}

/** The row that stands for another one now. */
interface Now {
  readonly batchId: string
  readonly rowNo: number
  readonly state: State
  /** Why it was cancelled. null: it was not, or a purge took the text. */
  readonly cancelled: string | null
  readonly isEarlier: boolean
  readonly warned: boolean
}

function toReconciliationRow(values: ReadValues): ReconciliationRow {
  const [rowNo, line, cells, waitsFor, isPurged, nowBatch, nowRow, nowState, cancelled, isEarlier, warned, ...outcome] =
    values
  const row = toOutcome(outcome)
  const found = { batchId: nowBatch as string, rowNo: nowRow as number }
  const flags = { isEarlier: isEarlier === 1, warned: warned === 1 }
  const now = nowState === null ? null : { ...found, state: nowState, cancelled, ...flags }
  const isDuplicate = row.state === 'DUPLICATE'
  const repeats = isDuplicate ? now : null
  const again = isDuplicate ? null : now
  const differs = row.reason !== null // a duplicate has a reason where it is not the recorded row in all that it says
  const changed = differs && row.reason?.startsWith(OTHER_CELLS) !== true
  return {
    ...row,
    rowNo,
    line,
    cells: JSON.parse(cells) as string[],
    repeats: repeats === null ? null : { state: repeats.state, warned: repeats.warned || differs, changed },
    submittedAgain: again === null ? null : again.state,
    reason: repeats === null ? (waitsFor ?? (isPurged === 1 ? PURGED : row.reason)) : repeatedText(repeats, row.reason),
    categoryKept: isPurged === 1 ? parseReasonCategory(row.reason) : null,
    warning: again === null ? row.warning : warningOf(again, row.warning),
  }
}

function repeatedText(now: Now, reason: string | null): string {
  if (reason === null) return `the same instruction is ${standsNow(now)}; not sent again`
  if (reason.startsWith(OTHER_CELLS))
    return `the same instruction is ${standsNow(now)}, recorded with ${reason}; not sent`
  return `the reference is ${standsNow(now)}, recorded with other content (${reason}); not sent`
}

/** A row that ended here may have been paid in another batch: read alone, it would be paid once more by hand. */
function warningOf(now: Now, warning: string | null): string {
  const where = now.isEarlier ? 'it was not sent, and the row that it was to run again is' : 'it was submitted again as'
  return [`${where} ${standsNow(now)}`, ...(warning === null ? [] : [warning])].join('; ')
}

function standsNow({ batchId, rowNo, state, cancelled }: Now): string {
  const why = cancelled === null ? '' : ` (${cancelled})`
  return `row ${rowNo} of batch ${batchId}: ${resultStatusOf(state)}${why}`
}
