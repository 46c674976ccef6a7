// The rows that a batch sends first, before a person has looked: chosen among those that may be sent when it is recorded.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { BatchId } from '../../domain/ids.ts'

export interface Canary {
  readonly rows: number
  /** Rows with a later `execute_at` are none of it. */
  readonly executeAtMs: number
  /** The last row of it. */
  readonly rowNo: number
}

export interface CanaryAsked {
  readonly canaryRows: number | null
  /** When the batch is recorded. */
  readonly nowMs: number
}

const DRAFT_ROWS = "temp.draft_row WHERE state = 'READY'"
/** The same rows, whatever became of them since. */
const RECORDED_ROWS = "instruction WHERE batch_id = ? AND state NOT IN ('INVALID', 'DUPLICATE')"

/** The first rows that could be sent now; where all are due later, the first of those. null: the whole batch, or none asked for. */
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
  const { n: ready } = db.prepare(`SELECT count(*) AS n FROM ${source}`).get(...of) as { n: number }
  if (ready <= canaryRows) return null
  const first = db.prepare(`
    SELECT count(*) AS rows, max(row_no) AS rowNo FROM (
      SELECT row_no FROM ${source} AND coalesce(execute_at, 0) <= ? ORDER BY row_no LIMIT ?)`)
  for (const executeAtMs of [nowMs, Number.MAX_SAFE_INTEGER]) {
    const { rows, rowNo } = first.get(...of, executeAtMs, canaryRows) as { rows: number; rowNo: number }
    if (rows > 0) return { rows, rowNo, executeAtMs }
  }
  return null
}

/** Whether the canary that is asked for is the one that the batch was recorded with, whether or not it is over. */
export function isCanaryOf(db: DatabaseSync, batchId: BatchId, canaryRows: number): boolean {
  const { nowMs, ...recorded } = db
    .prepare(
      'SELECT created_at AS nowMs, canary_row_no AS rowNo, canary_execute_at AS executeAtMs FROM batch WHERE id = ?',
    )
    .get(batchId) as { nowMs: number; rowNo: number | null; executeAtMs: number | null }
  const asked = canaryAmong(db, RECORDED_ROWS, [batchId], { canaryRows, nowMs })
  return (asked?.rowNo ?? null) === recorded.rowNo && (asked?.executeAtMs ?? null) === recorded.executeAtMs
}
