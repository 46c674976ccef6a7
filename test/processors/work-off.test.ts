import { expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import { openLedger } from '../../src/ledger/sqlite/ledger.ts'
import type { Dispatch } from '../../src/ports/dispatch.ts'
import type { Gateway } from '../../src/ports/gateway.ts'
import type { Log } from '../../src/ports/log.ts'
import { workOff } from '../../src/processors/work-off.ts'
import { createLimiter } from '../../src/throttle/limiter.ts'
import { idle, ManualClock } from '../fixtures/clock.ts'
import { credentialsOf } from '../fixtures/credentials.ts'
import { NOW, openAccount, refund, submit } from '../fixtures/ledgers.ts'

const gateway: Gateway = {
  send: () => Promise.reject(new Error('nothing is taken')),
  reach: async () => ({ kind: 'reached', tls: null }),
  close: async () => {},
}
const silent = () => {}
const log: Log = { debug: silent, info: silent, warn: silent, error: silent }

const WORKER = { id: 'vm:1', host: 'vm', pid: 1, command: 'worker', sinceMs: NOW, batchId: null }

/** A ledger in memory with a lane for one account. */
async function openParts(clock: ManualClock) {
  const ledger = openLedger({
    path: null,
    submitLockPath: null,
    die: (error) => {
      throw error
    },
  })
  const accountId = await openAccount(ledger)
  const limiter = createLimiter({ inFlightMax: 1, ratePerSecond: null, clock })
  const lane = {
    gateway,
    limiter,
    credentials: credentialsOf(),
    timeoutMs: 60_000,
    notExecutedStatus: [],
    deleteAnswer: 'status',
    reasonRules: [],
    dailyLimits: null,
  } as const
  const parts = {
    ...{ clock, log, worker: WORKER, only: null, register: null, doubtRestMs: 0, cards: null },
    ledger: { ...ledger, renewEpoch: async () => {} },
    openIntake: async () => null,
    openLanes: async () => new Map([[accountId, lane]]),
    onSettled: () => {},
    onTrouble: undefined,
  }
  return { ledger, accountId, parts }
}

test('rows from before the clock was set back are due when work begins, save for execute_at', async () => {
  const clock = new ManualClock(NOW - 7_200_000)
  const { ledger, accountId, parts } = await openParts(clock)
  const batchId = await submit(ledger, accountId, [refund('A')])
  await submit(ledger, accountId, [refund('B', { executeAtMs: NOW })])
  const offered: BatchId[] = []
  const dispatch: Dispatch = {
    offer: async (slices) => void offered.push(...slices.map(({ batchId }) => batchId)),
    onFreed: () => {},
    close: async () => {},
  }
  const work = await workOff({ ...parts, openDispatch: async () => dispatch })
  await idle()
  expect(offered).toEqual([batchId])
  await clock.until(work.stop())
  await ledger.close()
})

test('where messages cannot be taken, no slice is: what was said to have sent nothing has sent nothing', async () => {
  const { ledger, parts } = await openParts(new ManualClock(NOW))
  let opened = 0
  const openDispatch = async (): Promise<Dispatch> => {
    opened += 1
    throw new Error('bug: slices are taken')
  }
  const openIntake = () => Promise.reject(new Error('Redis fell silent'))
  await expect(workOff({ ...parts, openIntake, openDispatch })).rejects.toThrow('Redis fell silent')
  expect(opened).toBe(0)
  await ledger.close()
})

test('messages are not taken by a worker that can take no slices', async () => {
  const { ledger, parts } = await openParts(new ManualClock(NOW))
  let closed = 0
  const intake = {
    close: async () => {
      closed += 1
    },
  }
  const openDispatch = () => Promise.reject(new Error('Redis fell silent'))
  await expect(workOff({ ...parts, openIntake: async () => intake, openDispatch })).rejects.toThrow('Redis fell silent')
  expect(closed).toBe(1)
  await ledger.close()
})
