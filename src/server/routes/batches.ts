// Batches: how they stand.

import { workersNow } from '../../app/locks.ts'
import { standingNow } from '../../app/standing.ts'
import type { App } from '../../app.ts'
import { type ApiKey, seesMerchant } from '../../domain/api-key.ts'
import type { BatchView } from '../../domain/batch.ts'
import type { Ledger } from '../../ports/ledger/ledger.ts'
import { toJsonBatch } from '../../present/batch.ts'
import { callerOf, type Door, type Server } from '../door.ts'
import { notFound } from '../problems.ts'
import { addRoute } from '../route.ts'
import { BATCH, BATCH_PARAMS } from '../schemas.ts'

export function addBatches(server: Server, { app, ledger }: Door): void {
  addRoute(server, 'getBatch', {
    summary: 'One batch, as it stands now',
    params: BATCH_PARAMS,
    replies: { 200: BATCH },
    answer: async ({ params, request }) =>
      showBatch(app, ledger, await findBatch(ledger, params.batch, callerOf(request).key)),
  })
}

/** By its whole id. That of a merchant which the key does not see is not there. */
export async function findBatch(ledger: Ledger, id: string, key: ApiKey): Promise<BatchView> {
  const batch = await ledger.batch(id).catch(() => null)
  if (batch === null || batch.batchId !== id || !seesMerchant(key, batch.merchant))
    throw notFound('There is no such batch in this ledger.')
  return batch
}

export async function showBatch(app: App, ledger: Ledger, batch: BatchView): Promise<object> {
  const standing = standingNow(app, batch, await workersNow(app, ledger))
  const sheet = standing.state === 'awaiting_approval' ? await ledger.approvalSheet(batch.batchId) : null
  return toJsonBatch(batch, standing, sheet)
}
