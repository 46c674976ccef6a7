// The results of the batches that came through an inbox, written when their rows have ended and whenever they change.

import type { BatchView } from '../domain/batch.ts'
import { countIn } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import type { Archived } from '../domain/inbox.ts'
import { words } from '../domain/words.ts'
import type { InboxParts } from './inbox-parts.ts'
import type { Troubles } from './inbox-troubles.ts'

/** How often results that were written are checked again: resolving a doubt changes them. */
const LOOK_AGAIN_AFTER_MS = 60_000
/** The pause between two rounds, as a multiple of the last one: with thousands of batches under way a round takes a while. */
const REST_PER_ROUND = 20

export function createDelivery<F>(parts: InboxParts<F>, troubles: Troubles) {
  const { folder, ledger, clock, reports, tell } = parts
  const lookAgainAtMs = new Map<BatchId, number>()
  let nextRoundAtMs = 0

  async function deliverOne(archived: Archived): Promise<void> {
    const { batchId, resultsPath } = archived
    const batch = await ledger.batch(batchId)
    if (batch?.batchId !== batchId)
      throw new Fault(
        'stopped',
        words`Batch ${batchId} is in the archive but not in this ledger, so its results cannot be written. An older ledger may have been put back: see ${{ act: 'diagnose', look: 'usual' }}.`,
      )
    if (countIn(batch, 'READY') + countIn(batch, 'SENDING') > 0) return
    // Those of a purged batch would be written again without the columns of the file.
    if (batch.purgedAtMs === null && (batch.resultsPath !== resultsPath || batch.resultsStale)) {
      await sayWhereChanged(archived, batch)
      tell({ kind: 'results', batch, ...(await parts.writeResults(batchId, resultsPath)) })
    }
    lookAgainAtMs.set(batchId, clock.monotonicMs() + LOOK_AGAIN_AFTER_MS)
  }

  /** The last look at the file: rows that came after it had been put away would be in no batch, unnoticed. */
  async function sayWhereChanged({ path, batchId }: Archived, batch: BatchView): Promise<void> {
    if (path === null || (await folder.sha256Of(path)) === batch.fileSha256) return
    const name = batch.fileName ?? batchId
    await folder.reportChanged(batchId, reports.changed(name, batch))
    tell({ kind: 'changed', name, batchId, path })
  }

  return {
    async deliver(signal: AbortSignal): Promise<void> {
      const beganMs = clock.monotonicMs()
      if (beganMs < nextRoundAtMs) return
      await troubles.over('the results', async () => {
        for (const archived of await folder.archived()) {
          if (signal.aborted) return
          if ((lookAgainAtMs.get(archived.batchId) ?? 0) > clock.monotonicMs()) continue
          await troubles.over(`the results of ${archived.batchId}`, () => deliverOne(archived))
        }
      })
      nextRoundAtMs = clock.monotonicMs() + REST_PER_ROUND * (clock.monotonicMs() - beganMs)
    },
  }
}
