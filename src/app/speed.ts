// How fast a batch moves, and how long it will take.

import type { App } from '../app.ts'
import type { BatchView } from '../domain/batch.ts'
import { countIn, type Standing } from '../domain/batch-status.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'

const AT_MOST_OVER_MS = 10_000
/** Many rows may move in one moment. */
const AT_LEAST_OVER_MS = 1_000
/** A second of what a fast worker moves. */
const AMONG_MOVES = 3_000

export interface Speed {
  readonly rows_per_second: number
  /** null: nothing is left, or nothing moves. */
  readonly seconds_left: number | null
}

/** Over the last seconds, as the record has them. */
export async function speedOf(
  app: App,
  ledger: Pick<Ledger, 'settledOfLate'>,
  batch: BatchView,
  { state }: Standing,
): Promise<Speed> {
  const left = countIn(batch, 'READY') + countIn(batch, 'SENDING')
  if (left === 0) return { rows_per_second: 0, seconds_left: null }
  const nowMs = app.clock.nowMs()
  const { rows, sinceMs } = await ledger.settledOfLate(batch.batchId, nowMs - AT_MOST_OVER_MS, AMONG_MOVES)
  const perSecond = (rows * 1_000) / Math.max(AT_LEAST_OVER_MS, nowMs - sinceMs)
  return {
    rows_per_second: perSecond,
    seconds_left: rows === 0 || state !== 'running' ? null : Math.ceil(left / perSecond),
  }
}
