// A corrected file: the original was run with its bad rows left out, mended, and comes again. Rows without a reference of their own
// get one from the bytes of the file, so that every row looks new; which rows they are is told by their content.

import type { Total } from '../../../domain/batch.ts'
import type { Correction, DraftHeader, DraftReview, EarlierBatch } from '../../../domain/draft.ts'
import type { BatchId } from '../../../domain/ids.ts'
import type { State } from '../../../domain/states.ts'
import { EXECUTED, laterAttempt } from '../conditions.ts'
import { all, allExact, change, count, exists, type Script, type Values } from '../script.ts'
import { IS_LIKE } from './draft-rows.ts'
import {
  COUNTING,
  cameAfter,
  EARLIER_ATTEMPT,
  FORMER_ROW,
  IS_ONE_MADE,
  isAfter,
  lookalikeSince,
  MAY_BE_LOST,
  MOVED_NOTHING,
  OTHER_RUN_KEY,
  STILL_COUNTS,
} from './lookalikes.ts'

/** After the rows have met what is recorded under their own references: those that earlier files hold are not sent again. */
export function* meetEarlierFiles(header: DraftHeader): Script<void> {
  if (header.fedBack || !(yield* hasEarlierFiles(header))) return
  yield* findEarlier(header)
  if (!isToldSo(header) && !(yield* holdsMost(header, IS_MEANT))) {
    if (yield* holdsMost(header, WAS_SENT)) yield* askAboutEarlier()
    yield* change('UPDATE draft_row SET earlier = NULL WHERE earlier IS NOT NULL')
    return
  }
  yield* change(
    `
    UPDATE draft_row AS d SET state = 'DUPLICATE', holds_reference = 0, duplicate_of = earlier, completed_at = :now,
      given = coalesce(given, reference)
    WHERE d.earlier IS NOT NULL AND NOT EXISTS (SELECT 1 FROM instruction i WHERE i.id = d.earlier AND ${NEVER_SENT})`,
    { now: header.nowMs },
  )
}

/** Only what is new is wanted, or rows are to run again: then an earlier file is meant, however old it is. */
function isToldSo({ onlyNew, retry, reattempt = null }: DraftHeader): boolean {
  return onlyNew === true || retry.length > 0 || reattempt !== null
}

/** Whether row `i` was cancelled and no request of it can have left, nor of any other row under its reference. */
const UNSENT = `i.state = 'CANCELLED' AND i.ever_in_doubt = 0 AND i.reattempt_of IS NULL AND i.made = 1
  AND NOT EXISTS (SELECT 1 FROM instruction e WHERE ${EXECUTED})`

/** Whether act `s` cancels row `i` alone. */
export const CANCELS_ROW = `s.batch_id = i.batch_id AND s.what = 'cancel-row' AND s.details = ('{"row":' || i.row_no || '}')`

/** Whether a person cancelled row `i` by its reference: they meant that one instruction, and no later file undoes it. */
export const CANCELLED_ALONE = `EXISTS (SELECT 1 FROM act s WHERE ${CANCELS_ROW})`

/** Whether row `i` was cancelled unsent together with its batch: in a corrected file it is sent. */
export const NEVER_SENT = `${UNSENT} AND NOT ${CANCELLED_ALONE}`

/**
 * A row that was cancelled before it was sent runs as that row, under its reference: so it cannot be retried from its first results
 * as well. One that has a reference of its own now runs under that.
 */
export function* runCancelled(): Script<void> {
  yield* change(`
    UPDATE draft_row AS d SET supersedes = i.id, given = coalesce(d.given, d.reference), reference = i.reference, attempt = i.attempt
    FROM instruction i
    WHERE d.earlier IS NOT NULL AND d.state = 'READY' AND i.id = d.earlier AND ${NEVER_SENT} AND d.made = 1
      AND NOT EXISTS (SELECT 1 FROM draft_row t WHERE t.reference = i.reference)`)
}

function* hasEarlierFiles({ accountId: account, runKey }: DraftHeader): Script<boolean> {
  return yield* exists(
    `
    SELECT 1 FROM batch WHERE account_id = :account AND stage = 'open' AND source = 'file'
      AND (run_key = :runKey OR run_key IS NULL OR CAST(:runKey AS TEXT) IS NULL) LIMIT 1`,
    { account, runKey },
  )
}

/**
 * One row of an earlier file for one row of this one: the same content, and at least one of the two references is made from the bytes
 * of its file. Two references of people's own name two instructions: rows with one take what the others leave. Of a card only the mask
 * is recorded, which other cards share: such rows are asked about.
 */
