// A file across its corrections, rejects and retries: one reading in which every row tells what became of it in the end, whichever
// batch that was in, and money that moved is told once.

import type { DatabaseSync } from 'node:sqlite'
import type { BatchTotal } from '../../domain/batch.ts'
import type { BatchId } from '../../domain/ids.ts'
import type { Pages } from '../../domain/pages.ts'
import type { ReconciliationRow } from '../../domain/reconciliation.ts'
import type { State } from '../../domain/states.ts'
import type { BatchReading } from '../../ports/ledger/queries.ts'
import { columnsOf, viewOf } from './batch-view.ts'
import { BASE, findMembers, isOfKey, keyOf, lastOf, MENDED } from './family-members.ts'
import { findRow, findRows, prepareLists } from './found.ts'
import { pagesOf, ROWS_PER_PAGE } from './pages.ts'
import { type OutcomeValues, outcomeColumns, toOutcome } from './reading.ts'

/** Of the newest file that holds most of the batch; its rows first, then those that only earlier files of the family hold. */
export function openFamily(db: DatabaseSync, batchId: BatchId, nowMs: number): BatchReading {
  db.exec('BEGIN')
  const newest = findMembers(db, batchId)
  gather(db, newest)
  const { columns, version } = columnsOf(db, newest)
  const { lastMove } = findRow<{ lastMove: number }>(db.prepare('SELECT coalesce(max(id), 0) AS lastMove FROM move'))!
  const { purgedAtMs } = findRow<{ purgedAtMs: number | null }>(
    db.prepare('SELECT max(purged_at) AS purgedAtMs FROM batch WHERE id IN (SELECT batch_id FROM temp.family_member)'),
  )!
  const totals = totalsOf(db)
  const rows = totals.reduce((sum, { count }) => sum + count, 0)
  return {
    atMs: nowMs,
    edition: { version, lastMove },
    batch: { ...viewOf(db, newest), rows, totals, counts: countsIn(totals), purgedAtMs },
    columns: JSON.parse(columns) as string[],
    rows: () => rowsOf(db, newest),
    close: async () => db.close(),
  }
}

/**
 * Which recorded row stands for each row of the newest file: the last attempt under its key. Of several rows of one key only one; the
 * others tell of themselves. Then the keys that only other members have, unless a bad row was mended under another reference.
 */
function gather(db: DatabaseSync, newest: BatchId): void {
  db.exec('CREATE TEMP TABLE family (place INTEGER PRIMARY KEY, row_id INTEGER, standing INTEGER NOT NULL)')
  db.prepare(`
    INSERT INTO temp.family (place, row_id, standing)
    SELECT r.row_no, r.id, CASE WHEN r.nth = 1 THEN coalesce(${lastOf('r.account_id', 'r.key')}, r.base) ELSE r.id END
    FROM (
      SELECT k.*, row_number() OVER (PARTITION BY k.key ORDER BY k.is_bad, k.row_no) AS nth FROM (
        SELECT i.id, i.row_no, i.account_id, b.id AS base, ${keyOf('b')} AS key, i.state = 'INVALID' AS is_bad
        FROM instruction i ${BASE} WHERE i.batch_id = ?) AS k) AS r`).run(newest)
  db.prepare(`
    INSERT INTO temp.family (row_id, standing)
    SELECT NULL, coalesce(m.last, m.bad) FROM (
      SELECT k.key, ${lastOf('a.account_id', 'k.key')} AS last, (
        SELECT max(r.id) FROM instruction r JOIN temp.family_member o ON o.batch_id = r.batch_id
        WHERE r.account_id = a.account_id AND r.reference = k.key AND r.state = 'INVALID') AS bad
      FROM (SELECT DISTINCT key FROM temp.family_key) AS k JOIN batch a ON a.id = ?1
      WHERE k.key NOT IN (SELECT key FROM temp.family_key WHERE batch_id = ?1)) AS m
    WHERE m.last IS NOT NULL OR (m.bad IS NOT NULL AND m.key NOT IN (${MENDED})) ORDER BY 2`).run(newest)
}

