// Messages that were refused, as the intake queue keeps them: their jobs failed, with the reasons.

import { Queue } from 'bullmq'
import { answered, producerConnection, type RedisAddress } from './connection.ts'
import { INTAKE_QUEUE } from './names.ts'
import { within } from './within.ts'

export interface FailedMessage {
  readonly jobId: string
  /** As the message says; null: it says none, or was overwritten. */
  readonly reference: string | null
  readonly merchant: string | null
  readonly reason: string
  /** null: not known. */
  readonly failedAtMs: number | null
}

export interface FailedMessages {
  /** Latest first. */
  readonly messages: readonly FailedMessage[]
  /** All that there are. */
  readonly count: number
}

export async function readFailedMessages(address: RedisAddress, prefix: string, most: number): Promise<FailedMessages> {
  const { connection, close } = producerConnection(address)
  const queue = new Queue(INTAKE_QUEUE, { prefix, connection })
  queue.on('error', () => {}) // what cannot be asked is said below
  try {
    return await answered(
      address,
      (async () => {
        await queue.waitUntilReady()
        const [count, jobs] = [await queue.getFailedCount(), await queue.getFailed(0, most - 1)]
        const messages = jobs.map(({ id, data, failedReason, finishedOn }) => ({
          jobId: id ?? '',
          reference: textIn(data, 'reference'),
          merchant: textIn(data, 'merchant'),
          reason: failedReason,
          failedAtMs: finishedOn ?? null,
        }))
        return { messages, count }
      })(),
    )
  } finally {
    await within(1_000, queue.close())
    close()
  }
}

function textIn(data: unknown, name: string): string | null {
  const value = typeof data === 'object' && data !== null ? (data as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' ? value : null
}
