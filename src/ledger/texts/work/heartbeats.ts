// The heartbeat of a worker: a row that says who it is and when its last tick was. It decides nothing.

import type { Heartbeat } from '../../../domain/worker.ts'
import type { QueryLedger } from '../../../ports/ledger/queries.ts'
import type { WorkLedger } from '../../../ports/ledger/work.ts'
import { type Engine, FAULTING } from '../engine.ts'
import { all, change } from '../script.ts'

const KEEP = `
    INSERT INTO heartbeat (worker, host, pid, command, since, batch_id, beat_at, activity)
    VALUES (:id, :host, :pid, :command, :sinceMs, :batchId, :beatAtMs, :activity)
    ON CONFLICT (worker) DO UPDATE SET host = excluded.host, pid = excluded.pid, command = excluded.command, since = excluded.since,
      batch_id = excluded.batch_id, beat_at = excluded.beat_at, activity = excluded.activity`

const ALL = `
    SELECT worker AS id, host, pid, command, since AS "sinceMs", batch_id AS "batchId", beat_at AS "beatAtMs", activity
    FROM heartbeat ORDER BY beat_at`

export function heartbeatsOn(engine: Engine): Pick<WorkLedger, 'beat'> & Pick<QueryLedger, 'heartbeats'> {
  return {
    beat: ({ id, host, pid, command, sinceMs, batchId, beatAtMs, activity }) =>
      engine.write(function* () {
        yield* change('DELETE FROM heartbeat WHERE worker <> :id', { id })
        yield* change(KEEP, { id, host, pid, command, sinceMs, batchId, beatAtMs, activity })
      }, FAULTING),
    heartbeats: () => engine.read(() => all<Heartbeat>(ALL)),
  }
}
