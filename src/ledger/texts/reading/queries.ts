// What became of batches and rows, for whatever shows them.

import type { BatchView } from '../../../domain/batch.ts'
import { Fault } from '../../../domain/fault.ts'
import type { AccountId, BatchId } from '../../../domain/ids.ts'
import { parseReasonCategory } from '../../../domain/reason-categories.ts'
import type { ReasonTotal } from '../../../domain/reconciliation.ts'
import type { AccountView, QueryLedger, SettledOfLate } from '../../../ports/ledger/queries.ts'
import { IS_MONEY_UNSEEN } from '../conditions.ts'
import { type Engine, FAULTING, type Reader } from '../engine.ts'
import { ORDER_IS_FREE, WITHIN_CANARY } from '../orders.ts'
import { all, change, exists, one, type Script } from '../script.ts'
import { leftOutFor, viewOf } from './batch-view.ts'
import { openFamily } from './family.ts'
import { figuresOf, outcomesOf } from './figures.ts'
import { findById } from './find.ts'
import { historyOf } from './history.ts'
import { openReading, rowsAfter } from './reading.ts'
import { refusalsOf } from './refusals.ts'

const WRITTEN = `
    UPDATE batch SET results_path = :path, results_version = :version, results_move = :lastMove WHERE id = :batchId`

const ACCOUNTS = `
    SELECT id AS "accountId", name, url, username, stopped_reason AS stopped, held_reason AS held, rate AS "ratePerSecond", environment,
      clock_ahead AS "clockAheadMs", clock_ahead_at AS "clockAheadAtMs"
    FROM account ORDER BY id`

export function queriesOn(engine: Engine, openReader: () => Promise<Reader>): Omit<QueryLedger, 'heartbeats'> {
  return {
    async batches(only) {
      return viewsOf(engine, await engine.read(() => all<Named>(BATCHES[only ?? 'all'])))
    },
    async batchesAfter(after, most, accounts) {
      if (accounts?.length === 0) return []
      return viewsOf(engine, await engine.read(() => all<Named>(behind(accounts), { after, most })))
    },
    async batchesNamed(fileName, most) {
      return viewsOf(engine, await engine.read(() => all<Named>(NAMED_SO, { fileName, most })))
    },
    async batch(idOrPrefix) {
      return engine.read(function* () {
        const id = yield* findBatch(idOrPrefix)
        return id === null ? null : yield* viewOf(id)
      })
    },
    leftOutFor: (batchId) => engine.read(() => leftOutFor(batchId)),
    openReading: async (batchId, nowMs) => openReading(await openReader(), batchId, nowMs),
    rowsAfter: (batchId, after, most) => engine.read(() => rowsAfter(batchId, after, most)),
    openFamily: async (batchId, nowMs) => openFamily(await openReader(), batchId, nowMs),
    resultsWritten: (batchId, path, { version, lastMove }) =>
      engine.write(() => change(WRITTEN, { batchId, path, version, lastMove }), FAULTING),
    reasons: (batchId) => engine.read(() => reasonsOf(batchId)),
    find: (id) => engine.read(() => findById(id)),
    knownSinceMs: () =>
      engine.read(function* () {
        return (yield* one<{ atMs: number | null }>(FIRST_RECORDED))?.atMs ?? null
      }),
    history: (reference) => engine.read(() => historyOf(reference)),
    settledOfLate: (batchId, sinceMs, among) =>
      engine.read(function* () {
        return (yield* one<SettledOfLate>(SETTLED_OF_LATE, { batchId, sinceMs, among }))!
      }),
    waitsFor: (batchId, nowMs) => engine.read(() => waitsFor(batchId, nowMs)),
    accounts: () => engine.read(() => all<AccountView>(ACCOUNTS)),
    refusals: (asked) => engine.read(() => refusalsOf(asked)),
    figures: () => engine.read(figuresOf),
    outcomes: () => engine.read(outcomesOf),
  }
}

const batches = (narrowed: string) =>
  `SELECT id FROM batch WHERE stage = 'open' ${narrowed} ORDER BY created_at DESC, rowid DESC`
/**
 * Whether batch `b` may have left rows out for a batch that was cancelled afterwards: that one was there when `b` took its last row, and
 * something was done with it after `b` had begun. What it is in fact is told by the batch itself.
 */
const MAY_HAVE_LEFT_OUT = `EXISTS (
          SELECT 1 FROM batch c WHERE c.account_id = b.account_id AND c.hold = 'cancelled'
            AND c.created_at <= coalesce(b.arrived_hour + 3600000, b.created_at)
            AND EXISTS (SELECT 1 FROM act x WHERE x.batch_id = c.id AND x.at >= b.created_at))`

const HAS_EXPIRED_ROWS = `EXISTS (
          SELECT 1 FROM instruction i WHERE i.batch_id = b.id AND i.state = 'CANCELLED' AND i.expires_at IS NOT NULL)`

const IS_RESUMED = "EXISTS (SELECT 1 FROM act x WHERE x.batch_id = b.id AND x.what = 'resume')"

