// What became of batches and rows, for whatever shows them.

import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../domain/fault.ts'
import type { BatchId } from '../../domain/ids.ts'
import { parseReasonCategory } from '../../domain/reason-categories.ts'
import type { ReasonTotal } from '../../domain/reconciliation.ts'
import type { AccountView, QueryLedger } from '../../ports/ledger/queries.ts'
import { viewOf } from './batch-view.ts'
import type { Committer } from './commit.ts'
import { openFamily } from './family.ts'
import { findRows, inOneMoment } from './found.ts'
import { historyOf } from './history.ts'
import { openReading } from './reading.ts'
import { ORDER_IS_FREE, WITHIN_CANARY } from './rows.ts'

/** `openReader`: another connection to the same ledger, for a read transaction that outlives other work. */
export function createQueries(
  db: DatabaseSync,
  committer: Committer,
  openReader: () => DatabaseSync,
): Omit<QueryLedger, 'heartbeats'> {
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
    openReading: async (batchId, nowMs) => openReading(openReader(), batchId, nowMs),
    openFamily: async (batchId, nowMs) => openFamily(openReader(), batchId, nowMs),
    async resultsWritten(batchId, path, { version, lastMove }) {
      await committer.write(() => void written.run(path, version, lastMove, batchId), { kind: 'faulting' })
    },
    reasons: async (batchId) => reasonsOf(db, batchId),
    history: async (reference) => historyOf(db, reference),
    settledSince: async (batchId, sinceMs) => settledSince(db, batchId, sinceMs),
    waitsFor: async (batchId, nowMs) => inOneMoment(db, () => waitsFor(db, batchId, nowMs)),
    async accounts() {
      const accounts = db.prepare(
        'SELECT id AS accountId, name, url, username, stopped_reason AS stopped, held_reason AS held, rate AS ratePerSecond FROM account ORDER BY id',
      )
      return findRows<AccountView>(accounts)
    },
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

function waitsFor(db: DatabaseSync, batchId: BatchId, nowMs: number): BatchId | null {
  const due = `FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.batch_id = ? AND i.state = 'READY' AND i.due_at <= ? AND ${WITHIN_CANARY}`
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

/** Reasons that name a row differ from row to row; more of them say no more. */
const REASONS_MOST = 1_000

function reasonsOf(db: DatabaseSync, batchId: BatchId): ReasonTotal[] {
  const totals = db.prepare(`
    SELECT i.state, i.reason, i.row_no <= coalesce(b.purged_to, 0) AS isPurged, count(*) AS count
    FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.batch_id = ? AND i.state IN ('DECLINED', 'FAILED', 'IN_DOUBT')
    GROUP BY 1, 2, 3 ORDER BY 4 DESC, 2 LIMIT ${REASONS_MOST}`)
  const found = findRows<Pick<ReasonTotal, 'state' | 'reason' | 'count'> & { isPurged: number }>(totals, batchId)
  return found.map(({ state, reason, count, isPurged }) => ({
    ...{ state, count, reason: isPurged === 1 ? null : reason },
    categoryKept: isPurged === 1 ? parseReasonCategory(reason) : null,
  }))
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
