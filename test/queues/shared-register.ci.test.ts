// What hosts see of a ledger in a Redis that they share.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type OpenedRegister, openSharedRegister } from '../../src/queues/shared-register.ts'
import { openRedisServer, type RedisServer } from '../fixtures/redis.ts'

let dir: string
let redis: RedisServer
let registers: OpenedRegister[]
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tr-'))
  redis = await openRedisServer(join(dir, 's'))
  registers = []
})
afterEach(async () => {
  for (const register of registers) register.close()
  await redis.kill()
  rmSync(dir, { recursive: true, force: true })
})

function open(ledgerId = 'a'): OpenedRegister {
  const register = openSharedRegister({ path: redis.path }, 'bull', ledgerId)
  registers.push(register)
  return register
}

test('of two hosts that know the same epoch one replaces it, and each ledger has its own', async () => {
  const [here, there, other] = [open(), open(), open('b')]
  expect(await here.newest()).toBeNull()
  expect(await here.replace(null, '1-x')).toBe(true)
  expect(await there.newest()).toBe('1-x')
  const replaced = await Promise.all([here.replace('1-x', '2-h'), there.replace('1-x', '2-t')])
  expect(replaced.toSorted()).toEqual([false, true])
  expect(await other.newest()).toBeNull()
})

test('asked again, because the answer was lost on the way, it says the same', async () => {
  const register = open()
  expect(await register.replace(null, '1-x')).toBe(true)
  expect(await register.replace(null, '1-x')).toBe(true)
  expect(await register.newest()).toBe('1-x')
})

test('a Redis that was emptied after it was asked is no other host', async () => {
  const register = open()
  expect(await register.replace(null, '1-x')).toBe(true)
  expect(await register.newest()).toBe('1-x')
  await redis.flush()
  expect(await register.replace('1-x', '2-x')).toBe(true)
  expect(await register.newest()).toBe('2-x')
})

const saidIn = async (register: OpenedRegister) => Object.fromEntries(await register.testimonies())

test('what one host testifies others read, of its own ledger alone', async () => {
  const [here, there, other] = [open(), open(), open('b')]
  await here.newest() // it is connected by then
  here.testify('desk', 'one')
  here.testify('desk', 'two')
  there.testify('another desk', 'three')
  await expect.poll(() => saidIn(there)).toEqual({ desk: 'two', 'another desk': 'three' })
  expect(await saidIn(other)).toEqual({})
})

test('what is testified while Redis is away it learns when it is back: the newest of each place', async () => {
  const here = open()
  await here.newest()
  await redis.kill()
  await expect
    .poll(() => here.newest().catch(({ message }) => message), { timeout: 15_000 })
    .toContain('cannot be used')
  for (let n = 1; n <= 1_000; n++) here.testify('desk', String(n))
  await redis.start()
  await expect.poll(() => saidIn(open())).toEqual({ desk: '1000' })
  expect(await timesTold()).toBe(1)
})

test('what Redis refuses for a while it is told again', async () => {
  const here = open()
  await here.newest()
  const asking = new Redis({ path: redis.path })
  await asking.config('SET', 'min-replicas-to-write', '1')
  here.testify('desk', 'one')
  here.testify('desk', 'two')
  const refused = async () => Number(/errorstat_NOREPLICAS:count=(\d+)/.exec(await asking.info('errorstats'))?.[1] ?? 0)
  await expect.poll(refused).toBeGreaterThan(1)
  await asking.config('SET', 'min-replicas-to-write', '0')
  await expect.poll(() => saidIn(open()), { timeout: 10_000 }).toEqual({ desk: 'two' })
  asking.disconnect()
})

/** Since Redis was started. */
async function timesTold(): Promise<number> {
  const asking = new Redis({ path: redis.path })
  const told = /cmdstat_hset:calls=(\d+)/.exec(await asking.info('commandstats'))
  asking.disconnect()
  return Number(told?.[1])
}

test('a testimony is forgotten only where it is still what was said last', async () => {
  const [here, there] = [open(), open()]
  await here.newest()
  here.testify('desk', 'old')
  here.testify('another desk', 'old')
  await expect.poll(async () => Object.keys(await saidIn(here))).toHaveLength(2)
  const read = await there.testimonies()
  here.testify('desk', 'new')
  await expect.poll(async () => (await saidIn(here)).desk).toBe('new')
  await there.forget(read)
  await there.forget(new Map())
  expect(await saidIn(here)).toEqual({ desk: 'new' })
})
