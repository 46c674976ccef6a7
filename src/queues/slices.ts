// Hands out slices through BullMQ. A slice never waits, is never delayed and never retried; losing one costs a tick.

import { Queue, Worker } from 'bullmq'
import type { BatchId } from '../domain/ids.ts'
import type { Dispatch, Slice } from '../ports/dispatch.ts'
import type { Log } from '../ports/log.ts'
import { answered, producerConnection, type RedisAddress, workerConnection } from './connection.ts'
import { slicesQueue } from './names.ts'
import { within } from './within.ts'

export interface SlicesOptions {
  readonly address: RedisAddress
  readonly prefix: string
  readonly ledgerId: string
  /** Slices that run at the same time. */
  readonly concurrency: number
  /** No other process takes slices of this ledger: what is in the queue at the start is a dead worker's. */
  readonly alone: boolean
  /** Resolves to the rows worked on. Must not reject: what it throws is logged and forgotten. */
  readonly work: (slice: Slice) => Promise<number>
  readonly log: Log
}

const TAKEN_FOR_DEAD_MS = 10_000

/** Only who is alone empties the queue first: else the slices of living workers are in it, and one that runs twice finds its rows claimed. */
export async function openSlices({
  address,
  prefix,
  ledgerId,
  concurrency,
  alone,
  work,
  log,
}: SlicesOptions): Promise<Dispatch> {
  const name = slicesQueue(ledgerId)
  const [producing, working] = [producerConnection(address), workerConnection(address)]
  const queue = new Queue<Slice, number, 'slice'>(name, { prefix, connection: producing.connection })
  queue.on('error', () => {}) // the tick says it once; ioredis would say it at every try
  await answered(
    address,
    queue.waitUntilReady().then(() => (alone ? queue.obliterate({ force: true }) : undefined)),
  )

  const worker = new Worker<Slice, number, 'slice'>(name, (job) => work(job.data), {
    prefix,
    connection: working.connection,
    concurrency,
    // A slice that ran twice would find its rows claimed: so one whose end was lost on the way gives its place free soon.
    // One that is thought lost must not be put aside as failed.
    lockDuration: TAKEN_FOR_DEAD_MS,
    stalledInterval: TAKEN_FOR_DEAD_MS,
    maxStalledCount: 1_000_000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  })
  worker.on('error', (error) => log.debug({ err: error }, 'slices: connection'))

  return {
    async offer(slices) {
      // The id is the place: a place that is taken makes the add a no-op.
      await queue.addBulk(
        slices.map((slice) => ({
          name: 'slice' as const,
          data: slice,
          opts: { jobId: `${slice.batchId}-${slice.place}`, removeOnComplete: true, removeOnFail: true },
        })),
      )
    },
    onFreed(listener) {
      worker.on('completed', (job, rows) => listener(job.data.batchId as BatchId, rows))
      worker.on('failed', (job, error) => {
        log.error({ err: error, batch: job?.data.batchId }, 'a slice broke off; its rows stay as the ledger has them')
      })
    },
    async close(withinMs) {
      // Closing waits for running slices, and would never end while Redis is away: it needs a limit.
      await within(withinMs, worker.close())
      await within(1_000, queue.close())
      for (const { close } of [producing, working]) close()
    },
  }
}
