// Who works on the ledger now, and what waits for a person.

import type { App } from '../app.ts'
import { type Attention, attentionIn, type Seen } from '../domain/attention.ts'
import type { BatchView } from '../domain/batch.ts'
import type { BatchId } from '../domain/ids.ts'
import { troublesOfIntake } from '../domain/intake-queue.ts'
import type { WorkerView } from '../domain/worker.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { freeBytesOf } from './health.ts'
import { workersNow } from './locks.ts'

export interface AttentionNow {
  readonly workers: readonly WorkerView[]
  readonly attention: readonly Attention[]
  /** With a row that is not settled, or with something that a person may have to look at. */
  readonly batches: readonly BatchView[]
  /** That a row be sent again, and another person confirms or refuses it. */
  readonly proposals: readonly { readonly batchId: BatchId }[]
}

/** Of a Redis that is configured, and of the queue there. */
export async function attentionToIntake(app: App, { ledgerId }: Pick<Ledger, 'ledgerId'>): Promise<Attention[]> {
  const { redisUrl, redisPrefix } = app.config
  if (redisUrl === null) return []
  const { lookAtIntake } = await import('../queues/intake-look.ts')
  const seen = await lookAtIntake({ url: redisUrl.reveal() }, redisPrefix).catch(() => null)
  // A ledger in a file may be copied to another host, and a shared Redis is what tells the two apart.
  if (seen === null) return [{ code: 'redis', stops: app.config.ledgerServer === null }]
  return troublesOfIntake(seen, ledgerId, app.clock.nowMs()).map((trouble) => ({ code: 'intake', trouble }))
}

/** `merchant`: only what concerns it; null: everything. */
export async function attentionNow(app: App, ledger: Ledger, merchant: string | null = null): Promise<AttentionNow> {
  const [alarm, workers] = [await ledger.alarm(), await workersNow(app, ledger)]
  const accounts = (await ledger.accounts()).filter(({ name }) => merchant === null || name === merchant)
  const batches = (await ledger.batches('unsettled')).filter(
    (batch) => merchant === null || batch.merchant === merchant,
  )
  const endpoints = (await ledger.endpoints()).filter((one) => merchant === null || one.merchant === merchant)
  const nowMs = app.clock.nowMs()
  const proposals = (await ledger.proposals(nowMs)).filter((one) => merchant === null || one.merchant === merchant)
  const refused = merchant === null ? await refusedFiles(ledger) : []
  const untoldSinceMs = merchant === null ? await untoldSince(app, ledger) : null
  const seen = {
    ...{ alarm, batches, accounts, workers, endpoints, proposals: proposals.length, refused, untoldSinceMs, nowMs },
    freeBytes: await freeBytesOf(app).catch(() => null),
  }
  return { workers, batches, attention: attentionIn(seen), proposals }
}

/** Of the queues that messages name, and of those of a whole merchant. */
async function untoldSince({ config }: App, ledger: Pick<Ledger, 'untoldSinceMs'>): Promise<number | null> {
  const standing = [...config.merchants.values()].filter(({ outcomes }) => outcomes !== null).map(({ name }) => name)
  const waiting = await Promise.all([null, ...standing].map((merchant) => ledger.untoldSinceMs(merchant)))
  const found = waiting.filter((sinceMs) => sinceMs !== null)
  return found.length === 0 ? null : Math.min(...found)
}

async function refusedFiles(ledger: Ledger): Promise<NonNullable<Seen['refused']>> {
  const folders = await ledger.inboxes()
  if (folders.length === 0) return []
  const { countRefused } = await import('../inbox/refused.ts')
  return Promise.all(folders.map(async (folder) => ({ folder, files: await countRefused(folder) })))
}
