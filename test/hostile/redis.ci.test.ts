// What anyone with access to Redis can do to it while a batch is worked off. It costs time, never money.

import { join } from 'node:path'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { test } from 'vitest'
import { countsIn, query, recordedIn } from '../fixtures/books.ts'
import { type Office, until } from '../fixtures/cli.ts'
import { refundRow, refunds } from '../fixtures/files.ts'
import { openRedisServer } from '../fixtures/redis.ts'
import { openPlace, takingMs } from './place.ts'

interface Attack {
  readonly title: string
  readonly begin: (redis: Redis, slices: string) => Promise<unknown>
  /** What an administrator does about it. */
  readonly undo?: (redis: Redis, slices: string) => Promise<unknown>
  /** Redis refuses it to hand work out: the run says so, and it lasts until then. */
  readonly isSaid?: true
}

const set = (name: string, value: string | number) => (redis: Redis) => redis.config('SET', name, value)
const keysOf = async (redis: Redis, slices: string) => redis.keys(`${slices}:*`)

const cutAll = (redis: Redis) => redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')

const ATTACKS: readonly (readonly Attack[])[] = [
  [
    { title: 'everything is deleted', begin: (redis) => redis.flushall() },
    {
      title: 'the keys of the slices are deleted',
      begin: async (redis, slices) => redis.del(...(await keysOf(redis, slices)), 'no-key'),
    },
    {
      title: 'the keys of the slices are renamed',
      begin: async (redis, slices) => {
        for (const key of await keysOf(redis, slices)) await redis.rename(key, `away:${key}`).catch(() => {})
      },
    },
    {
      title: 'the keys of the slices are of another type',
      begin: async (redis, slices) => {
        for (const name of ['wait', 'active', 'meta', 'marker', 'events', 'stalled'])
          await redis.set(`${slices}:${name}`, 'no list')
      },
      undo: async (redis, slices) => redis.del(...(await keysOf(redis, slices))),
      isSaid: true,
    },
    { title: 'the databases are swapped', begin: (redis) => redis.swapdb(0, 1), undo: (redis) => redis.swapdb(0, 1) },
  ],
  [
    { title: 'all connections are cut', begin: cutAll },
    { title: 'all scripts are forgotten', begin: (redis) => redis.script('FLUSH') },
    {
      title: 'a password is asked for',
      begin: async (redis) => {
        await redis.config('SET', 'requirepass', 'sesame')
        await cutAll(redis)
      },
      undo: (redis) => redis.config('SET', 'requirepass', ''),
    },
    { title: 'nothing is answered for three seconds', begin: (redis) => redis.client('PAUSE', 3_000, 'ALL') },
  ],
  [
    { title: 'there is no memory left', begin: set('maxmemory', 1), undo: set('maxmemory', 0), isSaid: true },
    {
      title: 'keys are evicted at random',
      begin: async (redis) => {
        await redis.config('SET', 'maxmemory-policy', 'allkeys-random')
        await redis.config('SET', 'maxmemory', 1_500_000)
        for (let i = 0; i < 40; i += 1) await redis.set(`fill-${i}`, 'x'.repeat(20_000)).catch(() => {})
      },
      undo: async (redis) => {
        await redis.config('SET', 'maxmemory', 0)
        await redis.config('SET', 'maxmemory-policy', 'noeviction')
      },
    },
    {
      title: 'it becomes the replica of nobody',
      begin: (redis) => redis.replicaof('127.0.0.1', 1),
      undo: (redis) => redis.replicaof('NO', 'ONE'),
      isSaid: true,
    },
    {
      title: 'every slice is there a hundred times',
      begin: async (redis, slices) => {
        for (const key of (await keysOf(redis, slices)).filter((name) => /:[^:]+-\d+$/.test(name)))
          for (let i = 0; i < 100; i += 1) await redis.lpush(`${slices}:wait`, key.slice(slices.length + 1))
      },
    },
  ],
]

/** More than are handed out at a time, mostly: slices take turns every two seconds. */
const ROWS_BETWEEN = 100
/** Where nothing moves, the next step comes all the same. */
const OR_MS = 2_500

test.concurrent.for(ATTACKS.map((attacks) => ({ attacks, titles: attacks.map(({ title }) => title).join('; ') })))(
  'the batch goes on and nothing is in doubt: $titles',
  async ({ attacks }, { expect, onTestFinished }) => {
    await using place = await openPlace({ TRANCHE_IN_FLIGHT: '4' }, takingMs(25))
    const { office, gateway } = place
    await using server = await openRedisServer(join(office.dir, 'r.sock'))
    // Whatever is done to the others, this connection stands.
    const redis = new Redis({ path: server.path })
    redis.on('error', () => {})
    onTestFinished(() => redis.disconnect())
    const rows = refunds(ROWS_BETWEEN * (2 * attacks.length + 6))
    const { input, out } = await place.file('in', rows)
    const running = office.startWith({ TRANCHE_REDIS_URL: server.path }, 'run', input, '--out', out)
    const moveOn = async (what: string) => {
      const enough = gateway.received().length + ROWS_BETWEEN
      const lastMs = Date.now() + OR_MS
      await until(what, () => gateway.received().length >= enough || Date.now() > lastMs, running)
    }
    await until('the batch is under way', () => gateway.received().length >= ROWS_BETWEEN, running)
    const slices = `bull:tranche-slices-${ledgerIdOf(office)}`
    const troubles = () => running.saidAside().filter((line) => line.includes('No work can be handed out')).length
    for (const { title, begin, undo, isSaid } of attacks) {
      const before = troubles()
      await begin(redis, slices)
      if (isSaid) await until(`${title}: it is said`, () => troubles() > before, running)
      await moveOn(title)
      await undo?.(redis, slices)
      await moveOn(`after: ${title}`)
    }
    const ran = await running.ended
    expect(ran.code, ran.stderr).toBe(0)
    expect(countsIn(out)).toEqual({ APPROVED: rows.length })
    expect(gateway.received()).toHaveLength(rows.length)
    expect(place.lies({ input, out })).toEqual([])
  },
)

