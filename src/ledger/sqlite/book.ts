// Reading the record and steering batches: status, results, history, doubts, pause, resume, cancel.

import type { DatabaseSync } from 'node:sqlite'
import type { Actor } from '../../domain/actor.ts'
import type { BatchTotal, BatchView, Hold } from '../../domain/batch.ts'
import { Fault } from '../../domain/fault.ts'
import type { AccountId, BatchId } from '../../domain/ids.ts'
import type { Operation } from '../../domain/instruction.ts'
import type { Currency } from '../../domain/money.ts'
import { parseReasonCategory } from '../../domain/reason-categories.ts'
import type { HistoryMove, ReconciliationRow } from '../../domain/reconciliation.ts'
import type { State } from '../../domain/states.ts'
import type { AccountControls, ControlLedger } from '../../ports/ledger/control.ts'
import type { AccountView, BatchReading, QueryLedger } from '../../ports/ledger/queries.ts'
import { openActs, toActor } from './acts.ts'
import type { Committer } from './commit.ts'
import type { RecordMove } from './moves.ts'
import { openOddReferences } from './odd-references.ts'
import {
  DOUBT_BEFORE,
  type FactColumns,
  IS_BLOCKED,
  ORDER_IS_FREE,
  originalOf,
  parseHealth,
  toFacts,
  WITHIN_CANARY,
} from './rows.ts'
import { cancelRows } from './work.ts'

export interface BookParts {
  /** Opens another connection to the same ledger, for a read transaction that outlives other work. */
  readonly openReader: () => DatabaseSync
  readonly record: RecordMove
}

export function openBook(db: DatabaseSync, committer: Committer, parts: BookParts): QueryLedger & ControlLedger {
  const controlsOf = db.prepare('SELECT name, resumes, rate AS ratePerSecond FROM account WHERE id = ?')
  const written = db.prepare('UPDATE batch SET results_path = ?, results_version = ?, results_move = ? WHERE id = ?')
  return {
    async batches(only) {
      const narrowed =
        only === 'open'
          ? "AND id IN (SELECT batch_id FROM tally WHERE state IN ('READY', 'SENDING') AND count > 0)"
          : ''
      const ids = db
        .prepare(`SELECT id FROM batch WHERE stage = 'open' ${narrowed} ORDER BY created_at DESC, rowid DESC`)
        .all()
      return (ids as Array<{ id: string }>).map(({ id }) => viewOf(db, id as BatchId))
    },
    async batch(idOrPrefix) {
      const id = findBatch(db, idOrPrefix)
      return id === null ? null : viewOf(db, id)
    },
    openReading: async (batchId, nowMs) => openReading(parts.openReader(), batchId, nowMs),
    async resultsWritten(batchId, path, { version, lastMove }) {
      await committer.write(() => void written.run(path, version, lastMove, batchId), { kind: 'faulting' })
    },
    history: async (reference) => historyOf(db, reference),
    settledSince: async (batchId, sinceMs) => settledSince(db, batchId, sinceMs),
    waitsFor: async (batchId, nowMs) => waitsFor(db, batchId, nowMs),
    async accounts() {
      return db
        .prepare(
          'SELECT id AS accountId, name, url, username, stopped_reason AS stopped, held_reason AS held, rate AS ratePerSecond FROM account ORDER BY id',
        )
        .all() as unknown as AccountView[]
    },
    controls: async (accountId) => controlsOf.get(Number(accountId)) as unknown as AccountControls,
    ...openSteering(db, committer, parts.record),
  }
}

function findBatch(db: DatabaseSync, idOrPrefix: string): BatchId | null {
  const exact = db.prepare("SELECT id FROM batch WHERE id = ? AND stage = 'open'").get(idOrPrefix)
  if (exact !== undefined) return idOrPrefix as BatchId
  const found = db
    .prepare("SELECT id FROM batch WHERE stage = 'open' AND substr(id, 1, length(?1)) = ?1 LIMIT 2")
    .all(idOrPrefix) as Array<{ id: string }>
  if (idOrPrefix !== '' && found.length === 2) {
    throw new Fault('usage', `More than one batch begins with "${idOrPrefix}". Write a few more characters of its id.`)
  }
  return idOrPrefix === '' ? null : ((found[0]?.id ?? null) as BatchId | null)
}

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
}

function columnsOf(db: DatabaseSync, batchId: BatchId): BatchColumns {
  return db
    .prepare(
      'SELECT b.*, a.name AS merchant, a.stopped_reason, a.held_reason, a.wait_until, a.condition FROM batch b JOIN account a ON a.id = b.account_id WHERE b.id = ?',
    )
    .get(batchId) as unknown as BatchColumns
}

