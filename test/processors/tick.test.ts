import { beforeEach, describe, expect, test } from 'vitest'
import { Fault } from '../../src/domain/fault.ts'
import type { AccountId, BatchId } from '../../src/domain/ids.ts'
import type { Activity } from '../../src/domain/worker.ts'
import { openLedger } from '../../src/ledger/sqlite/ledger.ts'
import type { Dispatch, Slice } from '../../src/ports/dispatch.ts'
import type { Gateway } from '../../src/ports/gateway.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import type { Log } from '../../src/ports/log.ts'
import type { AccountLane } from '../../src/processors/execute-slice.ts'
import { openTick, ROWS_PER_SLICE, type Tick, type TickParts } from '../../src/processors/tick.ts'
import { type AccountLimiter, createLimiter } from '../../src/throttle/limiter.ts'
import { idle, ManualClock } from '../fixtures/clock.ts'
import { credentialsOf } from '../fixtures/credentials.ts'
import { CLERK, claimed, claimNamed, dueRow, NOW, openAccount, refund, settle, submit } from '../fixtures/ledgers.ts'

const BEAT_MS = 250

/** Keeps what was offered. */
class Offers implements Pick<Dispatch, 'offer' | 'onFreed'> {
  made: Array<readonly [BatchId, number]> = []
  away = false as boolean
  /** Of the latest offer. */
  latest: readonly Slice[] = []
  freed: (batchId: BatchId, rows: number) => void = () => {}

  async offer(slices: readonly Slice[]): Promise<void> {
    if (this.away) throw new Fault('unavailable', 'Redis takes no rows')
    for (const { rows } of slices) expect(rows).toBe(ROWS_PER_SLICE)
    this.latest = slices
    this.made.push([slices[0]!.batchId, slices.length])
  }

  onFreed(listener: (batchId: BatchId, rows: number) => void): void {
    this.freed = listener
  }

  taken(): Array<readonly [BatchId, number]> {
    const { made } = this
    this.made = []
    return made
  }
}

const noGateway: Gateway = {
  send: () => Promise.reject(new Error('the tick sends nothing')),
  reach: async () => ({ kind: 'reached', tls: null }),
  close: async () => {},
}

let clock: ManualClock
let ledger: Ledger
let accountId: AccountId
let offers: Offers
let limiter: AccountLimiter
let said: string[]
let configured: string
let tick: Tick | undefined

beforeEach(async () => {
  clock = new ManualClock(NOW)
  ledger = openLedger({
    path: null,
    submitLockPath: null,
    die: (error) => {
      throw error
    },
  })
  accountId = await openAccount(ledger)
  offers = new Offers()
  limiter = createLimiter({ inFlightMax: 8, ratePerSecond: null, clock })
  said = []
  configured = 'one'
  return async () => {
    await tick?.stop()
    await ledger.close()
  }
})

async function start(over: Partial<TickParts> = {}): Promise<void> {
  const say = (_details: object, message: string) => void said.push(message)
  const log: Log = { debug: say, info: say, warn: say, error: say }
  const lane: AccountLane = {
    gateway: noGateway,
    credentials: credentialsOf(() => configured),
    limiter,
    timeoutMs: 60_000,
    notExecutedStatus: [],
    deleteAnswer: 'status',
    reasonRules: [],
    dailyLimits: null,
  }
  const lanes = new Map([[accountId, lane]])
  tick = openTick({
    ledger,
    dispatch: offers,
    lanes,
    clock,
    log,
    inFlight: new Set(),
    accounts: { keep: async () => {}, isMine: () => true, end: () => {} },
    only: null,
    heartbeat: async () => {},
    ...over,
  })
  await idle()
}

const batchOf = (word: string, rows: number, over: Parameters<typeof refund>[1] = {}) =>
  submit(
    ledger,
    accountId,
    Array.from({ length: rows }, (_, i) => refund(`${word}-${i}`, over)),
  )

describe('what has expired', () => {
  test.each([
    ['its batch is paused', (batchId: BatchId) => ledger.pause(batchId, 'lunch', CLERK, NOW)],
    ['its account is stopped', () => ledger.stopAccount(accountId, 'no such user', NOW)],
    ['no lane takes it', async () => {}],
  ])('is cancelled at the next beat where %s', async (why, keep) => {
    const batchId = await batchOf('A', 1, { expiresAtMs: NOW + 1_000 })
    await keep(batchId)
    await start(why === 'no lane takes it' ? { lanes: new Map() } : {})
    await clock.advance(999)
    expect((await ledger.batch(batchId))?.counts).toEqual({ READY: 1 })
    await clock.advance(BEAT_MS)
    expect((await ledger.batch(batchId))?.counts).toEqual({ CANCELLED: 1 })
    expect(offers.taken()).toEqual([])
  })
})