function* findEarlier(header: DraftHeader): Script<void> {
  yield* matchEarlier(header, 'r.made = 1', 'TRUE')
  yield* matchEarlier(header, 'r.made = 0', 'i.made = 1')
}

/** What was executed or may be comes first, and what was cancelled unsent comes last. */
function* matchEarlier(header: DraftHeader, row: string, earlier: string): Script<void> {
  yield* change(
    `
    UPDATE draft_row AS d SET earlier = m.earlier FROM (
      SELECT r.row_no, p.id AS earlier FROM (
        SELECT r.row_no, r.lookalike, r.content, row_number() OVER (PARTITION BY r.lookalike, r.content ORDER BY r.row_no) AS nth
        FROM draft_row r WHERE r.state = 'READY' AND r.supersedes IS NULL AND r.declined_row IS NULL AND r.card IS NULL AND r.lookalike IS NOT NULL AND ${row}) AS r
      JOIN (
        SELECT i.id, i.lookalike, i.content, row_number() OVER (
          PARTITION BY i.lookalike, i.content
          ORDER BY CASE WHEN ${STILL_COUNTS} THEN 0 WHEN i.state IN (${COUNTING}) OR i.money_warning = 1 THEN 1
            WHEN NOT (${NEVER_SENT}) THEN 2 ELSE 3 END, i.id DESC) AS nth
        FROM instruction i JOIN batch b ON b.id = i.batch_id CROSS JOIN (SELECT :runKey AS run_key) d
        WHERE i.account_id = :account AND i.lookalike IN (SELECT r.lookalike FROM draft_row r WHERE r.state = 'READY' AND ${row})
          AND i.lookalike IS NOT NULL AND i.holds_reference = 1 AND i.run_key IS NOT DISTINCT FROM :runKey
          AND b.stage = 'open' AND b.source = 'file' AND ${earlier}
          AND i.id NOT IN (SELECT t.earlier FROM draft_row t WHERE t.earlier IS NOT NULL)
          AND NOT EXISTS (SELECT 1 FROM draft_row t WHERE t.duplicate_of = i.id) AND ${laterAttempt('i')} IS NULL) AS p
      ON p.lookalike = r.lookalike AND p.content = r.content AND p.nth = r.nth) AS m
    WHERE d.row_no = m.row_no`,
    { ...lookalikeSince(header), runKey: header.runKey },
  )
}

/** Whether row `i` shows that its file is meant: the file is recent, or has the same run key, which names one month however long ago. */
const IS_MEANT = `(${STILL_COUNTS} OR (CAST(:runKey AS TEXT) IS NOT NULL AND NOT (${MOVED_NOTHING}))
  OR (b.created_at >= :approvedSince AND ${UNSENT}))`

const WAS_SENT = `NOT (${MOVED_NOTHING})`

/**
 * Of long ago, it may be the file of another month, or the same one once more. No time tells: each such row is asked about.
 */
function* askAboutEarlier(): Script<void> {
  yield* change(`
    UPDATE draft_row AS d SET like_recorded = d.earlier
    WHERE d.earlier IS NOT NULL AND d.state = 'READY' AND EXISTS (
      SELECT 1 FROM instruction i WHERE i.id = d.earlier AND ${WAS_SENT})`)
}

/**
 * Without being told, a file is taken for a corrected one where most of its rows would be asked about one by one, or were cancelled
 * lately before they were sent. `shows`: that row `i` of batch `b` is a reason to take it for one.
 */
function* holdsMost(header: DraftHeader, shows: string): Script<boolean> {
  const known = yield* count(
    `
    SELECT count(*) AS n FROM draft_row d JOIN instruction i ON i.id = d.earlier JOIN batch b ON b.id = i.batch_id
    WHERE ${shows}`,
    { ...lookalikeSince(header), runKey: header.runKey },
  )
  return known > 1 && known * 2 >= (yield* countSound())
}

/**
 * A row without a reference of its own may be any row that names the same target, with another amount or date. Sent beside one that was
 * sent or will be, and is not in this file as itself, it would not be its correction but a second payment. So it is asked about, and so
 * is a row with a reference beside a recorded one that had none. The other rows of the batch that a line is of were meant beside it.
 */
