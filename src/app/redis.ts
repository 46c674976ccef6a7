// Redis as configured, or a private one.

import type { App } from '../app.ts'
import type { RedisAddress } from '../queues/connection.ts'

/** Redis as configured, or a private one. Only for the holder of the worker lock. */
export async function openRedis(app: App): Promise<{ address: RedisAddress; close: () => Promise<void> }> {
  const { assertReachable } = await import('../queues/connection.ts')
  if (app.config.redisUrl !== null) {
    const address = { url: app.config.redisUrl.reveal() }
    const { evicts } = await assertReachable(address)
    if (evicts)
      app.log.warn(
        {},
        'Redis may evict keys (maxmemory-policy is not noeviction): messages of other services could be lost',
      )
    return { address, close: async () => {} }
  }
  const { openPrivateRedis } = await import('../queues/private-redis.ts')
  const redis = await openPrivateRedis({ dataDir: app.config.dataDir, log: app.log })
  return { address: { path: redis.path }, close: () => redis.close() }
}

/** Whether there was one. The caller has made sure that no process holds the worker lock. */
export async function stopPrivateRedis(app: App): Promise<boolean> {
  const { stopLeftBehind } = await import('../queues/private-redis.ts')
  return stopLeftBehind(app.config.dataDir)
}
