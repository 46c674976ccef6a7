// How fast a worker takes messages that wait in the queue into a ledger in a file: durably, and with none of them due, so that nothing
// is sent meanwhile.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { Queue } from 'bullmq'
import { openRedisServer } from '../../test/fixtures/redis.ts'
import type { Bench, Case, Line } from '../parts/case.ts'
import { FIRST_ORDER } from '../parts/files.ts'
import { cpuMsOf } from '../parts/moment.ts'
import type { Office } from '../parts/office.ts'
import { assertDone } from '../parts/process.ts'

const AT_ONCE = 1_000
const IN_A_WEEK_MS = 7 * 86_400_000
const LOOK_EVERY_MS = 20

interface Taken {
  readonly perSecond: number
  readonly cpuMsPerMessage: number
}

export const intake: Case = {
  name: 'intake',
  async run(bench: Bench): Promise<readonly Line[]> {
    const { messages, rounds } = bench.sizes
    const taken: Taken[] = []
    for (let round = 1; round <= rounds; round++) {
      taken.push(await takeIn(bench, messages))
      bench.tell(`round ${round} of ${rounds}`)
    }
    const what = `${messages} messages taken`
    return [
      { what, unit: 'messages/s', ours: taken.map(({ perSecond }) => perSecond), goal: { atLeast: 2_000 } },
      { what, unit: 'ms of processor a message', ours: taken.map(({ cpuMsPerMessage }) => cpuMsPerMessage) },
    ]
  },
}

async function takeIn(bench: Bench, messages: number): Promise<Taken> {
  const redis = await openRedisServer(join(bench.root, 'r.sock'))
  const office = await bench.office({ redisUrl: redis.path })
  const queue = new Queue('tranche-intake', { connection: { path: redis.path } })
  try {
    await handIn(queue, messages)
    const worker = office.start('worker', '--json')
    await worker.said('working')
    const cpuBefore = cpuMsOf(worker.pid)
    while ((await queue.getCompletedCount()) < messages) await worker.meanwhile(sleep(LOOK_EVERY_MS))
    const cpuMs = cpuMsOf(worker.pid) - cpuBefore
    worker.kill('SIGTERM')
    await worker.ended
    return { perSecond: perSecondIn(office, messages), cpuMsPerMessage: cpuMs / messages }
  } finally {
    await queue.close()
    await redis.kill()
    office.close()
  }
}

async function handIn(queue: Queue, messages: number): Promise<void> {
  const execute_at = new Date(Date.now() + IN_A_WEEK_MS).toISOString()
  for (let from = 0; from < messages; from += AT_ONCE)
    await queue.addBulk(
      Array.from({ length: Math.min(AT_ONCE, messages - from) }, (_, i) => ({
        name: 'instruction',
        data: {
          ...{ schema_version: 1, reference: `B-${from + i}`, transaction_type: 'REFUND', amount: '1.50' },
          ...{ request_currency: 'EUR', request_ref_po_id: String(FIRST_ORDER + from + i), execute_at },
        },
      })),
    )
}

/** From the first row to the last, as the ledger has them. */
function perSecondIn({ ledger }: Office, messages: number): number {
  const db = new DatabaseSync(ledger, { readOnly: true })
  const { n, firstMs, lastMs } = db
    .prepare('SELECT count(*) AS n, min(arrived_at) AS firstMs, max(arrived_at) AS lastMs FROM instruction')
    .get() as { n: number; firstMs: number; lastMs: number }
  db.close()
  assertDone(n === messages, `${n} rows for ${messages} messages`)
  return (messages * 1_000) / (lastMs - firstMs)
}