const BATCHES = {
  all: batches(''),
  open: batches("AND id IN (SELECT batch_id FROM tally WHERE state IN ('READY', 'SENDING') AND count > 0)"),
  // Every page of the console asks for these: what is done must not add to it for good.
  unsettled: batches(
    `AND (late_answers > 0 OR short_refunds NOT LIKE '%"at":[]%'
      OR id IN (SELECT batch_id FROM tally WHERE state IN ('READY', 'SENDING', 'IN_DOUBT') AND count > 0)
      OR id IN (SELECT batch_id FROM instruction i WHERE ${IS_MONEY_UNSEEN})
      OR id IN (SELECT t.batch_id FROM tally t JOIN batch b ON b.id = t.batch_id WHERE t.count > 0 AND (
        (t.state = 'INVALID' AND b.source = 'file' AND NOT ${IS_RESUMED})
        OR (t.state = 'CANCELLED' AND b.hold <> 'cancelled' AND ${HAS_EXPIRED_ROWS})
        OR (t.state = 'DUPLICATE' AND ${MAY_HAVE_LEFT_OUT}))))`,
  ),
}

interface Named {
  readonly id: BatchId
}

const FIRST_RECORDED = `SELECT min(created_at) AS "atMs" FROM batch WHERE stage = 'open'`
const NAMED_SO = `${batches('AND substr(file_name, 1, length(:fileName)) = :fileName')} LIMIT :most`

/** One by one: a view may look at many rows, and whatever else uses the connection goes on between two. */
async function viewsOf(engine: Engine, ids: readonly Named[]): Promise<readonly BatchView[]> {
  const views = []
  for (const { id } of ids) views.push(await engine.read(() => viewOf(id)))
  return views
}

/** Few accounts are known, and their ids are ours: whole numbers. */
function behind(accounts: readonly AccountId[] | null): string {
  const ofThese = accounts === null ? '' : `AND account_id IN (${accounts.map(Number).join(', ')})`
  return `${batches(`${ofThese} AND (CAST(:after AS TEXT) IS NULL OR (created_at, rowid) <
    (SELECT p.created_at, p.rowid FROM batch p WHERE p.id = :after))`)} LIMIT :most`
}

function* findBatch(idOrPrefix: string): Script<BatchId | null> {
  const isWhole = yield* exists("SELECT 1 FROM batch WHERE id = :id AND stage = 'open'", { id: idOrPrefix })
  if (isWhole) return idOrPrefix as BatchId
  if (idOrPrefix === '') return null
  const [first, second] = yield* all<{ id: BatchId }>(
    "SELECT id FROM batch WHERE stage = 'open' AND substr(id, 1, length(:prefix)) = :prefix LIMIT 2",
    { prefix: idOrPrefix },
  )
  if (second !== undefined)
    throw new Fault('usage', `More than one batch begins with "${idOrPrefix}". Write a few more characters of its id.`)
  return first?.id ?? null
}

const DUE = `FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.batch_id = :batchId AND i.state = 'READY' AND i.due_at <= :nowMs AND ${WITHIN_CANARY}`
const FREE = `SELECT 1 ${DUE} AND ${ORDER_IS_FREE} LIMIT 1`
const OTHER = `
    SELECT (
      SELECT e.batch_id FROM instruction e
      WHERE e.account_id = i.account_id AND e.order_key = i.order_key AND e.id < i.id AND e.order_key IS NOT NULL
        AND e.state IN ('READY', 'SENDING', 'IN_DOUBT') AND e.batch_id <> i.batch_id LIMIT 1) AS other
    ${DUE} ORDER BY i.due_at LIMIT 1`

function* waitsFor(batchId: BatchId, nowMs: number): Script<BatchId | null> {
  if (yield* exists(FREE, { batchId, nowMs })) return null
  return (yield* one<{ other: BatchId | null }>(OTHER, { batchId, nowMs }))?.other ?? null
}

/** Reasons that name a row differ from row to row; more of them say no more. */
const REASONS_MOST = 1_000

const REASONS = `
    SELECT i.state, i.reason, CASE WHEN i.row_no <= coalesce(b.purged_to, 0) THEN 1 ELSE 0 END AS "isPurged", count(*) AS count
    FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.batch_id = :batchId AND i.state IN ('DECLINED', 'FAILED', 'IN_DOUBT')
    GROUP BY 1, 2, 3 ORDER BY 4 DESC, 2 LIMIT ${REASONS_MOST}`

function* reasonsOf(batchId: BatchId): Script<ReasonTotal[]> {
  const found = yield* all<Pick<ReasonTotal, 'state' | 'reason' | 'count'> & { isPurged: number }>(REASONS, { batchId })
  return found.map(({ state, reason, count, isPurged }) => ({
    ...{ state, count, reason: isPurged === 1 ? null : reason },
    categoryKept: isPurged === 1 ? parseReasonCategory(reason) : null,
  }))
}

const SETTLED_OF_LATE = `
    WITH latest AS MATERIALIZED (SELECT row_id, to_state, at FROM move ORDER BY id DESC LIMIT :among)
    SELECT (
        SELECT count(*) FROM latest m JOIN instruction i ON i.id = m.row_id
        WHERE m.at >= :sinceMs AND i.batch_id = :batchId AND m.to_state NOT IN ('READY', 'SENDING')) AS rows,
      (SELECT CASE WHEN count(*) < :among THEN :sinceMs ELSE @greatest(min(at), :sinceMs) END FROM latest) AS "sinceMs"`
