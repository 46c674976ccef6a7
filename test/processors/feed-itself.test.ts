import { beforeEach, describe, expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import type { Dispatch, Slice } from '../../src/ports/dispatch.ts'
import type { Log } from '../../src/ports/log.ts'
import { feedItself } from '../../src/processors/feed-itself.ts'
import { idle, ManualClock } from '../fixtures/clock.ts'
import { NOW } from '../fixtures/ledgers.ts'

const BEAT_MS = 250
const CONCURRENCY = 2
const A = 'A' as BatchId
const B = 'B' as BatchId
const away = () => Promise.reject(new Error('connection is closed'))
const here = () => Promise.resolve()

let clock: ManualClock
/** How the queue takes an offer. */
let take: () => Promise<void>
let taken: number
let dispatch: Dispatch
let runs: { readonly batchId: BatchId; readonly end: (rows: number) => void; readonly fail: (error: Error) => void }[]
let told: (string | null)[]
let said: string[]
let freed: (readonly [BatchId, number])[]

beforeEach(() => {
  clock = new ManualClock(NOW)
  take = here
  taken = 0
  runs = []
  told = []
  said = []
  freed = []
  const queue: Dispatch = {
    async offer() {
      await take()
      taken += 1
    },
    onFreed: () => {},
    close: async () => {},
  }
  const work = ({ batchId }: Slice) => {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    runs.push({ batchId, end: resolve, fail: reject })
    return promise
  }
  const say = (_details: object, message: string) => void said.push(message)
  const log: Log = { debug: say, info: say, warn: say, error: say }
  const onAway = (error: unknown) => void told.push(error === null ? null : (error as Error).message)
  dispatch = feedItself({ queue, concurrency: CONCURRENCY, work, clock, log, onAway })
  dispatch.onFreed((batchId, rows) => void freed.push([batchId, rows]))
})

const slicesOf = (batchId: BatchId, count: number): Slice[] =>
  Array.from({ length: count }, (_, place) => ({ batchId, place, rows: 100 }))

/** As the tick does: every quarter of a second, for so long. */
async function offerFor(ms: number, batches: readonly BatchId[] = [A], places = 1): Promise<void> {
  for (let passed = 0; passed < ms; passed += BEAT_MS) {
    for (const batchId of batches) await clock.until(dispatch.offer(slicesOf(batchId, places)))
    await clock.advance(BEAT_MS)
  }
}

describe('while the queue takes what is offered', () => {
  test('nothing runs here, and nobody is told anything', async () => {
    await offerFor(20_000)
    expect([taken, runs, told, said]).toEqual([80, [], [], []])
  })
})

describe('while the queue is away', () => {
  beforeEach(() => {
    take = away
  })

  test('nothing runs here for 5 s; then it does, and it is told once', async () => {
    await offerFor(5_000)
    expect([runs.length, told]).toEqual([0, ['connection is closed']])
    await offerFor(10_000)
    expect([runs.length, told, said.length]).toEqual([1, ['connection is closed'], 1])
  })

  test('a place is filled again when its slice has ended, and who offers hears of it', async () => {
    await offerFor(6_000)
    runs[0]?.end(7)
    await idle()
    expect(freed).toEqual([[A, 7]])
    await offerFor(BEAT_MS)
    expect(runs).toHaveLength(2)
  })

  test('no more slices run at a time than may, and batches take turns', async () => {
    await offerFor(6_000, [A, B], 4)
    expect(runs.map(({ batchId }) => batchId)).toEqual([A, A])
    for (const { end } of [...runs]) end(1)
    await offerFor(BEAT_MS, [A, B], 4)
    for (const { end } of [...runs]) end(1)
    await offerFor(BEAT_MS, [A, B], 4)
    expect(runs.map(({ batchId }) => batchId)).toEqual([A, A, A, A, B, B])
  })

  test('a slice that breaks off is said, and gives its place free', async () => {
    await offerFor(6_000)
    runs[0]?.fail(new Error('integer overflow'))
    await idle()
    expect([said.at(-1), freed]).toEqual(['a slice broke off; its rows stay as the ledger has them', []])
    await offerFor(BEAT_MS)
    expect(runs).toHaveLength(2)
  })

  test('closing starts nothing more, and waits for what runs as long as it may', async () => {
    await offerFor(6_000, [A], 4)
    let closed = false
    const closing = dispatch.close(2_000).then(() => {
      closed = true
    })
    runs[0]?.end(1)
    await clock.advance(1_999)
    expect([closed, runs.length]).toEqual([false, CONCURRENCY])
    runs[1]?.end(1)
    await idle()
    expect(closed).toBe(true)
    await closing
  })
})

test('a queue that never answers is away from when it was asked, and is not waited for again', async () => {
  take = () => new Promise(() => {})
  await clock.until(dispatch.offer(slicesOf(A, 1)))
  expect([runs.length, told]).toEqual([1, ['no answer within 5 s']])
  let returned = false
  void dispatch.offer(slicesOf(B, 1)).then(() => {
    returned = true
  })
  await idle()
  expect([returned, runs.length]).toEqual([true, 2])
})

test('when the queue answers again, nothing more starts here, what runs comes to its end, and it is told once', async () => {
  take = away
  await offerFor(6_000, [A], 3)
  take = here
  await offerFor(5_000, [A], 3)
  for (const { end } of [...runs]) end(1)
  await offerFor(5_000, [A], 3)
  expect([runs.length, told]).toEqual([CONCURRENCY, ['connection is closed', null]])
  expect(freed).toHaveLength(CONCURRENCY)
})

test('a queue that takes one offer and refuses the next is away until it takes all', async () => {
  let nth = 0
  take = () => {
    nth += 1
    return nth % 2 === 0 ? here() : away()
  }
  await offerFor(20_000)
  expect([told, runs.length]).toEqual([['connection is closed'], 1])
})
