// Looks at the queue of messages without taking any: what a monitor wants to know of it.

import { Cluster, type Redis } from 'ioredis'
import type { IntakeSeen, WaitingJobs } from '../domain/intake-queue.ts'
import { openClient, type RedisAddress, type RedisClient } from './connection.ts'
import { INTAKE_QUEUE, intakeOwnerKey } from './names.ts'

const LISTS = [
  ['waiting', 'wait'],
  ['waiting', 'paused'],
] as const
const SETS = [
  ['prioritized', 'prioritized'],
  ['delayed', 'delayed'],
  ['waiting-children', 'waiting-children'],
] as const
/** The first of each state: who waits longest is among them, but for priorities. */
const LOOKED_AT = 100
/** A Redis with more keys is looked through in part. */
const SCANS_MOST = 100
const SCANNED_AT_ONCE = 1_000

/** null: Redis did not answer in time. What waits there is told of when it does. */
export async function lookAtIntake(
  address: RedisAddress,
  prefix: string,
  withinMs = 2_000,
): Promise<IntakeSeen | null> {
  const redis = openClient(address)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), withinMs)
  })
  const looked = look(redis, prefix)
  looked.catch(() => {}) // it may fail after it was given up
  try {
    return await Promise.race([looked, late])
  } finally {
    clearTimeout(timer)
    redis.disconnect()
  }
}

async function look(redis: RedisClient, prefix: string): Promise<IntakeSeen> {
  const key = (part: string) => `${prefix}:${INTAKE_QUEUE}:${part}`
  const [owner, paused, concurrency] = [
    await redis.get(intakeOwnerKey(prefix)),
    await redis.hexists(key('meta'), 'paused'),
    await redis.hget(key('meta'), 'concurrency'),
  ]
  const waiting: WaitingJobs[] = []
  for (const [state, part] of LISTS) {
    const ids = await redis.lrange(key(part), -LOOKED_AT, -1)
    waiting.push({ state, count: await redis.llen(key(part)), oldestAtMs: await oldestOf(redis, ids.map(key)) })
  }
  for (const [state, part] of SETS) {
    const ids = await redis.zrange(key(part), 0, String(LOOKED_AT - 1))
    waiting.push({ state, count: await redis.zcard(key(part)), oldestAtMs: await oldestOf(redis, ids.map(key)) })
  }
  return {
    ...{ prefix, owner, waiting },
    isPaused: paused === 1,
    concurrency: concurrency === null ? null : Number(concurrency),
    unowned: await unownedBeside(redis, prefix).catch(() => []), // its user may see no other keys
  }
}

/** A producer may have delayed it on purpose. */
async function oldestOf(redis: RedisClient, jobs: readonly string[]): Promise<number | null> {
  const dueAtMs = await Promise.all(
    jobs.map(async (job) => {
      const [timestamp, delay] = await redis.hmget(job, 'timestamp', 'delay')
      return Number(timestamp ?? Number.NaN) + Number(delay ?? 0)
    }),
  )
  const known = dueAtMs.filter(Number.isFinite)
  return known.length === 0 ? null : Math.min(...known)
}

/** Another installation's queue has an owner. One without an owner, in which something waits, was meant for somebody. */
async function unownedBeside(redis: RedisClient, prefix: string): Promise<IntakeSeen['unowned']> {
  const servers = redis instanceof Cluster ? redis.nodes('master') : [redis]
  const found = (await Promise.all(servers.map(prefixesIn))).flat().filter((other) => other !== prefix)
  const unowned = await Promise.all(
    [...new Set(found)].map(async (other) => {
      if ((await redis.get(intakeOwnerKey(other))) !== null) return []
      const count = await redis.llen(`${other}:${INTAKE_QUEUE}:wait`)
      return count === 0 ? [] : [{ prefix: other, count }]
    }),
  )
  return unowned.flat()
}

async function prefixesIn(server: Redis): Promise<string[]> {
  const end = `:${INTAKE_QUEUE}:meta`
  const found: string[] = []
  let cursor = '0'
  for (let scans = 0; scans < SCANS_MOST; scans += 1) {
    const [next, keys] = await server.scan(cursor, 'MATCH', `*${end}`, 'COUNT', SCANNED_AT_ONCE)
    found.push(...keys.map((key) => key.slice(0, -end.length)))
    cursor = next
    if (cursor === '0') break
  }
  return found
}
