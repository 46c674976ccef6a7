import { expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import { openLedger } from '../../src/ledger/sqlite/ledger.ts'
import type { Dispatch } from '../../src/ports/dispatch.ts'
import type { Gateway } from '../../src/ports/gateway.ts'
import type { Log } from '../../src/ports/log.ts'
import { workOff } from '../../src/processors/work-off.ts'
import { createLimiter } from '../../src/throttle/limiter.ts'
import { idle, ManualClock } from '../fixtures/clock.ts'
import { NOW, openAccount, refund, submit } from '../fixtures/ledgers.ts'

const gateway: Gateway = {
  send: () => Promise.reject(new Error('nothing is taken')),
  reach: async () => ({ kind: 'reached', tls: null }),
  close: async () => {},
}
const silent = () => {}
const log: Log = { debug: silent, info: silent, warn: silent, error: silent }

const WORKER = { id: 'vm:1', host: 'vm', pid: 1, command: 'worker', sinceMs: NOW, batchId: null }

test('rows from before the clock was set back are due when work begins, save for execute_at', async () => {
  const clock = new ManualClock(NOW - 7_200_000)
  const ledger = openLedger({
    path: null,
    submitLockPath: null,
    die: (error) => {
      throw error
    },
  })
  const accountId = await openAccount(ledger)
  const batchId = await submit(ledger, accountId, [refund('A')])
  await submit(ledger, accountId, [refund('B', { executeAtMs: NOW })])
  const offered: BatchId[] = []
  const dispatch: Dispatch = {
    offer: async (slices) => void offered.push(...slices.map(({ batchId }) => batchId)),
    onFreed: () => {},
    close: async () => {},
  }
  const limiter = createLimiter({ inFlightMax: 1, ratePerSecond: null, clock })
  const work = await workOff({
    ...{
      ledger: { ...ledger, renewEpoch: async () => {} },
      clock,
      log,
      worker: WORKER,
      only: null,
      register: null,
      doubtRestMs: 0,
    },
    ...{
      openDispatch: async () => dispatch,
      openIntake: async () => null,
      onSettled: () => {},
      onTrouble: undefined,
      cards: null,
    },
    openLanes: async () =>
      new Map([
        [
          accountId,
          {
            gateway,
            limiter,
            timeoutMs: 60_000,
            notExecutedStatus: [],
            deleteAnswer: 'status',
            configured: { ratePerSecond: null, inFlightMax: 8 } as const,
          },
        ],
      ]),
  })
  await idle()
  expect(offered).toEqual([batchId])
  await clock.until(work.stop())
  await ledger.close()
})
