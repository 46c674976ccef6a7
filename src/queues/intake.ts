// The queue by which other services hand in instructions. A job completes when its message is in the ledger, never before.

import { DelayedError, type Job, UnrecoverableError, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { Fault } from '../domain/fault.ts'
import type { Log } from '../domain/ports.ts'
import { type RedisAddress, toWorkerOptions } from './connection.ts'
import { INTAKE_JOB, INTAKE_QUEUE, intakeOwnerKey } from './names.ts'

/** What became of a message, as the job's result. */
export type IntakeResult =
  | {
      readonly kind: 'accepted' | 'duplicate'
      readonly batchId: string
      readonly rowNo: number
      readonly state: string
    }
  | { readonly kind: 'refused'; readonly reasons: readonly string[]; readonly holdsPan: boolean }

export interface IntakeOptions {
  readonly address: RedisAddress
  readonly prefix: string
  readonly ledgerId: string
  readonly take: (payload: unknown, sourceId: string) => Promise<IntakeResult>
  readonly log: Log
}

/** How long a message waits that could not be recorded just now. */
const LATER_MS = 5_000

export interface Intake {
  close(withinMs: number): Promise<void>
}

/** null: the intake of this Redis belongs to another ledger, and its messages are left alone. */
export async function openIntakeQueue(options: IntakeOptions): Promise<Intake | null> {
  const { address, prefix, log } = options
  if (!(await ownsIntake(options))) return null
  const worker = new Worker(INTAKE_QUEUE, (job, token) => takeJob(job, token, options), {
    prefix,
    connection: toWorkerOptions(address),
    concurrency: 8,
    maxStalledCount: 1_000_000, // taking a message twice is harmless: it is known by its reference
  })
  worker.on('error', (error) => log.debug({ err: error }, 'intake: connection'))
  return {
    async close(withinMs) {
      await Promise.race([
        worker.close().catch(() => {}),
        new Promise((resolve) => setTimeout(resolve, withinMs).unref()),
      ])
    },
  }
}

async function ownsIntake({ address, prefix, ledgerId, log }: IntakeOptions): Promise<boolean> {
  const redis = new Redis(toWorkerOptions(address))
  redis.on('error', () => {})
  try {
    const key = intakeOwnerKey(prefix)
    await redis.setnx(key, ledgerId)
    const owner = await redis.get(key)
    if (owner === ledgerId) return true
    log.warn(
      { owner, ledger: ledgerId },
      `the queue ${INTAKE_QUEUE} belongs to another ledger: its messages are left alone`,
    )
    return false
  } finally {
    redis.disconnect()
  }
}

async function takeJob(job: Job, token: string | undefined, { take, log }: IntakeOptions): Promise<object> {
  if (job.name !== INTAKE_JOB)
    throw new UnrecoverableError(`job "${job.name}" is not known here; send jobs named "${INTAKE_JOB}"`)
  let taken: IntakeResult
  try {
    taken = await take(job.data, `${INTAKE_QUEUE}/${job.id}/${job.timestamp}`)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    // Our own trouble (a full disk) must not fail somebody's message: it stays in the queue.
    log.error({ err: error, job: job.id }, 'a message could not be recorded; it stays in the queue')
    await job.moveToDelayed(Date.now() + LATER_MS, token)
    throw new DelayedError()
  }
  if (taken.kind !== 'refused') {
    return { status: taken.kind, batch: taken.batchId, row: taken.rowNo, state: taken.state }
  }
  if (taken.holdsPan) await job.updateData({ withheld: 'the message held a card number and was overwritten' })
  throw new UnrecoverableError(`refused: ${taken.reasons.join('; ')}`)
}
