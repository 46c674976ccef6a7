// Takes slices out of the queue, and makes itself and its connections again when it stands still: BullMQ workers have been seen to, after
// a failover, with connections that stand and slices that wait.

import { type Queue, Worker } from 'bullmq'
import type { BatchId } from '../domain/ids.ts'
import { createToldTrouble } from '../domain/trouble.ts'
import type { Clock } from '../ports/clock.ts'
import type { Slice } from '../ports/dispatch.ts'
import type { Log } from '../ports/log.ts'
import { type RedisAddress, workerConnection } from './connection.ts'
import { within } from './within.ts'

export type SliceQueue = Queue<Slice, number, 'slice'>

export interface SliceWorkerParts {
  readonly address: RedisAddress
  readonly prefix: string
  readonly queue: SliceQueue
  readonly concurrency: number
  readonly work: (slice: Slice) => Promise<number>
  readonly onFreed: (batchId: BatchId, rows: number) => void
  readonly clock: Clock
  readonly log: Log
}

export interface SliceWorker {
  /** Called when slices have been offered, with the ids of their jobs. */
  watch(offered: readonly string[]): Promise<void>
  close(withinMs: number): Promise<void>
}

const TAKEN_FOR_DEAD_MS = 10_000
/** So long a slice waited that nobody has, and none began here though there was room: longer than BullMQ needs to find a lost one. */
const STILL_MS = 15_000

export function openSliceWorker({ queue, concurrency, work, clock, log, ...parts }: SliceWorkerParts): SliceWorker {
  const running = new Set<string>()
  const trouble = createToldTrouble()
  let beganAtMs = clock.monotonicMs()
  let worker = open()

  async function take(jobId: string, slice: Slice): Promise<number> {
    beganAtMs = clock.monotonicMs()
    running.add(jobId)
    return work(slice).finally(() => running.delete(jobId))
  }

  function open(): Pick<SliceWorker, 'close'> {
    const { connection, close } = workerConnection(parts.address)
    const opened = new Worker<Slice, number, 'slice'>(queue.name, (job) => take(job.id ?? '', job.data), {
      ...{ prefix: parts.prefix, connection, concurrency },
      // A slice that ran twice would find its rows claimed: so one whose end was lost on the way gives its place free soon.
      // One that is thought lost must not be put aside as failed.
      lockDuration: TAKEN_FOR_DEAD_MS,
      stalledInterval: TAKEN_FOR_DEAD_MS,
      maxStalledCount: 1_000_000,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    })
    opened.on('error', (error) => log.debug({ err: error }, 'slices: connection'))
    opened.on('completed', (job, rows) => {
      trouble.over()
      parts.onFreed(job.data.batchId, rows)
    })
    opened.on('failed', (job, error) => {
      if (!trouble.isNew(error)) return
      log.error({ err: error, batch: job?.data.batchId }, 'a slice broke off; its rows stay as the ledger has them')
    })
    return {
      async close(withinMs) {
        // Closing waits for running slices, and would never end while Redis is away: it needs a limit.
        await within(withinMs, opened.close(withinMs === 0))
        close()
      },
    }
  }

  /** Whether it has waited in vain: nobody has it, and it is no new one. */
  async function isLeft(jobId: string): Promise<boolean> {
    const job = await queue.getJob(jobId)
    return job !== undefined && clock.nowMs() - job.timestamp >= STILL_MS && (await job.getState()) === 'waiting'
  }

  return {
    async watch(offered) {
      if (running.size >= concurrency || clock.monotonicMs() - beganAtMs < STILL_MS) return
      const left = await Promise.all(offered.filter((jobId) => !running.has(jobId)).map(isLeft))
      if (!left.includes(true) || clock.monotonicMs() - beganAtMs < STILL_MS) return
      beganAtMs = clock.monotonicMs()
      log.warn({}, 'no slice was taken from Redis for 15 s although some wait; its connections are made again')
      // What it runs comes to its end: its rows are settled, and its place is free when its lock has run out.
      void worker.close(0)
      worker = open()
    },
    close: (withinMs) => worker.close(withinMs),
  }
}