export function viewOf(db: DatabaseSync, batchId: BatchId): BatchView {
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
    duplicateOf: counts.DUPLICATE === undefined ? {} : duplicatesOf(db, batchId),
    ...(counts.READY === undefined ? NOTHING_DUE : nextDueIn(db, batchId)),
    ...(counts.READY === undefined || !anythingBlocks(db) ? NOTHING_BLOCKED : blockedIn(db, batchId)),
    lateAnswers: batch.late_answers,
    resultsPath: batch.results_path,
    resultsStale:
      batch.results_path !== null &&
      (batch.version !== batch.results_version ||
        (counts.DUPLICATE !== undefined && originalsMoved(db, batchId, batch.results_move))),
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

/** Whether a row that a duplicate of this batch points at has moved since the results were written. */
function originalsMoved(db: DatabaseSync, batchId: BatchId, lastMove: number | null): boolean {
  if (lastMove === null) return false
  const found = db
    .prepare(`
      SELECT 1 FROM instruction d ${originalOf('d', 'JOIN')} JOIN move m ON m.row_id IN (p.id, o.id)
      WHERE d.batch_id = ? AND d.state = 'DUPLICATE' AND m.id > ? LIMIT 1`)
    .get(batchId, lastMove)
  return found !== undefined
}

function duplicateMoneyWarningsIn(db: DatabaseSync, batchId: BatchId): number {
  const found = db
    .prepare(`
      SELECT count(*) AS n FROM instruction d ${originalOf('d', 'JOIN')}
      WHERE d.batch_id = ? AND d.state = 'DUPLICATE' AND (p.money_warning = 1 OR o.money_warning = 1)`)
    .get(batchId)
  return (found as { n: number }).n
}

function duplicatesOf(db: DatabaseSync, batchId: BatchId): Partial<Record<State, number>> {
  const rows = db
    .prepare(`
      SELECT o.state, count(*) AS count FROM instruction d ${originalOf('d', 'JOIN')}
      WHERE d.batch_id = ? AND d.state = 'DUPLICATE' GROUP BY o.state`)
    .all(batchId) as Array<{ state: State; count: number }>
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

/** Nearly always false, and then a status need not look at every waiting row. */
function anythingBlocks(db: DatabaseSync): boolean {
  const found = db
    .prepare(`
      SELECT EXISTS (SELECT 1 FROM instruction WHERE state = 'IN_DOUBT')
        OR EXISTS (SELECT 1 FROM batch WHERE hold = 'paused' OR canary_rows IS NOT NULL) AS n`)
    .get()
  return (found as { n: number }).n === 1
}

type Blocked = Pick<BatchView, 'blocked' | 'blockedDue'>

const NOTHING_BLOCKED: Blocked = { blocked: 0, blockedDue: 0 }

/** Counted no further than a screen needs, those that are due first. */
function blockedIn(db: DatabaseSync, batchId: BatchId): Blocked {
  const found = db
    .prepare(`
      SELECT count(*) AS blocked, coalesce(sum(isDue), 0) AS blockedDue FROM (
        SELECT coalesce(i.execute_at, 0) <= (unixepoch('subsec') + 60) * 1000 AS isDue FROM instruction i
        WHERE i.batch_id = ? AND i.state = 'READY' AND ${IS_BLOCKED} ORDER BY i.due_at LIMIT 10000)`)
    .get(batchId)
  return found as unknown as Blocked
}

type NextDue = Pick<BatchView, 'nextDueAtMs' | 'nextExecuteAtMs'>

const NOTHING_DUE: NextDue = { nextDueAtMs: null, nextExecuteAtMs: null }

function nextDueIn(db: DatabaseSync, batchId: BatchId): NextDue {
  const found = db
    .prepare(`
      SELECT i.due_at AS nextDueAtMs, i.execute_at AS nextExecuteAtMs FROM instruction i JOIN batch b ON b.id = i.batch_id
      WHERE i.batch_id = ? AND i.state = 'READY' AND NOT ${IS_BLOCKED} AND ${WITHIN_CANARY} ORDER BY i.due_at LIMIT 1`)
    .get(batchId)
  return found === undefined ? NOTHING_DUE : (found as unknown as NextDue)
}

function waitsFor(db: DatabaseSync, batchId: BatchId, nowMs: number): BatchId | null {
  const due = `FROM instruction i WHERE i.batch_id = ? AND i.state = 'READY' AND i.due_at <= ?`
  const free = db.prepare(`SELECT 1 ${due} AND ${ORDER_IS_FREE} LIMIT 1`).get(batchId, nowMs, nowMs)
  if (free !== undefined) return null
  const found = db
    .prepare(`
      SELECT (
        SELECT e.batch_id FROM instruction e
        WHERE e.account_id = i.account_id AND e.order_key = i.order_key AND e.id < i.id AND e.order_key IS NOT NULL
          AND e.state IN ('READY', 'SENDING', 'IN_DOUBT') AND e.batch_id <> i.batch_id LIMIT 1) AS other
      ${due} ORDER BY i.due_at LIMIT 1`)
    .get(batchId, nowMs) as { other: string | null } | undefined
  return (found?.other ?? null) as BatchId | null
}

function openReading(db: DatabaseSync, batchId: BatchId, nowMs: number): BatchReading {
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

interface ReadColumns extends FactColumns {
  rowNo: number
  line: number
  cells: string
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
  firstBatch: string | null
  firstRow: number | null
  firstState: State | null
  firstWarned: number
  waitsFor: string | null
  isPurged: number
}

/** Whether row `i`, or the row that it repeats (see `originalOf`), changed or came at that moment or later. */
const CHANGED_SINCE = `(?2 IS NULL OR b.created_at >= ?2 OR i.noted_at >= ?2 OR p.noted_at >= ?2 OR o.noted_at >= ?2
  OR EXISTS (SELECT 1 FROM batch ob WHERE ob.id = o.batch_id AND ob.created_at >= ?2)
  OR EXISTS (SELECT 1 FROM move m WHERE m.row_id = i.id AND m.at >= ?2)
  OR EXISTS (SELECT 1 FROM move m WHERE m.row_id = o.id AND m.at >= ?2))`

/** Instead of its reason: empty cells would pass for what the file had. */
const PURGED = 'its cells and texts were purged from the record'

function* rowsOf(db: DatabaseSync, batchId: BatchId, sinceMs: number | null): Iterable<ReconciliationRow> {
  const rows = db.prepare(`
    SELECT i.row_no AS rowNo, i.line, i.cells, i.reference, i.state, i.operation, i.amount_minor, i.currency, i.reason,
      i.transaction_id, i.answered_order_id, i.answered_record_id, i.answered_amount, i.answered_currency, i.answered_vault_id,
      i.answered_xtl_order_id, i.warning, i.attempt, i.sent_at, i.completed_at,
      o.batch_id AS firstBatch, o.row_no AS firstRow, o.state AS firstState,
      coalesce(p.warning, o.warning) IS NOT NULL AS firstWarned, ${DOUBT_BEFORE} AS waitsFor, i.row_no <= b.purged_to AS isPurged
    FROM instruction i JOIN batch b ON b.id = i.batch_id ${originalOf('i', 'LEFT JOIN')}
    WHERE i.batch_id = ?1 AND ${CHANGED_SINCE} ORDER BY i.row_no`)
  for (const found of rows.iterate(batchId, sinceMs)) {
    const row = found as unknown as ReadColumns
    const first =
      row.firstBatch === null
        ? null
        : `the same instruction is row ${row.firstRow} of batch ${row.firstBatch}: ${row.firstState === 'READY' || row.firstState === 'SENDING' ? 'PENDING' : row.firstState}; not sent again`
    yield {
      rowNo: row.rowNo,
      line: row.line,
      cells: JSON.parse(row.cells) as string[],
      reference: row.reference,
      state: row.state,
      repeats: row.firstState === null ? null : { state: row.firstState, warned: row.firstWarned === 1 },
      operation: row.operation,
      amountMinor: row.amount_minor === null ? null : BigInt(row.amount_minor),
      currency: row.currency,
      reason: first ?? row.waitsFor ?? (row.isPurged === 1 ? PURGED : row.reason),
      categoryKept: row.isPurged === 1 ? parseReasonCategory(row.reason) : null,
      facts: toFacts(row),
      warning: row.warning,
      attempts: row.attempt,
      sentAtMs: row.sent_at,
      completedAtMs: row.completed_at,
    }
  }
}

type StoredMove = Omit<HistoryMove, 'actor'> & { readonly parts: string | null }

function historyOf(db: DatabaseSync, reference: string): HistoryMove[] {
  const arrivals = db
    .prepare(`
      SELECT i.batch_id AS batchId, i.row_no AS rowNo, 0 AS attempt, NULL AS "from",
        CASE WHEN i.state IN ('INVALID', 'DUPLICATE') THEN i.state ELSE 'READY' END AS "to",
        'recorded' AS cause, b.created_at AS atMs, b.created_by AS "by",
        (SELECT parts FROM actor WHERE id = b.actor_id) AS parts, NULL AS httpStatus, NULL AS answerText,
        CASE WHEN i.state IN ('INVALID', 'DUPLICATE') THEN i.reason END AS reason, i.id AS rowId
      FROM instruction i JOIN batch b ON b.id = i.batch_id WHERE i.reference = ? AND b.stage = 'open' ORDER BY i.id`)
    .all(reference) as unknown as Array<StoredMove & { rowId: number }>
  const odd = arrivals.length === 0 ? openOddReferences(db)(reference, null) : null
  if (odd !== null) return historyOf(db, odd)
  const moves = db.prepare(`
    SELECT attempt, from_state AS "from", to_state AS "to", cause, at AS atMs, by,
      (SELECT parts FROM actor WHERE id = actor_id) AS parts, http_status AS httpStatus, answer AS answerText, reason
    FROM move WHERE row_id = ? ORDER BY id`)
  return arrivals.flatMap(({ rowId, ...arrival }) => {
    const { batchId, rowNo } = arrival
    const later = moves.all(rowId) as unknown as Array<Omit<StoredMove, 'batchId' | 'rowNo'>>
    const made = [arrival, ...later.map((move) => ({ batchId, rowNo, ...move }))]
    return made.map(({ parts, ...move }) => ({ ...move, actor: toActor(parts) }))
  })
}

/** More moves than that in the time a speed is taken over are not made. */
const LATEST_MOVES = 50_000

function settledSince(db: DatabaseSync, batchId: BatchId, sinceMs: number): number {
  const found = db
    .prepare(`
      SELECT count(*) AS n FROM (SELECT row_id, to_state, at FROM move ORDER BY id DESC LIMIT ${LATEST_MOVES}) m
      JOIN instruction i ON i.id = m.row_id
      WHERE m.at >= ? AND i.batch_id = ? AND m.to_state NOT IN ('READY', 'SENDING')`)
    .get(sinceMs, batchId)
  return (found as { n: number }).n
}

function openSteering(db: DatabaseSync, committer: Committer, record: RecordMove): Omit<ControlLedger, 'controls'> {
  const act = openActs(db)
  const hold = db.prepare('UPDATE batch SET hold = ?, hold_reason = ? WHERE id = ?')
  // A person has looked: what called for that begins anew.
  const clear = db.prepare("UPDATE batch SET recent_answers = '', late_answers = 0, money_warned = 0 WHERE id = ?")
  const holdOf = db.prepare('SELECT hold, account_id, late_answers FROM batch WHERE id = ?')
  const restart = db.prepare(
    'UPDATE account SET resumes = resumes + 1, new_doubts = 0, held_reason = NULL, wait_until = NULL WHERE id = ?',
  )
  const setRateOverride = db.prepare('UPDATE account SET rate = ? WHERE id = ?')
  const unstop = db.prepare('UPDATE account SET stopped_reason = NULL WHERE id = ?')

  function steer(batchId: BatchId, to: Hold, reason: string, actor: Actor, nowMs: number): Promise<Fault | null> {
    return committer.write(
      () => {
        const now = holdOf.get(batchId) as { hold: Hold; account_id: number; late_answers: number }
        // Of a cancelled batch nothing goes on, but a person can have looked at its late answers.
        const looked = now.hold === 'cancelled' && to === 'none' && now.late_answers > 0
        if (now.hold === 'cancelled' && to !== 'cancelled' && !looked) {
          return new Fault(
            'usage',
            `Batch ${batchId} was cancelled; that cannot be undone. Submit its results with --retry cancelled.`,
          )
        }
        if (!looked) hold.run(to, to === 'none' ? null : reason, batchId)
        if (to === 'none') {
          restart.run(now.account_id)
          clear.run(batchId)
        }
        const what = to === 'none' ? 'resume' : to === 'paused' ? 'pause' : 'cancel'
        act({ what, atMs: nowMs, actor, batchId, accountId: now.account_id, reason })
        return null
      },
      { kind: 'faulting' },
    )
  }

  async function steerOrThrow(...args: Parameters<typeof steer>): Promise<void> {
    const fault = await steer(...args)
    if (fault !== null) throw fault
  }

  return {
    pause: (batchId, reason, actor, nowMs) => steerOrThrow(batchId, 'paused', reason, actor, nowMs),
    resume: (batchId, reason, actor, nowMs) => steerOrThrow(batchId, 'none', reason, actor, nowMs),
    async cancel(batchId, reason, actor, nowMs) {
      await steerOrThrow(batchId, 'cancelled', reason, actor, nowMs)
      await cancelRows(db, committer, record, { batchId, actor, nowMs })
    },
    async resumeAccount(accountId, reason, actor, nowMs) {
      await committer.write(
        () => {
          unstop.run(Number(accountId))
          restart.run(Number(accountId))
          act({ what: 'resume-account', atMs: nowMs, actor, accountId, reason })
        },
        { kind: 'faulting' },
      )
    },
    async setRate(accountId, ratePerSecond, actor, nowMs) {
      await committer.write(
        () => {
          setRateOverride.run(ratePerSecond, Number(accountId))
          const to = ratePerSecond === null ? 'configured' : `${ratePerSecond}/s`
          act({ what: 'rate', atMs: nowMs, actor, accountId, reason: to })
        },
        { kind: 'faulting' },
      )
    },
  }
}
