// Personal data of finished batches, taken out of the record. What keeps an instruction from being sent twice stays: its
// reference and content, its money and target, its states and moves, sums and transaction ids.

import type { BatchId } from '../../domain/ids.ts'
import type { PurgePlan, PurgeRequest, PurgeStep } from '../../domain/purge.ts'
import { isFinal, STATES } from '../../domain/states.ts'
import type { PurgeLedger } from '../../ports/ledger/purge.ts'
import { NAMED, sourceOf } from '../rules/arriving.ts'
import { listOf } from './conditions.ts'
import { type Engine, FAULTING } from './engine.ts'
import { viewOf } from './reading/batch-view.ts'
import { recordAct } from './record/acts.ts'
import { all, change, count, one, type Script } from './script.ts'

/** A step is a transaction: it stays far below the 50 ms that a worker may be made to wait. */
const ROWS_PER_STEP = 200

/** What a purge tells that it took. */
const TAKEN_OF_ROWS = 'cells, details, answers of the gateway, reasons except those of resolutions'
const TAKEN_OF_REFUSALS = 'texts and reasons'

const LAST_ROW = '(SELECT max(row_no) FROM instruction WHERE batch_id = b.id)'
const IS_OPEN = `EXISTS (SELECT 1 FROM tally t WHERE t.batch_id = b.id AND t.count > 0
  AND t.state IN (${listOf(STATES.filter((state) => !isFinal(state)))}))`

/** Over before that moment, and nothing can come to it any more: a batch of messages takes what comes on its day, and a named one, once it is purged, none. */
const CANDIDATES = `
    SELECT b.id AS "batchId", ${LAST_ROW} - b.purged_to AS rows, CASE WHEN ${IS_OPEN} THEN 1 ELSE 0 END AS "isOpen",
      b.late_answers AS "lateAnswers"
    FROM batch b
    WHERE b.stage = 'open' AND b.created_at < :beforeMs AND b.purged_to < ${LAST_ROW}
      AND (b.source = 'file' OR b.source_day < :beforeDay OR substr(b.source_day, 1, ${NAMED.length}) = '${NAMED}')
      AND (${IS_OPEN} OR NOT EXISTS (
        SELECT 1 FROM instruction i WHERE i.batch_id = b.id AND @greatest(coalesce(i.completed_at, 0), coalesce(i.noted_at, 0)) >= :beforeMs))
    ORDER BY b.created_at, b.id`

export function purgingOn(engine: Engine): Omit<PurgeLedger, 'clearLog'> {
  return {
    toPurge: (beforeMs) => engine.read(() => planOf(beforeMs)),
    async *purge(request) {
      const { batches } = await engine.read(() => planOf(request.beforeMs))
      for (const { batchId } of batches) yield* purgeBatch(engine, batchId, request)
      yield* purgeRefusals(engine, request)
    },
  }
}

interface Candidate {
  readonly batchId: BatchId
  readonly rows: number
  readonly isOpen: number
  readonly lateAnswers: number
}

function* planOf(beforeMs: number): Script<PurgePlan> {
  const batches: PurgePlan['batches'][number][] = []
  const left: { batchId: BatchId; why: 'open' | 'late-answers' | 'results' }[] = []
  const candidates = yield* all<Candidate>(CANDIDATES, { beforeMs, beforeDay: sourceOf('day', beforeMs) })
  for (const { batchId, rows, isOpen, lateAnswers } of candidates) {
    if (isOpen === 1) left.push({ batchId, why: 'open' })
    else if (lateAnswers > 0) left.push({ batchId, why: 'late-answers' })
    else if (yield* isReconciled(batchId)) batches.push({ batchId, rows })
    else left.push({ batchId, why: 'results' })
  }
  const refusals = yield* count("SELECT count(*) AS n FROM refusal WHERE at < :beforeMs AND text <> ''", { beforeMs })
  return { batches, left, refusals }
}

/** Whether results with every row of it, as it is now, were written once. Those of messages seldom are: their producers are told. */
function* isReconciled(batchId: BatchId): Script<boolean> {
  const { source, resultsPath, resultsStale } = yield* viewOf(batchId)
  return source === 'queue' || (resultsPath !== null && !resultsStale)
}

const BATCH = `
    SELECT b.account_id AS "accountId", a.name AS merchant, b.purged_to AS "purgedTo", ${LAST_ROW} AS "lastRow"
    FROM batch b JOIN account a ON a.id = b.account_id WHERE b.id = :batchId AND NOT ${IS_OPEN}`

