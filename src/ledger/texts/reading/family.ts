// A file across its corrections, rejects and retries: one reading in which every row tells what became of it in the end, whichever
// batch that was in, and money that moved is told once.

import type { BatchTotal } from '../../../domain/batch.ts'
import type { BatchId } from '../../../domain/ids.ts'
import type { Pages } from '../../../domain/pages.ts'
import type { ReconciliationRow } from '../../../domain/reconciliation.ts'
import type { BatchReading } from '../../../ports/ledger/queries.ts'
import type { Reader } from '../engine.ts'
import { pagesOf, ROWS_PER_PAGE } from '../pages.ts'
import { headOf } from '../record/chain.ts'
import { allExact, change, lists, one, type Script } from '../script.ts'
import { countsIn, viewOf } from './batch-view.ts'
import {
  BASE,
  FILL_SENT,
  FILL_SLOTS,
  findMembers,
  isOfKey,
  keyOf,
  lastOf,
  MEMBER_TABLES,
  TOLD_ELSEWHERE,
} from './family-members.ts'
import { editionOf, type OutcomeValues, outcomeColumns, toOutcome } from './reading.ts'

/** Of the newest file that holds most of the batch; its rows first, then those that only earlier files of the family hold. */
export async function openFamily(reader: Reader, batchId: BatchId, nowMs: number): Promise<BatchReading> {
  const begun = await reader.read(() => begin(batchId))
  return {
    atMs: nowMs,
    ...begun,
    rows: () => rowsOf(reader, begun.columns),
    close: () => reader.close(),
  }
}

const PURGED_AT = `
    SELECT max(purged_at) AS "purgedAtMs" FROM batch WHERE id IN (SELECT batch_id FROM family_member)`

function* begin(batchId: BatchId) {
  for (const table of FAMILY_TABLES) yield* change(table)
  const newest = yield* findMembers(batchId)
  yield* gather(newest)
  const { columns, edition } = yield* editionOf(newest)
  const { purgedAtMs } = (yield* one<{ purgedAtMs: number | null }>(PURGED_AT))!
  const totals = yield* totalsOf()
  const rows = totals.reduce((sum, { count }) => sum + count, 0)
  const batch = { ...(yield* viewOf(newest)), rows, totals, counts: countsIn(totals), purgedAtMs }
  return { batch, columns, edition, auditHead: yield* headOf() }
}

/** Of a reading; temporary. */
export const FAMILY_TABLES = [
  ...MEMBER_TABLES,
  'CREATE TEMP TABLE family (place BIGINT PRIMARY KEY, row_id BIGINT, standing BIGINT NOT NULL)',
]

const OF_NEWEST = `
    INSERT INTO family (place, row_id, standing)
    SELECT r.row_no, r.id, CASE WHEN r.nth = 1 THEN coalesce(${lastOf('r.account_id', 'r.key')}, r.base) ELSE r.id END
    FROM (
      SELECT k.*, row_number() OVER (PARTITION BY k.key ORDER BY k.is_bad, k.row_no) AS nth FROM (
        SELECT i.id, i.row_no, i.account_id, b.id AS base, coalesce((SELECT key FROM family_sent WHERE row_id = i.id), ${keyOf('b')}) AS key, CASE WHEN i.state = 'INVALID' THEN 1 ELSE 0 END AS is_bad
        FROM instruction i ${BASE} WHERE i.batch_id = :batchId) AS k) AS r`

const OF_OTHERS = `
    INSERT INTO family (place, row_id, standing)
    SELECT (SELECT coalesce(max(place), 0) FROM family) + row_number() OVER (ORDER BY o.standing), NULL, o.standing
    FROM (
      SELECT coalesce(m.last, m.bad) AS standing FROM (
        SELECT k.key, ${lastOf('a.account_id', 'k.key')} AS last, (
          SELECT max(r.id) FROM instruction r JOIN family_member o ON o.batch_id = r.batch_id
          WHERE r.account_id = a.account_id AND r.reference = k.key AND r.state = 'INVALID') AS bad
        FROM (SELECT DISTINCT key FROM family_key) AS k JOIN batch a ON a.id = :batchId
        WHERE k.key NOT IN (SELECT key FROM family_key WHERE batch_id = :batchId UNION ALL SELECT key FROM family_sent)) AS m
      WHERE m.last IS NOT NULL OR (m.bad IS NOT NULL AND m.key NOT IN (${TOLD_ELSEWHERE}))) AS o`

