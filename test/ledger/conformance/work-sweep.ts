// What the worker puts in order by itself: rows that a dead process was sending, rests under another clock, cancels left over.

import { describe, expect, test } from 'vitest'
import {
  CLERK,
  claim,
  claimNamed,
  dueIn,
  dueRow,
  messageOf,
  NOW,
  refund,
  settle,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger, place, succeed } from '../../fixtures/use-ledger.ts'

const batchOf = (...references: string[]) =>
  submit(
    ledger,
    accountId,
    references.map((reference) => refund(reference)),
  )

export function describeSweep(): void {
  describe('sweep', () => {
    test('puts every row that was being sent in doubt, and no other row', async () => {
      const batchId = await batchOf('A', 'B', 'C', 'D', 'E')
      await claimNamed(ledger, batchId, 'A')
      await work(ledger, batchId, 'B', 'APPROVED')
      await work(ledger, batchId, 'C', 'READY')
      await claimNamed(ledger, batchId, 'D')
      const next = succeed()
      expect(await next.sweep(NOW + 5_000)).toBe(2)
      expect(await statesIn(next, batchId)).toEqual(['IN_DOUBT', 'APPROVED', 'READY', 'IN_DOUBT', 'READY'])
      expect(await next.sweep(NOW + 5_000)).toBe(0)
      expect((await next.history('A')).at(-1)).toMatchObject({ from: 'SENDING', to: 'IN_DOUBT', cause: 'sweep' })
    })

    test('marks the row as ever in doubt, as of its claim', async () => {
      const batchId = await batchOf('A')
      await work(ledger, batchId, 'A', 'READY', { sentAtMs: NOW + 10, httpStatus: 429 })
      const second = await claimNamed(ledger, batchId, 'A', NOW + 600_000)
      const dead = ledger
      await succeed().sweep(NOW + 700_000)
      expect(await ledger.doubts()).toMatchObject([{ attempt: 2, sentAtMs: null, claimedAtMs: NOW + 600_000 }])
      await settle(dead, second, 'READY')
      expect(await dueRow(ledger, batchId, 'A')).toMatchObject({ everInDoubt: true })
    })

    test('goes through more rows than fit one step', async () => {
      const batchId = await batchOf(...Array.from({ length: 1_050 }, (_, i) => `R-${i}`))
      const rows = await ledger.dueRows(batchId, NOW, 2_000, new Set())
      await Promise.all(rows.map((row) => claim(ledger, row)))
      expect(await succeed().sweep(NOW)).toBe(1_050)
      expect((await ledger.batch(batchId))?.counts).toEqual({ IN_DOUBT: 1_050 })
    })
  })

  describe('sweepForgotten', () => {
    const ANSWERED_BY = NOW + 80_000

    test('puts a row in doubt that is past its answer-by and in no request', async () => {
      const batchId = await batchOf('A', 'B')
      await claimNamed(ledger, batchId, 'A')
      expect(await ledger.sweepForgotten(ANSWERED_BY + 1, new Set())).toBe(1)
      expect(await statesIn(ledger, batchId)).toEqual(['IN_DOUBT', 'READY'])
      expect((await ledger.history('A')).at(-1)).toMatchObject({ to: 'IN_DOUBT', cause: 'sweep' })
    })

    test('leaves a row whose request is open, and one whose answer may still come', async () => {
      const batchId = await batchOf('A', 'B')
      const open = await claimNamed(ledger, batchId, 'A')
      await claimNamed(ledger, batchId, 'B', NOW + 1)
      expect(await ledger.sweepForgotten(ANSWERED_BY + 1, new Set([open.rowId]))).toBe(0)
      expect(await statesIn(ledger, batchId)).toEqual(['SENDING', 'SENDING'])
    })
  })
}

