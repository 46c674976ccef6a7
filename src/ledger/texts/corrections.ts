// A corrected file: the original was run with its bad rows left out, mended, and comes again. Rows without a reference of their own
// get one from the bytes of the file, so that every row looks new; which rows they are is told by their content.

import type { Total } from '../../domain/batch.ts'
import type { Correction, DraftHeader, EarlierBatch } from '../../domain/draft.ts'
import type { BatchId } from '../../domain/ids.ts'
import type { State } from '../../domain/states.ts'
import { COUNTS_ALWAYS, COUNTS_FOR_A_WHILE } from '../rules/lookalikes.ts'
import { listOf } from './conditions.ts'
import { lookalikeSince, STILL_COUNTS } from './lookalikes.ts'
import { all, allExact, change, count, exists, type Script } from './script.ts'

/** After the rows have met what is recorded under their own references: those that earlier files hold are not sent again. */
export function* meetEarlierFiles(header: DraftHeader): Script<void> {
  if (header.fedBack || !(yield* hasEarlierFiles(header))) return
  yield* findEarlier(header)
  if (header.onlyNew !== true && !(yield* holdsMost(header))) {
    yield* change('UPDATE draft_row SET earlier = NULL WHERE earlier IS NOT NULL')
    return
  }
  yield* change(
    `
    UPDATE draft_row SET state = 'DUPLICATE', holds_reference = 0, duplicate_of = earlier, completed_at = :now
    WHERE earlier IS NOT NULL`,
    { now: header.nowMs },
  )
}

function* hasEarlierFiles({ accountId: account, runKey }: DraftHeader): Script<boolean> {
  return yield* exists(
    `
    SELECT 1 FROM batch WHERE account_id = :account AND stage = 'open' AND source = 'file'
      AND run_key IS NOT DISTINCT FROM :runKey LIMIT 1`,
    { account, runKey },
  )
}

/**
 * One row of an earlier file for one row of this one: the same content, and at least one of the two references is made from the bytes
 * of its file. Two references of people's own name two instructions. What was executed or may be comes first.
 */
function* findEarlier({ accountId: account, runKey }: DraftHeader): Script<void> {
  yield* change(
    `
    UPDATE draft_row AS d SET earlier = m.earlier FROM (
      SELECT r.row_no, p.id AS earlier FROM (
        SELECT row_no, reference, lookalike, content, row_number() OVER (PARTITION BY lookalike, content ORDER BY row_no) AS nth
        FROM draft_row WHERE state = 'READY' AND supersedes IS NULL AND lookalike IS NOT NULL) AS r
      JOIN (
        SELECT i.id, i.reference, i.lookalike, i.content, row_number() OVER (
          PARTITION BY i.lookalike, i.content
          ORDER BY CASE WHEN i.state IN (${COUNTING}) OR i.money_warning = 1 THEN 0 ELSE 1 END, i.id) AS nth
        FROM instruction i JOIN batch b ON b.id = i.batch_id
        WHERE i.account_id = :account AND i.lookalike IN (SELECT lookalike FROM draft_row WHERE state = 'READY')
          AND i.lookalike IS NOT NULL AND i.holds_reference = 1 AND i.run_key IS NOT DISTINCT FROM :runKey
          AND b.stage = 'open' AND b.source = 'file'
          AND NOT ${isInFile('i')}) AS p
      ON p.lookalike = r.lookalike AND p.content = r.content AND p.nth = r.nth
      WHERE r.reference @is_derived OR p.reference @is_derived) AS m
    WHERE d.row_no = m.row_no`,
    { account, runKey },
  )
}

const COUNTING = listOf([...COUNTS_ALWAYS, ...COUNTS_FOR_A_WHILE])

/** Without being told, a file is taken for a corrected one where most of its rows would be asked about one by one. */
function* holdsMost(header: DraftHeader): Script<boolean> {
  const asked = yield* count(
    `
    SELECT count(*) AS n FROM draft_row d JOIN instruction i ON i.id = d.earlier JOIN batch b ON b.id = i.batch_id
    WHERE ${STILL_COUNTS}`,
    lookalikeSince(header),
  )
  const sound = yield* count("SELECT count(*) AS n FROM draft_row WHERE state = 'READY'")
  return asked > 1 && asked * 2 >= sound
}

/**
 * A row that is left may be one of an earlier file with another amount: it names the same target as a row that is in this file no
 * more and was sent or will be. Sent beside that row it would not be its correction but a second payment.
 */
export function* findChanged(): Script<void> {
  yield* change(`
    UPDATE draft_row AS d SET changed_row = m.id FROM (
      SELECT i.operation, ${TARGET('i')} AS target, max(i.id) AS id FROM instruction i
      WHERE i.batch_id IN (SELECT o.batch_id FROM draft_row e JOIN instruction o ON o.id = e.duplicate_of WHERE e.earlier IS NOT NULL)
        AND i.holds_reference = 1 AND (i.state IN (${COUNTING}) OR i.money_warning = 1) AND NOT ${isInFile('i')}
      GROUP BY 1, 2) AS m
    WHERE m.operation = d.operation AND m.target = ${TARGET('d')}
      AND d.state = 'READY' AND d.supersedes IS NULL AND d.like_row IS NULL AND d.like_recorded IS NULL`)
}

/** Whether the file has the recorded row, with the same content. */
export function isInFile(row: 'i'): string {
  return `EXISTS (SELECT 1 FROM draft_row t WHERE t.duplicate_of = ${row}.id AND t.content = ${row}.content)`
}

const TARGET = (row: 'd' | 'i') =>
  `coalesce(ltrim(${row}.order_id, '0'), '') || ' ' || coalesce(ltrim(${row}.vault_id, '0'), '') || ' ' || coalesce(${row}.card, '')`

/** null: no row of the file is one of an earlier file under another reference. */
export function* correctionOf(): Script<Correction | null> {
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
  return {
    rows: batches.reduce((sum, { rows }) => sum + rows, 0),
    batches: batches.map((batch) => ({
      ...batch,
      totals: totals
        .filter(({ batchId }) => batchId === batch.batchId)
        .map(({ batchId: _, ...total }) => ({ ...total, count: Number(total.count) })),
    })),
  }
}
