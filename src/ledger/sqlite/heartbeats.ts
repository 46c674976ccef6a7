// The heartbeat of the worker: a row that says who it is and when its last tick was. It decides nothing; the lock does.

import type { DatabaseSync } from 'node:sqlite'
import type { Heartbeat } from '../../domain/worker.ts'
import type { QueryLedger } from '../../ports/ledger/queries.ts'
import type { WorkLedger } from '../../ports/ledger/work.ts'
import type { Committer } from './commit.ts'
import { findRows } from './found.ts'

export const HEARTBEATS = `
  -- One row for each process that works. In this engine there is one; what a dead one left goes with the next one's first beat.
  CREATE TABLE heartbeat (
    worker TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    command TEXT NOT NULL,
    since INTEGER NOT NULL,
    batch_id TEXT, -- null: it works off all
    beat_at INTEGER NOT NULL, -- its last tick, or nearly
    activity TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
`

export function prepareHeartbeats(
  db: DatabaseSync,
  committer: Committer,
): Pick<WorkLedger, 'beat'> & Pick<QueryLedger, 'heartbeats'> {
  const forget = db.prepare('DELETE FROM heartbeat WHERE worker <> ?')
  const keep = db.prepare('INSERT OR REPLACE INTO heartbeat VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  const all = db.prepare(
    'SELECT worker AS id, host, pid, command, since AS sinceMs, batch_id AS batchId, beat_at AS beatAtMs, activity FROM heartbeat ORDER BY beat_at',
  )
  return {
    async beat({ id, host, pid, command, sinceMs, batchId, beatAtMs, activity }) {
      await committer.write(
        () => {
          forget.run(id)
          keep.run(id, host, pid, command, sinceMs, batchId, beatAtMs, activity)
        },
        { kind: 'faulting' },
      )
    },
    heartbeats: async () => findRows<Heartbeat>(all),
  }
}