export function describeTidying(): void {
  describe('recordHealth', () => {
    test('shows how the gateway does with every batch of the account, until it is well', async () => {
      const batchId = await batchOf('A')
      const health = {
        sinceMs: NOW,
        why: 'connection refused',
        asksToWait: false,
        failures: 3,
        openMost: 1,
        backoffUntilMs: NOW + 5_000,
      }
      await ledger.recordHealth(accountId, health)
      expect(await place.open().batch(batchId)).toMatchObject({ gatewayHealth: health })
      await ledger.recordHealth(accountId, null)
      expect(await place.open().batch(batchId)).toMatchObject({ gatewayHealth: null })
    })
  })

  describe('endOverlongRests', () => {
    const TWO_HOURS_MS = 7_200_000

    test('makes rows due that came before the wall clock was set back', async () => {
      const setBackMs = NOW - TWO_HOURS_MS
      const batchId = await submit(ledger, accountId, [
        refund('fresh'),
        refund('rested'),
        refund('rests after its time', { executeAtMs: NOW - 1 }),
        refund('scheduled', { executeAtMs: NOW + 1_000 }),
        refund('scheduled before', { executeAtMs: setBackMs + 90_000 }),
      ])
      for (const reference of ['rested', 'rests after its time'])
        await work(ledger, batchId, reference, 'READY', { dueAtMs: NOW + 20_000 })
      const message = await ledger.recordMessage(messageOf(accountId, refund('message'), { nowMs: NOW + 500 }))
      if (message.kind !== 'accepted') throw new Error(message.kind)
      const due = async (nowMs: number) =>
        [...(await dueIn(ledger, batchId, nowMs)), ...(await dueIn(ledger, message.batchId, nowMs))].map(
          ({ instruction }) => instruction.reference,
        )
      expect(await due(setBackMs)).toEqual([])
      expect(await place.open().endOverlongRests(setBackMs, setBackMs)).toBe(4)
      expect(await due(setBackMs)).toEqual(['fresh', 'rested', 'message'])
      expect(await due(setBackMs + 90_000)).toEqual(['fresh', 'rested', 'scheduled before', 'message'])
      expect(await due(NOW - 1)).toEqual(['fresh', 'rested', 'scheduled before', 'rests after its time', 'message'])
      expect(await claim(ledger, await dueRow(ledger, batchId, 'rested', setBackMs), setBackMs)).toMatchObject({
        kind: 'claimed',
      })
      expect(await ledger.endOverlongRests(setBackMs, setBackMs)).toBe(0)
    })

    test('leaves a rest of a minute or less as it is', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      await work(ledger, batchId, 'A', 'READY', { dueAtMs: NOW + 20_000 })
      expect(await ledger.endOverlongRests(NOW - 40_000, NOW - 40_000)).toBe(0)
      expect(await ledger.endOverlongRests(NOW, NOW)).toBe(0)
      expect(await dueIn(ledger, batchId, NOW + 19_999)).toEqual([])
      expect(await ledger.endOverlongRests(NOW - 40_001, NOW - 40_001)).toBe(1)
      expect(await dueIn(ledger, batchId, NOW - 40_001)).toHaveLength(1)
    })

    test('ends a rest from when the clock was ahead, whatever was recorded since', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      await work(ledger, batchId, 'A', 'READY', { dueAtMs: NOW + TWO_HOURS_MS + 20_000 })
      await submit(
        ledger,
        accountId,
        Array.from({ length: 1_001 }, (_, i) => refund(`R-${i}`)),
      )
      expect(await ledger.endOverlongRests(NOW, NOW)).toBe(0)
      expect(await ledger.endOverlongRests(NOW, NOW + TWO_HOURS_MS)).toBe(1)
      expect(await dueIn(ledger, batchId)).toHaveLength(1)
    })

    test('goes through more rows than fit one step', async () => {
      const batchId = await submit(
        ledger,
        accountId,
        Array.from({ length: 1_203 }, (_, i) => refund(`R-${i}`)),
      )
      expect(await ledger.endOverlongRests(NOW - TWO_HOURS_MS, NOW)).toBe(1_203)
      const due = await ledger.dueRows(batchId, NOW - TWO_HOURS_MS, 2_000, new Set())
      expect(due.map(({ rowNo }) => rowNo)).toEqual(Array.from({ length: 1_203 }, (_, i) => i + 1))
    })
  })

  describe('finishCancelling', () => {
    test('cancels a row that was not sent after all', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      const row = await work(ledger, batchId, 'A', 'IN_DOUBT')
      await ledger.cancel(batchId, 'stop', CLERK, NOW)
      await settle(ledger, row, 'READY') // not sent after all
      expect(await ledger.finishCancelling(NOW)).toBe(1)
      expect(await statesIn(ledger, batchId)).toEqual(['CANCELLED'])
      expect(await ledger.finishCancelling(NOW)).toBe(0)
    })
  })
}
