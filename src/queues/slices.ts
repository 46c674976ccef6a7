// Hands out slices through BullMQ. A slice never waits, is never delayed and never retried; losing one costs a tick.

import { Queue } from 'bullmq'
import { messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import type { Clock } from '../ports/clock.ts'
import type { Dispatch, Slice } from '../ports/dispatch.ts'
import type { Log } from '../ports/log.ts'
import { answered, nameOf, producerConnection, type RedisAddress } from './connection.ts'
import { slicesQueue } from './names.ts'
import { openSliceWorker, type SliceQueue } from './slice-worker.ts'
import { within } from './within.ts'

export interface SlicesOptions {
  readonly address: RedisAddress
  readonly prefix: string
  readonly ledgerId: string
  /** Slices that run at the same time. */
  readonly concurrency: number
  /** Where this process works, of the places of its ledger; null: there is one. */
  readonly place: string | null
  /** Resolves to the rows worked on. Must not reject: what it throws is logged and forgotten. */
  readonly work: (slice: Slice) => Promise<number>
  readonly clock: Clock
  readonly log: Log
}

/** Nobody else works at this place: what is in its queue at the start is a dead worker's. */
export async function openSlices(options: SlicesOptions): Promise<Dispatch> {
  const { address, prefix, ledgerId, place, clock } = options
  const { connection, close } = producerConnection(address)
  const queue: SliceQueue = new Queue(slicesQueue(ledgerId, place), { prefix, connection })
  queue.on('error', () => {}) // the tick says it once; ioredis would say it at every try
  await answered(
    address,
    queue.waitUntilReady().then(() => queue.obliterate({ force: true })),
  )
  let listener: (batchId: BatchId, rows: number) => void = () => {}
  const worker = openSliceWorker({ ...options, queue, onFreed: (batchId, rows) => listener(batchId, rows) })

  return {
    async offer(slices) {
      const timestamp = clock.nowMs()
      // The id is the place: a place that is taken makes the add a no-op.
      const jobs = slices.map((slice) => ({
        ...{ name: 'slice' as const, data: slice },
        opts: { jobId: `${slice.batchId}-${slice.place}`, timestamp, removeOnComplete: true, removeOnFail: true },
      }))
      try {
        await queue.addBulk(jobs)
        await worker.watch(jobs.map(({ opts }) => opts.jobId))
      } catch (error) {
        throw awayFault(address, error)
      }
    },
    onFreed(told) {
      listener = told
    },
    async close(withinMs) {
      await worker.close(withinMs)
      await within(1_000, queue.close())
      close()
    },
  }
}

function awayFault(address: RedisAddress, error: unknown): Fault {
  const said = messageOf(error)
  const why = said.startsWith("Stream isn't writeable") ? 'there is no connection' : said
  return new Fault('unavailable', `Redis at ${nameOf(address)} takes no rows: ${why}`, { cause: error })
}
