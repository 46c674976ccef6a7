// What a batch shows of itself: counts, totals, what holds it up and whether its results are still true.

import type { DatabaseSync } from 'node:sqlite'
import type { BatchTotal, BatchView, Hold, OpenOriginals } from '../../domain/batch.ts'
import type { AccountId, BatchId } from '../../domain/ids.ts'
import type { Operation } from '../../domain/instruction.ts'
import type { Currency } from '../../domain/money.ts'
import type { State } from '../../domain/states.ts'
import { findRow, findRows, inOneMoment } from './found.ts'
import { IS_BLOCKED, isSubmittedAgain, originalOf, parseHealth, WITHIN_CANARY } from './rows.ts'

interface BatchColumns {
  source: 'file' | 'queue'
  account_id: number
  merchant: string
  file_name: string | null
  file_sha256: string | null
  run_key: string | null
  reading: string
  sandbox: number
  created_at: number
  created_by: string
  hold: Hold
  hold_reason: string | null
  stopped_reason: string | null
  held_reason: string | null
  wait_until: number | null
  condition: string | null
  late_answers: number
  purged_at: number | null
  results_move: number | null
  rows: number
  version: number
  columns: string
  results_path: string | null
  results_version: number | null
  needs_file: number
}

export function columnsOf(db: DatabaseSync, batchId: BatchId): BatchColumns {
  const batch = db.prepare(
    'SELECT b.*, a.name AS merchant, a.stopped_reason, a.held_reason, a.wait_until, a.condition FROM batch b JOIN account a ON a.id = b.account_id WHERE b.id = ?',
  )
  return findRow<BatchColumns>(batch, batchId)!
}

/** As it is in one moment: a row that is claimed between two statements would be counted as waiting, and be due in none. */
export function viewOf(db: DatabaseSync, batchId: BatchId): BatchView {
  return inOneMoment(db, () => lookAt(db, batchId))
}

function lookAt(db: DatabaseSync, batchId: BatchId): BatchView {
  const batch = columnsOf(db, batchId)
  const totals = totalsOf(db, batchId)
  const counts: Partial<Record<State, number>> = {}
  for (const { state, count } of totals) counts[state] = (counts[state] ?? 0) + count
  const number = (sql: string) => (db.prepare(sql).get(batchId) as { n: number | null }).n
  return {
    batchId,
    source: batch.source,
    accountId: batch.account_id as AccountId,
    merchant: batch.merchant,
    fileName: batch.file_name,
    fileSha256: batch.file_sha256,
    runKey: batch.run_key,
    fingerprint: batch.reading,
    sandbox: batch.sandbox === 1,
    createdAtMs: batch.created_at,
    createdBy: batch.created_by,
    hold: batch.hold,
    holdReason: batch.hold_reason,
    accountStopped: batch.stopped_reason,
    accountHeld: batch.held_reason,
    accountWaitsUntilMs: batch.wait_until,
    gatewayHealth: batch.condition === null ? null : parseHealth(batch.condition),
    rows: batch.rows,
    counts,
    totals,
    moneyWarnings: number('SELECT count(*) AS n FROM instruction WHERE batch_id = ? AND money_warning = 1') ?? 0,
    duplicateMoneyWarnings: counts.DUPLICATE === undefined ? 0 : duplicateMoneyWarningsIn(db, batchId),
    ...(counts.DUPLICATE === undefined ? NO_DUPLICATES : duplicatesOf(db, batchId)),
    ...(counts.READY === undefined ? NOTHING_DUE : nextDueIn(db, batchId)),
    ...(counts.READY === undefined || !anythingBlocks(db) ? NOTHING_BLOCKED : blockedIn(db, batchId)),
    lateAnswers: batch.late_answers,
    needsFile: batch.needs_file === 1,
    resultsPath: batch.results_path,
    resultsStale:
      batch.results_path !== null &&
      (batch.version !== batch.results_version || originalsMoved(db, batchId, batch.results_move, counts)),
    purgedAtMs: batch.purged_at,
  }
}

function totalsOf(db: DatabaseSync, batchId: BatchId): BatchTotal[] {
  const statement = db.prepare(
    'SELECT operation, currency, state, count, amount_minor AS amountMinor FROM tally WHERE batch_id = ? AND count > 0',
  )
  statement.setReadBigInts(true)
  return statement.all(batchId).map((row) => ({
    operation: row.operation as Operation | '',
    currency: row.currency as Currency | '',
    state: row.state as State,
    count: Number(row.count),
    amountMinor: row.amountMinor as bigint,
  }))
}

