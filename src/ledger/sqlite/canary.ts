// The rows that a batch sends first, looked for among those of a draft and those that were recorded.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { BatchId } from '../../domain/ids.ts'
import { type Canary, chooseCanary, type FirstRows, isSameCanary, WHENEVER_DUE } from '../rules/canary.ts'
import { findRow } from './found.ts'

interface CanaryAsked {
  readonly canaryRows: number | null
  /** When the batch is recorded. */
  readonly nowMs: number
}

const DRAFT_ROWS = "temp.draft_row WHERE state = 'READY'"
/** The same rows, whatever became of them since. */
const RECORDED_ROWS = "instruction WHERE batch_id = ? AND state NOT IN ('INVALID', 'DUPLICATE')"

/** null: the whole batch, or none asked for. */
export function canaryOfDraft(db: DatabaseSync, asked: CanaryAsked): Canary | null {
  return canaryAmong(db, DRAFT_ROWS, [], asked)
}

function canaryAmong(
  db: DatabaseSync,
  source: string,
  of: readonly SQLInputValue[],
  { canaryRows, nowMs }: CanaryAsked,
): Canary | null {
  if (canaryRows === null) return null
  const { count } = findRow<{ count: number }>(db.prepare(`SELECT count(*) AS count FROM ${source}`), ...of)!
  const firstDue = db.prepare(`
    SELECT count(*) AS rows, max(row_no) AS rowNo FROM (
      SELECT row_no FROM ${source} AND coalesce(execute_at, 0) <= ? ORDER BY row_no LIMIT ?)`)
  const firstBy = (executeAtMs: number) => findRow<FirstRows>(firstDue, ...of, executeAtMs, canaryRows)!
  return chooseCanary(canaryRows, nowMs, { count, dueFirst: firstBy(nowMs), first: firstBy(WHENEVER_DUE) })
}

/** Whether the canary that is asked for is the one that the batch was recorded with. */
export function isCanaryOf(db: DatabaseSync, batchId: BatchId, canaryRows: number): boolean {
  const { nowMs, ...recorded } = db
    .prepare(
      'SELECT created_at AS nowMs, canary_row_no AS rowNo, canary_execute_at AS executeAtMs FROM batch WHERE id = ?',
    )
    .get(batchId) as { nowMs: number; rowNo: number | null; executeAtMs: number | null }
  const asked = canaryAmong(db, RECORDED_ROWS, [batchId], { canaryRows, nowMs })
  return isSameCanary(asked, recorded)
}
