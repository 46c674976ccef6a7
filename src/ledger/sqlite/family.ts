// A file across its corrections, rejects and retries: one reading in which every row tells what became of it in the end, whichever
// batch that was in, and money that moved is told once.

import type { DatabaseSync } from 'node:sqlite'
import type { BatchTotal } from '../../domain/batch.ts'
import type { BatchId } from '../../domain/ids.ts'
import type { Pages } from '../../domain/pages.ts'
import type { ReconciliationRow } from '../../domain/reconciliation.ts'
import type { State } from '../../domain/states.ts'
import type { BatchReading } from '../../ports/ledger/queries.ts'
import { laterAttempt } from '../texts/conditions.ts'
import { columnsOf, viewOf } from './batch-view.ts'
import { findRow, findRows } from './found.ts'
import { pagesOf, ROWS_PER_PAGE } from './pages.ts'
import { type OutcomeColumns, outcomeColumns, toOutcome } from './reading.ts'
import { isSubmittedAgain, originalOf } from './rows.ts'

/** Of the newest file that holds most of the batch; its rows first, then those that only earlier files of the family hold. */
export function openFamily(db: DatabaseSync, batchId: BatchId, nowMs: number): BatchReading {
  db.exec('BEGIN')
  const path = pathFrom(db, batchId)
  const newest = path.at(-1) as BatchId
  gather(db, newest, path)
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

/** From the batch that is asked for to the newest state of its file. */
function pathFrom(db: DatabaseSync, batchId: BatchId): readonly BatchId[] {
  // At least half of the later one's rows are rows of this one, repeated or sent in the place of cancelled ones, and at least half of
  // this one's are in it; of an earlier one that both repeat, likewise. Results that are fed back are no state of the file.
  const next = db.prepare(`
    SELECT d.batch_id AS batchId FROM (
      SELECT d.id, d.batch_id FROM instruction d
      WHERE d.duplicate_of IN (SELECT coalesce(duplicate_of, id) FROM instruction WHERE batch_id = ?1) AND d.state = 'DUPLICATE'
      UNION ALL
      SELECT h.id, h.batch_id FROM instruction d
      JOIN instruction h ON h.account_id = d.account_id AND h.reference = d.reference AND h.holds_reference = 1
      WHERE d.batch_id = ?1 AND ${isSubmittedAgain('d')}) AS d JOIN batch b ON b.id = d.batch_id
    WHERE d.id > (SELECT min(id) FROM instruction WHERE batch_id = ?1)
      AND d.batch_id <> ?1 AND b.stage = 'open' AND b.source = 'file'
      AND b.fed_back = 0
    GROUP BY d.batch_id HAVING count(*) * 2 >= b.rows AND count(*) * 2 >= (SELECT rows FROM batch WHERE id = ?1)
    ORDER BY max(d.id) DESC LIMIT 1`)
  const path = [batchId]
  for (;;) {
    const found = findRow<{ batchId: BatchId }>(next, path.at(-1) as BatchId)
    if (found === undefined || path.includes(found.batchId)) return path
    path.push(found.batchId)
  }
}

/**
 * Which recorded row stands for each row of the newest file: the one that holds its reference now. An INVALID row that was mended in
 * a file of rejects is the row there; of two that had one reference, only the first. Then the rows of the family that the newest file
 * holds no more: of the batches on the path to it, of those at least half of whose own rows it holds, and rejects of any of these.
 */
function gather(db: DatabaseSync, newest: BatchId, path: readonly BatchId[]): void {
  db.exec('CREATE TEMP TABLE family (place INTEGER PRIMARY KEY, row_id INTEGER, standing INTEGER NOT NULL)')
  db.prepare(`
    INSERT INTO temp.family (place, row_id, standing)
    SELECT i.row_no, i.id, coalesce(o.id, h.id, i.id)
    FROM instruction i ${originalOf('i', 'LEFT JOIN')}
    LEFT JOIN instruction h ON i.state = 'INVALID' AND h.account_id = i.account_id AND h.reference = i.reference
      AND h.holds_reference = 1 AND h.id > i.id AND NOT EXISTS (
        SELECT 1 FROM instruction s WHERE s.reference = i.reference AND s.batch_id = i.batch_id AND s.row_no < i.row_no)
    WHERE i.batch_id = ?`).run(newest)
  // A charge that was declined and asked for once more stands where the last attempt does.
  db.exec(`
    UPDATE temp.family SET standing = coalesce(
      (SELECT ${laterAttempt('s')} FROM instruction s WHERE s.id = standing AND s.state = 'DECLINED'), standing)`)
  db.exec('CREATE INDEX temp.family_standing ON family (standing)')
  db.exec('CREATE TEMP TABLE family_member (batch_id TEXT PRIMARY KEY)')
  const member = db.prepare('INSERT OR IGNORE INTO temp.family_member VALUES (?)')
  for (const batchId of path) member.run(batchId)
  db.exec(`
    INSERT OR IGNORE INTO temp.family_member
    SELECT s.batch_id FROM temp.family f JOIN instruction s ON s.id = f.standing JOIN batch b ON b.id = s.batch_id
    WHERE b.source = 'file' GROUP BY s.batch_id HAVING count(*) * 2 >= b.rows`)
  db.exec(`
    INSERT INTO temp.family (row_id, standing)
    SELECT DISTINCT NULL, m.standing FROM (
      SELECT coalesce(${laterAttempt('h')}, h.id) AS standing FROM instruction r
      JOIN temp.family_member m ON m.batch_id = r.batch_id
      JOIN instruction h ON h.account_id = r.account_id AND h.reference = r.reference AND h.holds_reference = 1
      WHERE r.state <> 'DUPLICATE') m
    WHERE NOT EXISTS (SELECT 1 FROM temp.family f WHERE f.standing = m.standing)
    ORDER BY m.standing`)
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

interface FamilyColumns extends OutcomeColumns {
  place: number
  cells: string | null
  batchId: BatchId
  rowNo: number
  changed: string | null
}

function rowsOf(db: DatabaseSync, newest: BatchId): Pages<ReconciliationRow> {
  const page = db.prepare(`
    SELECT f.place, coalesce(i.line, s.line) AS line, CASE WHEN i.id IS NOT NULL THEN i.cells WHEN sb.columns = nb.columns THEN s.cells END AS cells,
      ${outcomeColumns('s')}, s.batch_id AS batchId, s.row_no AS rowNo,
      CASE WHEN i.id IS NULL THEN 'the newest file does not have this row' WHEN i.state = 'DUPLICATE' AND i.reason IS NOT NULL
        THEN 'the newest file asks for something else (' || i.reason || ')' END AS changed
    FROM temp.family f JOIN instruction s ON s.id = f.standing JOIN batch sb ON sb.id = s.batch_id
    LEFT JOIN instruction i ON i.id = f.row_id JOIN batch nb ON nb.id = ?1
    WHERE f.place > ?2 ORDER BY f.place LIMIT ${ROWS_PER_PAGE}`)
  const read = (last: FamilyColumns | null) => findRows<FamilyColumns>(page, newest, last?.place ?? 0)
  return pagesOf(read, toRow)
}

function toRow(row: FamilyColumns): ReconciliationRow {
  const warnings = [row.changed, row.warning].filter((text) => text !== null)
  return {
    ...toOutcome(row),
    rowNo: row.place,
    cells: row.cells === null ? [] : (JSON.parse(row.cells) as string[]),
    recordedAs: { batchId: row.batchId, rowNo: row.rowNo },
    repeats: null,
    submittedAgain: null,
    reason: row.reason,
    categoryKept: null,
    warning: warnings.length === 0 ? null : warnings.join('; '),
  }
}
