// The queues in which services hear what becomes of their messages. A job has the id of its event: while one is there it is not made twice.

import { Queue } from 'bullmq'
import type { OutcomeQueues } from '../ports/webhooks.ts'
import { producerConnection, type RedisAddress } from './connection.ts'
import { within } from './within.ts'

export interface OutcomesOptions {
  readonly address: RedisAddress
  readonly prefix: string
}

const CLOSE_MS = 2_000
const WITHIN_MS = 5_000
/** Each has a connection, and messages name as many as they like. */
const OPEN_MOST = 32
/** One that a service failed is kept for a look. */
const KEPT = { removeOnComplete: true, removeOnFail: { age: 7 * 86_400 } }

export function openOutcomeQueues({ address, prefix }: OutcomesOptions): OutcomeQueues {
  const ours = producerConnection(address)
  const queues = new Map<string, Queue>()

  async function queueOf(name: string): Promise<Queue> {
    const queue = queues.get(name) ?? openQueue(name)
    queues.delete(name)
    queues.set(name, queue) // the last one used
    const [oldest] = queues
    if (queues.size > OPEN_MOST && oldest !== undefined) {
      queues.delete(oldest[0])
      void within(CLOSE_MS, oldest[1].close())
    }
    await inTime(queue.waitUntilReady())
    return queue
  }

  function openQueue(name: string): Queue {
    const queue = new Queue(name, { connection: ours.connection, prefix, defaultJobOptions: KEPT })
    queue.on('error', () => {}) // it connects again; what was not handed over is handed over again
    return queue
  }

  return {
    async publish(name, bodies) {
      const jobs = bodies.map((body) => ({ name: body.type, data: body, opts: { jobId: body.id } }))
      try {
        const queue = await queueOf(name)
        await inTime(queue.addBulk(jobs))
      } catch (cause) {
        throw new Error(`the queue ${name} took no outcomes`, { cause })
      }
    },
    async close() {
      await within(CLOSE_MS, Promise.all(Array.from(queues.values(), (queue) => queue.close())))
      ours.close()
    },
  }
}

/** With Redis away some of it would never end. */
async function inTime(asked: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Redis did not answer within ${WITHIN_MS} ms`)), WITHIN_MS)
  })
  asked.catch(() => {}) // it may fail after it was given up
  await Promise.race([asked, late]).finally(() => clearTimeout(timer))
}
