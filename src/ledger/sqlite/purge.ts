// Personal data of finished batches, taken out of the record. What keeps an instruction from being sent twice stays: its
// reference and content, its money and target, its states and moves, sums and transaction ids.

import type { DatabaseSync } from 'node:sqlite'
import type { BatchId } from '../../domain/ids.ts'
import type { PurgePlan, PurgeRequest, PurgeStep } from '../../domain/purge.ts'
import { isFinal, STATES } from '../../domain/states.ts'
import type { PurgeLedger } from '../../ports/ledger/purge.ts'
import type { RecordAct } from './acts.ts'
import type { Committer, Timing } from './commit.ts'
import { findRows } from './found.ts'

export const PURGE = `
  ALTER TABLE batch ADD COLUMN purged_at INTEGER; -- when the last purge of it began
  ALTER TABLE batch ADD COLUMN purged_to INTEGER NOT NULL DEFAULT 0; -- rows up to this one have been purged
`

/** A step is a transaction: it stays far below the 50 ms that a worker may be made to wait. */
const ROWS_PER_STEP = 200

/** What a purge tells that it took. */
const TAKEN_OF_ROWS = 'cells, details, answers of the gateway, reasons except those of resolutions'
const TAKEN_OF_REFUSALS = 'texts and reasons'

const LAST_ROW = '(SELECT max(row_no) FROM instruction WHERE batch_id = b.id)'
const OPEN_STATES = STATES.filter((state) => !isFinal(state))
const IS_OPEN = `EXISTS (SELECT 1 FROM tally t WHERE t.batch_id = b.id AND t.count > 0
  AND t.state IN (${OPEN_STATES.map((state) => `'${state}'`).join(', ')}))`

/** Over before that moment, and nothing can come to it any more: a batch of messages takes what comes on its day. */
const CANDIDATES = `
  SELECT b.id AS batchId, ${LAST_ROW} - b.purged_to AS rows, ${IS_OPEN} AS isOpen, b.late_answers AS lateAnswers
  FROM batch b
  WHERE b.stage = 'open' AND b.created_at < ?1 AND b.purged_to < ${LAST_ROW}
    AND (b.source = 'file' OR b.source_day < date(?1 / 1000, 'unixepoch'))
    AND (${IS_OPEN} OR NOT EXISTS (
      SELECT 1 FROM instruction i WHERE i.batch_id = b.id AND max(coalesce(i.completed_at, 0), coalesce(i.noted_at, 0)) >= ?1))
  ORDER BY b.created_at, b.id`

export interface PurgeParts {
  readonly act: RecordAct
  readonly timing: Timing
  /** Whether results with every row of it, as it is now, were written once. */
  readonly isReconciled: (batchId: BatchId) => boolean
}

export function preparePurging(
  db: DatabaseSync,
  committer: Committer,
  { act, timing, isReconciled }: PurgeParts,
): PurgeLedger {
  const purgeBatch = prepareBatchPurge(db, committer, act)
  const purgeRefusals = prepareRefusalPurge(db, committer, act)
  return {
    toPurge: async (beforeMs) => planOf(db, beforeMs, isReconciled),
    async *purge(request) {
      for (const { batchId } of planOf(db, request.beforeMs, isReconciled).batches) yield* purgeBatch(batchId, request)
      yield* purgeRefusals(request)
    },
    clearLog: () => clearLog(db, timing),
  }
}

function planOf(db: DatabaseSync, beforeMs: number, isReconciled: (batchId: BatchId) => boolean): PurgePlan {
  const candidates = db.prepare(CANDIDATES)
  const found = findRows<{ batchId: BatchId; rows: number; isOpen: number; lateAnswers: number }>(candidates, beforeMs)
  const judged = found.map(({ batchId, rows, isOpen, lateAnswers }) => {
    const why = isOpen === 1 ? 'open' : lateAnswers > 0 ? 'late-answers' : isReconciled(batchId) ? null : 'results'
    return { batchId, rows, why } as const
  })
  const { n: refusals } = db.prepare("SELECT count(*) AS n FROM refusal WHERE at < ? AND text <> ''").get(beforeMs) as {
    n: number
  }
  return {
    batches: judged.flatMap(({ batchId, rows, why }) => (why === null ? [{ batchId, rows }] : [])),
    left: judged.flatMap(({ batchId, why }) => (why === null ? [] : [{ batchId, why }])),
    refusals,
  }
}

