// How far the wall clock was set forward while a row was in doubt. By the wall clock alone its rest would then be over at once,
// while the request may still be executed. The moment at which the machine booted, as the wall clock tells it, tells of that:
// it moves only when that clock is set.

import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import { LAST_RESTORED_AT } from '../texts/conditions.ts'
import { findRow } from './found.ts'
import type { RecordMove } from './moves.ts'

export interface Boot {
  /** Of this boot and no other. */
  readonly id: string
  /** As the wall clock tells now. */
  readonly atMs: number
}

export const DOUBTED = `
  -- When the machine had booted, by the wall clock that held when the row came into doubt last. See clock-steps.ts.
  CREATE TABLE doubted (row_id INTEGER PRIMARY KEY, boot TEXT NOT NULL, booted_at INTEGER NOT NULL) STRICT;
`

/** The two clocks are not read at one moment: a process may be held up between. */
const NO_STEP_MS = 5_000

/** null: this system names no boot, so that nothing is known across processes. Suspended time counts as time. */
export function systemBoot(): Boot | null {
  try {
    const id = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const upMs = Math.round(uptime() * 1_000)
    return { id, atMs: Date.now() - upMs }
  } catch {
    return null
  }
}

/** The same moves, and where one brings a row into doubt, when the machine had booted. */
export function notingBoot(db: DatabaseSync, record: RecordMove, boot: () => Boot | null): RecordMove {
  const note = db.prepare('INSERT OR REPLACE INTO doubted VALUES (?, ?, ?)')
  return (row, to, cause, details) => {
    record(row, to, cause, details)
    const now = to === 'IN_DOUBT' ? boot() : null
    if (now !== null) note.run(row.id, now.id, now.atMs)
  }
}

/** By how much the wall clock was set forward since the row came into doubt; 0: not at all, or nothing is known. */
export function prepareSetForward(db: DatabaseSync, boot: () => Boot | null): (rowId: number) => number {
  // The rest of a doubt that a restore met counts from the restore, which may have come after the clock was set.
  const noted = db.prepare(`
    SELECT d.boot AS id, d.booted_at AS atMs FROM doubted d JOIN instruction i ON i.id = d.row_id
    WHERE d.row_id = ? AND coalesce(${LAST_RESTORED_AT}, 0) <= coalesce(i.completed_at, 0)`)
  return (rowId) => {
    const [then, now] = [findRow<Boot>(noted, rowId), boot()]
    if (then === undefined || then.id !== now?.id) return 0
    const setForwardMs = now.atMs - then.atMs
    return setForwardMs > NO_STEP_MS ? setForwardMs : 0
  }
}
