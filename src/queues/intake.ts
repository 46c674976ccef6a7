// The queue by which other services hand in instructions. A job completes when its message is in the ledger, never before.

import { DelayedError, type Job, type JobJson, UnrecoverableError, Worker } from 'bullmq'
import { isoOf } from '../domain/batch-status.ts'
import { holdsCardData } from '../domain/card-secrets.ts'
import type { Held } from '../domain/event.ts'
import { Fault, type FaultCode } from '../domain/fault.ts'
import {
  completionOf,
  KnownElsewhere,
  type MessageResult,
  NotReadAgain,
  type ReceivedMessage,
  type RefusedMessage,
  toLooksLike,
  whyNotAgain,
} from '../domain/message.ts'
import { type State, statusOf } from '../domain/states.ts'
import { partsOfReason } from '../domain/wrong-field.ts'
import type { Log } from '../ports/log.ts'
import { answered, nameOf, openClient, type RedisAddress, type RedisClient, workerConnection } from './connection.ts'
import { whyUnread } from './job-text.ts'
import { INTAKE_QUEUE, intakeOwnerKey } from './names.ts'
import { within } from './within.ts'

export interface IntakeOptions {
  readonly address: RedisAddress
  readonly prefix: string
  readonly ledgerId: string
  readonly owners: QueueOwners
  readonly take: (handed: ReceivedMessage) => Promise<MessageResult>
  /** Of a row that a job waits for, without writing anything. null: it is not in the ledger. */
  readonly stateOf: (batch: string, row: number) => Promise<State | null>
  readonly log: Log
}

/** What the ledger keeps of whose the queue was when it looked last: Redis forgets it when it is emptied. */
export interface QueueOwners {
  /** `queue`: which one, of which Redis. null: it never looked. */
  last(queue: string): Promise<string | null>
  keep(queue: string, ledgerId: string): Promise<void>
}

/** How long a message waits that could not be recorded just now, and how long it and all others wait after trouble of ours. */
const LATER_MS = 500
const AFTER_TROUBLE_MS = 5_000
/** What arrives together shares a commit; more than these are never in memory at once. */
const AT_ONCE = 64
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
  const giveUp = () => {
    rest.close()
    void worker.pause(true).catch(() => {})
  }
  const elsewhere = createElsewhere(log)
  const ours = workerConnection(address)
  const worker: ReadingWorker = new ReadingWorker(
    INTAKE_QUEUE,
    (job, token) => takeJob(job, token, { ownership, giveUp, rest, worker, elsewhere }, options),
    {
      prefix,
      connection: ours.connection,
      concurrency: AT_ONCE,
      // Taking a message twice is harmless, it is known by its reference, and a refused one by its job: so one whose taker died is soon taken again.
      lockDuration: TAKEN_FOR_DEAD_MS,
      stalledInterval: TAKEN_FOR_DEAD_MS,
      maxStalledCount: 1_000_000,
    },
  )
  const rest = createRest(worker, log)
  worker.on('error', (error) => log.debug({ err: error }, 'intake: connection'))
  const events = openEventSweep(redis, worker.toKey('events'), log)
  worker.on('failed', (job) => {
    if (job !== undefined && namesCard(job)) events.due()
  })
  return {
    async close(withinMs) {
      rest.close()
      await within(withinMs, worker.close())
      await within(withinMs, events.close())
      redis.disconnect()
      ours.close()
    },
  }
}

/** An id and a name cannot be overwritten. */
function namesCard({ id, name }: Pick<Job, 'id' | 'name'>): boolean {
  return holdsCardData(id ?? '') || holdsCardData(String(name)) // any program may have left it out
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
  /** Asked before every message, and once for those that wait for the same answer: an emptied Redis has forgotten whose the queue is. */
  holds(): Promise<boolean>
  /** A sentence for people. */
  whyNot(): Promise<string>
}

