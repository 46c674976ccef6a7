// Redis as configured, or a private one.

import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { RedisAddress } from '../queues/connection.ts'
import type { SendingLock } from './locks.ts'

/** Redis as configured, or a private one. */
export async function openRedis(
  app: App,
  { isFirst }: Pick<SendingLock, 'isFirst'>,
): Promise<{ address: RedisAddress; close: () => Promise<void> }> {
  const { assertReachable } = await import('../queues/reach.ts')
  if (app.config.redisUrl !== null) {
    const address = { url: app.config.redisUrl.reveal() }
    const { evicts } = await assertReachable(address, app.config.redisPrefix)
    if (evicts)
      app.log.warn(
        {},
        'Redis may evict keys (maxmemory-policy is not noeviction): messages of other services could be lost',
      )
    return { address, close: async () => {} }
  }
  if (!isFirst)
    throw new Fault(
      'config',
      'Another process of this machine works off this ledger and has the private Redis. Nothing was started. Set TRANCHE_REDIS_URL to a Redis that all of them reach.',
    )
  const { openPrivateRedis } = await import('../queues/private-redis.ts')
  const redis = await openPrivateRedis({ dataDir: app.config.dataDir, log: app.log, env: app.io.env })
  return { address: { path: redis.path }, close: () => redis.close() }
}

/** A private Redis lies in the data directory and would be copied with it: only a shared one tells anything. */
export async function openRegister({ config }: App, { ledgerId }: Pick<Ledger, 'ledgerId'>) {
  if (config.redisUrl === null) return null
  const { openSharedRegister } = await import('../queues/shared-register.ts')
  return openSharedRegister({ url: config.redisUrl.reveal() }, config.redisPrefix, ledgerId)
}

/** Whether there was one. The caller holds the lock that comes with it. */
export async function stopPrivateRedis(app: App): Promise<boolean> {
  const { stopLeftBehind } = await import('../queues/private-redis.ts')
  return stopLeftBehind(app.config.dataDir)
}
