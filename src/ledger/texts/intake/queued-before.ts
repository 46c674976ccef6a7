// Messages that were in the queue before an older state of the ledger was adopted: the lost state may have taken and sent them.

import type { BatchId } from '../../../domain/ids.ts'
import { queuedBeforeReason } from '../../rules/unanswered.ts'
import { isRestore } from '../conditions.ts'
import type { Book } from '../record/book.ts'
import { all, one, type Script } from '../script.ts'
import { doubtRow, RESTORED_ROW, type RestoredRow } from '../work/restore.ts'

/** How far the clock of a producer may be off, or that of the machine where the older state was adopted. */
const CLOCK_SKEW_MS = 60_000

/** For each message: unlike `LAST_RESTORED_AT`, it reads the acts since then alone. */
const RESTORED_SINCE = `SELECT max(a.at) AS "atMs" FROM act a WHERE a.at >= :sinceMs AND ${isRestore('a')}`

const RECORDED = `
    SELECT ${RESTORED_ROW} FROM instruction
    WHERE batch_id = :batchId AND row_no >= :firstRow AND state = 'READY' ORDER BY row_no`

interface Queued {
  /** See `IntakeMessage`. */
  readonly queuedAtMs?: number | undefined
  readonly nowMs: number
}

/** Why a lost state may have executed what was queued then, in words; null: nothing known says so. */
export function* whyMaybeExecuted({ queuedAtMs, nowMs }: Queued): Script<string | null> {
  if (queuedAtMs === undefined) return null
  const isAhead = queuedAtMs > nowMs + CLOCK_SKEW_MS // a clock that is this wrong says nothing
  const sinceMs = isAhead ? 0 : queuedAtMs - CLOCK_SKEW_MS
  const { atMs } = (yield* one<{ atMs: number | null }>(RESTORED_SINCE, { sinceMs }))!
  return atMs === null ? null : queuedBeforeReason(atMs, isAhead)
}

interface JustRecorded {
  readonly batchId: BatchId
  readonly firstRow: number
  readonly reason: string
  readonly nowMs: number
}

/**
 * In the transaction that makes the rows visible, before anyone can claim them. Rows whose time is still to come as well: the lost state
 * may have cancelled them.
 */
export function* doubtRecorded(book: Book, { batchId, firstRow, reason, nowMs }: JustRecorded): Script<void> {
  const rows = yield* all<RestoredRow>(RECORDED, { batchId, firstRow })
  for (const row of rows) yield* doubtRow(book, row, { actor: null, reason, nowMs })
}
