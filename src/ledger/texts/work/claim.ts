// Working off: which rows are due, and claiming one.

import type { AccountId, BatchId, RowId } from '../../../domain/ids.ts'
import type { Claim, ClaimAnswer, DueRow, WorkableBatch, WorkLedger } from '../../../ports/ledger/work.ts'
import type { Engine } from '../engine.ts'
import { fromColumns, INSTRUCTION_COLUMNS, type InstructionColumns } from '../instruction-columns.ts'
import { CLOCK_AGREES, clockIsOff, MAY_SEND, ORDER_IS_FREE, WITHIN_CANARY } from '../orders.ts'
import type { Book } from '../record/book.ts'
import type { Counted } from '../record/tally.ts'
import { all, one, type Script } from '../script.ts'
import { countClaim, holdAboveLimit } from './daily-limit.ts'
import { cancelIfExpired, IS_IN_TIME } from './expiring.ts'
import { cancelMisfit, IS_JUDGED_FIRST } from './misfits.ts'

const CLAIM = `
    UPDATE instruction AS i SET state = 'SENDING', attempt = attempt + 1, claimed_at = :nowMs, send_by = :sendByMs, answer_by = :answerByMs
    WHERE id = :rowId AND state = 'READY' AND attempt = :attempt AND due_at <= :nowMs
      AND ${IS_IN_TIME} AND EXISTS (
        SELECT 1 FROM batch b JOIN account a ON a.id = b.account_id
        WHERE b.id = i.batch_id AND ${MAY_SEND} AND ${WITHIN_CANARY} AND ${CLOCK_AGREES})
      AND ${ORDER_IS_FREE} AND (:judged = 1 OR NOT ${IS_JUDGED_FIRST})
    RETURNING id, batch_id, operation, currency, amount_minor`

/** Checks again what the due row was found by, and holds it against its order once more. What is too late or no longer fits is cancelled. */
export function* claim(book: Book, asked: Claim): Script<ClaimAnswer> {
  const { rowId, nowMs, sendByMs, answerByMs, sharesOrder, expiresAtMs, limited } = asked
  if (sharesOrder && (yield* cancelMisfit(book, asked))) return { kind: 'not-free' }
  if (limited !== null && (yield* holdAboveLimit(asked, limited))) return { kind: 'not-free' }
  const row = yield* one<Counted & { readonly id: number }>(CLAIM, {
    ...{ rowId, attempt: asked.attempt, nowMs, sendByMs, answerByMs, judged: sharesOrder ? 1 : 0 },
  })
  if (row === undefined) {
    if (expiresAtMs !== null && expiresAtMs <= nowMs) yield* cancelIfExpired(book, rowId, nowMs)
    return { kind: 'not-free' }
  }
  if (limited !== null) yield* countClaim(limited)
  const attempt = asked.attempt + 1
  yield* book.move({ ...row, state: 'READY' }, 'SENDING', 'claim', { attempt, atMs: nowMs })
  return { kind: 'claimed', attempt }
}

/** Rows that wait for the clock are passed over within the index of what waits: there may be very many of them. */
const BESIDE_CLOCK = 'AND i.execute_at IS NULL'

const dueOf = (also: string) => `(
      SELECT count(*) FROM (
        SELECT 1 FROM instruction i WHERE i.batch_id = b.id AND i.state = 'READY' AND i.due_at <= :nowMs ${also} LIMIT :countTo) AS d)`

const WORKABLE = `
    SELECT b.id AS "batchId", b.account_id AS "accountId", CASE WHEN ${clockIsOff('a')} THEN ${dueOf(BESIDE_CLOCK)} ELSE ${dueOf('')} END AS due
    FROM batch b JOIN account a ON a.id = b.account_id
    WHERE b.id IN (SELECT batch_id FROM tally WHERE state = 'READY' AND count > 0)
      AND ${MAY_SEND} AND coalesce(a.wait_until, 0) <= :nowMs AND CASE WHEN :only = '' THEN b.needs_file = 0 ELSE b.id = :only END
    ORDER BY b.created_at, b.id`

// Found by id first: most of what is due is in hand already, and reading those rows whole costs more than all the rest.
const dueIds = (from: string, also: string) => `
    SELECT i.id, i.due_at AS "dueAtMs", i.row_no AS "rowNo" FROM ${from}
    WHERE i.batch_id = :batchId AND i.state = 'READY' AND i.due_at <= :nowMs AND ${ORDER_IS_FREE} ${also}
    ORDER BY i.due_at, i.row_no LIMIT :most`