describe('what is due', () => {
  test('is offered at every beat, in as many places as it fills, four at most where few requests may be open', async () => {
    const one = await batchOf('A', 1)
    const two = await batchOf('B', 101)
    const many = await batchOf('C', 700)
    await start()
    const expected = new Map([
      [one, 1],
      [two, 2],
      [many, 4],
    ])
    expect(new Map(offers.taken())).toEqual(expected)
    await clock.advance(BEAT_MS - 1)
    expect(offers.taken()).toEqual([])
    await clock.advance(1)
    expect(new Map(offers.taken())).toEqual(expected)
  })

  test('is offered in so many places that three rows are in hand for each request that may be open', async () => {
    const batchId = await batchOf('A', 700)
    limiter = createLimiter({ inFlightMax: 200, ratePerSecond: null, clock })
    await start()
    expect(offers.taken()).toEqual([[batchId, 6]])
  })

  test('when the wall clock is set back is offered at the next beat, without later execute_at', async () => {
    const batchId = await batchOf('A', 1)
    await batchOf('B', 1, { executeAtMs: NOW })
    await start()
    offers.taken()
    clock.setWall(-7_200_000)
    await clock.advance(BEAT_MS)
    expect(offers.taken()).toEqual([[batchId, 1]])
    expect(said).toEqual([expect.stringMatching(/the clock was set back/)])
    await clock.advance(BEAT_MS)
    expect(said).toHaveLength(1)
  })

  test('later is offered when its time has come', async () => {
    const batchId = await batchOf('A', 1, { executeAtMs: NOW + 1_000 })
    await start()
    await clock.advance(999)
    expect(offers.taken()).toEqual([])
    await clock.advance(BEAT_MS)
    expect(offers.taken()).toEqual([[batchId, 1]])
  })

  test('in a batch that is held, or of a stopped account, is not offered until it is resumed', async () => {
    const batchId = await batchOf('A', 1)
    await ledger.pause(batchId, 'wait', CLERK, NOW)
    await start()
    await ledger.resume(batchId, 'go', CLERK, NOW)
    await ledger.stopAccount(accountId, 'wrong password', NOW)
    await clock.advance(BEAT_MS)
    expect(offers.taken()).toEqual([])
    await ledger.resumeAccount(accountId, 'mended', CLERK, NOW)
    await clock.advance(BEAT_MS)
    expect(offers.taken()).toEqual([[batchId, 1]])
  })

  test('of an account that was stopped for its credentials is offered when they changed, once and with one open request', async () => {
    const batchId = await batchOf('A', 3)
    await start()
    limiter.record('true-answer', null)
    await ledger.stopAccount(accountId, 'wrong password', NOW, 'one')
    offers.taken()
    await clock.advance(BEAT_MS)
    expect(offers.taken()).toEqual([])
    configured = 'two'
    await clock.advance(BEAT_MS)
    expect([offers.taken(), limiter.openMost()]).toEqual([[[batchId, 1]], 1])
    await ledger.stopAccount(accountId, 'wrong again', NOW, 'two')
    for (configured of ['two', 'one', 'two']) await clock.advance(BEAT_MS)
    expect(offers.taken()).toEqual([])
  })

  test('of an account without a road is not offered', async () => {
    await submit(ledger, await openAccount(ledger, 'second'), [refund('A')])
    await start()
    expect(offers.taken()).toEqual([])
  })

  test('in other batches is left alone where one batch was asked for', async () => {
    await batchOf('A', 1)
    const only = await batchOf('B', 1)
    await start({ only })
    expect(offers.taken()).toEqual([[only, 1]])
  })
})

describe('places', () => {
  const placesNow = () => offers.latest.map(({ place }) => place)

  test('go round: while one is held up, the others have its rows within as many turns as there are places', async () => {
    await batchOf('A', 150)
    await start()
    const seen = [placesNow()]
    for (let turn = 1; turn < 4; turn++) {
      await clock.advance(2_000)
      seen.push(placesNow())
    }
    for (const places of seen) expect(new Set(places).size).toBe(2)
    expect(new Set(seen.map(([first]) => first))).toEqual(new Set([0, 1, 2, 3]))
  })
})

