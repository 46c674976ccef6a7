// Rows that are too late: READY, and past their `expires_at`. They become CANCELLED, whatever keeps them from being sent.

import { expiredReason } from '../../rules/dates.ts'
import { warningWhenCancelled } from '../../rules/unanswered.ts'
import type { Engine } from '../engine.ts'
import type { Book } from '../record/book.ts'
import { all, change, exists, type Script } from '../script.ts'
import { OPEN_ROW, type OpenRow, ROWS_PER_STEP, type SettlingRow, stepwise } from './open-rows.ts'
import { endCanary } from './pausing.ts'

type ExpiredRow = OpenRow & Pick<SettlingRow, 'canary'> & { readonly expiresAtMs: number; readonly wasInDoubt: number }

/** What row `i` must be to be claimed; the one parameter is `:nowMs`. */
export const IS_IN_TIME = '(i.expires_at IS NULL OR i.expires_at > :nowMs)'

const IS_EXPIRED = "i.state = 'READY' AND i.expires_at <= :nowMs AND b.stage = 'open'"

const ANY_EXPIRED = `SELECT 1 FROM instruction i JOIN batch b ON b.id = i.batch_id WHERE ${IS_EXPIRED} LIMIT 1`

const expired = (which: string) => `
    SELECT ${OPEN_ROW}, i.expires_at AS "expiresAtMs", i.ever_in_doubt AS "wasInDoubt", b.canary_rows AS canary
    FROM instruction i JOIN batch b ON b.id = i.batch_id WHERE ${IS_EXPIRED} ${which} LIMIT ${ROWS_PER_STEP}`
const [EXPIRED, EXPIRED_ROW] = [expired(''), expired('AND i.id = :rowId')]

const CANCEL = `
    UPDATE instruction SET state = 'CANCELLED', completed_at = :nowMs, reason = :reason, warning = :warning
    WHERE id = :id AND state = 'READY'`

/** The row of a claim. */
export function* cancelIfExpired(book: Book, rowId: number, nowMs: number): Script<void> {
  for (const row of yield* all<ExpiredRow>(EXPIRED_ROW, { nowMs, rowId })) yield* cancel(book, row, nowMs)
}

/** Of all batches, also of those of which nothing may be sent now. Resolves to how many rows it cancelled. */
export async function cancelExpired(engine: Engine, nowMs: number): Promise<number> {
  if (!(await engine.read(() => exists(ANY_EXPIRED, { nowMs })))) return 0
  return stepwise(engine, function* (book) {
    const rows = yield* all<ExpiredRow>(EXPIRED, { nowMs })
    for (const row of rows) yield* cancel(book, row, nowMs)
    return rows.length
  })
}

function* cancel(book: Book, row: ExpiredRow, nowMs: number): Script<void> {
  const { id, attempt } = row
  const reason = expiredReason(row.expiresAtMs)
  const warning = warningWhenCancelled(row.warning, row.wasInDoubt === 1)
  yield* change(CANCEL, { nowMs, reason, warning, id })
  yield* book.move(row, 'CANCELLED', 'expiry', { attempt, atMs: nowMs, reason })
  yield* endCanary(row, nowMs)
}
