// The queue of slices, on a real Redis.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import { WHOLE } from '../../src/domain/part.ts'
import type { Dispatch, Slice } from '../../src/ports/dispatch.ts'
import type { Log } from '../../src/ports/log.ts'
import { openSlices, type SlicesOptions } from '../../src/queues/slices.ts'
import { until } from '../fixtures/cli.ts'
import { openRedisServer, type RedisServer } from '../fixtures/redis.ts'

const silent = () => {}
const log: Log = { debug: silent, info: silent, warn: silent, error: silent }
const BATCH = '261120-aaaaa' as BatchId

let dir: string
let redis: RedisServer
let opened: Dispatch[]
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tr-'))
  redis = await openRedisServer(join(dir, 's'))
  opened = []
})
afterEach(async () => {
  for (const dispatch of opened) await dispatch.close(1_000)
  await redis.kill()
  rmSync(dir, { recursive: true, force: true })
})

async function open(over: Partial<SlicesOptions> = {}): Promise<Dispatch> {
  const address = { path: redis.path }
  const work = () => Promise.resolve(0)
  const options = { address, prefix: 'bull', ledgerId: 'a', concurrency: 4, alone: true, work, log }
  const dispatch = await openSlices({ ...options, ...over })
  opened.push(dispatch)
  return dispatch
}

const slicesOf = (batchId: BatchId, count: number): Slice[] =>
  Array.from({ length: count }, (_, place) => ({ batchId, place, rows: 1, part: WHOLE }))

const never = () => new Promise<number>(() => {})

test.for([
  { alone: true, who: 'who is alone takes what is in the queue for a dead worker’s', left: [] },
  { alone: false, who: 'who is not alone leaves the slices of others there', left: [1, 2] },
])('$who', async ({ alone, left }) => {
  // One that takes one slice and is busy with it: the others wait in the queue.
  const first = await open({ concurrency: 1, work: never })
  await first.offer(slicesOf(BATCH, 3))
  const taken: Slice[] = []
  const second = await open({ alone, work: async (slice) => taken.push(slice) })
  await second.offer(slicesOf('later' as BatchId, 1))
  await until('the one behind is taken', () => taken.some(({ batchId }) => batchId === 'later'))
  expect(taken.filter(({ batchId }) => batchId === BATCH)).toHaveLength(left.length)
})
