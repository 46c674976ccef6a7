// A worker whose Redis is lost: rows go on without it, messages wait for it.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Queue } from 'bullmq'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/app/clock.ts'
import type { AccountId, BatchId, RowId } from '../../src/domain/ids.ts'
import type { Instruction } from '../../src/domain/instruction.ts'
import { openLedger } from '../../src/ledger/sqlite/ledger.ts'
import type { Gateway } from '../../src/ports/gateway.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import type { Log } from '../../src/ports/log.ts'
import { feedItself } from '../../src/processors/feed-itself.ts'
import { type Work, workOff } from '../../src/processors/work-off.ts'
import { openIntakeQueue } from '../../src/queues/intake.ts'
import { openSlices } from '../../src/queues/slices.ts'
import { createLimiter } from '../../src/throttle/limiter.ts'
import { bodyOf } from '../fixtures/bodies.ts'
import { until } from '../fixtures/cli.ts'
import { credentialsOf } from '../fixtures/credentials.ts'
import { openAccount, refund, submit } from '../fixtures/ledgers.ts'
import { openProxy, type TcpProxy } from '../fixtures/proxy.ts'
import { openRedisServer, type RedisServer } from '../fixtures/redis.ts'

/** More than the slices that are out when Redis goes have in hand. */
const ROWS = 1_000
const IN_FLIGHT = 4
const silent = () => {}
const log: Log = { debug: silent, info: silent, warn: silent, error: silent }

let dir: string
let redis: RedisServer
let proxy: TcpProxy
let ledger: Ledger
let accountId: AccountId
let first: BatchId
let claims: Map<RowId, number>
let sent: number
let messages: string[]
let told: (string | null)[]
let work: Work

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tr-'))
  redis = await openRedisServer(join(dir, 's'))
  proxy = await openProxy({ path: redis.path })
  const own = openLedger({
    path: null,
    submitLockPath: null,
    die: (error) => {
      throw error
    },
  })
  claims = new Map()
  ledger = {
    ...own,
    renewEpoch: async () => {},
    async claim(asked) {
      const answer = await own.claim(asked)
      if (answer.kind === 'claimed') claims.set(asked.rowId, (claims.get(asked.rowId) ?? 0) + 1)
      return answer
    },
  }
  accountId = await openAccount(ledger)
  sent = 0
  messages = []
  told = []
  first = await submitRows('R')
  work = await openWork()
})
afterEach(async () => {
  await work.stop()
  await proxy[Symbol.asyncDispose]()
  await redis.kill()
  await ledger.close()
  rmSync(dir, { recursive: true, force: true })
})

const gateway: Gateway = {
  async send({ orderId, reference }: Instruction) {
    sent += 1
    const sentAtMs = Date.now()
    await systemClock.sleep(10)
    const answer = { REQUEST_ACTION: 'REFUND', TRANS_STATUS_NAME: 'DECLINED', TRANS_ORDER_ID: orderId ?? '' }
    const how = {
      httpStatus: 200,
      retryAfterMs: null,
      body: bodyOf(answer),
      text: reference,
      connection: 'fresh',
    } as const
    return { kind: 'answered', sentAtMs, answeredAtMs: Date.now(), ...how }
  },
  reach: async () => ({ kind: 'reached', tls: null }),
  close: async () => {},
}

function openWork(): Promise<Work> {
  const address = { url: `redis://127.0.0.1:${proxy.port}` }
  const limiter = createLimiter({ inFlightMax: IN_FLIGHT, ratePerSecond: null, clock: systemClock })
  const lane = {
    ...{
      gateway,
      limiter,
      credentials: credentialsOf(),
      timeoutMs: 60_000,
      notExecutedStatus: [],
      deleteAnswer: 'status' as const,
      reasonRules: [],
      dailyLimits: null,
    },
  }
  const names = { address, prefix: 'bull', ledgerId: 'a', clock: systemClock }
  const worker = { id: 'vm:1', host: 'vm', pid: 1, command: 'worker', sinceMs: Date.now(), batchId: null }
  return workOff({
    ...{ ledger, clock: systemClock, log, worker, only: null, register: null, doubtRestMs: 0, cards: null },
    openLanes: async () => new Map([[accountId, lane]]),
    async openDispatch(concurrency, run) {
      const queue = await openSlices({ ...names, concurrency, place: null, work: run, log })
      const onAway = (error: unknown) => void told.push(error === null ? null : 'away')
      return feedItself({ queue, concurrency, work: run, clock: systemClock, log, onAway })
    },
    openIntake: () =>
      openIntakeQueue({
        ...{ ...names, log, owners: { last: async () => null, keep: async () => {} }, stateOf: async () => null },
        async take({ jobName }) {
          messages.push(jobName)
          return { kind: 'refused', reasons: ['of no matter'], withheld: null }
        },
      }),
    onSettled: silent,
    onTrouble: () => void told.push('no work was handed out'),
  })
}

function submitRows(word: string): Promise<BatchId> {
  const rows = Array.from({ length: ROWS }, (_, i) => refund(`${word}-${i}`))
  return submit(ledger, accountId, rows, { nowMs: Date.now() })
}

const isDone = async (batchId: BatchId) => (await ledger.batch(batchId))?.counts.DECLINED === ROWS

test.for(['killed', 'cut off'])(
  'a Redis that is %s: after 5 s its rows move without it, none is claimed twice',
  async (how) => {
    await until('the batch is under way', () => sent >= 50)
    if (how === 'killed') await redis.kill()
    else {
      proxy.treatStanding('hang')
      proxy.treat('hang')
    }
    const producer = new Queue('tranche-intake', { connection: { path: redis.path } })
    producer.on('error', silent)
    if (how === 'cut off') await producer.add('waits', {})
    await until('every row is settled', () => isDone(first))
    expect(told).toEqual(['away'])
    expect(messages).toEqual([])

    if (how === 'killed') await redis.start()
    else {
      proxy.treat('pass')
      proxy.treatStanding('reset')
    }
    const later = await submitRows('S')
    await until('Redis is used again', () => told.at(-1) === null)
    if (how === 'killed') await producer.add('waits', {})
    await until('the message is taken', () => messages.length > 0)
    await producer.close()
    await until('every later row is settled', () => isDone(later))
    expect(told).toEqual(['away', null])
    expect([...claims.values()].filter((count) => count > 1)).toEqual([])
    expect(sent).toBe(2 * ROWS)
  },
)