describe('a place that was freed', () => {
  test('after some work is filled at once, for its own batch', async () => {
    const batchId = await batchOf('A', 1)
    await batchOf('B', 1)
    await start()
    offers.taken()
    offers.freed(batchId, 100)
    await idle()
    expect(offers.taken()).toEqual([[batchId, 1]])
  })

  test('without work waits for the next beat', async () => {
    const batchId = await batchOf('A', 1)
    await start()
    offers.taken()
    offers.freed(batchId, 0)
    await idle()
    expect(offers.taken()).toEqual([])
  })

  test('after the stop stays empty', async () => {
    const batchId = await batchOf('A', 1)
    await start()
    offers.taken()
    await tick?.stop()
    offers.freed(batchId, 100)
    await clock.advance(10 * BEAT_MS)
    expect(offers.taken()).toEqual([])
  })
})

describe('a rest', () => {
  test('is respected: nothing of the account is offered before its end', async () => {
    const batchId = await batchOf('A', 1)
    limiter.record('throttled', 2_000)
    await start()
    offers.freed(batchId, 1)
    await clock.advance(1_999)
    expect(offers.taken()).toEqual([])
    await clock.advance(BEAT_MS)
    expect(offers.taken()).toEqual([[batchId, 1]])
  })

  test('ends at the next beat when a person resumed the batch or the account', async () => {
    const batchId = await batchOf('A', 1)
    await start()
    for (const resume of [
      () => ledger.resume(batchId, 'go', CLERK, NOW),
      () => ledger.resumeAccount(accountId, 'go', CLERK, NOW),
    ]) {
      limiter.record('throttled', 600_000)
      offers.taken()
      await clock.advance(BEAT_MS)
      expect([limiter.isOpen(), offers.taken()]).toEqual([false, []])
      await resume()
      await clock.advance(BEAT_MS)
      expect([limiter.isOpen(), offers.taken()]).toEqual([true, [[batchId, 1]]])
    }
  })

  test('is not ended by resumes of before the start', async () => {
    const batchId = await batchOf('A', 1)
    await ledger.resume(batchId, 'go', CLERK, NOW)
    limiter.record('throttled', 600_000)
    await start()
    await clock.advance(BEAT_MS)
    expect(limiter.isOpen()).toBe(false)
  })
})

describe('the rate dial', () => {
  /** Whether a second request may leave right behind the first. */
  const twoLeave = async () => {
    const reservation = await clock.until(limiter.reserve(new AbortController().signal))
    await clock.until(limiter.departure())
    return reservation?.commit() === null && reservation.commit() === null
  }

  test('holds from the next beat on, and is said', async () => {
    await start()
    expect(await twoLeave()).toBe(true)
    await ledger.setRate(accountId, 1, CLERK, NOW)
    await clock.advance(BEAT_MS)
    expect(said).toEqual(['the rate is now 1/s, as a person set it, until it is turned back'])
    expect(await twoLeave()).toBe(false)
    await ledger.setRate(accountId, null, CLERK, NOW)
    await clock.advance(BEAT_MS)
    expect(said.at(-1)).toBe('the rate is now not limited, as configured')
    expect(await twoLeave()).toBe(true)
  })

  test('of before the start holds before anything is offered', async () => {
    await ledger.setRate(accountId, 1, CLERK, NOW)
    await batchOf('A', 1)
    const rates: unknown[] = []
    const { setRateOverride } = limiter
    limiter = {
      ...limiter,
      setRateOverride: (rate) => setRateOverride(rates.push([rate, offers.made.length]) > 0 ? rate : null),
    }
    await start()
    expect(rates).toEqual([[1, 0]])
    expect(offers.made).toHaveLength(1)
  })

  test('is said once, however many beats see it', async () => {
    await ledger.setRate(accountId, 2, CLERK, NOW)
    await start()
    await clock.advance(10 * BEAT_MS)
    expect(said).toHaveLength(1)
  })
})

test('what a cancel left is finished by the next beat', async () => {
  const batchId = await batchOf('A', 1)
  const row = await claimNamed(ledger, batchId, 'A-0')
  await settle(ledger, row, 'IN_DOUBT')
  await ledger.cancel(batchId, 'stop', CLERK, NOW)
  await settle(ledger, row, 'READY')
  await start()
  expect((await ledger.batch(batchId))?.counts).toEqual({ CANCELLED: 1 })
  expect(offers.taken()).toEqual([])
})