function ledgerIdOf(office: Office): string {
  return query<{ value: string }>(office, "SELECT value FROM meta WHERE key = 'ledger_id'")[0]?.value ?? ''
}

test.concurrent('slices that were not handed out send nothing held, nothing twice, and stop no worker', async ({
  expect,
  onTestFinished,
}) => {
  await using place = await openPlace({ TRANCHE_IN_FLIGHT: '4' })
  const { office, gateway } = place
  await using server = await openRedisServer(join(office.dir, 'r.sock'))
  const env = { TRANCHE_REDIS_URL: server.path }
  const submitted = async (name: string, count: number, first: number) => {
    const said = await office.tranche('submit', (await place.file(name, refunds(count, first))).input, '--json')
    return said.last.batch as string
  }
  const [going, paused, cancelled] = [
    await submitted('going', 120, 1),
    await submitted('paused', 20, 301),
    await submitted('cancelled', 20, 401),
  ]
  const foreign = await submittedForAnother(place)
  await office.tranche('pause', paused, '--reason', 'wait')
  await office.tranche('cancel', cancelled, '--reason', 'not wanted')
  const worker = await office.worker(env)
  const queue = new Queue(`tranche-slices-${ledgerIdOf(office)}`, { connection: { path: server.path } })
  queue.on('error', () => {})
  onTestFinished(() => queue.close())

  const part = { n: 0, of: 1 }
  const crafted: readonly unknown[] = [
    ...[paused, cancelled, foreign, 'no-batch', '', "' OR 1=1 --"].map((batchId) => ({ batchId, rows: 100, part })),
    ...[-1, 0, 1e9, 1.5, 'many', null, [], {}].map((rows) => ({ batchId: going, rows, part })),
    ...[null, { batchId: { $ne: '' }, rows: 100, part }, { batchId: [going], rows: 1, part }, 'slice', 7, [], {}],
    ...[{ n: 0, of: 0 }, { n: -1, of: 2 }, { n: 'a', of: 'b' }, { n: 0.5, of: 1e9 }, null, [], 'all'].map((odd) => ({
      ...{ batchId: going, rows: 100, part: odd },
    })),
    { batchId: going, rows: 100 },
    ...Array.from({ length: 20 }, () => ({ batchId: going, rows: 100, part })),
  ]
  await queue.addBulk(crafted.map((data) => ({ name: 'slice', data: data as object })))
  await queue.add('another-name', { batchId: going, rows: 5, part }, { delay: 1, attempts: 9 })
  const left = async () => (await queue.getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized')) === 0
  const settled = () => recordedIn(office).filter(({ state }) => state === 'APPROVED').length >= 120
  await until('all of them were taken, and the batch is done', async () => settled() && (await left()), worker)

  const { input } = await place.file('later', [refundRow(900)])
  const later = (await office.tranche('submit', input, '--json')).last.batch as string
  const stateOf = async (batch: string) => (await office.tranche('status', batch, '--json')).last.state
  await until('it takes the next batch', async () => (await stateOf(later)) === 'done', worker)
  worker.kill('SIGTERM')
  expect((await worker.ended).code).toBe(0)
  const states = Map.groupBy(recordedIn(office), (row) => `${row.batch_id} ${row.state}`)
  expect(Object.fromEntries([...states].map(([key, rows]) => [key, rows.length]))).toEqual({
    [`${going} APPROVED`]: 120,
    [`${paused} READY`]: 20,
    [`${cancelled} CANCELLED`]: 20,
    [`${foreign} READY`]: 3,
    [`${later} APPROVED`]: 1,
  })
  expect(gateway.received()).toHaveLength(121)
  expect(place.lies()).toEqual([])
})

/** A batch of a merchant that the worker does not know. */
async function submittedForAnother({ office, file }: Awaited<ReturnType<typeof openPlace>>): Promise<string> {
  await office.put('pw', 's3cret')
  const other = { url: 'http://127.0.0.1:9', username: 'other', password_file: 'pw' }
  const env = { TRANCHE_CONFIG: await office.put('c.yaml', JSON.stringify({ merchants: { other } })) }
  const { input } = await file('foreign', refunds(3, 501))
  const said = await office.trancheWith(env, 'submit', input, '--merchant', 'other', '--json')
  return said.last.batch as string
}