/** Broken off, it goes on behind the last row that was purged. */
function prepareBatchPurge(db: DatabaseSync, committer: Committer, act: RecordAct) {
  const batchOf = db.prepare(`
    SELECT account_id AS accountId, (SELECT name FROM account WHERE id = account_id) AS merchant, purged_to AS purgedTo, ${LAST_ROW} AS lastRow FROM batch b WHERE id = ? AND NOT ${IS_OPEN}`)
  const lastOf = db.prepare(`
    SELECT max(row_no) AS last, count(*) AS count FROM (
      SELECT row_no FROM instruction WHERE batch_id = ? AND row_no > ? ORDER BY row_no LIMIT ${ROWS_PER_STEP})`)
  // Of a duplicate it names the fields in which it differs: without it the row would pass for the same instruction.
  const blank = db.prepare(`
    UPDATE instruction SET cells = '[]', details = NULL, reason = CASE state WHEN 'DUPLICATE' THEN reason END WHERE batch_id = ? AND row_no > ? AND row_no <= ?`)
  const refused = db.prepare(`
    SELECT id, reason FROM instruction WHERE batch_id = ? AND row_no > ? AND row_no <= ? AND state IN ('DECLINED', 'FAILED')`)
  const keepCategory = db.prepare('UPDATE instruction SET reason = ? WHERE id = ?')
  // Why a person said what became of a row is evidence, like the reason of an act.
  const blankMoves = db.prepare(`
    UPDATE move SET answer = NULL, reason = CASE cause WHEN 'resolve' THEN reason END
    WHERE row_id IN (SELECT id FROM instruction WHERE batch_id = ? AND row_no > ? AND row_no <= ?)
      AND (answer IS NOT NULL OR reason IS NOT NULL)`)
  const keep = db.prepare('UPDATE batch SET purged_to = ?, purged_at = ? WHERE id = ?')

  function step(batchId: BatchId, isFirst: boolean, request: PurgeRequest): number {
    const batch = batchOf.get(batchId) as
      | { accountId: number; merchant: string; purgedTo: number; lastRow: number }
      | undefined
    if (batch === undefined) return 0
    const { purgedTo, lastRow, accountId, merchant } = batch
    const { last, count } = lastOf.get(batchId, purgedTo) as { last: number | null; count: number }
    if (last === null) return 0
    // The word by which reports count a refusal is no personal data; without its text it could not be told any more.
    const reasons = refused.all(batchId, purgedTo, last) as Array<{ id: number; reason: string | null }>
    blank.run(batchId, purgedTo, last)
    for (const { id, reason } of reasons) keepCategory.run(request.categoryOf(merchant, reason ?? ''), id)
    blankMoves.run(batchId, purgedTo, last)
    keep.run(last, request.nowMs, batchId)
    const { actor, reason, nowMs: atMs, beforeMs } = request
    const details = { rows: lastRow - purgedTo, before: new Date(beforeMs).toISOString(), taken: TAKEN_OF_ROWS }
    if (isFirst) act({ what: 'purge', atMs, actor, batchId, accountId, reason, details })
    return count
  }

  return async function* (batchId: BatchId, request: PurgeRequest): AsyncGenerator<PurgeStep> {
    for (let isFirst = true; ; isFirst = false) {
      const rows = await committer.write(() => step(batchId, isFirst, request), { kind: 'faulting' })
      if (rows === 0) return
      yield { batchId, rows }
    }
  }
}

/** Messages that were not taken: that they were refused stays, and what they said goes. */
function prepareRefusalPurge(db: DatabaseSync, committer: Committer, act: RecordAct) {
  const next = db.prepare(`
    SELECT source_id AS id FROM refusal WHERE source_id > ? AND at < ? AND text <> '' ORDER BY source_id LIMIT ${ROWS_PER_STEP}`)
  const blank = db.prepare("UPDATE refusal SET text = '', reasons = '[]' WHERE source_id = ?")

  function idsAfter(after: string | null, beforeMs: number): readonly string[] {
    return (next.all(after ?? '', beforeMs) as Array<{ id: string }>).map(({ id }) => id)
  }

  return async function* ({ beforeMs, nowMs, actor, reason }: PurgeRequest): AsyncGenerator<PurgeStep> {
    let after: string | null = null
    for (;;) {
      const ids = idsAfter(after, beforeMs)
      const last = ids.at(-1)
      if (last === undefined) return
      const isFirst = after === null
      const step = () => {
        for (const id of ids) blank.run(id)
        const details = { messages: 'refused', before: new Date(beforeMs).toISOString(), taken: TAKEN_OF_REFUSALS }
        if (isFirst) act({ what: 'purge', atMs: nowMs, actor, reason, details })
      }
      await committer.write(step, { kind: 'faulting' })
      after = last
      yield { batchId: null, rows: ids.length }
    }
  }
}

const CLEAR_WITHIN_MS = 5_000
const LOOK_AGAIN_MS = 20

/** The write-ahead log still has the pages as they were. false: other processes read or write all the time. */
async function clearLog(db: DatabaseSync, timing: Timing): Promise<boolean> {
  const untilMs = timing.nowMs() + CLEAR_WITHIN_MS
  for (;;) {
    db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() // most of the work, and it blocks no one
    const { busy } = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number }
    if (busy === 0) return true
    if (timing.nowMs() > untilMs) return false
    await new Promise<void>((resolve) => timing.later(resolve, LOOK_AGAIN_MS))
  }
}