const LAST_OF_STEP = `
    SELECT max(row_no) AS last, count(*) AS count FROM (
      SELECT row_no FROM instruction WHERE batch_id = :batchId AND row_no > :purgedTo ORDER BY row_no LIMIT ${ROWS_PER_STEP}) AS step`

const IN_STEP = 'batch_id = :batchId AND row_no > :purgedTo AND row_no <= :last'

// Of a duplicate it names the fields in which it differs: without it the row would pass for the same instruction.
const BLANK = `
    UPDATE instruction SET cells = '[]', details = NULL, reason = CASE state WHEN 'DUPLICATE' THEN reason END WHERE ${IN_STEP}`

const PURGED_TO = 'UPDATE batch SET purged_to = :last, purged_at = :atMs WHERE id = :batchId'

const REFUSED = `SELECT id, reason FROM instruction WHERE ${IN_STEP} AND state IN ('DECLINED', 'FAILED')`

// Why a person said what became of a row is evidence, like the reason of an act.
const BLANK_MOVES = `
    UPDATE move SET answer = NULL, reason = CASE cause WHEN 'resolve' THEN reason END
    WHERE row_id IN (SELECT id FROM instruction WHERE ${IN_STEP}) AND (answer IS NOT NULL OR reason IS NOT NULL)`

interface PurgedBatch {
  readonly accountId: number
  readonly merchant: string
  readonly purgedTo: number
  readonly lastRow: number
}

/** Broken off, it goes on behind the last row that was purged. */
async function* purgeBatch(engine: Engine, batchId: BatchId, request: PurgeRequest): AsyncGenerator<PurgeStep> {
  for (let isFirst = true; ; isFirst = false) {
    const isFirstStep = isFirst
    const rows = await engine.write(() => purgeStep(batchId, isFirstStep, request), FAULTING)
    if (rows === 0) return
    yield { batchId, rows }
  }
}

function* purgeStep(batchId: BatchId, isFirst: boolean, request: PurgeRequest): Script<number> {
  const batch = yield* one<PurgedBatch>(BATCH, { batchId })
  if (batch === undefined) return 0
  const { purgedTo, lastRow, accountId, merchant } = batch
  const step = (yield* one<{ last: number | null; count: number }>(LAST_OF_STEP, { batchId, purgedTo }))!
  const { last } = step
  if (last === null) return 0
  const rows = { batchId, purgedTo, last }
  // The word by which reports count a refusal is no personal data; without its text it could not be told any more.
  const refused = yield* all<{ id: number; reason: string | null }>(REFUSED, rows)
  yield* change(BLANK, rows)
  for (const { id, reason } of refused) {
    const category = request.categoryOf(merchant, reason ?? '')
    yield* change('UPDATE instruction SET reason = :category WHERE id = :id', { category, id })
  }
  yield* change(BLANK_MOVES, rows)
  yield* change('DELETE FROM proposal WHERE batch_id = :batchId', { batchId })
  const { actor, reason, nowMs: atMs, beforeMs } = request
  yield* change(PURGED_TO, { last, atMs, batchId })
  const details = { rows: lastRow - purgedTo, before: new Date(beforeMs).toISOString(), taken: TAKEN_OF_ROWS }
  if (isFirst) yield* recordAct({ what: 'purge', atMs, actor, batchId, accountId, reason, details })
  return step.count
}

const REFUSALS = `
    SELECT source_id AS id FROM refusal WHERE source_id > :after AND at < :beforeMs AND text <> ''
    ORDER BY source_id LIMIT ${ROWS_PER_STEP}`

/** Messages that were not taken: that they were refused stays, and what they said goes. */
async function* purgeRefusals(engine: Engine, request: PurgeRequest): AsyncGenerator<PurgeStep> {
  const { beforeMs } = request
  for (let after = ''; ; ) {
    const last = after
    const found = await engine.read(() => all<{ id: string }>(REFUSALS, { after: last, beforeMs }))
    const ids = found.map(({ id }) => id)
    if (ids.length === 0) return
    await engine.write(() => blankRefusals(ids, last === '', request), FAULTING)
    after = ids.at(-1) as string
    yield { batchId: null, rows: ids.length }
  }
}

function* blankRefusals(
  ids: readonly string[],
  isFirst: boolean,
  { beforeMs, nowMs, actor, reason }: PurgeRequest,
): Script<void> {
  for (const id of ids) yield* change("UPDATE refusal SET text = '', reasons = '[]' WHERE source_id = :id", { id })
  const details = { messages: 'refused', before: new Date(beforeMs).toISOString(), taken: TAKEN_OF_REFUSALS }
  if (isFirst) yield* recordAct({ what: 'purge', atMs: nowMs, actor, reason, details })
}
