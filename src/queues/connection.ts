// Connections to Redis: by URL, or by the socket of the private one. One server, a cluster, or what sentinels name.

import { Cluster, type ClusterOptions, Redis } from 'ioredis'
import { messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import { parseRedisTarget, type RedisHost, type RedisTarget, redisName } from '../domain/redis-target.ts'
import { TLS } from '../domain/tls.ts'

export type RedisAddress = { readonly url: string } | { readonly path: string }
/** What our own commands are asked of. */
export type RedisClient = Redis | Cluster

/** The part of ioredis's options that is used here, in the form that BullMQ's types take as well. */
export interface Connecting {
  readonly path?: string
  readonly host?: string
  readonly port?: number
  readonly db?: number
  readonly username?: string
  readonly password?: string
  readonly tls?: object
  readonly enableOfflineQueue?: boolean
  /** A frozen Redis keeps its connections: without this a command would never end. */
  readonly commandTimeout?: number
  readonly connectTimeout?: number
  /** Its connection would never close and never answer: silence that long ends it, and another is made. */
  readonly socketTimeout: number
  readonly maxRetriesPerRequest?: number | null
  readonly retryStrategy: (times: number) => number | null
  readonly sentinels?: RedisHost[]
  /** What the sentinels call it. */
  readonly name?: string
  readonly sentinelUsername?: string
  readonly sentinelPassword?: string
  readonly enableTLSForSentinelMode?: boolean
  readonly sentinelTLS?: object
  readonly sentinelRetryStrategy?: (times: number) => number | null
  readonly sentinelCommandTimeout?: number
}

/** What BullMQ is given. It closes what it makes of options itself; a cluster is ours to close, after it. */
export interface Connection {
  readonly connection: Connecting | Cluster
  close(): void
}

/** For blocking reads: waits for Redis as long as it takes. */
export function workerConnection(address: RedisAddress): Connection {
  return connectionTo(address, FOR_WORKERS)
}

/** For handing out: fails at once while Redis is away, because what is due stays due and is offered again. */
export function producerConnection(address: RedisAddress): Connection {
  return connectionTo(address, FOR_PRODUCERS)
}

/** For commands of our own. They wait for Redis as long as it takes. */
export function openClient(address: RedisAddress): RedisClient {
  const { connection } = workerConnection(address)
  const client = connection instanceof Cluster ? connection : new Redis(connection)
  client.on('error', () => {}) // the worker's connection says it
  return client
}

type Manner = Pick<Connecting, 'maxRetriesPerRequest' | 'enableOfflineQueue' | 'commandTimeout'>
const FOR_WORKERS: Manner = { maxRetriesPerRequest: null }
const FOR_PRODUCERS: Manner = { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 5_000 }

function connectionTo(address: RedisAddress, manner: Manner): Connection {
  const target = targetOf(address)
  if (target.kind !== 'cluster') return { connection: { ...optionsFor(target), ...manner }, close: () => {} }
  const { enableOfflineQueue = true, ...ofNodes } = manner
  const cluster = openCluster(target, ofNodes, { enableOfflineQueue, clusterRetryStrategy: pauseMs })
  cluster.on('error', () => {}) // BullMQ tells of it, or nobody has to know
  return { connection: cluster, close: () => cluster.disconnect() }
}

/** Longer than any blocking read of BullMQ, which are 10 s at most. */
const SILENCE_MS = 15_000
/** A sentinel that takes connections and answers nothing: the next one is asked. */
const SENTINEL_ANSWERS_MS = 2_000

function pauseMs(times: number): number {
  return Math.min(50 * times, 1_000)
}

export function targetOf(address: RedisAddress): RedisTarget {
  if ('path' in address) return { kind: 'socket', path: address.path }
  const target = parseRedisTarget(address.url)
  if (typeof target === 'string') throw new Fault('config', `TRANCHE_REDIS_URL ${target}. Nothing was sent.`)
  return target
}

/** Of one connection that is opened again and again. */
export function optionsFor(target: Exclude<RedisTarget, { kind: 'cluster' }>): Connecting {
  const always = { retryStrategy: pauseMs, socketTimeout: SILENCE_MS }
  switch (target.kind) {
    case 'socket':
      return { path: target.path, ...always }
    case 'server':
      return { ...target.at, db: target.database, ...loginOf(target), ...always }
    case 'sentinel': {
      const { username, password } = target.sentinel
      return {
        ...{ sentinels: [...target.at], name: target.name, db: target.database, ...loginOf(target), ...always },
        ...(username === null ? {} : { sentinelUsername: username }),
        ...(password === null ? {} : { sentinelPassword: password }),
        ...(target.tls ? { enableTLSForSentinelMode: true, sentinelTLS: TLS } : {}),
        // A search that gave up would end the connection for good: it goes on until a sentinel knows a server. It is the only one that
        // tries again meanwhile: a connection has no other before it has found its server.
        sentinelRetryStrategy: pauseMs,
        sentinelCommandTimeout: SENTINEL_ANSWERS_MS,
      }
    }
  }
}

export function openCluster(
  target: Extract<RedisTarget, { kind: 'cluster' }>,
  ofNodes: Omit<Manner, 'enableOfflineQueue'> & Pick<Connecting, 'connectTimeout'>,
  options: Pick<ClusterOptions, 'enableOfflineQueue' | 'clusterRetryStrategy' | 'lazyConnect'>,
): Cluster {
  return new Cluster([...target.at], {
    ...options,
    slotsRefreshTimeout: 5_000,
    redisOptions: { ...loginOf(target), socketTimeout: SILENCE_MS, ...ofNodes },
    // A certificate names hosts, not what they resolve to.
    ...(target.tls ? { dnsLookup: (host, found) => found(null, host) } : {}),
  })
}

function loginOf({ tls, username, password }: Exclude<RedisTarget, { kind: 'socket' }>) {
  return {
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(tls ? { tls: TLS } : {}),
  }
}

const START_WITHIN_MS = 10_000

/** For what a start asks, while nothing is being sent: a Redis that falls silent there is said, not waited for. */
export async function answered<T>(address: RedisAddress, asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    const why = `it took the connection, but answered nothing within ${START_WITHIN_MS / 1000} s`
    timer = setTimeout(() => reject(new Error(why)), START_WITHIN_MS)
  })
  try {
    return await Promise.race([asked, silence])
  } catch (error) {
    throw cannotBeUsed(address, messageOf(error), error)
  } finally {
    clearTimeout(timer)
  }
}

export function cannotBeUsed(address: RedisAddress, why: string, cause: unknown): Fault {
  return new Fault(
    'unavailable',
    `Redis at ${nameOf(address)} cannot be used (${why}). Nothing was sent. Start it, or correct TRANCHE_REDIS_URL, or unset it to use a private one.`,
    { cause },
  )
}

export function nameOf(address: RedisAddress): string {
  return redisName(targetOf(address))
}
