// Measures how fast a worker takes messages into a ledger in a file: as many as wait in the queue, none of them due, so that nothing is sent.
//
//   npx node bench/intake.ts [messages] [rounds]      default 20000 3

import { globSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Queue } from 'bullmq'
import { openOffice, until } from '../test/fixtures/cli.ts'
import { openRedisServer } from '../test/fixtures/redis.ts'
import { machineNow } from './parts/machine.ts'

const [messages = 20_000, rounds = 3] = process.argv.slice(2).map(Number)
const BULK = 1_000

console.log(JSON.stringify(machineNow()))
for (let round = 1; round <= rounds; round += 1) console.log(`round ${round}: ${JSON.stringify(await measure())}`)
process.exit(0)

async function measure() {
  const office = await openOffice()
  const redis = await openRedisServer(office.path('r.sock'))
  const queue = new Queue('tranche-intake', { connection: { path: redis.path } })
  const execute_at = new Date(Date.now() + 7 * 86_400_000).toISOString()
  for (let from = 0; from < messages; from += BULK)
    await queue.addBulk(
      Array.from({ length: Math.min(BULK, messages - from) }, (_, i) => ({
        name: 'instruction',
        data: {
          ...{ schema_version: 1, reference: `B-${from + i}`, transaction_type: 'REFUND', amount: '1.50' },
          ...{ request_currency: 'EUR', request_ref_po_id: String(500_000_000 + from + i), execute_at },
        },
      })),
    )
  const worker = await office.worker({ TRANCHE_REDIS_URL: redis.path })
  await until('all are taken', async () => (await queue.getCompletedCount()) === messages, worker)
  const processorMsOfThreads = busiestThreadsOf(worker.pid)
  const db = new DatabaseSync(office.ledgerPath, { readOnly: true })
  const { n, firstMs, lastMs } = db
    .prepare('SELECT count(*) AS n, min(arrived_at) AS firstMs, max(arrived_at) AS lastMs FROM instruction')
    .get() as { n: number; firstMs: number; lastMs: number }
  db.close()
  if (n !== messages) throw new Error(`${n} rows for ${messages} messages`)
  await queue.close()
  await office.close()
  await redis.kill()
  return { messages, takenASecond: Math.round((messages * 1_000) / (lastMs - firstMs)), processorMsOfThreads }
}

/** Of the busiest threads of a process, its starting included: on a machine that others use as well, this is what does not depend on them. */
function busiestThreadsOf(pid: number): number[] {
  const ticks = globSync(`/proc/${pid}/task/*/stat`).map((path) => {
    const fields = readFileSync(path, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return Number(fields[11]) + Number(fields[12])
  })
  return ticks
    .toSorted((one, other) => other - one)
    .slice(0, 3)
    .map((hundredths) => hundredths * 10)
}
