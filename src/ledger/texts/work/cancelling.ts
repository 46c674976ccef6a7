// What a cancel leaves to do: READY rows of a cancelled batch become CANCELLED, in short transactions.

import type { Actor } from '../../../domain/actor.ts'
import type { Fault } from '../../../domain/fault.ts'
import type { BatchId } from '../../../domain/ids.ts'
import type { RowPlace } from '../../../ports/ledger/control.ts'
import { cancelledReason, warningWhenCancelled, whyNotCancelled } from '../../rules/unanswered.ts'
import type { Engine } from '../engine.ts'
import { recordAct } from '../record/acts.ts'
import type { Book } from '../record/book.ts'
import { CANCELLED_ALONE } from '../review/corrections.ts'
import { all, change, one, type Script } from '../script.ts'
import { OPEN_ROW, type OpenRow, ROWS_PER_STEP, type SettlingRow, stepwise } from './open-rows.ts'
import { endCanary } from './pausing.ts'

const READY = `
    SELECT ${OPEN_ROW}, i.ever_in_doubt AS "wasInDoubt", b.hold_reason AS why
    FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.batch_id = :batchId AND i.state = 'READY' AND b.hold = 'cancelled' LIMIT ${ROWS_PER_STEP}`

const CANCEL = `
    UPDATE instruction SET state = 'CANCELLED', completed_at = :nowMs, reason = :reason, warning = :warning
    WHERE id = :id AND state = 'READY'`

/** `actor` null: the machine, which finishes what another process began. Resolves to how many rows it cancelled. */
export function cancelRows(engine: Engine, batchId: BatchId, actor: Actor | null, nowMs: number): Promise<number> {
  return stepwise(engine, function* (book) {
    const rows = yield* all<OpenRow & { wasInDoubt: number; why: string | null }>(READY, { batchId })
    for (const row of rows) {
      const { id, attempt } = row
      const reason = cancelledReason(row.why)
      yield* change(CANCEL, { nowMs, reason, warning: warningWhenCancelled(row.warning, row.wasInDoubt === 1), id })
      yield* book.move(row, 'CANCELLED', 'cancel', { attempt, atMs: nowMs, actor, reason })
    }
    return rows.length
  })
}

const ONE = `
    SELECT ${OPEN_ROW}, i.ever_in_doubt AS "wasInDoubt", b.canary_rows AS canary, CASE WHEN ${CANCELLED_ALONE} THEN 1 ELSE 0 END AS "isAlone"
    FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.batch_id = :batchId AND i.row_no = :rowNo AND b.stage = 'open'`

interface CancelledBy {
  readonly reason: string
  readonly actor: Actor
  readonly nowMs: number
}

/** The others of its batch go on. Of a row that is cancelled already it is only noted that it is meant alone: no corrected file brings it back. */
export function* cancelRow(book: Book, { batchId, rowNo }: RowPlace, by: CancelledBy): Script<Fault | null> {
  const { reason, actor, nowMs } = by
  const row = (yield* one<OpenRow & Pick<SettlingRow, 'canary'> & { wasInDoubt: number; isAlone: number }>(ONE, {
    batchId,
    rowNo,
  }))!
  const fault = whyNotCancelled({ batchId, rowNo }, row.state)
  if (fault !== null) return fault
  const { id, attempt, account_id: accountId, isAlone } = row
  const act = { what: 'cancel-row', atMs: nowMs, actor, batchId, accountId, reason, details: { row: rowNo } } as const
  if (row.state === 'CANCELLED') {
    if (isAlone === 0) yield* recordAct(act)
    return null
  }
  const why = cancelledReason(reason)
  const warning = warningWhenCancelled(row.warning, row.wasInDoubt === 1)
  yield* change(CANCEL, { nowMs, reason: why, warning, id })
  yield* book.move(row, 'CANCELLED', 'cancel', { attempt, atMs: nowMs, actor, reason: why })
  yield* recordAct(act)
  yield* endCanary(row, nowMs)
  return null
}

const CANCELLED_AND_READY = `
    SELECT id FROM batch WHERE hold = 'cancelled' AND id IN (SELECT batch_id FROM tally WHERE state = 'READY' AND count > 0)`

export async function finishCancelling(engine: Engine, nowMs: number): Promise<number> {
  const batches = await engine.read(() => all<{ id: BatchId }>(CANCELLED_AND_READY))
  let total = 0
  for (const { id } of batches) total += await cancelRows(engine, id, null, nowMs)
  return total
}
