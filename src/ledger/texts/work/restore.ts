// An older state of the ledger that is taken over: whatever was open in it may have been sent since.

import type { Actor } from '../../../domain/actor.ts'
import type { State } from '../../../domain/states.ts'
import { restoredReason } from '../../rules/unanswered.ts'
import { voidApprovals } from '../approving/waiting.ts'
import { type Engine, FAULTING } from '../engine.ts'
import type { Book } from '../record/book.ts'
import type { Counted } from '../record/tally.ts'
import { all, change, type Script } from '../script.ts'
import { ROWS_PER_STEP } from './open-rows.ts'

/** A row that may have been sent, as it is recorded here. */
export type RestoredRow = Counted & { readonly id: number; readonly state: State; readonly attempt: number }

/** Before its time no row is sent. */
const MAY_BE_SENT = '(execute_at IS NULL OR execute_at < :dueBefore)'
/** The columns of a `RestoredRow`. */
export const RESTORED_ROW = 'id, batch_id, state, attempt, operation, currency, amount_minor'
const open = (state: 'SENDING' | 'READY') => `
    SELECT ${RESTORED_ROW} FROM instruction
    WHERE state = '${state}'${state === 'READY' ? ` AND ${MAY_BE_SENT}` : ''} LIMIT ${ROWS_PER_STEP}`

// When a first byte left, and of a READY row whether one was claimed, is what this state cannot know.
const DOUBT = `
    UPDATE instruction SET state = 'IN_DOUBT', ever_in_doubt = 1, completed_at = :nowMs, sent_at = NULL, send_by = NULL, reason = :reason,
      claimed_at = CASE state WHEN 'SENDING' THEN claimed_at END
    WHERE id = :id`

/** Of a canary nothing waits any more: what a person sends again is looked at one by one. */
export const END_CANARIES = 'UPDATE batch SET canary_rows = NULL WHERE canary_rows IS NOT NULL'

export interface Restored {
  readonly actor: Actor
  readonly why: string
  readonly nowMs: number
  /** See `CopyLedger.adopt`. */
  readonly dueBeforeMs: number | null
}

/**
 * Whatever may be sent and was READY when the copy was made may have been sent since, rows of held batches too: the hold may have been
 * made after the copy was put back. Broken off, it goes on with what is left. Resolves to how many rows came into doubt.
 */
export async function doubtOpenRows(engine: Engine, { actor, why, nowMs, dueBeforeMs }: Restored): Promise<number> {
  const reason = restoredReason(why)
  const dueBefore = dueBeforeMs ?? Number.MAX_SAFE_INTEGER
  let total = 0
  await engine.write(() => voidApprovals(null, nowMs), FAULTING)
  for (const state of ['SENDING', 'READY'] as const) {
    for (let moved = ROWS_PER_STEP; moved === ROWS_PER_STEP; total += moved) {
      moved = await engine.write(function* (book) {
        const rows = yield* all<RestoredRow>(open(state), { dueBefore })
        for (const row of rows) yield* doubtRow(book, row, { actor, reason, nowMs })
        return rows.length
      }, FAULTING)
    }
  }
  return total
}

interface Doubting {
  /** Who adopted the older state; null: the worker that took the row later. */
  readonly actor: Actor | null
  readonly reason: string
  readonly nowMs: number
}

/** Brings into doubt a row that the lost state may have sent. */
export function* doubtRow(book: Book, row: RestoredRow, { actor, reason, nowMs }: Doubting): Script<void> {
  yield* change(DOUBT, { nowMs, reason, id: row.id })
  yield* book.move(row, 'IN_DOUBT', 'restore', { attempt: row.attempt, atMs: nowMs, actor, reason })
}
