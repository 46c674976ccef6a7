// Rests that the wall clock has made too long. A row rests until a moment, and one that never rested is due since it came: when
// the clock is set back, both lie ahead, by hours perhaps, although these rows were never asked to wait.

import type { DatabaseSync } from 'node:sqlite'
import type { WorkLedger } from '../../ports/ledger/work.ts'
import type { Committer } from './commit.ts'
import { ROWS_PER_STEP, stepwise } from './moves.ts'

/** No row rests longer: ours are 20 s at most, and what the gateway asks for holds the account and not a row. */
const LONGEST_REST_MS = 60_000

const latestOf = (at: string, from: string) =>
  `coalesce((SELECT max(${at}) FROM (SELECT * FROM ${from} ORDER BY rowid DESC LIMIT 1000)), 0)`

/** The latest moment that the record knows of: not the last one, because the clock may have been set back since. */
const LATEST = `max(${latestOf('at', 'move')}, ${latestOf('at', 'act')}, ${latestOf('created_at', 'batch')},
  ${latestOf('CASE WHEN execute_at IS NULL THEN due_at END', 'instruction')})`

export function prepareRests(db: DatabaseSync, committer: Committer): Pick<WorkLedger, 'endOverlongRests'> {
  const latest = db.prepare(`SELECT ${LATEST} AS atMs`)
  // Up to the latest moment only: of rows that wait for an execute_at there may be a million beyond it.
  const end = db.prepare(`
    UPDATE instruction SET due_at = max($now, coalesce(execute_at, 0)) WHERE id IN (
      SELECT i.id FROM instruction i
      WHERE i.batch_id IN (SELECT batch_id FROM tally WHERE state = 'READY' AND count > 0) AND i.state = 'READY'
        AND i.due_at > $now + ${LONGEST_REST_MS} AND i.due_at <= $latest + ${LONGEST_REST_MS}
        AND i.due_at > coalesce(i.execute_at, 0)
      ORDER BY i.batch_id, i.due_at, i.row_no LIMIT ${ROWS_PER_STEP})`)
  return {
    async endOverlongRests(nowMs, seenMs) {
      const { atMs } = latest.get() as { atMs: number }
      const latestMs = Math.max(atMs, seenMs)
      if (latestMs <= nowMs) return 0
      return stepwise(committer, () => Number(end.run({ now: nowMs, latest: latestMs }).changes))
    },
  }
}
