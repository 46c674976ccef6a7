// A cluster, and a server that sentinels name: everything that is kept in Redis, on real servers.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Queue } from 'bullmq'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/app/clock.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import type { Dispatch } from '../../src/ports/dispatch.ts'
import type { Log } from '../../src/ports/log.ts'
import { otherLedgersOf } from '../../src/queues/account-register.ts'
import { producerConnection, type RedisAddress } from '../../src/queues/connection.ts'
import { openIntakeQueue } from '../../src/queues/intake.ts'
import { assertReachable } from '../../src/queues/reach.ts'
import { openSharedRegister } from '../../src/queues/shared-register.ts'
import { openSlices } from '../../src/queues/slices.ts'
import { until } from '../fixtures/cli.ts'
import { openProxy } from '../fixtures/proxy.ts'
import {
  openRedisCluster,
  openWatchedRedis,
  type RedisCluster,
  WATCHED,
  type WatchedRedis,
} from '../fixtures/redis-groups.ts'

const silent = () => {}
const log: Log = { debug: silent, info: silent, warn: silent, error: silent }
const PREFIX = '{tranche}'
const PASSWORD = 'p@ss:w%rd'
const LOGIN = `tranche:${encodeURIComponent(PASSWORD)}`

/** As examples/redis/users.acl has it, for another prefix. */
const USER = `user tranche on >${PASSWORD} ~${PREFIX}:tranche-* &${PREFIX}:tranche-* +@all -@admin -@dangerous +info`

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tr-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Offers until a slice of that batch was taken: what is lost costs a tick. */
async function sliceIsTaken(dispatch: Dispatch, taken: readonly string[], batch: string): Promise<void> {
  const batchId = batch as BatchId
  await until(`a slice of ${batch} is taken`, async () => {
    await dispatch.offer([{ batchId, place: 0, rows: 1 }]).catch(() => {})
    return taken.includes(batch)
  })
}

async function useEverything(address: RedisAddress, meanwhile: () => Promise<void> = async () => {}): Promise<void> {
  const names = { address, prefix: PREFIX, ledgerId: 'a', clock: systemClock, log }
  const taken: string[] = []
  const work = async ({ batchId }: { batchId: string }) => taken.push(batchId)
  const register = openSharedRegister(address, PREFIX, 'a')
  const dispatch = await openSlices({ ...names, concurrency: 2, place: null, work })
  const owners = { last: async () => null, keep: async () => {} }
  const refused = { kind: 'refused', reasons: ['of no matter'], withheld: null } as const
  const intake = await openIntakeQueue({ ...names, owners, stateOf: async () => null, take: async () => refused })
  const held = producerConnection(address)
  const producer = new Queue('tranche-intake', { prefix: PREFIX, connection: held.connection })
  producer.on('error', silent)
  await producer.waitUntilReady()
  const failed = () => producer.getFailedCount()
  try {
    expect(await register.replace(null, '1-x')).toBe(true)
    register.testify('desk', 'before')
    await sliceIsTaken(dispatch, taken, 'first')
    await producer.add('instruction', { reference: 'R-1' })
    await until('the message was refused', async () => (await failed()) === 1)
    await meanwhile()
    await sliceIsTaken(dispatch, taken, 'second')
    register.testify('desk', 'after')
    await until('the newest testimony is read', async () => (await register.testimonies()).get('desk') === 'after')
    await register.forget(new Map([['desk', 'after']]))
    await until('a message is refused', async () => {
      await producer.add('instruction', { reference: 'R-2' }).catch(silent)
      return (await failed()) >= 1
    })
    expect(await register.replace('1-x', '2-x')).toBe(true)
    expect(await register.newest()).toBe('2-x')
    const others = (ledgerId: string | null) => otherLedgersOf(address, PREFIX, ['account'], ledgerId)
    expect([...(await others('a')), ...(await others('b'))]).toEqual([
      ['account', []],
      ['account', ['a']],
    ])
    expect((await others(null)).get('account')?.toSorted()).toEqual(['a', 'b'])
  } finally {
    register.close()
    // A producer that has just lost its server cannot say goodbye to it.
    await Promise.all([dispatch.close(2_000), intake?.close(2_000), producer.close().catch(silent)])
    held.close()
  }
}