/** Whether a row has moved, since the results were written, that stands for a duplicate or for a row that was submitted again. */
function originalsMoved(
  db: DatabaseSync,
  batchId: BatchId,
  lastMove: number | null,
  { DUPLICATE, FAILED, CANCELLED }: BatchView['counts'],
): boolean {
  if (lastMove === null) return false
  const moved = (which: string) =>
    db
      .prepare(`
        SELECT 1 FROM instruction d ${originalOf('d', 'JOIN')} JOIN move m ON m.row_id IN (p.id, o.id)
        WHERE d.batch_id = ? AND ${which} AND m.id > ? LIMIT 1`)
      .get(batchId, lastMove) !== undefined
  return (
    (DUPLICATE !== undefined && moved("d.state = 'DUPLICATE'")) ||
    ((FAILED ?? CANCELLED) !== undefined && moved(isSubmittedAgain('d')))
  )
}

function duplicateMoneyWarningsIn(db: DatabaseSync, batchId: BatchId): number {
  const found = db
    .prepare(`
      SELECT count(*) AS n FROM instruction d ${originalOf('d', 'JOIN')}
      WHERE d.batch_id = ? AND d.state = 'DUPLICATE' AND (p.money_warning = 1 OR o.money_warning = 1)`)
    .get(batchId)
  return (found as { n: number }).n
}

type Duplicates = Pick<BatchView, 'duplicateOf' | 'duplicatesChanged' | 'openOriginals'>

const NO_DUPLICATES: Duplicates = { duplicateOf: {}, duplicatesChanged: 0, openOriginals: [] }

function duplicatesOf(db: DatabaseSync, batchId: BatchId): Duplicates {
  const counted = db.prepare(`
      SELECT o.state, CASE WHEN o.state IN ('READY', 'SENDING', 'IN_DOUBT') THEN o.batch_id END AS openIn, b.file_name AS fileName, count(*) AS count,
        sum(d.reason IS NOT NULL) AS changed
      FROM instruction d ${originalOf('d', 'JOIN')} JOIN batch b ON b.id = o.batch_id
      WHERE d.batch_id = ? AND d.state = 'DUPLICATE' GROUP BY 1, 2 ORDER BY 1, 2`)
  const found = findRows<Omit<OpenOriginals, 'batchId'> & { openIn: BatchId | null; changed: number }>(counted, batchId)
  const duplicateOf: Partial<Record<State, number>> = {}
  for (const { state, count } of found) duplicateOf[state] = (duplicateOf[state] ?? 0) + count
  const duplicatesChanged = found.reduce((sum, { changed }) => sum + changed, 0)
  const openOriginals = found.flatMap(({ openIn, fileName, state, count }) =>
    openIn === null ? [] : [{ batchId: openIn, fileName, state, count }],
  )
  return { duplicateOf, duplicatesChanged, openOriginals }
}

/** Nearly always false, and then a status need not look at every waiting row. */
function anythingBlocks(db: DatabaseSync): boolean {
  const found = db
    .prepare(`
      SELECT EXISTS (SELECT 1 FROM instruction WHERE state = 'IN_DOUBT')
        OR EXISTS (SELECT 1 FROM batch WHERE hold = 'paused' OR canary_rows IS NOT NULL OR needs_file = 1) AS n`)
    .get()
  return (found as { n: number }).n === 1
}

type Blocked = Pick<BatchView, 'blocked' | 'blockedDue'>

const NOTHING_BLOCKED: Blocked = { blocked: 0, blockedDue: 0 }

/** Counted no further than a screen needs, those that are due first. */
function blockedIn(db: DatabaseSync, batchId: BatchId): Blocked {
  const counted = db.prepare(`
      SELECT count(*) AS blocked, coalesce(sum(isDue), 0) AS blockedDue FROM (
        SELECT coalesce(i.execute_at, 0) <= (unixepoch('subsec') + 60) * 1000 AS isDue FROM instruction i
        WHERE i.batch_id = ? AND i.state = 'READY' AND ${IS_BLOCKED} ORDER BY i.due_at LIMIT 10000)`)
  return findRow<Blocked>(counted, batchId)!
}

type NextDue = Pick<BatchView, 'nextDueAtMs' | 'nextExecuteAtMs'>

const NOTHING_DUE: NextDue = { nextDueAtMs: null, nextExecuteAtMs: null }

function nextDueIn(db: DatabaseSync, batchId: BatchId): NextDue {
  const next = db.prepare(`
      SELECT i.due_at AS nextDueAtMs, i.execute_at AS nextExecuteAtMs FROM instruction i JOIN batch b ON b.id = i.batch_id
      WHERE i.batch_id = ? AND i.state = 'READY' AND NOT ${IS_BLOCKED} AND ${WITHIN_CANARY} ORDER BY i.due_at LIMIT 1`)
  return findRow<NextDue>(next, batchId) ?? NOTHING_DUE
}
