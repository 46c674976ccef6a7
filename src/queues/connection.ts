// Connections to Redis: by URL, or by the socket of the private one.

import { Redis } from 'ioredis'
import { messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import { TLS } from '../domain/tls.ts'

export type RedisAddress = { readonly url: string } | { readonly path: string }

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
  /** Its connection would never close and never answer: silence that long ends it, and another is made. */
  readonly socketTimeout: number
  readonly maxRetriesPerRequest?: number | null
  readonly retryStrategy: (times: number) => number
}

/** For blocking reads: waits for Redis as long as it takes. */
export function toWorkerOptions(address: RedisAddress): Connecting {
  return { ...toOptions(address), maxRetriesPerRequest: null }
}

/** For handing out: fails at once while Redis is away, because what is due stays due and is offered again. */
export function toProducerOptions(address: RedisAddress): Connecting {
  return { ...toOptions(address), enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 5_000 }
}

/** Longer than any blocking read of BullMQ, which are 10 s at most. */
const SILENCE_MS = 15_000

function toOptions(address: RedisAddress): Connecting {
  const always = { retryStrategy: (times: number) => Math.min(50 * times, 1_000), socketTimeout: SILENCE_MS }
  const path = socketOf(address)
  if (path !== null) return { path, ...always }
  const url = new URL((address as { url: string }).url)
  const database = url.pathname.length > 1 ? Number(url.pathname.slice(1)) : 0
  return {
    host: url.hostname,
    port: url.port === '' ? 6379 : Number(url.port),
    db: database,
    ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
    ...(url.protocol === 'rediss:' ? { tls: TLS } : {}),
    ...always,
  }
}

/** Asks Redis once whether it is there and fit. Faults with one sentence that says what to do. */
export async function assertReachable(
  address: RedisAddress,
  withinMs = 5_000,
): Promise<{ version: string; evicts: boolean }> {
  const redis = new Redis({
    ...toOptions(address),
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: withinMs,
    socketTimeout: withinMs, // one that is frozen takes connections all the same
  })
  let trouble: unknown = null // of the connection itself: more telling than that it is closed
  redis.on('error', (error) => {
    trouble = error
  })
  try {
    await redis.connect()
    const about = await redis.info()
    const version = /^redis_version:(.+)$/m.exec(about)?.[1]?.trim() ?? 'unknown'
    const policy = /^maxmemory_policy:(.+)$/m.exec(about)?.[1]?.trim() ?? 'noeviction'
    return { version, evicts: policy !== 'noeviction' }
  } catch (error) {
    const told = trouble ?? error
    const text = messageOf(told)
    const message = text.startsWith('Socket timeout')
      ? `it takes connections, but answered nothing within ${withinMs / 1000} s`
      : text
    throw cannotBeUsed(address, message, error)
  } finally {
    redis.disconnect()
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

function cannotBeUsed(address: RedisAddress, why: string, cause: unknown): Fault {
  return new Fault(
    'unavailable',
    `Redis at ${nameOf(address)} cannot be used (${why}). Nothing was sent. Start it, or correct TRANCHE_REDIS_URL, or unset it to use a private one.`,
    { cause },
  )
}

/** A Unix socket may be given as a path or as `unix:///path`; null: it is a host and port. */
function socketOf(address: RedisAddress): string | null {
  if ('path' in address) return address.path
  if (address.url.startsWith('/')) return address.url
  return address.url.startsWith('unix://') ? address.url.slice('unix://'.length) : null
}

export function nameOf(address: RedisAddress): string {
  const path = socketOf(address)
  if (path !== null) return path
  const url = new URL((address as { url: string }).url)
  const database = url.pathname.length > 1 ? url.pathname : ''
  return `${url.hostname}:${url.port === '' ? 6379 : url.port}${database}`
}
