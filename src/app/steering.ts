// What a person or a service may decide about a batch, whichever door they come through.

import type { BatchView } from '../domain/batch.ts'
import { countIn } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'

export type Steering = 'pause' | 'resume' | 'cancel'

/** Messages of the same day may still come into their batch, and a doubt may be sent again: such a batch can be paused. */
export function assertSteerable(what: Steering, batch: BatchView): void {
  const { batchId, source } = batch
  const open = countIn(batch, 'READY') + countIn(batch, 'SENDING')
  if (open > 0 || what === 'resume') return
  if (what === 'cancel') {
    throw new Fault('usage', `Batch ${batchId} has nothing left to cancel: every row is settled. Nothing was changed.`)
  }
  if (source === 'queue' || countIn(batch, 'IN_DOUBT') > 0) return
  throw new Fault(
    'usage',
    `Batch ${batchId} is done: every row is settled, so there is nothing to pause. Nothing was changed.`,
  )
}
