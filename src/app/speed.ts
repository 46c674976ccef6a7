// How fast a batch moves, and how long it will take.

import type { App } from '../app.ts'
import type { BatchView } from '../domain/batch.ts'
import { countIn, type Standing } from '../domain/batch-status.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'

export const SPEED_OVER_MS = 10_000

export interface Speed {
  readonly rows_per_second: number
  /** null: nothing is left, or nothing moves. */
  readonly seconds_left: number | null
}

/** Over the last seconds, as the record has them. */
export async function speedOf(
  app: App,
  ledger: Pick<Ledger, 'settledSince'>,
  batch: BatchView,
  { state }: Standing,
): Promise<Speed> {
  const left = countIn(batch, 'READY') + countIn(batch, 'SENDING')
  if (left === 0) return { rows_per_second: 0, seconds_left: null }
  const settled = await ledger.settledSince(batch.batchId, app.clock.nowMs() - SPEED_OVER_MS)
  const perSecond = settled / (SPEED_OVER_MS / 1000)
  return {
    rows_per_second: perSecond,
    seconds_left: settled === 0 || state !== 'running' ? null : Math.ceil(left / perSecond),
  }
}
