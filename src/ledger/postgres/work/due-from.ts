// Where a worker goes on looking for what is due. While a long transaction holds back the xmin horizon, the server passes over everything
// that was settled since, at every look. So a look begins at the first row that the one before it found, and every few seconds from the first again:
// a row that stood behind another of its order may be free since.

import type { BatchId } from '../../../domain/ids.ts'
import type { DueFrom, DuePosition } from '../../texts/work/claim.ts'

const FROM_THE_FIRST_AGAIN_MS = 5_000
/** So many rows of a batch before it cost a look nothing that is worth a wait. */
const FEW_ROWS = 5_000
/** What is known of batches that ended is not taken out one by one. */
const KEPT_MOST = 1_000

export function createDueFrom(steadyMs: () => number): DueFrom {
  const known = new Map<BatchId, DuePosition & { readonly sinceMs: number }>()
  return {
    of(batchId) {
      const there = known.get(batchId)
      if (there === undefined || steadyMs() - there.sinceMs > FROM_THE_FIRST_AGAIN_MS) return null
      return { dueAtMs: there.dueAtMs, rowNo: there.rowNo }
    },
    found(batchId, first) {
      if (known.size > KEPT_MOST) known.clear()
      const before = this.of(batchId) === null ? undefined : known.get(batchId)
      if (first === null || first.rowNo <= FEW_ROWS) known.delete(batchId)
      else known.set(batchId, { dueAtMs: first.dueAtMs, rowNo: first.rowNo, sinceMs: before?.sinceMs ?? steadyMs() })
    },
  }
}
