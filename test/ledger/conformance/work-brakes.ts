// What stops a batch by itself before all of it is sent: a canary, too many declines.

import { describe, expect, test } from 'vitest'
import type { DraftHeader } from '../../../src/domain/draft.ts'
import type { BatchId, RowId } from '../../../src/domain/ids.ts'
import {
  CLERK,
  claim,
  claimed,
  dueIn,
  dueRow,
  faultyRow,
  NOW,
  refund,
  rowOf,
  settle,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger, succeed } from '../../fixtures/use-ledger.ts'

const due = async (batchId: BatchId, nowMs = NOW) =>
  (await dueIn(ledger, batchId, nowMs)).map((row) => row.instruction.reference)
const holdOf = async (batchId: BatchId) => {
  const { hold, holdReason } = (await ledger.batch(batchId))!
  return { hold, holdReason }
}
const references = (count: number) => Array.from({ length: count }, (_, i) => `R-${i}`)
const batchOf = (count: number, over: Partial<DraftHeader>) =>
  submit(
    ledger,
    accountId,
    references(count).map((reference) => refund(reference)),
    over,
  )

export function describeCanaryAtClaim(): void {
  describe('a canary', () => {
    test('holds where the row is claimed, however the row was found', async () => {
      const other = await batchOf(5, { canaryRows: null })
      const rows = await dueIn(ledger, other)
      const batchId = await submit(
        ledger,
        accountId,
        references(5).map((reference) => refund(`S${reference}`)),
        { canaryRows: 2 },
      )
      const beyond = (rows.at(-1)!.rowId + 3) as RowId
      expect(await claim(ledger, { rowId: beyond, attempt: 0 })).toEqual({ kind: 'not-free' })
      expect(await due(batchId)).toEqual(['SR-0', 'SR-1'])
    })
  })
}

