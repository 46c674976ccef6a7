// Another side of the worker: one BullMQ job per row, the least that this can cost. All jobs are added first, as all rows
// are recorded first on our side; then one worker takes them. No ledger, no verdict. A private Redis: with the program's own settings, nothing
// of it durable; or one that writes each change to the disk before it answers.
//
//   jobs.ts DIR URL ROWS OPEN never|always

import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { Pool } from 'undici'
import { openPrivateRedis } from '../../src/queues/private-redis.ts'
import { amountOf, FIRST_ORDER } from '../parts/files.ts'
import { momentMs, serverCpuMsIn } from '../parts/moment.ts'
import { refund } from './refund.ts'

const [dir, url, rowCount, openCount, syncs] = process.argv.slice(2) as [string, string, string, string, string]
const rows = Number(rowCount)
const JOBS_AT_ONCE = 1_000
const SILENT = { info() {}, warn() {} }

const redis = await openPrivateRedis({ dataDir: dir, log: SILENT, env: process.env })
if (syncs === 'always') await syncAlways()
const queue = new Queue('rows', { connection: { path: redis.path } })
await queue.waitUntilReady()
for (let from = 0; from < rows; from += JOBS_AT_ONCE) await queue.addBulk(jobsFrom(from))
const before = serverCpuMsIn(dir)
const worked = { ...(await work()), serverMs: serverCpuMsIn(dir) - before }
await redis.close()
console.log(JSON.stringify(worked))
process.exit()

async function syncAlways(): Promise<void> {
  const client = new Redis(redis.path)
  await client.config('SET', 'appendfsync', 'always')
  await client.config('SET', 'appendonly', 'yes')
  await client.quit()
}

function jobsFrom(from: number) {
  return Array.from({ length: Math.min(JOBS_AT_ONCE, rows - from) }, (_, i) => ({
    name: 'row',
    data: { amount: amountOf(from + i), orderId: String(FIRST_ORDER + from + i) },
    opts: { jobId: `row-${from + i}`, removeOnComplete: true },
  }))
}

async function work(): Promise<{ approved: number; endMs: number }> {
  const pool = new Pool(url, { connections: Number(openCount), pipelining: 1 })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const connection = { path: redis.path, maxRetriesPerRequest: null }
  const worker = new Worker('rows', async ({ data }) => refund(pool, data.amount, data.orderId), {
    connection,
    concurrency: Number(openCount),
  })
  let approved = 0
  worker.on('completed', () => {
    approved += 1
    if (approved === rows) resolve()
  })
  worker.on('failed', (_job, error) => reject(error))
  worker.on('error', reject)
  await promise
  return { approved, endMs: momentMs() }
}