/** A queue that was another ledger's when this one looked last is not taken over: that one knows which messages came before. */
function ownershipIn(redis: RedisClient, { address, prefix, ledgerId, owners }: IntakeOptions): Ownership {
  const key = intakeOwnerKey(prefix)
  const queue = `${nameOf(address)} ${key}`
  async function look(): Promise<boolean> {
    const last = await owners.last(queue)
    if (last === null || last === ledgerId) await redis.setnx(key, ledgerId)
    const owner = (await redis.get(key)) ?? last
    if (owner !== null && owner !== last) await owners.keep(queue, owner)
    return owner === ledgerId
  }
  return {
    holds: shared(look),
    async whyNot() {
      const left = `the queue ${INTAKE_QUEUE} belongs to another ledger: its messages are left alone`
      if ((await redis.get(key)) !== null) return left
      return `${left}. Redis was emptied, and that ledger (${await owners.last(queue)}) takes the queue again when its worker starts. If it is gone for good: see in its record or its backup which messages it took, then hand the queue over with redis-cli SET ${key} ${ledgerId}`
    },
  }
}

/** A call begins after it was asked for, never before: those that come while one runs share the next. */
function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | null = null
  return () => {
    next ??= running
      .catch(() => {})
      .then(() => {
        const begun = ask()
        running = begun
        next = null
        return begun
      })
    return next
  }
}

/** A worker that can read every job, whatever is in Redis: BullMQ's would meet the same bad one again and again, and take no other. */
class ReadingWorker extends Worker {
  readonly #unread = new WeakMap<Job, RefusedMessage>()

  protected override createJob(raw: JobJson, jobId: string): Job {
    const { data = '{}' }: Partial<JobJson> = raw // any program may have written it
    const reason = whyUnread(data)
    if (reason === null) return super.createJob(raw, jobId)
    const job = super.createJob({ ...raw, data: 'null' }, jobId)
    this.#unread.set(job, { kind: 'refused', reasons: [reason], withheld: NOT_LOOKED_THROUGH })
    return job
  }

  whyUnread(job: Job): RefusedMessage | undefined {
    return this.#unread.get(job)
  }
}

const NOT_LOOKED_THROUGH = 'it could not be looked through for card data'

interface Rest {
  /** Trouble of ours: nothing is taken for a while, and then one message at a time until one is recorded. */
  begin(error: unknown): void
  /** A message was recorded. */
  end(): void
  close(): void
}

function createRest(worker: Worker, log: Log): Rest {
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  let isTold = false
  return {
    begin(error) {
      if (isOver || timer !== undefined) return
      if (!isTold)
        log.error(
          { err: error },
          'messages cannot be recorded: they stay in the queue, and none is taken until one can be',
        )
      isTold = true
      worker.concurrency = 1
      void worker.pause(true).catch(() => {})
      timer = setTimeout(() => {
        timer = undefined
        void worker.resume().catch(() => {})
      }, AFTER_TROUBLE_MS)
    },
    end() {
      if (!isTold || timer !== undefined) return
      isTold = false
      worker.concurrency = AT_ONCE
      log.info({}, 'messages are recorded again')
    },
    close() {
      isOver = true
      clearTimeout(timer)
    },
  }
}

/** For so long a worker may be told of a merchant later than another one. */
const ELSEWHERE_MS = 600_000

interface Elsewhere {
  waits(error: KnownElsewhere, waitedMs: number): void
}

/** Says once of each merchant that its messages wait, and once more when they have waited for too long. */
function createElsewhere(log: Log): Elsewhere {
  const told = new Map<string, 'soon' | 'late'>()
  return {
    waits({ merchant, message }, waitedMs) {
      const kind = waitedMs >= ELSEWHERE_MS ? 'late' : 'soon'
      if (told.get(merchant) === kind || told.get(merchant) === 'late') return
      told.set(merchant, kind)
      if (kind === 'soon') log.warn({ merchant }, message)
      else
        log.error(
          { merchant },
          `${message} They have waited for more than 10 minutes: add the merchant to the configuration of a worker, or remove them from the queue`,
        )
    },
  }
}