test('a server that rests is told once, however it counts down, without a stack and without a word of what was sent', async () => {
  let leftS = 15
  const expireApprovals = async () => {
    throw new Fault('unavailable', `It rests for ${leftS--} s more. Nothing was sent.`)
  }
  const warned: object[] = []
  const log: Log = { debug() {}, info() {}, warn: (details) => void warned.push(details), error() {} }
  await start({ ledger: { ...ledger, expireApprovals }, log })
  await clock.advance(5 * BEAT_MS)
  expect(leftS).toBeLessThan(14)
  expect(warned).toEqual([{ reason: 'It rests for 15 s more.' }])
})

test('while Redis takes nothing it says so once in words, tells of it, and says when it works again', async () => {
  const batchId = await batchOf('A', 1)
  offers.away = true
  const activities = new Set<Activity>()
  const warned: object[] = []
  const log: Log = {
    ...{ debug() {}, info: (_, message) => void said.push(message), error() {} },
    warn(details, message) {
      warned.push(details)
      said.push(message)
    },
  }
  await start({ log, heartbeat: async (activity) => void activities.add(activity) })
  await clock.advance(5 * BEAT_MS)
  expect(said).toEqual(['no work could be handed out; trying again'])
  expect(warned).toEqual([{ reason: 'Redis takes no rows' }])
  expect([...activities]).toEqual(['idle', 'without-redis'])
  offers.freed(batchId, 1) // must not end the process either
  await idle()
  offers.away = false
  await clock.advance(BEAT_MS)
  expect(said).toEqual(['no work could be handed out; trying again', 'work is being handed out again'])
  expect(offers.taken()).toEqual([[batchId, 1]])
})

describe('a row that was claimed and lost track of', () => {
  const ANSWER_BY_MS = 80_000

  test('comes into doubt when its answer-by has passed, not before', async () => {
    const batchId = await batchOf('A', 2)
    await claimed(ledger, await dueRow(ledger, batchId, 'A-0'))
    await start()
    await clock.advance(ANSWER_BY_MS)
    expect((await ledger.batch(batchId))?.counts).toEqual({ SENDING: 1, READY: 1 })
    await clock.advance(BEAT_MS)
    expect((await ledger.batch(batchId))?.counts).toEqual({ IN_DOUBT: 1, READY: 1 })
    expect(said.join()).toContain('lost track of')
  })

  test('stays as it is while a slice has it in hand, however late', async () => {
    const batchId = await batchOf('A', 1)
    const row = await claimed(ledger, await dueRow(ledger, batchId, 'A-0'))
    await start({ inFlight: new Set([row.rowId]) })
    await clock.advance(10 * ANSWER_BY_MS)
    expect((await ledger.batch(batchId))?.counts).toEqual({ SENDING: 1 })
  })
})

describe('how the road is', () => {
  const conditionOf = async (batchId: BatchId) => (await ledger.batch(batchId))?.gatewayHealth

  test('is told in the ledger while there is trouble, and no longer when it is over', async () => {
    const batchId = await batchOf('A', 1)
    await start()
    limiter.record('failure', null, 'connection refused')
    await clock.advance(BEAT_MS)
    expect(await conditionOf(batchId)).toMatchObject({ sinceMs: NOW, why: 'connection refused', openMost: 1 })
    for (const _ of Array(4)) limiter.record('true-answer', null)
    await clock.advance(BEAT_MS)
    expect(await conditionOf(batchId)).toBeNull()
  })

  test('that cannot be told holds up no work, and is told as soon as it can be', async () => {
    const batchId = await batchOf('A', 1)
    let full = true as boolean
    const recordHealth: Ledger['recordHealth'] = async (...args) => {
      if (full) throw new Error('the disk is full')
      return ledger.recordHealth(...args)
    }
    await start({ ledger: { ...ledger, recordHealth } })
    limiter.record('failure', null, 'connection refused')
    await clock.advance(BEAT_MS)
    expect(offers.taken().length).toBeGreaterThan(0)
    expect(await conditionOf(batchId)).toBeNull()
    full = false
    await clock.advance(BEAT_MS)
    expect(await conditionOf(batchId)).toMatchObject({ why: 'connection refused' })
  })

  test('that a dead worker left is forgotten at the first beat', async () => {
    const batchId = await batchOf('A', 1)
    const left = { sinceMs: 1, why: 'long ago', asksToWait: false, failures: 5, openMost: 1, backoffUntilMs: 2 }
    await ledger.recordHealth(accountId, left)
    expect(await conditionOf(batchId)).toEqual(left)
    await start()
    expect(await conditionOf(batchId)).toBeNull()
  })
})
