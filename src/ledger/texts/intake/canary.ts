// The rows that a batch sends first, looked for among those of a draft and those that were recorded.

import type { BatchId } from '../../../domain/ids.ts'
import { type Canary, chooseCanary, type FirstRows, isSameCanary, WHENEVER_DUE } from '../../rules/canary.ts'
import { count, one, type Script } from '../script.ts'

interface CanaryAsked {
  readonly canaryRows: number | null
  /** When the batch is recorded. */
  readonly nowMs: number
}

const DRAFT_ROWS = "draft_row WHERE state = 'READY'"
/** The same rows, whatever became of them since. */
const RECORDED_ROWS = "instruction WHERE batch_id = :batchId AND state NOT IN ('INVALID', 'DUPLICATE')"

/** null: the whole batch, or none asked for. */
export function* canaryOfDraft(asked: CanaryAsked): Script<Canary | null> {
  return yield* canaryAmong(DRAFT_ROWS, null, asked)
}

function* canaryAmong(
  rows: typeof DRAFT_ROWS | typeof RECORDED_ROWS,
  batchId: BatchId | null,
  { canaryRows, nowMs }: CanaryAsked,
): Script<Canary | null> {
  if (canaryRows === null) return null
  const firstDue = `
    SELECT count(*) AS rows, max(row_no) AS "rowNo" FROM (
      SELECT row_no FROM ${rows} AND coalesce(execute_at, 0) <= :executeAtMs ORDER BY row_no LIMIT :canaryRows) AS first`
  function* firstBy(executeAtMs: number): Script<FirstRows> {
    return (yield* one<FirstRows>(firstDue, { batchId, executeAtMs, canaryRows }))!
  }
  return chooseCanary(canaryRows, nowMs, {
    count: yield* count(`SELECT count(*) AS n FROM ${rows}`, { batchId }),
    dueFirst: yield* firstBy(nowMs),
    first: yield* firstBy(WHENEVER_DUE),
  })
}

/** Whether the canary that is asked for is the one that the batch was recorded with. */
export function* isCanaryOf(batchId: BatchId, canaryRows: number): Script<boolean> {
  const recorded = yield* one<{ nowMs: number; rowNo: number | null; executeAtMs: number | null }>(
    `SELECT created_at AS "nowMs", canary_row_no AS "rowNo", canary_execute_at AS "executeAtMs" FROM batch WHERE id = :batchId`,
    { batchId },
  )
  const { nowMs, ...known } = recorded!
  return isSameCanary(yield* canaryAmong(RECORDED_ROWS, batchId, { canaryRows, nowMs }), known)
}
