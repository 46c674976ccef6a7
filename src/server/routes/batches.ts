// Batches: how they stand, and what is decided about them.

import * as z from 'zod'
import { workersNow } from '../../app/locks.ts'
import { findPage } from '../../app/paging.ts'
import { standingNow } from '../../app/standing.ts'
import { assertSteerable, type Steering } from '../../app/steering.ts'
import type { App } from '../../app.ts'
import { type ApiKey, seesMerchant } from '../../domain/api-key.ts'
import type { BatchView } from '../../domain/batch.ts'
import { BATCH_STATES } from '../../domain/batch-status.ts'
import type { AccountId, BatchId } from '../../domain/ids.ts'
import type { WorkerView } from '../../domain/worker.ts'
import type { Ledger } from '../../ports/ledger/ledger.ts'
import { toJsonBatch } from '../../present/batch.ts'
import { leftOutObject } from '../../present/left-out.ts'
import { callerOf, type Door, type Server } from '../door.ts'
import { httpWays } from '../faults.ts'
import { answerOnce } from '../once.ts'
import { answerPage, PAGING, pageOf } from '../pages.ts'
import { notFound } from '../problems.ts'
import { addRoute } from '../route.ts'
import { BATCH, BATCH_PARAMS, REASONED } from '../schemas.ts'

/** A view of a batch looks at many rows. */
const EFFORT = { most: 1_000, atOnce: 50 }

const ASKED = z.strictObject({
  ...PAGING,
  state: z.enum(BATCH_STATES).optional(),
  merchant: z.string().max(100).optional(),
})

export function addBatches(server: Server, door: Door): void {
  const { app, ledger } = door
  addRoute(server, 'listBatches', {
    summary: 'Batches, the latest first',
    query: ASKED,
    replies: { 200: pageOf(BATCH) },
    async answer({ query, request }) {
      const { key } = callerOf(request)
      const workers = await workersNow(app, ledger)
      const accounts = await accountsFor(ledger, key, query.merchant)
      return answerPage<object, BatchId>(door, request, query, async (after) => {
        const { state, limit } = query
        const fits = state === undefined ? null : (batch: BatchView) => standingNow(app, batch, workers).state === state
        const read = (last: BatchId | null, most: number) => ledger.batchesAfter(last, most, accounts)
        const found = await findPage(read, { after, limit, fits }, ({ batchId }) => batchId, EFFORT)
        return {
          ...found,
          data: found.data.map((batch) => toJsonBatch(batch, standingNow(app, batch, workers), null, httpWays)),
        }
      })
    },
  })
  addRoute(server, 'getBatch', {
    summary: 'One batch, as it stands now',
    params: BATCH_PARAMS,
    replies: { 200: BATCH },
    answer: async ({ params, request }) =>
      showBatch(app, ledger, await findBatch(ledger, params.batch, callerOf(request).key)),
  })
  addSteering(server, door, 'pause', 'Send nothing more of a batch until it is resumed')
  addSteering(server, door, 'resume', 'Let a paused batch go on; it is no approval')
  addSteering(server, door, 'cancel', 'Cancel what a batch has not sent yet')
}

function addSteering(server: Server, door: Door, what: Steering, summary: string): void {
  const { app, ledger } = door
  addRoute(server, `${what}Batch`, {
    summary,
    description: 'What was executed stays executed, and requests that are open are answered and recorded.',
    params: BATCH_PARAMS,
    body: REASONED,
    replies: { 200: BATCH },
    async answer({ params, body, request, reply }) {
      const { key, actor } = callerOf(request)
      const batch = await findBatch(ledger, params.batch, key)
      return answerOnce(door, request, reply, {
        async act(once) {
          assertSteerable(what, batch)
          await once[what](batch.batchId, body.reason, actor, app.clock.nowMs())
          return {}
        },
        show: async () => showBatch(app, ledger, await findBatch(ledger, params.batch, key)),
      })
    },
  })
}

/** null: those of all. */
async function accountsFor(ledger: Ledger, key: ApiKey, merchant?: string): Promise<readonly AccountId[] | null> {
  if (key.merchants === null && merchant === undefined) return null
  return (await ledger.accounts())
    .filter(({ name }) => seesMerchant(key, name) && (merchant === undefined || name === merchant))
    .map(({ accountId }) => accountId)
}

/** By its whole id. That of a merchant which the key does not see is not there. */
export async function findBatch(ledger: Ledger, id: string, key: ApiKey): Promise<BatchView> {
  const [batch] = [await ledger.batch(`${id}`).catch(() => null)]
  if (batch === null || batch.batchId !== id || !seesMerchant(key, batch.merchant))
    throw notFound('There is no such batch in this ledger.')
  return batch
}

export async function showBatch(app: App, ledger: Ledger, batch: BatchView): Promise<object> {
  const workers: readonly WorkerView[] = await workersNow(app, ledger)
  const standing = standingNow(app, batch, workers)
  const sheet = standing.state === 'awaiting_approval' ? await ledger.approvalSheet(batch.batchId) : null
  const leftOut = batch.hold === 'cancelled' ? await ledger.leftOutFor(batch.batchId) : []
  return { ...toJsonBatch(batch, standing, sheet, httpWays), ...leftOutObject(leftOut) }
}