export function* findChanged(header: DraftHeader): Script<void> {
  if (!(yield* hasEarlierFiles(header))) return
  yield* markNamed('changed_row', header, {
    rows: 'd.like_row IS NULL AND d.like_recorded IS NULL',
    counts: `${STILL_COUNTS} OR ${cameAfter('d.again')}
          OR (b.stage = 'open' AND NOT (${MOVED_NOTHING}) AND (i.run_key = d.run_key OR ${OF_CORRECTED} OR (:howeverOld = 1 AND ${IS_ALIKE})))`,
    values: { howeverOld: (yield* looksBackForEver(header)) ? 1 : 0 },
  })
}

/** Where an older state was put back, such a row may have run in what was lost. */
export function* findLostChanged(header: DraftHeader, restoredAt: number): Script<void> {
  if (!(yield* hasEarlierFiles(header))) return
  yield* markNamed('lost_row', header, { rows: `NOT (${IS_LIKE})`, counts: MAY_BE_LOST, values: { restoredAt } })
}

/** The batch that row `d` is a line of. */
const LINE_OF = 'coalesce(d.came_batch, (SELECT f.batch_id FROM instruction f WHERE f.id = d.bad_row))'

interface Named {
  /** Which rows `d` are looked at. */
  readonly rows: string
  /** Whether row `i` of batch `b` counts for one of them. */
  readonly counts: string
  readonly values: Values
}

/** Marks rows with the latest row that names their target and counts. */
function* markNamed(column: 'changed_row' | 'lost_row', header: DraftHeader, named: Named): Script<void> {
  const { rows, counts, values } = named
  yield* change(
    `
    WITH corrected AS MATERIALIZED (${CORRECTED})
    UPDATE draft_row AS d SET ${column} = m.id FROM (
      SELECT d.operation, d.order_key, d.target, d.run_key, d.made, d.former, d.again, d.came_batch, max(i.id) AS id
      FROM (
        SELECT DISTINCT d.operation, d.order_key, ${targetOf('d')} AS target, d.run_key, d.made, ${EARLIER_ATTEMPT} AS former, ${FORMER_ROW} AS again, ${LINE_OF} AS came_batch
        FROM draft_row d WHERE d.state = 'READY' AND ${rows}) AS d
      CROSS JOIN instruction i CROSS JOIN batch b
      WHERE ${NAMES_TARGET} AND ${IS_ONE_MADE} AND NOT (${OTHER_RUN_KEY}) AND (${counts})
        AND (d.former IS NULL OR ${isAfter('d.former')}) AND i.batch_id IS DISTINCT FROM d.came_batch
      GROUP BY 1, 2, 3, 4, 5, 6, 7, 8) AS m
    WHERE m.operation = d.operation AND m.target = ${targetOf('d')} AND m.run_key IS NOT DISTINCT FROM d.run_key AND m.made = d.made
      AND m.former IS NOT DISTINCT FROM ${EARLIER_ATTEMPT} AND m.again IS NOT DISTINCT FROM ${FORMER_ROW}
      AND m.came_batch IS NOT DISTINCT FROM ${LINE_OF} AND d.state = 'READY' AND ${rows}`,
    { ...lookalikeSince(header), ...values },
  )
}

/**
 * Row `i` has the operation and the target of `d`. Orders are found by what keeps their rows in order, all else by an index of its own,
 * so that rows with an order cost no more to record.
 */
export const SAME_TARGET = `i.id IN (
          SELECT o.id FROM instruction o WHERE o.account_id = :account AND o.order_key = d.order_key AND o.order_key IS NOT NULL
          UNION ALL
          SELECT c.id FROM instruction c
          WHERE c.account_id = :account AND ${targetOf('c')} = d.target AND c.order_key IS NULL AND c.lookalike IS NOT NULL)
        AND ${targetOf('i')} = d.target AND i.operation = d.operation`

/** Such a row of a file, in batch `b`, which is not in this file as itself. */
const NAMES_TARGET = `${SAME_TARGET}
        AND b.id = i.batch_id AND b.source = 'file' AND (i.holds_reference = 1 OR NOT (${MOVED_NOTHING})) AND NOT ${isInFile('i')}`

/** Recorded rows that are in this file, or in the batches from which its lines come. */
const KNOWN = `
      SELECT coalesce(e.duplicate_of, e.earlier) FROM draft_row e WHERE e.duplicate_of IS NOT NULL OR e.earlier IS NOT NULL
      UNION ALL
      SELECT coalesce(f.duplicate_of, f.id) FROM instruction f WHERE f.batch_id IN (SELECT t.came_batch FROM draft_row t)`

