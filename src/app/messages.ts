// Messages in the queue of a Redis that is running. The private one is started by a worker alone.

import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import type { FailedMessages } from '../queues/failed-messages.ts'

export async function failedMessages(app: App, most: number): Promise<FailedMessages> {
  const [{ readFailedMessages }, { assertReachable }] = await Promise.all([
    import('../queues/failed-messages.ts'),
    import('../queues/reach.ts'),
  ])
  const { redisUrl, redisPrefix, dataDir } = app.config
  const address = redisUrl === null ? await privateAddress(dataDir) : { url: redisUrl.reveal() }
  await assertReachable(address, redisPrefix)
  return readFailedMessages(address, redisPrefix, most)
}

async function privateAddress(dataDir: string) {
  const { privateSocketIn } = await import('../queues/private-redis.ts')
  const path = privateSocketIn(dataDir)
  if (path !== null) return { path }
  throw new Fault(
    'unavailable',
    'No private Redis is running, and it forgets its messages when it ends. Ask while a worker runs, or set TRANCHE_REDIS_URL to a Redis that keeps them. What was refused is in the ledger all the same.',
  )
}
