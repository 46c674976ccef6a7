// Two workers over one ledger and one queue: whatever happens to places and parts, every due row is reached, and soon.

import { beforeEach, describe, expect, test } from 'vitest'
import type { AccountId, BatchId, RowId } from '../../src/domain/ids.ts'
import { openLedger } from '../../src/ledger/sqlite/ledger.ts'
import type { Dispatch, Slice } from '../../src/ports/dispatch.ts'
import type { Gateway } from '../../src/ports/gateway.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import type { Log } from '../../src/ports/log.ts'
import { type AccountLane, executeSlice } from '../../src/processors/execute-slice.ts'
import { openTick } from '../../src/processors/tick.ts'
import { createLimiter } from '../../src/throttle/limiter.ts'
import { idle, ManualClock } from '../fixtures/clock.ts'
import { credentialsOf } from '../fixtures/credentials.ts'
import { claimNamed, NOW, openAccount, refund, settle, submit } from '../fixtures/ledgers.ts'

const BEAT_MS = 250
/** Until each of four places has had every part, and once more. */
const BEATS = (4 + 1) * (2_000 / BEAT_MS)
const silent = () => {}
const log: Log = { debug: silent, info: silent, warn: silent, error: silent }

/** Places as BullMQ keeps them. A place in `held` was taken by somebody who does not come back. */
class SharedQueue implements Pick<Dispatch, 'offer'> {
  readonly waiting = new Map<string, Slice>()
  held: readonly number[] = []

  async offer(slices: readonly Slice[]): Promise<void> {
    for (const slice of slices)
      if (!this.held.includes(slice.place)) this.waiting.set(`${slice.batchId}-${slice.place}`, slice)
  }

  taken(): readonly Slice[] {
    const slices = [...this.waiting.values()]
    this.waiting.clear()
    return slices
  }
}

let clock: ManualClock
let ledger: Ledger
let accountId: AccountId
let queue: SharedQueue
let sent: string[]
let refused: number

beforeEach(async () => {
  clock = new ManualClock(NOW)
  const own = openLedger({
    path: null,
    submitLockPath: null,
    die: (error) => {
      throw error
    },
  })
  const claim: Ledger['claim'] = async (asked) => {
    const answer = await own.claim(asked)
    refused += Number(answer.kind !== 'claimed')
    return answer
  }
  ledger = { ...own, dividesAccounts: true, claim }
  accountId = await openAccount(ledger)
  queue = new SharedQueue()
  sent = []
  refused = 0
  return () => own.close()
})

interface Worker {
  work(slice: Slice): Promise<number>
  stop(): Promise<void>
}

function openWorker(): Worker {
  const inFlight = new Set<RowId>()
  const gateway: Gateway = {
    async send({ reference }) {
      sent.push(reference)
      return { kind: 'unsent', why: 'abandoned', detail: 'of no matter' }
    },
    reach: async () => ({ kind: 'reached', tls: null }),
    close: async () => {},
  }
  const lane: AccountLane = {
    ...{ gateway, credentials: credentialsOf(), timeoutMs: 60_000, notExecutedStatus: [], deleteAnswer: 'status' },
    ...{
      gateway,
      timeoutMs: 60_000,
      notExecutedStatus: [],
      deleteAnswer: 'status',
      dailyLimits: null,
      reasonRules: [],
    },
    limiter: createLimiter({ inFlightMax: 100, ratePerSecond: null, clock }),
    configured: { ratePerSecond: null, inFlightMax: 8 },
  }
  const settling: Ledger = {
    ...ledger,
    // Every request is approved as far as the ledger is asked: what a verdict makes of an answer is no matter here.
    settle: (settlement) => ledger.settle({ ...settlement, to: 'DECLINED', cause: 'answer' }),
  }
  const lanes = new Map([[accountId, lane]])
  const tick = openTick({
    ...{ ledger, lanes, clock, log, inFlight, only: null, heartbeat: async () => {} },
    dispatch: { offer: (slices) => queue.offer(slices), onFreed: () => {} },
  })
  const onSettled = () => {}
  const parts = { ledger: settling, clock, laneOf: () => lane, inFlight, cards: null, onSettled }
  return { stop: tick.stop, work: (slice) => executeSlice(slice, parts, new AbortController().signal) }
}

/** Beats until nothing of the batch is READY; the workers take the slices in turns, and run them at the same time. */
async function beatsToEnd(batchId: BatchId): Promise<number> {
  const workers = [openWorker(), openWorker()]
  await idle()
  for (let beats = 1; beats <= BEATS; beats++) {
    const slices = queue.taken()
    await clock.until(Promise.all(slices.map((slice, i) => workers[i % 2]!.work(slice))))
    if (((await ledger.batch(batchId))?.counts.READY ?? 0) === 0) {
      for (const worker of workers) await worker.stop()
      return beats
    }
    await clock.advance(BEAT_MS)
  }
  throw new Error(`not all rows were reached: ${JSON.stringify((await ledger.batch(batchId))?.counts)}`)
}

const batchOf = (count: number, over: (i: number) => Parameters<typeof refund>[1] = () => ({})) =>
  submit(
    ledger,
    accountId,
    Array.from({ length: count }, (_, i) => refund(`R-${i}`, over(i))),
  )

describe('every due row is reached', () => {
  test('at once and by one worker, where all places are free', async () => {
    const batchId = await batchOf(250)
    expect(await beatsToEnd(batchId)).toBe(1)
    expect(new Set(sent).size).toBe(250)
    expect([sent.length, refused]).toEqual([250, 0])
  })

  test.for([[0], [1], [0, 1, 2]].map((held) => ({ held })))(
    'before all parts have gone round, where places $held never become free',
    async ({ held }) => {
      queue.held = held
      const batchId = await batchOf(held.length > 1 ? 390 : 250)
      await beatsToEnd(batchId)
      expect(new Set(sent).size).toBe(sent.length)
    },
  )

  test('within as many beats as it has rows, where all are of one order', async () => {
    const batchId = await batchOf(5, () => ({ orderId: '4711' }))
    expect(await beatsToEnd(batchId)).toBeLessThanOrEqual(5)
    expect(sent).toEqual(['R-0', 'R-1', 'R-2', 'R-3', 'R-4'])
  })

  test('in the canary, whichever parts its rows are in', async () => {
    await submit(
      ledger,
      accountId,
      Array.from({ length: 350 }, (_, i) => refund(`R-${i}`)),
      { canaryRows: 3 },
    )
    const workers = [openWorker(), openWorker()]
    await idle()
    await clock.until(Promise.all(queue.taken().map((slice, i) => workers[i % 2]!.work(slice))))
    expect(sent.toSorted()).toEqual(['R-0', 'R-1', 'R-2'])
    for (const worker of workers) await worker.stop()
  })

  test('among the last of a batch, while a row of it is being sent elsewhere by a slice that holds the first place', async () => {
    const batchId = await batchOf(4)
    const elsewhere = await claimNamed(ledger, batchId, 'R-1')
    queue.held = [0]
    await beatsToEnd(batchId)
    expect(sent.toSorted()).toEqual(['R-0', 'R-2', 'R-3'])
    await settle(ledger, elsewhere, 'APPROVED')
  })
})
