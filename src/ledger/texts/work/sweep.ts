// Rows that were being sent when their worker was lost: they may have been executed, so they come into doubt.

import type { RowId } from '../../../domain/ids.ts'
import type { WorkLedger } from '../../../ports/ledger/work.ts'
import { WORKER_ENDED } from '../../rules/pausing.ts'
import { forgottenReason, sweptReason } from '../../rules/unanswered.ts'
import { type Engine, KEPT } from '../engine.ts'
import type { Book } from '../record/book.ts'
import { all, change, type Script } from '../script.ts'
import { OPEN_ROW, ROWS_PER_STEP, type SettlingRow, stepwise } from './open-rows.ts'
import { countDoubt, endCanary } from './pausing.ts'

export interface SendingRow extends Omit<SettlingRow, 'max_declined'> {
  readonly claimedAtMs: number
}

/** The columns of a `SendingRow`: of row `i` and its batch `b`. */
export const SENDING_ROW = `${OPEN_ROW}, b.canary_rows AS canary, i.claimed_at AS "claimedAtMs"`
const SENDING = `SELECT ${SENDING_ROW} FROM instruction i JOIN batch b ON b.id = i.batch_id WHERE i.state = 'SENDING'`
const ANY_SENDING = `${SENDING} LIMIT ${ROWS_PER_STEP}`
const OVERDUE = `${SENDING} AND i.answer_by < :nowMs`

const DOUBT = `
    UPDATE instruction SET state = 'IN_DOUBT', ever_in_doubt = 1, completed_at = :nowMs, sent_at = NULL, reason = :reason
    WHERE id = :id`

/** Where one worker at a time sends: whatever is SENDING before it claims anything is a dead one's. */
export function sweepingOn(engine: Engine): Pick<WorkLedger, 'sweep' | 'sweepForgotten' | 'sweepLost'> {
  return {
    sweep: (nowMs) =>
      stepwise(engine, function* (book) {
        return yield* bringIntoDoubt(book, yield* all<SendingRow>(ANY_SENDING), nowMs, sweptReason)
      }),

    async sweepForgotten(nowMs, inFlight) {
      const forgotten = () => forgottenRows(nowMs, inFlight)
      if ((await engine.read(forgotten)).length === 0) return 0
      return engine.write(function* (book) {
        return yield* bringIntoDoubt(book, yield* forgotten(), nowMs, forgottenReason)
      }, KEPT)
    },
    sweepLost: async () => 0,
  }
}

function* forgottenRows(nowMs: number, inFlight: ReadonlySet<RowId>): Script<SendingRow[]> {
  const overdue = yield* all<SendingRow>(OVERDUE, { nowMs })
  return overdue.filter(({ id }) => !inFlight.has(id as RowId))
}

export function* bringIntoDoubt(
  book: Book,
  rows: readonly SendingRow[],
  nowMs: number,
  reasonOf: (claimedAtMs: number) => string,
): Script<number> {
  for (const row of rows) {
    const { id, attempt } = row
    const reason = reasonOf(row.claimedAtMs)
    yield* change(DOUBT, { nowMs, reason, id })
    yield* book.move(row, 'IN_DOUBT', 'sweep', { attempt, atMs: nowMs, reason })
    yield* endCanary(row, nowMs)
  }
  // Once, however many were open: one power cut needs no person, a worker that ends again and again does.
  for (const accountId of new Set(rows.map((row) => row.account_id))) yield* countDoubt(accountId, nowMs, WORKER_ENDED)
  return rows.length
}
