// How far the wall clock was set forward while a row was in doubt. By the wall clock alone its rest would then be over at once,
// while the request may still be executed. The moment at which the machine booted, as the wall clock tells it, tells of that:
// it moves only when that clock is set.

import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import { LAST_RESTORED_AT } from '../texts/conditions.ts'
import type { Book } from '../texts/record/book.ts'
import { change, one } from '../texts/script.ts'
import type { SetForward } from '../texts/work/doubts.ts'

export interface Boot {
  /** Of this boot and no other. */
  readonly id: string
  /** As the wall clock tells now. */
  readonly atMs: number
}

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

const NOTE = `
    INSERT INTO doubted (row_id, boot, booted_at) VALUES (:id, :boot, :atMs)
    ON CONFLICT DO UPDATE SET boot = excluded.boot, booted_at = excluded.booted_at`

/** The same book, and where a move brings a row into doubt, when the machine had booted. */
export function notingBoot(book: Book, boot: () => Boot | null): Book {
  return {
    ...book,
    *move(row, to, cause, details) {
      yield* book.move(row, to, cause, details)
      const now = to === 'IN_DOUBT' ? boot() : null
      if (now !== null) yield* change(NOTE, { id: row.id, boot: now.id, atMs: now.atMs })
    },
  }
}

// The rest of a doubt that a restore met counts from the restore, which may have come after the clock was set.
const NOTED = `
    SELECT d.boot AS id, d.booted_at AS atMs FROM doubted d JOIN instruction i ON i.id = d.row_id
    WHERE d.row_id = :rowId AND coalesce(${LAST_RESTORED_AT}, 0) <= coalesce(i.completed_at, 0)`

/** By how much the wall clock was set forward since the row came into doubt; 0: not at all, or nothing is known. */
export function setForwardSince(boot: () => Boot | null): SetForward {
  return function* (rowId) {
    const [then, now] = [yield* one<Boot>(NOTED, { rowId }), boot()]
    if (then === undefined || then.id !== now?.id) return 0
    const setForwardMs = now.atMs - then.atMs
    return setForwardMs > NO_STEP_MS ? setForwardMs : 0
  }
}
