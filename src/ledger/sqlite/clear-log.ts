// The write-ahead log, emptied: what was purged still stands in it.

import type { DatabaseSync } from 'node:sqlite'
import type { Timing } from './commit.ts'

const CLEAR_WITHIN_MS = 5_000
const LOOK_AGAIN_MS = 20

/** The write-ahead log still has the pages as they were. false: other processes read or write all the time. */
export async function clearLog(db: DatabaseSync, timing: Timing): Promise<boolean> {
  const untilMs = timing.nowMs() + CLEAR_WITHIN_MS
  for (;;) {
    db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() // most of the work, and it blocks no one
    const { busy } = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number }
    if (busy === 0) return true
    if (timing.nowMs() > untilMs) return false
    await new Promise<void>((resolve) => timing.later(resolve, LOOK_AGAIN_MS))
  }
}