interface Taking {
  readonly elsewhere: Elsewhere
  readonly ownership: Ownership
  readonly giveUp: () => void
  readonly rest: Rest
  readonly worker: ReadingWorker
}

async function takeJob(
  job: Job,
  token: string | undefined,
  { ownership, giveUp, rest, worker, elsewhere }: Taking,
  { take, stateOf, log }: IntakeOptions,
): Promise<object> {
  const putBack = async (why: string, laterMs: number, error?: unknown): Promise<never> => {
    log.debug({ err: error, job: job.id }, why)
    // Where Redis is away as well, it is taken again once its lock is over. It must not fail: nothing is known of it.
    await job.moveToDelayed(Date.now() + laterMs, token).catch(() => {})
    throw new DelayedError()
  }
  let taken: MessageResult
  try {
    if (!(await ownership.holds())) {
      giveUp()
      log.error(
        { job: job.id },
        'the queue belongs to another ledger now: the message is put back, and no more are taken here',
      )
      return await putBack('the queue is not ours', AFTER_TROUBLE_MS)
    }
    if (await hasNoOutcome(job, stateOf)) return await putBack(AWAITED, laterOf(Date.now() - queuedAtMs(job)))
    taken = await take({
      jobName: String(job.name),
      payload: job.data,
      sourceId: `${INTAKE_QUEUE}/${job.id}/${job.timestamp}`,
      queuedAtMs: queuedAtMs(job),
      hasParent: job.parentKey !== undefined,
      isAwaited: isAwaited(job),
      unread: worker.whyUnread(job),
    })
    // Its producer is told by the event all the same.
    if (namesCard(job)) job.opts.removeOnFail = true
    if (taken.kind === 'refused') await job.updateProgress(progressOf(taken))
    if (taken.kind === 'refused' && taken.withheld !== null) {
      await job.updateData({ withheld: `the message was overwritten: ${taken.withheld}` })
    }
  } catch (error) {
    if (error instanceof DelayedError) throw error
    if (error instanceof KnownElsewhere) {
      const waitedMs = Date.now() - queuedAtMs(job)
      elsewhere.waits(error, waitedMs)
      return await putBack(error.message, Math.min(AFTER_TROUBLE_MS, laterOf(waitedMs)))
    }
    if (error instanceof NotReadAgain) {
      log.warn({ job: job.id }, error.message)
      return await putBack(error.message, AFTER_TROUBLE_MS)
    }
    if (job.name === 'batch' && error instanceof Fault && MERELY_LATER.has(error.code))
      return putBack('another submit is in its way', LATER_MS, error)
    // Our own trouble (a full disk, a Redis that goes away) must not fail a producer's message, nor leave it as it is.
    if (error instanceof Fault) rest.begin(error)
    else log.error({ err: error, job: job.id }, 'a message met a failure of this program: it stays in the queue')
    return putBack('a message could not be taken; it stays in the queue', AFTER_TROUBLE_MS, error)
  }
  rest.end()
  const again =
    job.repeatJobKey === undefined || isAwaited(job)
      ? null
      : whyNotAgain(taken, queuedAtMs(job) + (job.opts.delay ?? 0))
  if (again !== null) throw new UnrecoverableError(again)
  if (taken.kind === 'refused') throw new UnrecoverableError(`refused: ${taken.reasons.join('; ')}`)
  const completion = 'state' in taken && completesWithOutcome(job) ? completionOf(taken.state) : 'now'
  const answer = answerOf(wasAccepted(job) ? firstAgain(taken) : taken)
  if (completion === 'failed') throw new UnrecoverableError(`not approved: ${JSON.stringify(answer)}`)
  if (completion === 'now' && completesWithOutcome(job) && 'moneyWarning' in taken && taken.moneyWarning !== undefined)
    throw new UnrecoverableError(`not approved as asked: ${taken.moneyWarning}; ${JSON.stringify(answer)}`)
  if (completion === 'now') return answer
  if (!isAwaited(job)) await job.updateProgress(answer).catch(() => {}) // it is taken again
  return putBack(AWAITED, laterOf(Date.now() - queuedAtMs(job)))
}

