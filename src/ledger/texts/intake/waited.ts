// Messages that waited in a queue while an older state of the ledger was put back: the state that is lost may have taken them, and sent them.

import type { BatchId } from '../../../domain/ids.ts'
import { waitedReason } from '../../rules/unanswered.ts'
import { isRestore } from '../conditions.ts'
import type { Book } from '../record/book.ts'
import { all, one, type Script } from '../script.ts'
import { doubtRow, RESTORED_ROW, type RestoredRow } from '../work/restore.ts'

/** How far the clock of a producer, or of this machine, may be off. */
const CLOCK_OFF_MS = 60_000

const RESTORED_SINCE = `SELECT max(a.at) AS "atMs" FROM act a WHERE a.at >= :sinceMs AND ${isRestore('a')}`

/** What was recorded just now. Of a row whose time is still to come nothing was sent. */
const RECORDED = `
    SELECT ${RESTORED_ROW} FROM instruction
    WHERE batch_id = :batchId AND row_no >= :firstRow AND state = 'READY' AND (execute_at IS NULL OR execute_at <= :latestMs)
    ORDER BY row_no`

export interface JustRecorded {
  readonly batchId: BatchId
  readonly firstRow: number
  /** Absent: it did not wait. */
  readonly handedInAtMs: number | undefined
  readonly nowMs: number
}

/** Returns whether they are in doubt, or those of them that may have been sent are. In the transaction that makes them visible: before anyone can claim one. */
export function* doubtWhatWaited(
  book: Book,
  { batchId, firstRow, handedInAtMs, nowMs }: JustRecorded,
): Script<boolean> {
  if (handedInAtMs === undefined) return false
  const isToCome = handedInAtMs > nowMs + CLOCK_OFF_MS // by a clock that is wrong: it says nothing
  const sinceMs = isToCome ? 0 : handedInAtMs - CLOCK_OFF_MS
  const { atMs } = (yield* one<{ atMs: number | null }>(RESTORED_SINCE, { sinceMs }))!
  if (atMs === null) return false
  const rows = yield* all<RestoredRow>(RECORDED, { batchId, firstRow, latestMs: nowMs + CLOCK_OFF_MS })
  for (const row of rows) yield* doubtRow(book, row, { actor: null, reason: waitedReason(atMs), nowMs })
  return rows.length > 0
}
