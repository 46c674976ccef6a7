// Rests that the wall clock has made too long. A row rests until a moment, and one that never rested is due since it came: when
// the clock is set back, both lie ahead, by hours perhaps, although these rows were never asked to wait.

import type { WorkLedger } from '../../../ports/ledger/work.ts'
import type { Engine } from '../engine.ts'
import { all, one } from '../script.ts'
import { WAITS_FOR_A_DAY } from './daily-limit.ts'
import { ROWS_PER_STEP, stepwise } from './open-rows.ts'

/** No row rests longer: ours are 20 s at most, and what the gateway asks for holds the account and not a row. */
const LONGEST_REST_MS = 60_000

const latestOf = (at: string, from: string, order: string) =>
  `coalesce((SELECT max(${at}) FROM (SELECT * FROM ${from} ORDER BY ${order} DESC LIMIT 1000) AS newest), 0)`

/** The latest moment that the record knows of: not the last one, because the clock may have been set back since. */
const LATEST = `
    SELECT @greatest(${latestOf('at', 'move', 'id')}, ${latestOf('at', 'act', 'id')}, ${latestOf('created_at', 'batch', 'created_at')},
      ${latestOf(`CASE WHEN execute_at IS NULL AND NOT ${WAITS_FOR_A_DAY} THEN due_at END`, 'instruction', 'id')}) AS "atMs"`

// Up to the latest moment only: of rows that wait for an execute_at there may be a million beyond it.
const END = `
    UPDATE instruction SET due_at = @greatest(CAST(:nowMs AS BIGINT), coalesce(execute_at, 0)) WHERE id IN (
      SELECT i.id FROM instruction i
      WHERE i.batch_id IN (SELECT batch_id FROM tally WHERE state = 'READY' AND count > 0) AND i.state = 'READY'
        AND i.due_at > CAST(:nowMs AS BIGINT) + ${LONGEST_REST_MS} AND i.due_at <= CAST(:latestMs AS BIGINT) + ${LONGEST_REST_MS}
        AND i.due_at > coalesce(i.execute_at, 0)
      ORDER BY i.batch_id, i.due_at, i.row_no LIMIT ${ROWS_PER_STEP})
    RETURNING id`

export function endingRestsOn(engine: Engine): Pick<WorkLedger, 'endOverlongRests'> {
  return {
    async endOverlongRests(nowMs, seenMs) {
      const latest = await engine.read(() => one<{ atMs: number }>(LATEST))
      const latestMs = Math.max(latest!.atMs, seenMs)
      if (latestMs <= nowMs) return 0
      return stepwise(engine, function* () {
        return (yield* all(END, { nowMs, latestMs })).length
      })
    },
  }
}