const AWAITED = 'its outcome is awaited'

/** A doubt may last for days: its job is looked at all the while, and is taken again only when there is something to say. */
async function hasNoOutcome(job: Job, stateOf: IntakeOptions['stateOf']): Promise<boolean> {
  const { batch, row } = Object(job.progress) as { readonly batch?: unknown; readonly row?: unknown }
  if (typeof batch !== 'string' || typeof row !== 'number') return false
  const state = await stateOf(batch, row)
  return state !== null && completionOf(state) === 'later'
}

/** It is put back until there is one: neither a worker nor a lock of BullMQ waits, and whichever worker takes it finds its row. */
function completesWithOutcome({ data }: Job): boolean {
  return Object(data).complete_with === 'outcome'
}

function isAwaited({ progress }: Job): boolean {
  return 'batch' in Object(progress)
}

/** Of a job that waits for its outcome: it was the first of its reference when it was taken first. */
function wasAccepted({ progress }: Job): boolean {
  return (Object(progress) as { status?: unknown }).status === 'accepted'
}

function firstAgain<Taken extends MessageResult>(taken: Taken): Taken | Extract<MessageResult, { kind: 'accepted' }> {
  if (taken.kind !== 'duplicate') return taken
  const { batchId, rowNo, state } = taken
  return { kind: 'accepted', batchId, rowNo, state }
}

const OUTCOME_MOST_MS = 60_000

/** What has waited for long hardly ends in the next second. */
function laterOf(waitedMs: number): number {
  return Math.min(OUTCOME_MOST_MS, Math.max(LATER_MS, waitedMs / 10))
}

/** For a program: the reasons one by one, and what the message may repeat. */
function progressOf({ reasons, looksLike, questions }: RefusedMessage): object {
  const looks = looksLike === undefined ? {} : { looks_like: toLooksLike(looksLike) }
  return {
    refused: reasons,
    errors: reasons.map(partsOfReason),
    ...looks,
    ...(questions !== undefined && { questions }),
  }
}

/** Any program may have written it; what is no timestamp counts as the earliest. */
function queuedAtMs({ timestamp }: Job): number {
  return Number.isSafeInteger(timestamp) && timestamp >= 0 ? timestamp : 0
}

/** Of a batch: another submit is under way, or took what this one found free. Of a message the same codes are trouble. */
const MERELY_LATER: ReadonlySet<FaultCode> = new Set(['stopped', 'interrupted', 'refused'])

/** Outside a batch is accepted or a duplicate, as a message is. */
function answerOf(taken: Exclude<MessageResult, { kind: 'refused' }>): object {
  switch (taken.kind) {
    case 'accepted':
    case 'duplicate':
    case 'cancelled':
      return {
        status: taken.kind,
        batch: taken.batchId,
        row: taken.rowNo,
        state: statusOf(taken.state),
        ...('held' in taken && heldIn(taken)),
        ...firstAt(taken),
        ...('moneyWarning' in taken && { warning: taken.moneyWarning }),
      }
    case 'recorded':
    case 'repeated':
      return {
        status: taken.kind === 'recorded' ? 'accepted' : 'duplicate',
        ...{ batch: taken.batchId, rows: taken.rows, duplicates: taken.duplicates?.rows ?? 0 },
        ...heldIn(taken),
        ...firstAt(taken),
      }
  }
}

function heldIn({ held }: { readonly held?: Held }): { readonly held?: Held } {
  return held === undefined ? {} : { held }
}

/** When it was recorded first: what is a duplicate of last month is not this month's. */
function firstAt(taken: MessageResult): object {
  const atMs = 'recordedAtMs' in taken ? taken.recordedAtMs : 'rows' in taken ? taken.duplicates?.firstAtMs : null
  return atMs == null ? {} : { first_at: isoOf(atMs) }
}