describe('a cluster', () => {
  let cluster: RedisCluster
  let at: string
  beforeAll(async () => {
    cluster = await openRedisCluster(dir, [USER])
    at = cluster.ports.map((port) => `127.0.0.1:${port}`).join(',')
  })
  afterAll(() => cluster[Symbol.asyncDispose]())

  test('is used for all that is kept in Redis, by a user who may no more than that', async () => {
    await useEverything({ url: `redis+cluster://${LOGIN}@${at}` })
  })

  test('is named by its servers, whichever of them was asked', async () => {
    const [first = 0] = cluster.ports
    const { name, evicts } = await assertReachable({ url: `redis+cluster://127.0.0.1:${first}` }, PREFIX)
    const all = at.split(',').toSorted().join(', ')
    expect([name, evicts]).toEqual([`a cluster of 3 (${all})`, false])
  })

  test('is refused with a prefix that would spread a queue over its servers, and what to set is said', async () => {
    for (const url of [`redis+cluster://${at}`, `redis://${at.split(',')[0]}`])
      await expect(assertReachable({ url }, 'bull')).rejects.toMatchObject({
        code: 'config',
        message: expect.stringMatching(/TRANCHE_REDIS_PREFIX=bull .* Set TRANCHE_REDIS_PREFIX=\{tranche\}/),
      })
  })

  test('is refused under the address of one server', async () => {
    await expect(assertReachable({ url: `redis://${at.split(',')[0]}` }, PREFIX)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('redis+cluster://'),
    })
  })

  test('that takes no such user is said, within the time of a start', async () => {
    const asked = assertReachable({ url: `redis+cluster://nobody:x@${at}` }, PREFIX)
    await expect(asked).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('WRONGPASS') })
  })
})

describe('a server that sentinels name', () => {
  let watched: WatchedRedis
  beforeAll(async () => {
    watched = await openWatchedRedis(dir, PASSWORD)
  })
  afterAll(() => watched[Symbol.asyncDispose]())
  const url = (name = WATCHED) =>
    `redis+sentinel://:${encodeURIComponent(PASSWORD)}@${name}@127.0.0.1:1,127.0.0.1:${watched.port}/3`

  test('is found by the first of them that answers, and named', async () => {
    const { name } = await assertReachable({ url: url() }, 'bull')
    const sentinels = `127.0.0.1:1, 127.0.0.1:${watched.port}`
    expect(name).toBe(`127.0.0.1:${await watched.serverPort()}, which is main/3 of the sentinels ${sentinels}`)
  })

  test('and that none of them knows is said', async () => {
    const asked = assertReachable({ url: url('other') }, 'bull')
    await expect(asked).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /^Redis at other\/3 of the sentinels .+ cannot be used \(All sentinels are unreach/,
      ),
    })
  })

  test('is found again when the sentinels were away as its connections ended', async () => {
    await using proxy = await openProxy({ host: '127.0.0.1', port: watched.port })
    const address = { url: url().replace(/127[^/]+(?=\/3)/, `127.0.0.1:${proxy.port}`) }
    const register = openSharedRegister(address, 'bull', 'b')
    try {
      expect(await register.replace(null, '1-x')).toBe(true)
      proxy.treat('reset')
      const before = proxy.accepted
      await watched.cutAll()
      const asked = register.newest()
      await until('it has looked for them in vain', () => proxy.accepted > before)
      proxy.treat('pass')
      expect(await asked).toBe('1-x')
    } finally {
      register.close()
    }
  })

  test('is used for all that is kept in Redis, and so is the one that takes its place', async () => {
    await useEverything({ url: url() }, watched.failOver)
  })
})
