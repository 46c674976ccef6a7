// Reading and steering: what a person is told about a batch, and what a person can order.

import { describe, expect, test } from 'vitest'
import { endingOf } from '../../src/domain/batch-status.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import { exitCodeOf } from '../../src/present/exit-codes.ts'
import {
  CLERK,
  claim,
  claimNamed,
  dueIn,
  factsWith,
  faultyRow,
  listOf,
  NOW,
  openAccount,
  refund,
  rowOf,
  rowsIn,
  settle,
  statesIn,
  submit,
  work,
} from '../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../fixtures/use-ledger.ts'

export function describeBook(): void {
  const view = async (batchId: string) => {
    const found = await ledger.batch(batchId)
    if (found === null) throw new Error(`no batch ${batchId}`)
    return found
  }

  describe('a batch', () => {
    test('is found by its id or by a beginning that fits it alone', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      expect((await ledger.batch(first))?.batchId).toBe(first)
      expect((await ledger.batch(first.slice(0, 4)))?.batchId).toBe(first)
      expect(await ledger.batch('%')).toBeNull()
      expect(await ledger.batch('')).toBeNull()
      await submit(ledger, accountId, [refund('B')])
      await expect(ledger.batch(first.slice(0, 4))).rejects.toMatchObject({ code: 'usage' })
      expect((await ledger.batch(first))?.batchId).toBe(first)
    })

    test('tells counts and amounts per operation, currency and state', async () => {
      const batchId = await submit(ledger, accountId, [
        rowOf(1, refund('A', { amountMinor: 100n })),
        rowOf(2, refund('B', { amountMinor: 20n })),
        rowOf(3, refund('C', { operation: 'CANCEL', money: null })),
        faultyRow(4, 'bad'),
      ])
      await work(ledger, batchId, 'A', 'APPROVED')
      const { totals, counts } = await view(batchId)
      expect(counts).toEqual({ APPROVED: 1, READY: 2, INVALID: 1 })
      expect(new Set(totals)).toEqual(
        new Set([
          { operation: 'REFUND', currency: 'EUR', state: 'APPROVED', count: 1, amountMinor: 100n },
          { operation: 'REFUND', currency: 'EUR', state: 'READY', count: 1, amountMinor: 20n },
          { operation: 'CANCEL', currency: '', state: 'READY', count: 1, amountMinor: 0n },
          { operation: '', currency: '', state: 'INVALID', count: 1, amountMinor: 0n },
        ]),
      )
    })

    test('tells when its next row is due', async () => {
      const batchId = await submit(ledger, accountId, [
        refund('A', { executeAtMs: NOW + 900 }),
        refund('B', { executeAtMs: NOW + 400 }),
      ])
      expect(await view(batchId)).toMatchObject({ nextDueAtMs: NOW + 400, nextExecuteAtMs: NOW + 400 })
      await settle(ledger, await claimNamed(ledger, batchId, 'B', NOW + 400), 'APPROVED')
      expect((await view(batchId)).nextDueAtMs).toBe(NOW + 900)
      await settle(ledger, await claimNamed(ledger, batchId, 'A', NOW + 900), 'APPROVED')
      expect(await view(batchId)).toMatchObject({ nextDueAtMs: null, nextExecuteAtMs: null })
    })

    test('tells how many rows wait behind a row that no machine will move', async () => {
      const X = { orderId: '5' }
      const batchId = await submit(ledger, accountId, [refund('A', X), refund('B', { ...X, amountMinor: 2n })])
      expect(await view(batchId)).toMatchObject({ blocked: 0, nextDueAtMs: NOW, nextExecuteAtMs: null })
      const a = await work(ledger, batchId, 'A', 'IN_DOUBT')
      expect(await view(batchId)).toMatchObject({ blocked: 1, nextDueAtMs: null })
      await settle(ledger, a, 'APPROVED')
      expect(await view(batchId)).toMatchObject({ blocked: 0, nextDueAtMs: NOW })
    })

    test('tells of rows that wait behind a paused batch, but not behind its rows that are due later anyway', async () => {
      const soon = Date.now() + 3_600_000
      const paused = await submit(ledger, accountId, [
        refund('A', { orderId: '5' }),
        refund('B', { orderId: '6', executeAtMs: soon }),
      ])
      await ledger.pause(paused, 'wait', CLERK, NOW)
      const batchId = await submit(ledger, accountId, [
        refund('C', { orderId: '5', amountMinor: 2n }),
        refund('D', { orderId: '6', amountMinor: 2n }),
      ])
      expect(await view(batchId)).toMatchObject({ blocked: 1, nextDueAtMs: NOW })
      expect((await dueIn(ledger, batchId)).map((row) => row.instruction.reference)).toEqual(['D'])
      await work(ledger, batchId, 'D', 'APPROVED')
      expect(await view(batchId)).toMatchObject({ blocked: 1, nextDueAtMs: null })
    })

    test('tells apart the rows that are held up and are due later by themselves', async () => {
      const first = await submit(ledger, accountId, [refund('A', { orderId: '5' })])
      await work(ledger, first, 'A', 'IN_DOUBT')
      const later = Date.now() + 3_600_000
      const batchId = await submit(ledger, accountId, [
        refund('B', { orderId: '5', amountMinor: 2n }),
        refund('C', { orderId: '5', amountMinor: 3n, executeAtMs: later }),
        refund('D', { orderId: '5', amountMinor: 4n, executeAtMs: Date.now() + 10_000 }),
        refund('E', { orderId: '6', executeAtMs: later }),
      ])
      expect(await view(batchId)).toMatchObject({ blocked: 3, blockedDue: 2, nextExecuteAtMs: later })
    })

    test('tells where the rows stand that its duplicates repeat, as of now', async () => {
      const first = await submit(ledger, accountId, [refund('A'), refund('B'), refund('C')])
      const second = await submit(ledger, accountId, [refund('A'), refund('B'), refund('C'), refund('D')])
      await work(ledger, first, 'A', 'APPROVED')
      await work(ledger, first, 'B', 'IN_DOUBT')
      expect(await view(second)).toMatchObject({
        counts: { DUPLICATE: 3, READY: 1 },
        duplicateOf: { APPROVED: 1, IN_DOUBT: 1, READY: 1 },
      })
      expect((await rowsIn(ledger, second)).map(({ reason }) => reason)).toEqual([
        `the same instruction is row 1 of batch ${first}: APPROVED; not sent again`,
        `the same instruction is row 2 of batch ${first}: IN_DOUBT; not sent again`,
        `the same instruction is row 3 of batch ${first}: PENDING; not sent again`,
        null,
      ])
    })

    test('tells of a repeated row that runs again as its retry stands, and its results are stale from then on', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      await work(ledger, first, 'A', 'FAILED')
      const repeating = await submit(ledger, accountId, [refund('A')])
      const written = async () => {
        const reading = await ledger.openReading(repeating, NOW)
        await reading.close()
        await ledger.resultsWritten(repeating, '/out.csv', reading.edition)
        expect((await view(repeating)).resultsStale).toBe(false)
      }
      const told = async (nowMs = NOW) => {
        const batch = await view(repeating)
        const [row] = await rowsIn(ledger, repeating)
        return [batch.duplicateOf, exitCodeOf(batch, endingOf(batch, nowMs)!), row?.repeats?.state, row?.reason]
      }
      await written()
      const again = rowOf(1, refund('A'), { cameFrom: { batchId: first, rowNo: 1 } })
      const retry = { fedBack: true, retry: ['FAILED'] as const, nowMs: NOW + 5_000 }
      const second = await submit(ledger, accountId, [again], retry)
      expect((await view(repeating)).resultsStale).toBe(true)
      const named = (status: string) => `the same instruction is row 1 of batch ${second}: ${status}; not sent again`
      expect(await told()).toEqual([{ READY: 1 }, 6, 'READY', named('PENDING')])
      await written()
      const row = await claimNamed(ledger, second, 'A', NOW + 5_000)
      await settle(ledger, row, 'IN_DOUBT', { atMs: NOW + 9_000 })
      expect((await view(repeating)).resultsStale).toBe(true)
      expect(await told()).toEqual([{ IN_DOUBT: 1 }, 5, 'IN_DOUBT', named('IN_DOUBT')])
      const reading = await ledger.openReading(repeating, NOW)
      expect(await listOf(reading.rows(NOW + 9_000))).toHaveLength(1)
      await reading.close()
      await settle(ledger, row, 'APPROVED')
      expect(await told()).toEqual([{ APPROVED: 1 }, 0, 'APPROVED', named('APPROVED')])
    })

    test('warns of a row that was submitted again as the last such row stands now, and its results are stale from then on', async () => {
      const first = await submit(ledger, accountId, [refund('A'), refund('B'), refund('C')])
      await work(ledger, first, 'A', 'FAILED', { warning: 'odd' })
      await work(ledger, first, 'B', 'FAILED')
      await ledger.cancel(first, 'not today', CLERK, NOW)
      const told = async () =>
        (await rowsIn(ledger, first)).map(({ warning, submittedAgain }) => [warning, submittedAgain])
      const wasStale = async () => {
        const { resultsStale } = await view(first)
        const reading = await ledger.openReading(first, NOW)
        await reading.close()
        await ledger.resultsWritten(first, '/out.csv', reading.edition)
        expect((await view(first)).resultsStale).toBe(false)
        return resultsStale
      }
      const again = (batchId: BatchId, nowMs: number, ...lines: [rowNo: number, reference: string][]) => {
        const rows = lines.map(([rowNo, reference], i) =>
          rowOf(i + 1, refund(reference), { cameFrom: { batchId, rowNo } }),
        )
        return submit(ledger, accountId, rows, { fedBack: true, retry: ['FAILED', 'CANCELLED'], nowMs })
      }
      const ended = await rowsIn(ledger, first)
      expect(await told()).toEqual([
        ['odd', null],
        [null, null],
        [null, null],
      ])
      await wasStale()
      const second = await again(first, NOW + 5_000, [1, 'A'], [3, 'C'])
      const of = (batchId: BatchId, rowNo: number, status: string) =>
        `it was submitted again as row ${rowNo} of batch ${batchId}: ${status}`
      expect(await wasStale()).toBe(true)
      expect(await told()).toEqual([
        [`${of(second, 1, 'PENDING')}; odd`, 'READY'],
        [null, null],
        [of(second, 2, 'PENDING'), 'READY'],
      ])
      await settle(ledger, await claimNamed(ledger, second, 'A', NOW + 5_000), 'FAILED', { atMs: NOW + 5_100 })
      await settle(ledger, await claimNamed(ledger, second, 'C', NOW + 5_000), 'APPROVED', { atMs: NOW + 9_000 })
      expect(await wasStale()).toBe(true)
      const reading = await ledger.openReading(first, NOW)
      expect((await listOf(reading.rows(NOW + 9_000))).map(({ reference }) => reference)).toEqual(['C'])
      await reading.close()
      const third = await again(second, NOW + 10_000, [1, 'A'])
      expect(await wasStale()).toBe(true)
      expect(await told()).toEqual([
        [`${of(third, 1, 'PENDING')}; odd`, 'READY'],
        [null, null],
        [of(second, 2, 'APPROVED'), 'APPROVED'],
      ])
      expect((await rowsIn(ledger, second)).map(({ warning }) => warning)).toEqual([of(third, 1, 'PENDING'), null])
      const said = (rows: Awaited<ReturnType<typeof rowsIn>>) => rows.map(({ state, reason }) => [state, reason])
      expect(said(await rowsIn(ledger, first))).toEqual(said(ended))
    })

    test('tells of a warning about money of a repeated row that a retry has taken over', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      const row = await work(ledger, first, 'A', 'FAILED')
      const repeating = await submit(ledger, accountId, [refund('A')])
      const again = rowOf(1, refund('A'), { cameFrom: { batchId: first, rowNo: 1 } })
      await submit(ledger, accountId, [again], { fedBack: true, retry: ['FAILED'] })
      expect(await view(repeating)).toMatchObject({ duplicateMoneyWarnings: 0 })
      await settle(ledger, row, 'APPROVED', { facts: factsWith('501') }) // late: both may have moved money
      expect(await view(repeating)).toMatchObject({ duplicateMoneyWarnings: 1 })
      expect(await rowsIn(ledger, repeating)).toMatchObject([{ repeats: { state: 'IN_DOUBT', warned: true } }])
    })

    test('knows its results as stale as soon as a row changes, and as fresh when they are written again', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
      expect(await view(batchId)).toMatchObject({ resultsPath: null, resultsStale: false })
      const reading = await ledger.openReading(batchId, NOW)
      const row = await work(ledger, batchId, 'A', 'IN_DOUBT') // while the results are being written
      await reading.close()
      await ledger.resultsWritten(batchId, '/out.csv', reading.edition)
      expect(await view(batchId)).toMatchObject({ resultsPath: '/out.csv', resultsStale: true })

      const again = await ledger.openReading(batchId, NOW)
      await again.close()
      await ledger.resultsWritten(batchId, '/out.csv', again.edition)
      expect((await view(batchId)).resultsStale).toBe(false)
      await settle(ledger, row, 'APPROVED')
      expect((await view(batchId)).resultsStale).toBe(true)
    })
  })

  test('rows that were settled since a moment are counted per batch, whatever they became', async () => {
    const batchId = await submit(ledger, accountId, [refund('A'), refund('B'), refund('C'), refund('D')])
    const other = await submit(ledger, accountId, [refund('E')])
    await work(ledger, batchId, 'A', 'APPROVED', { atMs: NOW + 10 })
    await work(ledger, batchId, 'B', 'IN_DOUBT', { atMs: NOW + 20 })
    await work(ledger, batchId, 'C', 'READY', { atMs: NOW + 30 })
    await work(ledger, other, 'E', 'DECLINED', { atMs: NOW + 30 })
    expect(await ledger.settledSince(batchId, NOW)).toBe(2)
    expect(await ledger.settledSince(batchId, NOW + 20)).toBe(1)
    expect(await ledger.settledSince(other, NOW + 31)).toBe(0)
  })

  describe('a reading', () => {
    test('is of one moment, whatever is settled meanwhile', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
      const reading = await ledger.openReading(batchId, NOW)
      await work(ledger, batchId, 'A', 'APPROVED')
      await ledger.cancel(batchId, 'stop', CLERK, NOW)
      expect((await listOf(reading.rows())).map(({ state }) => state)).toEqual(['READY', 'READY'])
      expect(reading.batch).toMatchObject({ counts: { READY: 2 }, hold: 'none' })
      await reading.close()
      expect(await statesIn(ledger, batchId)).toEqual(['APPROVED', 'CANCELLED'])
    })
  })

  describe('steering', () => {
    test('cancel makes READY rows CANCELLED with the reason, and leaves what is under way or over', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B'), refund('C'), refund('D')])
      await claimNamed(ledger, batchId, 'A')
      await work(ledger, batchId, 'B', 'APPROVED')
      await work(ledger, batchId, 'C', 'IN_DOUBT')
      await ledger.cancel(batchId, 'wrong file', CLERK, NOW + 1)
      expect(await statesIn(ledger, batchId)).toEqual(['SENDING', 'APPROVED', 'IN_DOUBT', 'CANCELLED'])
      expect((await rowsIn(ledger, batchId))[3]).toMatchObject({
        reason: 'cancelled: wrong file',
        completedAtMs: NOW + 1,
      })
    })

    test('what a cancel left is finished later', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      const row = await work(ledger, batchId, 'A', 'IN_DOUBT')
      await ledger.cancel(batchId, 'stop', CLERK, NOW)
      await settle(ledger, row, 'READY') // not sent after all
      expect(await ledger.finishCancelling(NOW)).toBe(1)
      expect(await statesIn(ledger, batchId)).toEqual(['CANCELLED'])
      expect(await ledger.finishCancelling(NOW)).toBe(0)
    })

    test('a cancel goes through more rows than fit one step', async () => {
      const batchId = await submit(
        ledger,
        accountId,
        Array.from({ length: 1_050 }, (_, i) => refund(`R-${i}`)),
      )
      await ledger.cancel(batchId, 'stop', CLERK, NOW)
      expect((await view(batchId)).counts).toEqual({ CANCELLED: 1_050 })
    })

    test('a cancelled batch can be neither paused nor resumed', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      await ledger.cancel(batchId, 'stop', CLERK, NOW)
      await expect(ledger.resume(batchId, 'go', CLERK, NOW)).rejects.toMatchObject({ code: 'usage' })
      await expect(ledger.pause(batchId, 'wait', CLERK, NOW)).rejects.toMatchObject({ code: 'usage' })
      expect((await view(batchId)).hold).toBe('cancelled')
    })

    test('an open request of a paused batch is settled as it was answered', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      const row = await claimNamed(ledger, batchId, 'A')
      await ledger.pause(batchId, 'wait', CLERK, NOW)
      expect(await settle(ledger, row, 'APPROVED')).toMatchObject({ state: 'APPROVED' })
    })

    test('every resume is counted for its account', async () => {
      const second = await openAccount(ledger, 'second')
      const batchId = await submit(ledger, accountId, [refund('A')])
      expect((await ledger.controls(accountId)).resumes).toBe(0)
      await ledger.pause(batchId, 'wait', CLERK, NOW)
      expect((await ledger.controls(accountId)).resumes).toBe(0)
      await place.open().resume(batchId, 'go', CLERK, NOW)
      await ledger.resumeAccount(accountId, 'go', CLERK, NOW)
      expect([await ledger.controls(accountId), await ledger.controls(second)]).toMatchObject([
        { resumes: 2 },
        { resumes: 0 },
      ])
    })

    test('the rate dial of an account stays where it was turned, for every connection, until it is turned back', async () => {
      const second = await openAccount(ledger, 'second')
      const rates = async (from: Ledger) => {
        const wished = [await from.controls(accountId), await from.controls(second)]
        expect((await from.accounts()).map((account) => account.ratePerSecond)).toEqual(
          wished.map(({ ratePerSecond }) => ratePerSecond),
        )
        return wished.map(({ name, ratePerSecond }) => [name, ratePerSecond])
      }
      expect(await rates(ledger)).toEqual([
        ['default', null],
        ['second', null],
      ])
      await ledger.setRate(accountId, 0.5, CLERK, NOW)
      await place.open().setRate(second, 40, CLERK, NOW)
      expect(await rates(place.open())).toEqual([
        ['default', 0.5],
        ['second', 40],
      ])
      await ledger.setRate(accountId, null, CLERK, NOW)
      expect(await rates(ledger)).toEqual([
        ['default', null],
        ['second', 40],
      ])
    })

    test('a stop keeps its first reason and is told with the account', async () => {
      await ledger.stopAccount(accountId, 'wrong password', NOW)
      await ledger.stopAccount(accountId, 'wrong again', NOW)
      expect(await ledger.accounts()).toMatchObject([
        { accountId, name: 'default', username: 'merchant', stopped: 'wrong password' },
      ])
    })
  })

  describe('the history of a reference', () => {
    test('tells every move, who made it and what was answered, over all rows that had the reference', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      await work(ledger, first, 'A', 'FAILED', { httpStatus: 400, answerText: 'no', reason: 'refused as wrong' })
      const second = await submit(
        ledger,
        accountId,
        [rowOf(1, refund('A'), { cameFrom: { batchId: first, rowNo: 1 } })],
        {
          fedBack: true,
          retry: ['FAILED'],
        },
      )
      await ledger.cancel(second, 'never mind', CLERK, NOW)
      expect(
        (await ledger.history('A')).map((move) => [move.batchId, move.from, move.to, move.cause, move.attempt]),
      ).toEqual([
        [first, null, 'READY', 'recorded', 0],
        [first, 'READY', 'SENDING', 'claim', 1],
        [first, 'SENDING', 'FAILED', 'answer', 1],
        [second, null, 'READY', 'recorded', 0],
        [second, 'READY', 'CANCELLED', 'cancel', 1],
      ])
      expect((await ledger.history('A'))[2]).toMatchObject({
        httpStatus: 400,
        answerText: 'no',
        reason: 'refused as wrong',
        by: 'worker',
      })
    })

    test('of an unknown reference is empty', async () => {
      expect(await ledger.history('nobody')).toEqual([])
    })
  })

  describe('the list of doubts', () => {
    test('holds what a person needs to look each one up, and nothing that is settled', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
      await work(ledger, batchId, 'A', 'IN_DOUBT', { reason: 'no answer', facts: factsWith('9') })
      await work(ledger, batchId, 'B', 'DECLINED')
      expect(await ledger.doubts()).toEqual([
        {
          ...{
            batchId,
            rowNo: 1,
            merchant: 'default',
            attempt: 1,
            restMs: 0,
            holdsUp: 0,
            leftByMs: NOW + 100,
            sentAtMs: NOW + 100,
            claimedAtMs: NOW,
          },
          ...{ reason: 'no answer', instruction: refund('A') },
        },
      ])
    })
  })

  test('what one connection has closed another finds', async () => {
    const batchId = await submit(ledger, accountId, [refund('A')])
    const row = await claimNamed(ledger, batchId, 'A')
    const settling = settle(ledger, row, 'APPROVED')
    await ledger.close() // what is under way is written first
    expect(await settling).toMatchObject({ state: 'APPROVED' })
    const next = place.open()
    expect(next.ledgerId).toBe(ledger.ledgerId)
    expect(await statesIn(next, batchId)).toEqual(['APPROVED'])
    expect(await claim(next, { rowId: row.rowId, attempt: 1 })).toEqual({ kind: 'not-free' })
  })
}