const FROM_THERE = 'AND (i.due_at, i.row_no) >= (:dueAtMs, :rowNo)'
const DUE = dueIds('instruction i', '')
const DUE_FROM_THERE = dueIds('instruction i', FROM_THERE)
const CANARY = 'instruction i JOIN batch b ON b.id = i.batch_id'
const DUE_OF_CANARY = dueIds(CANARY, `AND ${WITHIN_CANARY}`)
const DUE_BESIDE_CLOCK = dueIds('instruction i', BESIDE_CLOCK)
const DUE_OF_CANARY_BESIDE_CLOCK = dueIds(CANARY, `AND ${WITHIN_CANARY} ${BESIDE_CLOCK}`)

const HOLDS = `
    SELECT CASE WHEN b.canary_rows IS NULL THEN 0 ELSE 1 END AS "hasCanary", CASE WHEN ${clockIsOff('a')} THEN 1 ELSE 0 END AS "clockIsOff"
    FROM batch b JOIN account a ON a.id = b.account_id WHERE b.id = :batchId`

interface Holds {
  readonly hasCanary: 0 | 1
  readonly clockIsOff: 0 | 1
}

function dueText({ hasCanary, clockIsOff: isOff }: Holds, there: DuePosition | null): string {
  if (hasCanary === 1) return isOff === 1 ? DUE_OF_CANARY_BESIDE_CLOCK : DUE_OF_CANARY
  if (isOff === 1) return DUE_BESIDE_CLOCK
  return there === null ? DUE : DUE_FROM_THERE
}

/** Where a row stands among those of its batch that are due. */
export interface DuePosition {
  readonly dueAtMs: number
  readonly rowNo: number
}

/** From where on to look for what is due: an engine may be slow to pass over what was settled since. */
export interface DueFrom {
  /** null: from the first. */
  of(batchId: BatchId): DuePosition | null
  /** Of the first row that is due; null: there was none. */
  found(batchId: BatchId, first: DuePosition | null): void
}

const FROM_THE_FIRST: DueFrom = { of: () => null, found: () => {} }

const ROWS = `
    SELECT id, batch_id, account_id, (SELECT a.name FROM account a WHERE a.id = account_id) AS merchant, row_no, attempt,
      ever_in_doubt, forbidden_count, CASE WHEN ${IS_JUDGED_FIRST} THEN 1 ELSE 0 END AS "sharesOrder", ${INSTRUCTION_COLUMNS}
    FROM instruction i WHERE id IN (SELECT CAST(e.value AS BIGINT) FROM json_each(:ids) e)`

export function dueRowsOn(
  engine: Pick<Engine, 'read'>,
  from: DueFrom = FROM_THE_FIRST,
): Pick<WorkLedger, 'workable' | 'dueRows'> {
  return {
    async workable(nowMs, countTo, only) {
      const found = await engine.read(() => all<WorkableBatch>(WORKABLE, { nowMs, countTo, only: only ?? '' }))
      return found.filter((batch) => batch.due > 0)
    },
    async dueRows(batchId, nowMs, limit, except) {
      const there = from.of(batchId)
      const { rows, first } = await engine.read(() => dueRows(batchId, nowMs, limit, except, there))
      from.found(batchId, first)
      return rows
    },
  }
}

function* dueRows(
  batchId: BatchId,
  nowMs: number,
  limit: number,
  except: ReadonlySet<RowId>,
  there: DuePosition | null,
): Script<{ readonly rows: readonly DueRow[]; readonly first: DuePosition | null }> {
  const due = dueText((yield* one<Holds>(HOLDS, { batchId, nowMs }))!, there)
  const asked = { batchId, nowMs, most: limit + except.size, ...there }
  const ids = yield* all<DuePosition & { readonly id: RowId }>(due, asked)
  const first = ids[0] ?? null
  const wanted = ids.flatMap(({ id }) => (except.has(id) ? [] : [id])).slice(0, limit)
  if (wanted.length === 0) return { rows: [], first }
  const found = yield* all<DueColumns>(ROWS, { ids: JSON.stringify(wanted) })
  const rows = new Map(found.map((row) => [row.id, row]))
  return { rows: wanted.map((id) => toDueRow(rows.get(id) as DueColumns)), first }
}

interface DueColumns extends InstructionColumns {
  readonly id: RowId
  readonly batch_id: BatchId
  readonly account_id: AccountId
  readonly merchant: string
  readonly row_no: number
  readonly attempt: number
  readonly ever_in_doubt: number
  readonly forbidden_count: number
  readonly sharesOrder: number
}

function toDueRow(row: DueColumns): DueRow {
  return {
    rowId: row.id,
    batchId: row.batch_id,
    accountId: row.account_id,
    merchant: row.merchant,
    rowNo: row.row_no,
    attempt: row.attempt,
    everInDoubt: row.ever_in_doubt === 1,
    forbiddenCount: row.forbidden_count,
    sharesOrder: row.sharesOrder === 1,
    instruction: fromColumns(row),
  }
}
