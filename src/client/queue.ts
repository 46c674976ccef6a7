// Through BullMQ: jobs of the queue tranche-intake, and a queue of one's own for outcomes.

import { randomUUID } from 'node:crypto'
import { type ConnectionOptions, DelayedError, type Job, Queue, QueueEvents, Worker } from 'bullmq'
import { ListeningError, partsIn, RefusedError, UnsureError } from './errors.ts'
import type { Listening, OutcomeEvent, OutcomeHandler } from './event.ts'
import type { Batch, Environment, Instruction, Submitted, SubmittedBatch } from './instruction.ts'
import { AGAIN_MS, type Transport, WITHIN_MS } from './transport.ts'

export interface QueueOptions {
  /** Of the Redis that the worker uses: `{ url }`, `{ path }`, `{ host, port }`, or a connection of ioredis. */
  readonly redis: ConnectionOptions
  /** As TRANCHE_REDIS_PREFIX of the installation. Absent: `bull`. */
  readonly prefix?: string
  /** Needed where the installation has one: `live` or `test`. It refuses what is meant for the other one. */
  readonly environment?: Environment
  /** The name of the service: outcomes of what it hands in come to the queue `tranche-outcome-NAME`. Absent: none are asked for. */
  readonly outcomes?: string
  /** How long an answer is waited for. */
  readonly withinMs?: number
}

const INTAKE = 'tranche-intake'
const OUTCOME_NAME = /^[A-Za-z0-9._-]{1,64}$/
/** What is over is kept for a look, and not for ever. */
const KEPT = { removeOnComplete: { age: 3_600, count: 10_000 }, removeOnFail: { age: 7 * 86_400, count: 10_000 } }

export function openQueueTransport(options: QueueOptions): Transport {
  const { redis, prefix, environment, withinMs = WITHIN_MS } = options
  const names = { connection: redis, ...(prefix !== undefined && { prefix }) }
  const replyTo = outcomeQueue(options)
  const queue = new Queue(INTAKE, { ...names, defaultJobOptions: KEPT })
  const events = new QueueEvents(INTAKE, names)
  // They connect again; what is not answered meanwhile is said to be unsure. Each answer that is waited for is a listener.
  queue.on('error', () => {}).setMaxListeners(0)
  events.on('error', () => {}).setMaxListeners(0)

  async function hand(name: 'instruction' | 'batch' | 'cancel', content: object): Promise<Answer> {
    const data = {
      schema_version: 1,
      ...(environment !== undefined && { environment }),
      ...content,
      ...(replyTo !== null && name !== 'cancel' && { reply_to: replyTo }),
    }
    const until = Date.now() + withinMs
    // BullMQ counts in Redis: were this job lost with the count, another service's would get its number, and ours that one's answer.
    const job = await inTime(queue.add(name, data, { jobId: randomUUID() }), withinMs).catch((error: unknown) => {
      throw new UnsureError('It could not be handed in for certain', { cause: error })
    })
    try {
      const answer: unknown = await inTime(job.waitUntilFinished(events), Math.max(1, until - Date.now()))
      if (isAnswer(answer)) return answer
      throw new Error('the job was completed by something else than a worker of tranche')
    } catch (error) {
      return await answerAfter(queue, job, error)
    }
  }

  return {
    async submit(instruction: Instruction): Promise<Submitted> {
      const { reference } = instruction
      return { reference, ...(await hand('instruction', instruction)) } as Submitted
    },
    submitBatch: async (batch: Batch) => (await hand('batch', batch)) as SubmittedBatch,
    async cancel(reference, reason, merchant) {
      await hand('cancel', { reference, reason, ...(merchant !== undefined && { merchant }) })
    },
    onOutcome: (handler) => listen(replyTo, names, handler),
    async close() {
      await inTime(Promise.all([events.close(), queue.close()]), CLOSE_MS).catch(() => {})
      // With Redis away BullMQ's close never ends, and its sockets would keep the process.
      await inTime(Promise.all([events.disconnect(), queue.disconnect()]), CLOSE_MS).catch(() => {})
    },
  }
}

type Answer = Omit<Submitted, 'reference'> | SubmittedBatch

const REFUSED = 'refused: '
const LOOK_MS = 5_000
const CLOSE_MS = 2_000

/** An event may have been missed: the job itself says what became of it. */
async function answerAfter(queue: Queue, { id }: Job, error: unknown): Promise<Answer> {
  const job = await inTime(queue.getJob(id as string), LOOK_MS).catch(() => undefined)
  const failed = job?.failedReason ?? (error instanceof Error ? error.message : '')
  // Nothing but the intake itself says that something was refused.
  if (failed.startsWith(REFUSED))
    throw new RefusedError(reasonsOf(job) ?? [failed.slice(REFUSED.length)], saidOf(job).looks_like, {
      errors: partsIn(saidOf(job).errors),
      questions: saidOf(job).questions,
    })
  const answer: unknown = job?.returnvalue
  if (isAnswer(answer)) return answer
  throw new UnsureError('No answer came in time, or it was no refusal', { cause: error })
}

function isAnswer(value: unknown): value is Answer {
  const { status } = Object(value) as { status?: unknown }
  return status === 'accepted' || status === 'duplicate' || status === 'cancelled'
}

function reasonsOf(job: Job | undefined): readonly string[] | null {
  const said: unknown = job?.progress
  if (typeof said !== 'object' || said === null || !('refused' in said) || !Array.isArray(said.refused)) return null
  return said.refused.map(String)
}

function saidOf(job: Job | undefined): Readonly<Partial<Record<'errors' | 'looks_like' | 'questions', unknown>>> {
  return Object(job?.progress)
}

async function inTime<T>(asked: Promise<T>, withinMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Redis did not answer within ${withinMs} ms`)), withinMs)
  })
  asked.catch(() => {}) // it may fail after it was given up
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

function outcomeQueue({ outcomes }: QueueOptions): string | null {
  if (outcomes === undefined) return null
  if (!OUTCOME_NAME.test(outcomes))
    throw new TypeError(`outcomes: ${outcomes} is not 1 to 64 letters, digits, ".", "_" or "-"`)
  return `tranche-outcome-${outcomes}`
}

function listen(
  queue: string | null,
  names: { readonly connection: ConnectionOptions; readonly prefix?: string },
  handler: OutcomeHandler,
): Listening {
  if (queue === null) throw new TypeError('outcomes: name this service, so that outcomes have a queue to come to')
  const worker = new Worker(
    queue,
    async (job, token) => {
      try {
        await handler(job.data as OutcomeEvent)
      } catch {
        // A job that failed would not come again.
        await job.moveToDelayed(Date.now() + AGAIN_MS, token).catch(() => {})
        throw new DelayedError()
      }
    },
    { ...names, concurrency: 1, maxStalledCount: 1_000_000, removeOnComplete: { count: 0 } },
  )
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  const close = () => inTime(worker.close(), WITHIN_MS).catch(() => {})
  worker.on('error', (error) => {
    if (!isForGood(error)) return // it connects again
    reject(new ListeningError(`Redis refuses the user: ${error.message}`, { cause: error }))
    void close()
  })
  return { ended, close: () => close().then(resolve) }
}

/** Redis answers with these words until somebody changes its users or the password. */
function isForGood({ message }: Error): boolean {
  return /^(NOAUTH|WRONGPASS|NOPERM|ERR invalid password|ERR AUTH)\b/.test(message)
}