/** The batches that have those, in whichever attempt, as themselves or as duplicates: this file corrects one of them. */
const CORRECTED = `
      SELECT o.batch_id FROM instruction k JOIN instruction o ON o.account_id = k.account_id AND o.reference IN (k.reference, k.reattempt_of) WHERE k.id IN (${KNOWN})
      UNION
      SELECT c.batch_id FROM instruction k JOIN instruction o ON o.account_id = k.account_id AND o.reference IN (k.reference, k.reattempt_of)
        JOIN instruction c ON c.duplicate_of = o.id
      WHERE k.id IN (${KNOWN})`

/** Whether one of those has row `i`, in whichever attempt: then it is looked at, however long ago it was sent. */
const OF_CORRECTED = `EXISTS (
          SELECT 1 FROM instruction o LEFT JOIN instruction c ON c.duplicate_of = o.id
          WHERE o.account_id = i.account_id AND o.reference IN (i.reference, i.reattempt_of)
            AND (o.batch_id IN (SELECT batch_id FROM corrected) OR c.batch_id IN (SELECT batch_id FROM corrected)))`
const IS_ALIKE = "i.lookalike IN (SELECT l.lookalike FROM draft_row l WHERE l.state = 'READY')"

/** As where only new rows are wanted, and nothing shows that the file is one of lately: every date may have changed. */
function* looksBackForEver(header: DraftHeader): Script<boolean> {
  if (header.onlyNew !== true) return false
  const isOfLately = yield* exists(
    `
    SELECT 1 FROM draft_row d JOIN instruction i ON i.id = d.earlier JOIN batch b ON b.id = i.batch_id
    WHERE ${STILL_COUNTS} LIMIT 1`,
    lookalikeSince(header),
  )
  return !isOfLately
}

function* countSound(): Script<number> {
  return yield* count("SELECT count(*) AS n FROM draft_row WHERE state = 'READY'")
}

/** Whether the file has the recorded row, in whichever attempt, with the same content. */
export function isInFile(row: 'i'): string {
  return `EXISTS (SELECT 1 FROM instruction p CROSS JOIN draft_row t
    WHERE p.account_id = :account AND p.reference = ${row}.reference AND t.duplicate_of = p.id AND t.content = ${row}.content)`
}

/** Of a card, what stays when its expiry is mended: the first six and the last four. */
export function targetOf(row: 'd' | 'i' | 'c' | 'r'): string {
  return `coalesce(ltrim(${row}.order_id, '0'), '') || ' ' || coalesce(ltrim(${row}.vault_id, '0'), '') || ' ' || coalesce(substr(${row}.card, 1, 11), '')`
}

/** Rows that this file sends, and an earlier one held and did not. */
export function* cancelledBefore(): Script<DraftReview['cancelledBefore']> {
  return yield* all(`
    SELECT i.batch_id AS "batchId", count(*) AS rows FROM draft_row d JOIN instruction i ON i.id = d.earlier
    WHERE d.earlier IS NOT NULL AND d.state = 'READY' GROUP BY 1 ORDER BY 2 DESC, 1`)
}

/** null: no row of the file is one of an earlier file under another reference. */
export function* correctionOf(header: DraftHeader): Script<Correction | null> {
  const batches = yield* all<Omit<EarlierBatch, 'totals'>>(`
    SELECT b.id AS "batchId", b.file_name AS "fileName", b.created_at AS "createdAtMs", count(*) AS rows
    FROM draft_row d JOIN instruction i ON i.id = d.duplicate_of JOIN batch b ON b.id = i.batch_id
    WHERE d.earlier IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1`)
  if (batches.length === 0) return null
  const totals = yield* allExact<Omit<Total, 'count'> & { batchId: BatchId; state: State; count: bigint }>(`
    SELECT i.batch_id AS "batchId", i.state, i.operation, coalesce(i.currency, '') AS currency, count(*) AS count,
      CAST(coalesce(sum(i.amount_minor), 0) AS BIGINT) AS "amountMinor"
    FROM draft_row d JOIN instruction i ON i.id = d.duplicate_of
    WHERE d.earlier IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY 1, 3, 4, 2`)
  const { approvedSince } = lookalikeSince(header)
  const rowsIn = (of: typeof batches) => of.reduce((sum, { rows }) => sum + rows, 0)
  return {
    rows: rowsIn(batches),
    rowsOfLongAgo: rowsIn(batches.filter(({ createdAtMs }) => createdAtMs < approvedSince)),
    batches: batches.map((batch) => ({
      ...batch,
      totals: totals
        .filter(({ batchId }) => batchId === batch.batchId)
        .map(({ batchId: _, ...total }) => ({ ...total, count: Number(total.count) })),
    })),
  }
}
