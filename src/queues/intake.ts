// The queue by which other services hand in instructions. A job completes when its message is in the ledger, never before.

import { DelayedError, type Job, UnrecoverableError, Worker } from 'bullmq'
import { holdsCardData } from '../domain/card-secrets.ts'
import type { MessageResult } from '../domain/message.ts'
import type { Log } from '../ports/log.ts'
import { answered, nameOf, openClient, type RedisAddress, type RedisClient, workerConnection } from './connection.ts'
import { INTAKE_QUEUE, intakeOwnerKey } from './names.ts'
import { within } from './within.ts'

export interface IntakeOptions {
  readonly address: RedisAddress
  readonly prefix: string
  readonly ledgerId: string
  readonly owners: QueueOwners
  readonly take: (jobName: string, payload: unknown, sourceId: string) => Promise<MessageResult>
  readonly log: Log
}

/** What the ledger keeps of whose the queue was when it looked last: Redis forgets it when it is emptied. */
export interface QueueOwners {
  /** `queue`: which one, of which Redis. null: it never looked. */
  last(queue: string): Promise<string | null>
  keep(queue: string, ledgerId: string): Promise<void>
}

/** How long a message waits that could not be recorded just now. */
const LATER_MS = 5_000
const TAKEN_FOR_DEAD_MS = 10_000

export interface Intake {
  close(withinMs: number): Promise<void>
}

/** null: the intake of this Redis belongs to another ledger, and its messages are left alone. */
export async function openIntakeQueue(options: IntakeOptions): Promise<Intake | null> {
  const { address, prefix, log } = options
  const redis = openClient(address)
  const ownership = ownershipIn(redis, options)
  if (!(await answered(address, ownership.holds()))) {
    log.warn({}, await ownership.whyNot())
    redis.disconnect()
    return null
  }
  // Without it two workers of two ledgers would hand one message to and fro.
  const giveUp = () => void worker.pause(true).catch(() => {})
  const ours = workerConnection(address)
  const worker = new Worker(INTAKE_QUEUE, (job, token) => takeJob(job, token, ownership, giveUp, options), {
    prefix,
    connection: ours.connection,
    concurrency: 8,
    // Taking a message twice is harmless, it is known by its reference: so one whose taker died is soon taken again.
    lockDuration: TAKEN_FOR_DEAD_MS,
    stalledInterval: TAKEN_FOR_DEAD_MS,
    maxStalledCount: 1_000_000,
  })
  worker.on('error', (error) => log.debug({ err: error }, 'intake: connection'))
  const events = openEventSweep(redis, worker.toKey('events'), log)
  worker.on('failed', (job) => {
    if (job !== undefined && namesCard(job)) events.due()
  })
  return {
    async close(withinMs) {
      await within(withinMs, worker.close())
      await within(withinMs, events.close())
      redis.disconnect()
      ours.close()
    },
  }
}

/** An id and a name cannot be overwritten. */
function namesCard({ id, name }: Pick<Job, 'id' | 'name'>): boolean {
  return holdsCardData(id ?? '') || holdsCardData(name)
}

/** How long a producer may take to hear that its message was refused. */
const HEARD_WITHIN_MS = 2_000
const EVENTS_AT_ONCE = 1_000

interface EventSweep {
  /** An event names what must not be kept. */
  due(): void
  /** Resolves when nothing of it is left. */
  close(): Promise<void>
}

/** BullMQ keeps the last thousands of events, with ids and names of jobs that are long gone: those with card data go. */
function openEventSweep(redis: RedisClient, key: string, log: Log): EventSweep {
  let timer: NodeJS.Timeout | undefined
  async function sweep(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    let from = '-'
    for (;;) {
      const events = await redis.xrange(key, from, '+', 'COUNT', EVENTS_AT_ONCE)
      const named = events.filter(([, fields]) => fields.some(holdsCardData)).map(([id]) => id)
      if (named.length > 0) await redis.xdel(key, ...named)
      const last = events.at(-1)
      if (last === undefined || events.length < EVENTS_AT_ONCE) return
      from = `(${last[0]}`
    }
  }
  const sweepQuietly = () => sweep().catch((error) => log.debug({ err: error }, 'intake: the events were not swept'))
  void sweepQuietly() // what an earlier worker had no time for
  return {
    due() {
      timer ??= setTimeout(sweepQuietly, HEARD_WITHIN_MS)
    },
    close: () => (timer === undefined ? Promise.resolve() : sweepQuietly()),
  }
}

interface Ownership {
  /** Asked before every message: an emptied Redis has forgotten whose the queue is, and another may have come first. */
  holds(): Promise<boolean>
  /** A sentence for people. */
  whyNot(): Promise<string>
}

/** A queue that was another ledger's when this one looked last is not taken over: that one knows which messages came before. */
function ownershipIn(redis: RedisClient, { address, prefix, ledgerId, owners }: IntakeOptions): Ownership {
  const key = intakeOwnerKey(prefix)
  const queue = `${nameOf(address)} ${key}`
  return {
    async holds() {
      const last = await owners.last(queue)
      if (last === null || last === ledgerId) await redis.setnx(key, ledgerId)
      const owner = (await redis.get(key)) ?? last
      if (owner !== null && owner !== last) await owners.keep(queue, owner)
      return owner === ledgerId
    },
    async whyNot() {
      const left = `the queue ${INTAKE_QUEUE} belongs to another ledger: its messages are left alone`
      if ((await redis.get(key)) !== null) return left
      return `${left}. Redis was emptied, and that ledger (${await owners.last(queue)}) takes the queue again when its worker starts. If it is gone for good: see in its record or its backup which messages it took, then hand the queue over with redis-cli SET ${key} ${ledgerId}`
    },
  }
}

async function takeJob(
  job: Job,
  token: string | undefined,
  ownership: Ownership,
  giveUp: () => void,
  { take, log }: IntakeOptions,
): Promise<object> {
  const putBack = async (why: string, error?: unknown): Promise<never> => {
    log.error({ err: error, job: job.id }, why)
    await job.moveToDelayed(Date.now() + LATER_MS, token)
    throw new DelayedError()
  }
  if (!(await ownership.holds())) {
    giveUp()
    return putBack('the queue belongs to another ledger now: the message was put back, and no more are taken here')
  }
  let taken: MessageResult
  try {
    const sourceId = `${INTAKE_QUEUE}/${job.id}/${job.timestamp}`
    taken = await take(job.name, job.data, sourceId)
    // Its producer is told by the event all the same.
    if (namesCard(job)) job.opts.removeOnFail = true
    if (taken.kind === 'refused' && taken.withheld !== null) {
      await job.updateData({ withheld: `the message was overwritten: ${taken.withheld}` })
    }
  } catch (error) {
    // Our own trouble (a full disk, a Redis that goes away) must not fail a producer's message, nor leave it as it is.
    return putBack('a message could not be taken; it stays in the queue', error)
  }
  if (taken.kind !== 'refused') {
    return { status: taken.kind, batch: taken.batchId, row: taken.rowNo, state: taken.state }
  }
  throw new UnrecoverableError(`refused: ${taken.reasons.join('; ')}`)
}
