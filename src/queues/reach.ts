// Asks Redis once whether it is there and fit.

import { type Cluster, Redis } from 'ioredis'
import { messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import { hostName, keepsTogether, redisName } from '../domain/redis-target.ts'
import { cannotBeUsed, nameOf, openCluster, optionsFor, type RedisAddress, targetOf } from './connection.ts'

export interface Reached {
  /** What it is connected to, for people. */
  readonly name: string
  readonly version: string
  /** It may forget what it was given when its memory is full. */
  readonly evicts: boolean
}

/** Faults with one sentence that says what to do. `prefix`: of the keys that will be used. */
export async function assertReachable(address: RedisAddress, prefix: string, withinMs = 5_000): Promise<Reached> {
  const servers = await look(address, withinMs)
  const clustered = servers.some(({ about }) => /^cluster_enabled:1/m.test(about))
  if (clustered && !keepsTogether(prefix)) {
    throw new Fault(
      'config',
      `Redis at ${nameOf(address)} is a cluster, and TRANCHE_REDIS_PREFIX=${prefix} would spread the keys of one queue over its servers. Nothing was sent. Set TRANCHE_REDIS_PREFIX={tranche}, for the services that hand in messages as well.`,
    )
  }
  if (clustered && targetOf(address).kind !== 'cluster') {
    throw new Fault(
      'config',
      `Redis at ${nameOf(address)} is a server of a cluster. Nothing was sent. Begin TRANCHE_REDIS_URL with redis+cluster:// (or rediss+cluster://), and name some of its servers.`,
    )
  }
  const of = (pattern: RegExp) => servers.map(({ about }) => pattern.exec(about)?.[1]?.trim())
  return {
    name: foundName(address, servers),
    version: [...new Set(of(/^redis_version:(.+)$/m).map((version) => version ?? 'unknown'))].join(', '),
    evicts: of(/^maxmemory_policy:(.+)$/m).some((policy) => policy !== undefined && policy !== 'noeviction'),
  }
}

interface Server {
  readonly at: string
  /** As INFO says it. */
  readonly about: string
}

function foundName(address: RedisAddress, servers: readonly Server[]): string {
  const target = targetOf(address)
  switch (target.kind) {
    case 'socket':
    case 'server':
      return redisName(target)
    case 'sentinel':
      return `${servers.map(({ at }) => at).join(', ')}, which is ${redisName(target)}`
    case 'cluster':
      return `a cluster of ${servers.length} (${servers
        .map(({ at }) => at)
        .toSorted()
        .join(', ')})`
  }
}

/** Every server that may be given anything. */
async function look(address: RedisAddress, withinMs: number): Promise<readonly Server[]> {
  const target = targetOf(address)
  const redis: Redis | Cluster =
    target.kind === 'cluster'
      ? openCluster(target, { connectTimeout: withinMs }, { lazyConnect: true, clusterRetryStrategy: () => null })
      : new Redis({
          ...optionsFor(target),
          lazyConnect: true,
          retryStrategy: () => null,
          sentinelRetryStrategy: () => null,
          connectTimeout: withinMs,
          socketTimeout: withinMs, // one that is frozen takes connections all the same
        })
  let trouble: unknown = null // of the connection itself: more telling than that it is closed
  redis.on('error', (error) => {
    trouble = error
  })
  try {
    await redis.connect()
    const servers = redis instanceof Redis ? [redis] : redis.nodes('master')
    return await Promise.all(servers.map(ask))
  } catch (error) {
    const text = whyOf(trouble ?? error)
    const message = text.startsWith('Socket timeout')
      ? `it takes connections, but answered nothing within ${withinMs / 1000} s`
      : text
    throw cannotBeUsed(address, message, error)
  } finally {
    redis.disconnect()
  }
}

async function ask(server: Redis): Promise<Server> {
  const about = await server.info()
  return { at: placeOf(server), about }
}

function placeOf({ stream, options: { host = '', port = 0 } }: Redis): string {
  // What sentinels named is known by its connection alone.
  return hostName({ host: stream.remoteAddress ?? host, port: stream.remotePort ?? port })
}

/** Of a cluster: what its last server said, because "Failed to refresh slots cache." tells nobody anything. */
function whyOf(error: unknown): string {
  const last = typeof error === 'object' && error !== null && 'lastNodeError' in error ? error.lastNodeError : null
  return messageOf(last ?? error)
}
