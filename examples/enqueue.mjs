// Another service hands in one instruction with plain BullMQ and waits until it is in the ledger (not until it is sent).
// Run with: TRANCHE_REDIS_URL=redis://… node examples/enqueue.mjs [REFERENCE], while a worker runs on the same Redis. Node 20 will do.

import { randomUUID } from 'node:crypto'
import { Queue, QueueEvents } from 'bullmq'

const redis = process.env.TRANCHE_REDIS_URL ?? 'redis://127.0.0.1:6379'
const connection = redis.startsWith('/') ? { path: redis } : { url: redis }
const queue = new Queue('tranche-intake', { connection })
// From the first event that is kept: the job may be over before this process listens, and its end would be waited for in vain.
const events = new QueueEvents('tranche-intake', { connection, lastEventId: '0' })
const WITHIN_MS = 30_000

const message = {
  schema_version: 1,
  environment: process.env.TRANCHE_ENVIRONMENT, // where the installation has one: live or test
  reference: process.argv[2] ?? 'CAP-1001',
  transaction_type: 'CAUTH',
  amount: '12.30',
  request_currency: 'EUR',
  request_ref_po_id: '700000001',
}
// An id of its own: if Redis lost this job, BullMQ would give its number to another one, whose answer is not ours.
const job = await queue.add('instruction', message, { jobId: randomUUID() })
console.log(await job.waitUntilFinished(events, WITHIN_MS))

await Promise.all([events.close(), queue.close()])
