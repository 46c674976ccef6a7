// The ledger in figures: what waits, since when, and what needs a person.

import { describe, expect, test } from 'vitest'
import type { LedgerFigures } from '../../../src/domain/figures.ts'
import {
  CLERK,
  claimNamed,
  factsWith,
  listOf,
  NOW,
  openAccount,
  refund,
  settle,
  submit,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'

const QUIET: LedgerFigures['batches'] = { running: 0, paused: 0, stopped: 0, awaiting_approval: 0, in_doubt: 0 }

async function figures() {
  const { accounts, ...rest } = await ledger.figures()
  return { ...rest, own: accounts[0]! }
}

export function describeFigures(): void {
  describe('figures', () => {
    test('of a ledger without a batch are all nothing', async () => {
      const { own, ...rest } = await figures()
      expect(rest).toEqual({ batches: QUIET, approvalSinceMs: null })
      expect(own).toMatchObject({ pending: 0, sending: 0, inDoubt: 0, lateAnswers: 0, staleResults: 0 })
      expect(own).toMatchObject({ dueSinceMs: null, doubtSinceMs: null, stopped: false, held: false })
    })

    test('count rows that wait, are sent and are in doubt, each for its account', async () => {
      const other = await openAccount(ledger, 'other')
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B'), refund('C'), refund('D')])
      await submit(ledger, other, [refund('A')])
      await settle(ledger, await claimNamed(ledger, batchId, 'A'), 'APPROVED', { facts: factsWith('7') })
      await settle(ledger, await claimNamed(ledger, batchId, 'B'), 'IN_DOUBT', { sentAtMs: NOW + 7 })
      await claimNamed(ledger, batchId, 'C')
      const { accounts, batches } = await ledger.figures()
      expect(accounts).toMatchObject([
        { pending: 1, sending: 1, inDoubt: 1, doubtSinceMs: NOW + 7 },
        { merchant: 'other', pending: 1, sending: 0, inDoubt: 0, doubtSinceMs: null },
      ])
      expect(batches).toEqual({ ...QUIET, running: 2 })
    })

    test('count rows that came to an outcome, each for its account', async () => {
      const other = await openAccount(ledger, 'other')
      const batchId = await submit(
        ledger,
        accountId,
        ['A', 'B', 'C', 'D', 'E'].map((name) => refund(name)),
      )
      await settle(ledger, await claimNamed(ledger, batchId, 'A'), 'APPROVED', { facts: factsWith('7') })
      await settle(ledger, await claimNamed(ledger, batchId, 'B'), 'DECLINED')
      await settle(ledger, await claimNamed(ledger, batchId, 'C'), 'DECLINED')
      await settle(ledger, await claimNamed(ledger, batchId, 'D'), 'FAILED')
      await settle(ledger, await claimNamed(ledger, batchId, 'E'), 'IN_DOUBT')
      const [own, beside] = await ledger.outcomes()
      expect(own).toMatchObject({ approved: 1, declined: 2, failed: 1 })
      expect(beside).toEqual({ merchant: 'other', approved: 0, declined: 0, failed: 0 })
      expect(other).not.toBe(accountId)
    })

    test('tell since when rows are due that nothing but a worker holds up', async () => {
      const due = { dueAtMs: NOW - 60_000 }
      await submit(ledger, accountId, [refund('A', { executeAtMs: NOW - 60_000 }), refund('B')])
      expect((await figures()).own.dueSinceMs).toBe(due.dueAtMs)
    })

    test.each(['paused', 'stopped', 'awaiting_approval'] as const)(
      'a batch that is %s has no due rows',
      async (state) => {
        if (state === 'awaiting_approval') await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
        const batchId = await submit(ledger, accountId, [refund('A')])
        if (state === 'paused') await ledger.pause(batchId, 'wait', CLERK, NOW)
        if (state === 'stopped') await ledger.stopAccount(accountId, 'HTTP 401', NOW)
        const { own, batches, approvalSinceMs } = await figures()
        expect([own.pending, own.dueSinceMs, batches]).toEqual([1, null, { ...QUIET, [state]: 1 }])
        expect([own.stopped, approvalSinceMs !== null]).toEqual([state === 'stopped', state === 'awaiting_approval'])
      },
    )

    test('a row behind a doubt of its order is not due, however long', async () => {
      const order = { orderId: '7' }
      const batchId = await submit(ledger, accountId, [refund('A', order), refund('B', order)])
      await settle(ledger, await claimNamed(ledger, batchId, 'A'), 'IN_DOUBT')
      const { own, batches } = await figures()
      expect([own.pending, own.dueSinceMs, batches.running]).toEqual([1, null, 1])
    })

    test('a batch of which only doubts are left counts as that, and a finished one not at all', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      const done = await submit(ledger, accountId, [refund('B')])
      await settle(ledger, await claimNamed(ledger, batchId, 'A'), 'IN_DOUBT')
      await settle(ledger, await claimNamed(ledger, done, 'B'), 'DECLINED')
      expect((await figures()).batches).toEqual({ ...QUIET, in_doubt: 1 })
    })

    test('results that were written before their batch changed are stale', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      const reading = await ledger.openReading(batchId, NOW)
      await listOf(reading.rows())
      await reading.close()
      await ledger.resultsWritten(batchId, '/tmp/r.csv', reading.edition)
      expect((await figures()).own.staleResults).toBe(0)
      await claimNamed(ledger, batchId, 'A')
      expect((await figures()).own.staleResults).toBe(1)
    })
  })
}

const FOUR_EYES = {
  rules: [{ merchants: null, operations: null, fourEyes: true, bands: {}, rowOver: {} }],
  ...{ expireAfterMs: 86_400_000, osUsers: true },
}
