// What a cancel leaves to do: READY rows of a cancelled batch become CANCELLED, in short transactions.

import type { Actor } from '../../../domain/actor.ts'
import type { BatchId } from '../../../domain/ids.ts'
import { cancelledReason, warningWhenCancelled } from '../../rules/unanswered.ts'
import type { Engine } from '../engine.ts'
import { all, change } from '../script.ts'
import { OPEN_ROW, type OpenRow, ROWS_PER_STEP, stepwise } from './open-rows.ts'

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

const CANCELLED_AND_READY = `
    SELECT id FROM batch WHERE hold = 'cancelled' AND id IN (SELECT batch_id FROM tally WHERE state = 'READY' AND count > 0)`

export async function finishCancelling(engine: Engine, nowMs: number): Promise<number> {
  const batches = await engine.read(() => all<{ id: BatchId }>(CANCELLED_AND_READY))
  let total = 0
  for (const { id } of batches) total += await cancelRows(engine, id, null, nowMs)
  return total
}