/**
 * Which recorded row stands for each row of the newest file: the last attempt under its key. Of several rows of one key only one; the
 * others tell of themselves. Then the keys that only other members have, unless a bad row was mended under another reference.
 */
function* gather(newest: BatchId): Script<void> {
  yield* change(FILL_SLOTS)
  yield* change(FILL_SENT, { batchId: newest })
  yield* change(OF_NEWEST, { batchId: newest })
  yield* change(OF_OTHERS, { batchId: newest })
}

const TOTALS = `
    SELECT coalesce(s.operation, '') AS operation, coalesce(s.currency, '') AS currency, s.state, count(*) AS count,
      coalesce(sum(s.amount_minor), 0) AS "amountMinor"
    FROM family f JOIN instruction s ON s.id = f.standing GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`

function* totalsOf(): Script<BatchTotal[]> {
  const sums = yield* allExact<Omit<BatchTotal, 'count'> & { count: bigint }>(TOTALS)
  return sums.map((sum) => ({ ...sum, count: Number(sum.count) }))
}

type FamilyValues = readonly [
  place: number,
  line: number,
  cells: string | null,
  /** Of the cells; null: those of the newest file. */
  cellColumns: string | null,
  batchId: BatchId,
  rowNo: number,
  changed: string | null,
  moved: string | null,
  ...outcome: OutcomeValues,
]

const PAGE = `
    SELECT f.place, coalesce(i.line, s.line), coalesce(i.cells, s.cells), CASE WHEN i.id IS NULL THEN sb.columns END,
      s.batch_id, s.row_no,
      CASE WHEN i.id IS NULL THEN 'the newest file does not have this row'
        WHEN i.id = s.id THEN CASE WHEN i.state = 'DUPLICATE' THEN 'another row of the file is the same instruction, and tells what became of it' END
        WHEN i.state = 'DUPLICATE' AND i.reason IS NOT NULL THEN 'the newest file asks for something else (' || i.reason || ')'
        WHEN i.state = 'INVALID' AND EXISTS (SELECT 1 FROM instruction e
          WHERE ${isOfKey('e', 's.account_id', 'coalesce(s.reattempt_of, s.reference)')}
          AND e.id < i.id AND e.state NOT IN ('INVALID', 'DUPLICATE')) THEN 'the newest file has this row otherwise, and it was not sent so'
        END,
      CASE WHEN s.state NOT IN ('INVALID', 'DUPLICATE') THEN (
        SELECT string_agg('row ' || e.row_no || ' of batch ' || e.batch_id || ': ' || e.warning, '; ' ORDER BY e.id) FROM instruction e
        WHERE ${isOfKey('e', 's.account_id', 'coalesce(s.reattempt_of, s.reference)')} AND e.money_warning = 1 AND e.id <> s.id) END,
      ${outcomeColumns('s')}
    FROM family f JOIN instruction s ON s.id = f.standing JOIN batch sb ON sb.id = s.batch_id
    LEFT JOIN instruction i ON i.id = f.row_id
    WHERE f.place > :after ORDER BY f.place LIMIT ${ROWS_PER_PAGE}`

function rowsOf(reader: Reader, columns: readonly string[]): Pages<ReconciliationRow> {
  const read = (last: FamilyValues | null) => lists<FamilyValues>(PAGE, { after: last?.[0] ?? 0 })
  return pagesOf(reader, read, (values) => toRow(values, columns))
}

/** `columns`: those of the newest file. A row of another file has its cells under the same names. */
function toRow(values: FamilyValues, columns: readonly string[]): ReconciliationRow {
  const [place, line, cells, cellColumns, batchId, rowNo, changed, moved, ...outcome] = values
  const row = toOutcome(outcome)
  const warnings = [changed, row.warning, moved].filter((text) => text !== null)
  return {
    ...row,
    rowNo: place,
    line,
    cells: cells === null ? [] : cellsUnder(columns, JSON.parse(cells) as string[], cellColumns),
    recordedAs: { batchId, rowNo },
    repeats: null,
    submittedAgain: null,
    categoryKept: null,
    warning: warnings.length === 0 ? null : warnings.join('; '),
  }
}

function cellsUnder(
  columns: readonly string[],
  cells: readonly string[],
  cellColumns: string | null,
): readonly string[] {
  if (cellColumns === null) return cells
  const names = JSON.parse(cellColumns) as string[]
  return columns.map((name) => cells[names.indexOf(name)] ?? '')
}