function totalsOf(db: DatabaseSync): BatchTotal[] {
  const sums = db.prepare(`
    SELECT coalesce(s.operation, '') AS operation, coalesce(s.currency, '') AS currency, s.state, count(*) AS count,
      coalesce(sum(s.amount_minor), 0) AS amountMinor
    FROM temp.family f JOIN instruction s ON s.id = f.standing GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`)
  sums.setReadBigInts(true)
  return findRows<Omit<BatchTotal, 'count'> & { count: bigint }>(sums).map((sum) => ({
    ...sum,
    count: Number(sum.count),
  }))
}

function countsIn(totals: readonly BatchTotal[]): Partial<Record<State, number>> {
  const counts: Partial<Record<State, number>> = {}
  for (const { state, count } of totals) counts[state] = (counts[state] ?? 0) + count
  return counts
}

type FamilyValues = readonly [
  place: number,
  line: number,
  cells: string | null,
  batchId: BatchId,
  rowNo: number,
  changed: string | null,
  moved: string | null,
  ...outcome: OutcomeValues,
]

function rowsOf(db: DatabaseSync, newest: BatchId): Pages<ReconciliationRow> {
  const page = prepareLists<FamilyValues>(
    db,
    `SELECT f.place, coalesce(i.line, s.line), CASE WHEN i.id IS NOT NULL THEN i.cells WHEN sb.columns = nb.columns THEN s.cells END,
      s.batch_id, s.row_no,
      CASE WHEN i.id IS NULL THEN 'the newest file does not have this row'
        WHEN i.id = s.id THEN CASE WHEN i.state = 'DUPLICATE' THEN 'another row of the file is the same instruction, and tells what became of it' END
        WHEN i.state = 'DUPLICATE' AND i.reason IS NOT NULL THEN 'the newest file asks for something else (' || i.reason || ')'
        WHEN i.state = 'INVALID' AND EXISTS (SELECT 1 FROM instruction e WHERE e.account_id = i.account_id AND e.reference = i.reference
          AND e.id < i.id AND e.state NOT IN ('INVALID', 'DUPLICATE')) THEN 'the newest file has this row otherwise, and it was not sent so'
        END,
      CASE WHEN s.state NOT IN ('INVALID', 'DUPLICATE') THEN (
        SELECT string_agg('row ' || e.row_no || ' of batch ' || e.batch_id || ': ' || e.warning, '; ' ORDER BY e.id) FROM instruction e
        WHERE ${isOfKey('e', 's.account_id', 'coalesce(s.reattempt_of, s.reference)')} AND e.money_warning = 1 AND e.id <> s.id) END,
      ${outcomeColumns('s')}
    FROM temp.family f JOIN instruction s ON s.id = f.standing JOIN batch sb ON sb.id = s.batch_id
    LEFT JOIN instruction i ON i.id = f.row_id JOIN batch nb ON nb.id = ?1
    WHERE f.place > ?2 ORDER BY f.place LIMIT ${ROWS_PER_PAGE}`,
  )
  return pagesOf((last: FamilyValues | null) => page(newest, last?.[0] ?? 0), toRow)
}

function toRow([place, line, cells, batchId, rowNo, changed, moved, ...outcome]: FamilyValues): ReconciliationRow {
  const row = toOutcome(outcome)
  const warnings = [changed, row.warning, moved].filter((text) => text !== null)
  return {
    ...row,
    rowNo: place,
    line,
    cells: cells === null ? [] : (JSON.parse(cells) as string[]),
    recordedAs: { batchId, rowNo },
    repeats: null,
    submittedAgain: null,
    categoryKept: null,
    warning: warnings.length === 0 ? null : warnings.join('; '),
  }
}