export function describeBrakes(): void {
  describe('a canary', () => {
    test('lets only the first rows be claimed and pauses the batch when they are settled', async () => {
      const batchId = await batchOf(5, { canaryRows: 2 })
      expect(await due(batchId)).toEqual(['R-0', 'R-1'])
      await work(ledger, batchId, 'R-0', 'APPROVED')
      expect(await holdOf(batchId)).toEqual({ hold: 'none', holdReason: null })
      const row = await claimed(ledger, await dueRow(ledger, batchId, 'R-1'))
      const { paused } = await settle(ledger, row, 'IN_DOUBT')
      expect(paused).toContain('the first 2 rows were run')
      expect(await holdOf(batchId)).toMatchObject({ hold: 'paused', holdReason: paused })
      await ledger.resume(batchId, 'as expected', CLERK, NOW)
      expect(await due(batchId)).toEqual(['R-2', 'R-3', 'R-4'])
      await work(ledger, batchId, 'R-2', 'APPROVED')
      expect(await holdOf(batchId)).toMatchObject({ hold: 'none' })
    })

    test('goes on until its rows are settled: one that was not sent is tried again', async () => {
      const batchId = await batchOf(3, { canaryRows: 1 })
      await work(ledger, batchId, 'R-0', 'READY')
      expect(await due(batchId)).toEqual(['R-0'])
      expect(await holdOf(batchId)).toMatchObject({ hold: 'none' })
      await work(ledger, batchId, 'R-0', 'DECLINED')
      expect(await holdOf(batchId)).toMatchObject({ hold: 'paused' })
    })

    test('is of rows that can be sent now, not of bad ones or of those due later', async () => {
      const later = { executeAtMs: NOW + 1_000 }
      const batchId = await submit(
        ledger,
        accountId,
        [
          faultyRow(1, 'bad'),
          rowOf(2, refund('A', later)),
          rowOf(3, refund('B')),
          rowOf(4, refund('C')),
          rowOf(5, refund('D')),
        ],
        { canaryRows: 2 },
      )
      expect(await due(batchId, NOW + 1_000)).toEqual(['B', 'C'])
      expect(await ledger.batch(batchId)).toMatchObject({ nextDueAtMs: NOW })
      await work(ledger, batchId, 'B', 'APPROVED')
      await work(ledger, batchId, 'C', 'APPROVED')
      expect(await holdOf(batchId)).toMatchObject({ hold: 'paused' })
    })

    test('of a batch that is due later is its first rows', async () => {
      const later = { executeAtMs: NOW + 1_000 }
      const batchId = await submit(ledger, accountId, [refund('A', later), refund('B', later), refund('C', later)], {
        canaryRows: 1,
      })
      expect(await due(batchId, NOW + 1_000)).toEqual(['A'])
    })

    test('is over when its last row is lost with its process: the batch pauses and says so once', async () => {
      const batchId = await batchOf(4, { canaryRows: 2 })
      for (const reference of ['R-0', 'R-1']) await claimed(ledger, await dueRow(ledger, batchId, reference))
      expect(await succeed().sweep(NOW)).toBe(2)
      expect(await holdOf(batchId)).toEqual({
        hold: 'paused',
        holdReason: 'the first 2 rows were run as a canary: compare their results with what was expected',
      })
      await ledger.resume(batchId, 'as expected', CLERK, NOW)
      expect(await due(batchId)).toEqual(['R-2', 'R-3'])
    })

    test('does not wait for an earlier row of its order that became due later', async () => {
      const X = { orderId: '5' }
      const rows = [
        refund('A', { ...X, executeAtMs: NOW + 1_000 }),
        refund('B', { ...X, amountMinor: 2n }),
        refund('C'),
      ]
      const batchId = await submit(ledger, accountId, rows, { canaryRows: 1 })
      expect(await due(batchId, NOW + 1_000)).toEqual(['B'])
      await work(ledger, batchId, 'B', 'APPROVED')
      await ledger.resume(batchId, 'as expected', CLERK, NOW)
      expect(await due(batchId, NOW + 1_000)).toEqual(['C', 'A'])
    })

    test('holds back whatever waits behind its other rows: of that, nothing is due by itself', async () => {
      const X = { orderId: '5' }
      const first = await submit(ledger, accountId, [refund('A'), refund('B', { ...X, amountMinor: 2n })], {
        canaryRows: 1,
      })
      const behind = await submit(ledger, accountId, [refund('C', { ...X, amountMinor: 3n })])
      expect(await ledger.batch(behind)).toMatchObject({ blocked: 1, nextDueAtMs: null })
      await work(ledger, first, 'A', 'APPROVED')
      await ledger.resume(first, 'as expected', CLERK, NOW)
      expect(await ledger.batch(behind)).toMatchObject({ blocked: 0, nextDueAtMs: NOW })
    })

    test('as large as the batch is none', async () => {
      const batchId = await batchOf(2, { canaryRows: 2 })
      await work(ledger, batchId, 'R-0', 'APPROVED')
      await work(ledger, batchId, 'R-1', 'APPROVED')
      expect(await holdOf(batchId)).toEqual({ hold: 'none', holdReason: null })
    })

    test('that ends in a batch which a person has paused says what is to be looked at as well', async () => {
      const batchId = await batchOf(3, { canaryRows: 1 })
      const row = await claimed(ledger, await dueRow(ledger, batchId, 'R-0'))
      await ledger.pause(batchId, 'lunch', CLERK, NOW)
      await settle(ledger, row, 'APPROVED')
      const { hold, holdReason } = await holdOf(batchId)
      expect(hold).toBe('paused')
      expect(holdReason).toMatch(/^lunch; the first row was run/)
    })

    test('goes on while a row is left, though another was lost with its process', async () => {
      const batchId = await batchOf(4, { canaryRows: 2 })
      await claimed(ledger, await dueRow(ledger, batchId, 'R-0'))
      await succeed().sweep(NOW)
      expect(await holdOf(batchId)).toMatchObject({ hold: 'none' })
      expect(await due(batchId)).toEqual(['R-1'])
    })

    test('without a row that can move leaves nothing due', async () => {
      const X = { orderId: '5' }
      const rows = [refund('A', X), refund('B', { ...X, amountMinor: 2n }), refund('C')]
      const batchId = await submit(ledger, accountId, rows, { canaryRows: 2 })
      await work(ledger, batchId, 'A', 'IN_DOUBT')
      expect(await due(batchId)).toEqual([])
      expect(await ledger.batch(batchId)).toMatchObject({ hold: 'none', nextDueAtMs: null })
    })
  })

  describe('otherBrakes: a brake that is asked for once more', () => {
    const asked = (batchId: BatchId, canaryRows: number | null, maxDeclinedPercent: number | null = null) =>
      ledger.otherBrakes(batchId, { canaryRows, maxDeclinedPercent })

    test('is the canary that it was recorded with, before and after a person has looked', async () => {
      const batchId = await batchOf(4, { canaryRows: 1 })
      expect([await asked(batchId, 1), await asked(batchId, null)]).toEqual([[], []])
      expect([await asked(batchId, 2), await asked(batchId, 9)]).toEqual([['canary'], ['canary']])
      await work(ledger, batchId, 'R-0', 'APPROVED')
      await ledger.resume(batchId, 'as expected', CLERK, NOW)
      await work(ledger, batchId, 'R-1', 'DECLINED')
      expect([await asked(batchId, 1), await asked(batchId, 2)]).toEqual([[], ['canary']])
    })

    test('is no canary of a batch without one, unless it would be the whole batch', async () => {
      const batchId = await batchOf(3, {})
      await work(ledger, batchId, 'R-0', 'APPROVED')
      expect([await asked(batchId, 2), await asked(batchId, 3)]).toEqual([['canary'], []])
    })

    test('is the canary of rows that were due first, though fewer than were asked for', async () => {
      const later = { executeAtMs: NOW + 1_000 }
      const rows = [
        faultyRow(1, 'bad'),
        rowOf(2, refund('A', later)),
        rowOf(3, refund('B')),
        rowOf(4, refund('C', later)),
      ]
      const batchId = await submit(ledger, accountId, rows, { canaryRows: 2 })
      expect([await asked(batchId, 2), await asked(batchId, 3)]).toEqual([[], ['canary']])
    })

    test('is the limit on declines that it was recorded with', async () => {
      const batchId = await batchOf(3, { maxDeclinedPercent: 0 })
      expect([await asked(batchId, null, 0), await asked(batchId, null)]).toEqual([[], []])
      expect(await asked(batchId, 1, 5)).toEqual(['canary', 'max-declined'])
    })
  })

  test('three of the first refunds that ask for more than their orders have left pause the batch, and again after a resume', async () => {
    const batchId = await batchOf(9, {})
    const short = { category: 'balance', reason: 'Order balance: 1.00, requested: 10.00' } as const
    await work(ledger, batchId, 'R-0', 'APPROVED')
    for (const reference of ['R-1', 'R-2']) await work(ledger, batchId, reference, 'DECLINED', short)
    await work(ledger, batchId, 'R-3', 'DECLINED')
    expect(await holdOf(batchId)).toMatchObject({ hold: 'none' })
    await work(ledger, batchId, 'R-4', 'DECLINED', short)
    const paused = {
      hold: 'paused',
      holdReason: expect.stringContaining('3 of the first 5 refunds were declined because'),
    }
    expect(await holdOf(batchId)).toEqual(paused)
    await ledger.resume(batchId, 'looked', CLERK, NOW)
    for (const reference of ['R-5', 'R-6']) await work(ledger, batchId, reference, 'DECLINED', short)
    expect(await holdOf(batchId)).toMatchObject({ hold: 'none' })
    await work(ledger, batchId, 'R-7', 'IN_DOUBT', short) // nothing explains that balance: it is not known to be declined
    expect(await holdOf(batchId)).toMatchObject({ hold: 'none' })
    await work(ledger, batchId, 'R-8', 'DECLINED', short)
    const why = '3 of the first 4 refunds since it was resumed were declined because'
    expect(await holdOf(batchId)).toMatchObject({ hold: 'paused', holdReason: expect.stringContaining(why) })
  })

  describe('a limit on declines', () => {
    test('pauses the batch at the first answer beyond it, and starts over when it is resumed', async () => {
      const batchId = await batchOf(12, { maxDeclinedPercent: 2 })
      for (const reference of ['R-0', 'R-1']) await work(ledger, batchId, reference, 'DECLINED')
      await work(ledger, batchId, 'R-2', 'APPROVED')
      expect(await holdOf(batchId)).toMatchObject({ hold: 'none' })
      await work(ledger, batchId, 'R-3', 'FAILED')
      expect((await holdOf(batchId)).holdReason).toContain('more than 2 % of the last 100 answered rows were declined')
      await ledger.resume(batchId, 'it is the end of the month', CLERK, NOW)
      for (const reference of ['R-4', 'R-5']) await work(ledger, batchId, reference, 'DECLINED')
      expect(await holdOf(batchId)).toMatchObject({ hold: 'none' })
      await work(ledger, batchId, 'R-6', 'DECLINED')
      expect(await holdOf(batchId)).toMatchObject({ hold: 'paused' })
    })

    test('counts answers only', async () => {
      const batchId = await batchOf(5, { maxDeclinedPercent: 0 })
      await work(ledger, batchId, 'R-0', 'IN_DOUBT')
      await work(ledger, batchId, 'R-1', 'READY')
      await work(ledger, batchId, 'R-1', 'APPROVED')
      expect(await holdOf(batchId)).toMatchObject({ hold: 'none' })
      await work(ledger, batchId, 'R-2', 'DECLINED')
      expect(await holdOf(batchId)).toMatchObject({ hold: 'paused' })
    })

    test('that was not asked for pauses nothing', async () => {
      const batchId = await batchOf(5, {})
      for (const reference of references(5)) await work(ledger, batchId, reference, 'DECLINED')
      expect(await holdOf(batchId)).toMatchObject({ hold: 'none' })
    })
  })
}
