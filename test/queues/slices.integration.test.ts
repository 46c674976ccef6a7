// The queue of slices, on a real Redis.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import type { Dispatch, Slice } from '../../src/ports/dispatch.ts'
import type { Log } from '../../src/ports/log.ts'
import { openSlices, type SlicesOptions } from '../../src/queues/slices.ts'
import { until } from '../fixtures/cli.ts'
import { ManualClock } from '../fixtures/clock.ts'
import { NOW } from '../fixtures/ledgers.ts'
import { openProxy } from '../fixtures/proxy.ts'
import { openRedisServer, type RedisServer } from '../fixtures/redis.ts'

const silent = () => {}
const warn = (_details: object, message: string) => void said.push(message)
const log: Log = { debug: silent, info: silent, warn, error: silent }
const BATCH = '261120-aaaaa' as BatchId

let dir: string
let redis: RedisServer
let opened: Dispatch[]
let clock: ManualClock
let said: string[]
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tr-'))
  redis = await openRedisServer(join(dir, 's'))
  opened = []
  clock = new ManualClock(NOW)
  said = []
})
afterEach(async () => {
  for (const dispatch of opened) await dispatch.close(1_000)
  await redis.kill()
  rmSync(dir, { recursive: true, force: true })
})

async function open(over: Partial<SlicesOptions> = {}): Promise<Dispatch> {
  const address = { path: redis.path }
  const work = () => Promise.resolve(0)
  const options = { address, prefix: 'bull', ledgerId: 'a', concurrency: 4, place: 'here', work, clock, log }
  const dispatch = await openSlices({ ...options, ...over })
  opened.push(dispatch)
  return dispatch
}

const slicesOf = (batchId: BatchId, count: number): Slice[] =>
  Array.from({ length: count }, (_, place) => ({ batchId, place, rows: 1 }))

const never = () => new Promise<number>(() => {})

test.for([
  { place: 'here', who: 'whoever comes to a place takes what is in its queue for a dead worker’s', left: [] },
  { place: 'there', who: 'a worker takes its own slices, and leaves those of another place', left: [] },
])('$who', async ({ place, left }) => {
  // One that takes one slice and is busy with it: the others wait in the queue.
  let isBusy = false
  const beginAndStay = () => {
    isBusy = true
    return never()
  }
  const first = await open({ concurrency: 1, work: beginAndStay })
  await first.offer(slicesOf(BATCH, 3))
  await until('the first is busy', () => isBusy)
  const taken: Slice[] = []
  const second = await open({ place, work: async (slice) => taken.push(slice) })
  await second.offer(slicesOf('later' as BatchId, 1))
  await until('the one behind is taken', () => taken.some(({ batchId }) => batchId === 'later'))
  expect(taken.filter(({ batchId }) => batchId === BATCH)).toHaveLength(left.length)
})

test('where Redis is gone, an offer says so in words', async () => {
  const dispatch = await open()
  await redis.kill()
  const offer = () => dispatch.offer(slicesOf(BATCH, 1))
  await until('the connection is lost', () =>
    offer().then(
      () => false,
      ({ message }) => /no connection/.test(message),
    ),
  )
  await expect(offer()).rejects.toMatchObject({
    ...{ code: 'unavailable', message: `Redis at ${redis.path} takes no rows: there is no connection` },
  })
  redis = await openRedisServer(redis.path) // connections close in order
})

describe('a worker of the queue', () => {
  const STILL_MS = 15_000

  test('whose connections are deaf is made again when slices have waited for 15 s, and not before', async () => {
    await using proxy = await openProxy({ path: redis.path })
    const taken: BatchId[] = []
    const work = async ({ batchId }: Slice) => taken.push(batchId)
    const address = { url: `redis://127.0.0.1:${proxy.port}` }
    const dispatch = await open({ address, work })
    await dispatch.offer(slicesOf('first' as BatchId, 1))
    await until('it takes slices', () => taken.length > 0)
    proxy.treatStanding('hang', (nth) => nth > 0) // the first is the one that offers

    const waiting = slicesOf(BATCH, 2)
    await dispatch.offer(waiting)
    clock.jump(STILL_MS - 1)
    await dispatch.offer(waiting)
    expect([said, taken.length]).toEqual([[], 1])
    clock.jump(1)
    await dispatch.offer(waiting)
    expect(said).toEqual([expect.stringMatching(/no slice was taken from Redis for 15 s .+ made again/)])
    await until('the slices are taken', () => taken.length === 3)
    await dispatch.offer(slicesOf('later' as BatchId, 1))
    await until('those of later as well', () => taken.includes('later' as BatchId))
    expect(said).toHaveLength(1)
    await dispatch.close(1_000)
  })

  test('that has nothing to take is left alone, however long', async () => {
    const taken: BatchId[] = []
    const dispatch = await open({ work: async ({ batchId }: Slice) => taken.push(batchId) })
    clock.jump(10 * STILL_MS)
    await dispatch.offer(slicesOf(BATCH, 4))
    await until('they are taken', () => taken.length === 4)
    expect(said).toEqual([])
  })

  test('that is left nothing by another, which lives, is left alone', async () => {
    let begun = 0
    const work = () => {
      begun += 1
      return never()
    }
    const other = await open({ work })
    await other.offer(slicesOf(BATCH, 2))
    await until('the other has them', () => begun === 2)
    const idle = await open({ place: 'there' })
    clock.jump(STILL_MS)
    await idle.offer(slicesOf(BATCH, 2))
    expect(said).toEqual([])
  })

  test('that has no room for more is left alone', async () => {
    let began = false
    const work = () => {
      began = true
      return never()
    }
    const dispatch = await open({ concurrency: 1, work })
    await dispatch.offer(slicesOf(BATCH, 3))
    await until('it is busy', () => began)
    clock.jump(STILL_MS)
    await dispatch.offer(slicesOf(BATCH, 3))
    expect(said).toEqual([])
  })
})
