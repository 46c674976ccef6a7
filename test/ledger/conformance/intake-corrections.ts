// A corrected file: rows without references of their own come again from other bytes, and are known by what they ask for.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DraftHeader, RetryStatus } from '../../../src/domain/draft.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { Instruction } from '../../../src/domain/instruction.ts'
import {
  auditOf,
  CLERK,
  claimNamed,
  DAY_MS,
  dueIn,
  EUR,
  factsWith,
  faultyRow,
  headerOf,
  listOf,
  messageOf,
  NOW,
  refund,
  review,
  rowIn,
  rowOf,
  rowsIn,
  sale,
  settle,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { tries } from '../../fixtures/tries.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'
import { check, FIRST, MENDED, made, refunds } from './given.ts'

const onlyNew: Partial<DraftHeader> = { onlyNew: true }

export function describeCorrections(): void {
  /** Of vaulted cards, in a file without references. */
  const sales = (hash: string, vaultIds: readonly string[]) =>
    vaultIds.map((vaultId, i) => sale(made(hash, i + 1), vaultId, { xtlOrderId: null }))

  describe('a corrected file', () => {
    test('is known: most of its rows are rows of an earlier file, and only the rest is new', async () => {
      const first = [...refunds(FIRST, ['71', '72', '73']), faultyRow(4, made(FIRST, 4))]
      const batchId = await submit(ledger, accountId, first)
      await work(ledger, batchId, made(FIRST, 1), 'APPROVED')
      await work(ledger, batchId, made(FIRST, 2), 'DECLINED')
      const { review: reviewed, lookalikes } = await check(refunds(MENDED, ['71', '72', '73', '74']))
      expect(lookalikes).toEqual([])
      expect(reviewed).toMatchObject({ accepted: 1, duplicate: 3, lookalikes: 0 })
      expect(reviewed.correction).toEqual({
        rows: 3,
        rowsOfLongAgo: 0,
        batches: [
          {
            ...{ batchId, fileName: 'refunds.csv', createdAtMs: NOW, rows: 3 },
            totals: ['APPROVED', 'DECLINED', 'READY'].map((state) => ({
              ...{ operation: 'REFUND', currency: 'EUR', state, count: 1, amountMinor: 1_000n },
            })),
          },
        ],
      })
    })

    test('sends the rows that no earlier file holds, and the others point at the rows they are', async () => {
      const batchId = await submit(ledger, accountId, refunds(FIRST, ['71', '72']))
      const again = await submit(ledger, accountId, refunds(MENDED, ['72', '74', '71']), onlyNew)
      expect(await statesIn(ledger, again)).toEqual(['DUPLICATE', 'READY', 'DUPLICATE'])
      const { reason } = await rowIn(ledger, again, made(MENDED, 1))
      expect(reason).toBe(`the same instruction is row 2 of batch ${batchId}: PENDING; not sent again`)
    })

    describe('leaves out a row that was cancelled by its reference', () => {
      const reason = (batchId: BatchId) =>
        `the same instruction is row 2 of batch ${batchId}: CANCELLED (cancelled: do not refund); not sent again`
      const cancelled = async (orders: readonly string[]) => {
        const batchId = await submit(ledger, accountId, refunds(FIRST, orders))
        await ledger.cancelRow({ batchId, rowNo: 2 }, 'do not refund', CLERK, NOW)
        return batchId
      }

      test('where only new rows are wanted, also after its batch was cancelled', async () => {
        const batchId = await cancelled(['71', '72', '73'])
        const mended = await submit(ledger, accountId, refunds(MENDED, ['71', '72', '73', '74']), onlyNew)
        expect(await statesIn(ledger, mended)).toEqual(['DUPLICATE', 'DUPLICATE', 'DUPLICATE', 'READY'])
        expect((await rowIn(ledger, mended, made(MENDED, 2))).reason).toBe(reason(batchId))
        await ledger.cancel(batchId, 'wrong file', CLERK, NOW)
        const { review: reviewed } = await check(refunds('0f1e2d3c4b5a6978', ['71', '72', '73']), onlyNew)
        expect(reviewed).toMatchObject({ accepted: 2, duplicate: 1, cancelledBefore: [{ batchId, rows: 2 }] })
      })

      test('after its batch was, of which the others are sent', async () => {
        const batchId = await submit(ledger, accountId, refunds(FIRST, ['71', '72', '73']))
        await ledger.cancel(batchId, 'wrong file', CLERK, NOW)
        for (const _ of ['once', 'twice']) await ledger.cancelRow({ batchId, rowNo: 2 }, 'do not refund', CLERK, NOW)
        const { review: reviewed } = await check(refunds(MENDED, ['71', '72', '73']), onlyNew)
        expect(reviewed).toMatchObject({ accepted: 2, duplicate: 1, cancelledBefore: [{ batchId, rows: 2 }] })
      })

      test('and knows the file by it', async () => {
        await cancelled(['71', '72'])
        expect((await check(refunds(MENDED, ['71', '72', '74']))).review).toMatchObject({ accepted: 1, duplicate: 2 })
      })

      test('though the row has a reference of its own now', async () => {
        await cancelled(['71', '72'])
        const own = [refund('INV-72', { orderId: '72' })]
        expect((await check(own, onlyNew)).review).toMatchObject({ accepted: 0, duplicate: 1 })
      })
    })

    describe('gives references of its own to rows that were recorded without', () => {
      const own = (amountMinor = 1_000n) =>
        ['71', '72', '73'].map((orderId) => refund(`INV-${orderId}`, { orderId, amountMinor }))
      async function namedLater() {
        const first = await submit(ledger, accountId, refunds(FIRST, ['71', '72', '73']))
        for (const rowNo of [1, 2, 3]) await work(ledger, first, made(FIRST, rowNo), 'APPROVED')
        const second = await submit(ledger, accountId, [...own(), refund('INV-74', { orderId: '74' })], onlyNew)
        expect(await statesIn(ledger, second)).toEqual(['DUPLICATE', 'DUPLICATE', 'DUPLICATE', 'READY'])
        return first
      }

      test('and each of them is the same instruction for ever', async () => {
        await namedLater()
        for (const over of [{}, onlyNew]) {
          const { review: reviewed } = await check(own(), { nowMs: NOW + 400 * DAY_MS, ...over })
          expect(reviewed).toMatchObject({ accepted: 0, duplicate: 3, invalid: 0, lookalikes: 0 })
        }
      })

      test('and with another amount each of them is an error, under the name that the file gave', async () => {
        const first = await namedLater()
        const { review: reviewed, faults } = await check(own(900n), { nowMs: NOW + 400 * DAY_MS })
        expect(reviewed).toMatchObject({ accepted: 0, invalid: 3 })
        expect(faults[0]).toMatchObject({
          value: 'INV-71',
          problem: expect.stringContaining(`recorded with other content: amount not the same (row 1 of batch ${first}`),
        })
        const { review: left } = await check([...own(900n).slice(0, 1), ...own().slice(1)], onlyNew)
        expect(left).toMatchObject({ accepted: 0, duplicate: 3, again: { changed: 1 } })
      })

      test('and a message under one of them is a duplicate, or refused', async () => {
        const first = await namedLater()
        const send = (amountMinor: bigint) =>
          place
            .open()
            .recordMessage(
              messageOf(accountId, refund('INV-71', { orderId: '71', amountMinor }), { nowMs: NOW + 400 * DAY_MS }),
            )
        expect(await send(1_000n)).toMatchObject({ kind: 'duplicate', batchId: first, rowNo: 1 })
        expect(await send(900n)).toMatchObject({ kind: 'refused' })
      })
    })

    test('of cancelled rows that comes again from the same bytes is known for ever', async () => {
      const first = await submit(ledger, accountId, refunds(FIRST, ['71', '72', '73']))
      await ledger.cancel(first, 'a wrong cell', CLERK, NOW)
      const mended = refunds(MENDED, ['71', '72', '73'])
      const second = await submit(ledger, accountId, mended)
      for (const rowNo of [1, 2, 3]) await work(ledger, second, made(FIRST, rowNo), 'APPROVED')
      const { review: reviewed } = await check(mended, { nowMs: NOW + 400 * DAY_MS })
      expect(reviewed).toMatchObject({ accepted: 0, duplicate: 3, lookalikes: 0, correction: null })
    })

    test('whose rows were mended in a file of rejects knows those as well', async () => {
      const batchId = await submit(ledger, accountId, [...refunds(FIRST, ['71', '72']), faultyRow(3, made(FIRST, 3))])
      const rejects = await submit(ledger, accountId, [refund(made(FIRST, 3), { orderId: '73' })])
      const { review: reviewed } = await check(refunds(MENDED, ['71', '72', '73']))
      expect(reviewed).toMatchObject({ accepted: 0, duplicate: 3 })
      expect(reviewed.correction?.batches.map((batch) => [batch.batchId, batch.rows])).toEqual([
        [batchId, 2],
        [rejects, 1],
      ])
    })

    test('that holds a row twice which was recorded once sends neither unasked', async () => {
      await submit(ledger, accountId, refunds(FIRST, ['71', '72']))
      const { review: reviewed } = await check(refunds(MENDED, ['71', '72', '71']), onlyNew)
      expect(reviewed).toMatchObject({ accepted: 1, duplicate: 2, lookalikes: 1 })
    })

    test('is asked about a row that is like one which stands under its own reference, changed', async () => {
      const own = (reference: string, amountMinor: bigint) => refund(reference, { orderId: '71', amountMinor })
      await submit(ledger, accountId, [own('A', 1_000n), refund('B', { orderId: '72' })])
      const rows = [own('A', 1_500n), refund('B', { orderId: '72' }), own(made(MENDED, 3), 1_000n)]
      const { review: reviewed } = await check(rows, onlyNew)
      expect(reviewed).toMatchObject({ accepted: 1, duplicate: 2, lookalikes: 1, correction: null })
    })

    test.each([
      ['less', 500n],
      ['more', 1_500n],
    ])('is asked about a row that asks for %s than the row in its place did', async (_, amountMinor) => {
      const batchId = await submit(ledger, accountId, refunds(FIRST, ['71', '72', '73']))
      const mended = refunds(MENDED, ['71', '72', '73'])
      mended[1] = refund(made(MENDED, 2), { orderId: '72', amountMinor })
      for (const asked of [{}, onlyNew]) {
        const { review: reviewed, lookalikes } = await check(mended, asked)
        expect(reviewed).toMatchObject({ accepted: 1, duplicate: 2, lookalikes: 1 })
        expect(lookalikes[0]?.like).toMatchObject({ batchId, rowNo: 2 })
      }
    })

    test('of sales is asked about a changed amount as well', async () => {
      const sales = (hash: string, amounts: readonly bigint[]) =>
        amounts.map((amountMinor, i) =>
          sale(made(hash, i + 1), `4${i}`, { money: { amountMinor, currency: 'EUR' as never } }),
        )
      await submit(ledger, accountId, sales(FIRST, [100n, 200n, 300n]))
      const { lookalikes } = await check(sales(MENDED, [100n, 250n, 300n]))
      expect(lookalikes.map(({ rowNo, changedFrom }) => [rowNo, changedFrom?.amountMinor])).toEqual([[2, 200n]])
    })

    test('is asked about rows that were mended otherwise in a file of rejects, and about a file in which every amount changed', async () => {
      const sales = (hash: string, amounts: readonly bigint[]) =>
        amounts.map((amountMinor, i) => sale(made(hash, i + 1), `5${i}`, { money: { amountMinor, currency: EUR } }))
      await submit(ledger, accountId, sales(FIRST, [100n, 200n, 300n]).slice(0, 2))
      await submit(ledger, accountId, sales(FIRST, [100n, 200n, 300n]).slice(2)) // as from rejects
      const { lookalikes } = await check(sales(MENDED, [100n, 200n, 350n]), onlyNew)
      expect(lookalikes.map(({ rowNo, changedFrom }) => [rowNo, changedFrom?.amountMinor])).toEqual([[3, 300n]])
      const all = await check(sales(MENDED, [101n, 201n, 301n]), onlyNew)
      expect(all.review).toMatchObject({ accepted: 3, lookalikes: 3 })
    })

    test('is told to be short of the rows of an earlier file that was cancelled afterwards, until a person has looked', async () => {
      const y1 = await submit(
        ledger,
        accountId,
        ['A', 'B', 'C'].map((reference) => refund(reference)),
      )
      const later: Partial<DraftHeader> = { fileSha256: MENDED, nowMs: NOW + 1 }
      const rows = ['A', 'B', 'C', 'D'].map((reference) => refund(reference))
      const y2 = await submit(ledger, accountId, rows, later)
      const leftOut = async (of: BatchId) => (await ledger.batch(of))?.leftOut
      await ledger.cancelRow({ batchId: y1, rowNo: 3 }, 'not owed', CLERK, NOW + 2)
      await work(ledger, y1, 'B', 'APPROVED')
      expect(await leftOut(y2)).toEqual([])
      await ledger.cancel(y1, 'the list was short', CLERK, NOW + 3)
      expect(await leftOut(y2)).toEqual([{ batchId: y1, rows: 1 }])
      expect(await ledger.leftOutFor(y1)).toEqual([{ batchId: y2, rows: 1 }])
      await ledger.resume(y2, 'they are paid by hand', CLERK, NOW + 3)
      expect(await leftOut(y2)).toEqual([])
      // A list that comes after the cancellation hears it at once.
      const y3 = await submit(ledger, accountId, rows, { ...later, nowMs: NOW + 4, fileSha256: FIRST })
      expect(await leftOut(y3)).toEqual([])
    })

    test.each([null, '2026-12'])(
      'that asks for another amount than a row which failed is known when that row is to run again: run key %s',
      async (runKey) => {
        const sales = (hash: string, amountMinor: bigint) =>
          [1_000n, amountMinor].map((minor, i) =>
            sale(made(hash, i + 1, runKey), `6${i}`, { money: { amountMinor: minor, currency: EUR } }),
          )
        const first = await submit(ledger, accountId, sales(FIRST, 900n), { runKey })
        await work(ledger, first, made(FIRST, 2, runKey), 'FAILED')
        const fed: Partial<DraftHeader> = { fedBack: true, retry: ['FAILED'] }
        const again = sales(FIRST, 900n).map((row, i) =>
          rowOf(i + 1, row, { cameFrom: { batchId: first, rowNo: i + 1 } }),
        )
        expect((await check(again, fed)).review).toMatchObject({ accepted: 1, lookalikes: 0 })
        await submit(ledger, accountId, sales(MENDED, 800n), { runKey, ...onlyNew })
        const { review: reviewed, lookalikes } = await check(again, fed)
        expect(reviewed).toMatchObject({ accepted: 1, lookalikes: 1 })
        expect(lookalikes[0]).toMatchObject({ rowNo: 2, changedFrom: { amountMinor: 800n } })
      },
    )

    test('that asks for another amount than a row which was declined is known when that row is asked for once more', async () => {
      const charge = (hash: string, amountMinor: bigint) =>
        sale(made(hash, 1), '61', { money: { amountMinor, currency: EUR } })
      const first = await submit(ledger, accountId, [charge(FIRST, 900n)])
      await work(ledger, first, made(FIRST, 1), 'DECLINED', { reason: 'Insufficient funds' })
      await submit(ledger, accountId, [charge(MENDED, 800n)], onlyNew)
      const again = [rowOf(1, charge(FIRST, 900n), { cameFrom: { batchId: first, rowNo: 1 } })]
      const reattempt = { categories: ['funds'], reasonRules: [], xtlOrderIdOf: (name: string) => name } as const
      const fed = { fedBack: true, reattempt, nowMs: NOW + 7 * DAY_MS }
      const { review: reviewed, lookalikes } = await check(again, fed)
      expect(reviewed).toMatchObject({ accepted: 1, lookalikes: 1 })
      expect(lookalikes[0]).toMatchObject({ rowNo: 1, changedFrom: { amountMinor: 800n } })
    })

    test('does not make a row that failed one of those that were sent before it, or beside it in its file', async () => {
      const charge = (reference: string, amountMinor: bigint) =>
        sale(reference, '61', { money: { amountMinor, currency: EUR } })
      await submit(ledger, accountId, [charge(made('1111aaaa1111aaaa', 1), 700n)])
      const rows = [charge(made(FIRST, 1), 900n), charge(made(FIRST, 2), 800n)]
      const first = await submit(ledger, accountId, rows)
      await work(ledger, first, made(FIRST, 1), 'FAILED')
      const again = rows.slice(0, 1).map((row) => rowOf(1, row, { cameFrom: { batchId: first, rowNo: 1 } }))
      const { review: reviewed } = await check(again, { fedBack: true, retry: ['FAILED'] })
      expect(reviewed).toMatchObject({ accepted: 1, lookalikes: 0 })
    })

    test('knows the rows of every earlier file, the latest first, and tells which are of long ago', async () => {
      const long = await submit(ledger, accountId, sales('1111aaaa1111aaaa', ['71', '72', '73']))
      for (const rowNo of [1, 2, 3]) await work(ledger, long, made('1111aaaa1111aaaa', rowNo), 'APPROVED')
      const nowMs = NOW + 40 * DAY_MS
      const recent = await submit(ledger, accountId, sales(FIRST, ['71', '72']), { nowMs })
      for (const asked of [{}, onlyNew]) {
        const { review: reviewed } = await check(sales(MENDED, ['71', '72', '73']), { nowMs, ...asked })
        expect(reviewed).toMatchObject({ accepted: 0, duplicate: 3, correction: { rows: 3, rowsOfLongAgo: 1 } })
        expect(reviewed.correction?.batches.map(({ batchId, rows }) => [batchId, rows])).toEqual([
          [recent, 2],
          [long, 1],
        ])
      }
    })

    test('to which rows are added each month sends only those, and is asked about a changed row of the first month', async () => {
      const months = [
        ['1111aaaa1111aaaa', ['71', '72', '73']],
        ['2222bbbb2222bbbb', ['71', '72', '73', '74', '75', '76']],
      ] as const
      for (const [i, [hash, orders]] of months.entries()) {
        const nowMs = NOW + i * 40 * DAY_MS
        const batchId = await submit(ledger, accountId, refunds(hash, orders), { nowMs, ...onlyNew })
        for (const { instruction } of await dueIn(ledger, batchId, nowMs)) {
          const row = await claimNamed(ledger, batchId, instruction.reference, nowMs)
          await settle(ledger, row, 'APPROVED', { sentAtMs: nowMs, atMs: nowMs })
        }
      }
      const nowMs = NOW + 50 * DAY_MS
      const mended = refunds(MENDED, ['71', '72', '73', '74', '75', '76', '77'])
      const { review: reviewed } = await check(mended, { nowMs, ...onlyNew })
      expect(reviewed).toMatchObject({ accepted: 1, duplicate: 6, lookalikes: 0 })
      const changed = [refund(made(MENDED, 1), { orderId: '71', amountMinor: 7n }), ...mended.slice(3)]
      for (const asked of [{}, onlyNew])
        expect((await check(changed, { nowMs, ...asked })).lookalikes).toMatchObject([{ rowNo: 1, like: { rowNo: 1 } }])
    })

    test('knows the rows of a file that failed lately, though most are those of another one', async () => {
      const failed = await submit(ledger, accountId, refunds('1111aaaa1111aaaa', ['71']))
      await work(ledger, failed, made('1111aaaa1111aaaa', 1), 'FAILED')
      await submit(ledger, accountId, refunds(FIRST, ['72', '73']))
      for (const asked of [{}, onlyNew]) {
        const { review: reviewed } = await check(refunds(MENDED, ['71', '72', '73', '74']), asked)
        expect(reviewed).toMatchObject({ accepted: 1, duplicate: 3 })
      }
    })

    test('whose rows have references in part is known by every row that could be an earlier one', async () => {
      const own = (reference: string, orderId: string) => refund(reference, { orderId })
      await submit(ledger, accountId, [own('own-1', '71'), own(made(FIRST, 2), '72'), own('own-3', '72')])
      const mended = [own('own-4', '71'), own(made(MENDED, 2), '71'), own('own-5', '72'), own('own-6', '72')]
      const batchId = await submit(ledger, accountId, mended, onlyNew)
      expect(await statesIn(ledger, batchId)).toEqual(['READY', 'DUPLICATE', 'DUPLICATE', 'READY'])
      await submit(ledger, accountId, [own(made(FIRST, 1), '73')])
      const other = [own('own-7', '73'), own(made('1111aaaa1111aaaa', 2), '73')]
      expect(await statesIn(ledger, await submit(ledger, accountId, other, onlyNew))).toEqual(['READY', 'DUPLICATE'])
    })

    const dated = (hash: string, days: readonly number[]) =>
      days.map((day, i) => sale(made(hash, i + 1), `6${i}`, { executeAtMs: NOW + day * DAY_MS }))
    const sendAll = async (batchId: BatchId, hash: string, days: readonly number[]) => {
      for (const [i, day] of days.entries()) {
        const atMs = NOW + day * DAY_MS
        const row = await claimNamed(ledger, batchId, made(hash, i + 1), atMs)
        await settle(ledger, row, 'APPROVED', { sentAtMs: atMs, atMs })
      }
    }

    test.each([
      ['waits', [9, 9, 9], [], 0],
      ['was sent', [0, 0, 0], [0, 0, 0], 1],
      ['was sent more than 30 days ago', [0, 0, 0], [0, 0, 0], 40],
    ] as const)('is asked about a row of which the date alone changed, where it %s', async (_, days, sent, later) => {
      const batchId = await submit(ledger, accountId, dated(FIRST, days))
      await sendAll(batchId, FIRST, sent)
      const mended = dated(MENDED, [days[0], 11, days[2], 12])
      const { review: reviewed, lookalikes } = await check(mended, { ...onlyNew, nowMs: NOW + later * DAY_MS })
      expect(reviewed).toMatchObject({ accepted: 2, duplicate: 2, lookalikes: 1 })
      expect(lookalikes).toMatchObject([{ rowNo: 2, like: { batchId, rowNo: 2 }, changedFrom: null }])
    })

    test('is asked about a date or an amount that changed of a row sent long ago, where others of its file were sent lately', async () => {
      const batchId = await submit(ledger, accountId, dated(FIRST, [0, 0, 35, 35, 35]))
      await sendAll(batchId, FIRST, [0, 0, 35, 35, 35])
      const money = { amountMinor: 7n, currency: EUR }
      const mended = dated(MENDED, [36, 0, 35, 35, 35, 36]).map((row, i) => (i === 1 ? { ...row, money } : row))
      for (const asked of [{}, onlyNew]) {
        const { review: reviewed, lookalikes } = await check(mended, { nowMs: NOW + 36 * DAY_MS, ...asked })
        expect(reviewed).toMatchObject({ accepted: 3, duplicate: 3, lookalikes: 2 })
        expect(lookalikes.map(({ rowNo, changedFrom }) => [rowNo, changedFrom?.amountMinor])).toEqual([
          [1, undefined],
          [2, 1_000n],
        ])
      }
    })

    test('in which every date changed is asked about where only new rows are wanted, however long ago it was sent', async () => {
      const batchId = await submit(ledger, accountId, dated(FIRST, [0, 0, 0]))
      await sendAll(batchId, FIRST, [0, 0, 0])
      const nowMs = NOW + 40 * DAY_MS
      const moved = dated(MENDED, [40, 40, 40])
      expect((await check(moved, { nowMs, ...onlyNew })).review).toMatchObject({ accepted: 3, lookalikes: 3 })
      expect((await check(moved, { nowMs })).review).toMatchObject({ accepted: 3, lookalikes: 0 }) // the next month's
    })

    test('sends a row whose date changed after it was declined: no money moved', async () => {
      const batchId = await submit(ledger, accountId, dated(FIRST, [0, 0, 0]))
      for (const rowNo of [1, 2, 3])
        await work(ledger, batchId, made(FIRST, rowNo), rowNo === 2 ? 'DECLINED' : 'APPROVED')
      const { review: reviewed } = await check(dated(MENDED, [0, 5, 0]), onlyNew)
      expect(reviewed).toMatchObject({ accepted: 1, duplicate: 2, lookalikes: 0 })
    })

    test.each(['2026112200000001', '86cd799439011a2b'])(
      'is none where both files have references of their own that look as if they were made: %s',
      async (start) => {
        const own = (rowNo: number, n: number, orderId: string) =>
          rowOf(rowNo, refund(`${start}-${n}`, { orderId }), { made: false })
        await submit(ledger, accountId, [own(1, 1, '71'), own(2, 2, '72')])
        const rows = [own(1, 3, '71'), own(2, 4, '72')]
        for (const asked of [{}, onlyNew]) {
          const { review: reviewed } = await check(rows, asked)
          expect(reviewed).toMatchObject({ accepted: 2, duplicate: 0, lookalikes: 2, correction: null })
        }
      },
    )

    test('is known by rows that were fed back meanwhile: their references were made, whoever names them', async () => {
      const first = await submit(ledger, accountId, refunds(FIRST, ['71', '72']))
      for (const rowNo of [1, 2]) await work(ledger, first, made(FIRST, rowNo), 'FAILED')
      const named = refunds(FIRST, ['71', '72']).map((row, i) =>
        rowOf(i + 1, row, { made: false, cameFrom: { batchId: first, rowNo: i + 1 } }),
      )
      await submit(ledger, accountId, named, { fedBack: true, retry: ['FAILED'] })
      const own = [refund('A', { orderId: '71' }), refund('B', { orderId: '72' })]
      expect((await check(own)).review).toMatchObject({ accepted: 0, duplicate: 2, correction: { rows: 2 } })
    })

    test('is known by charges that were asked for once more from results: of those, too, the references were made', async () => {
      const charges = [1, 2].map((n) => sale(made(FIRST, n), `6${n}`))
      const first = await submit(ledger, accountId, charges)
      for (const { reference } of charges)
        await work(ledger, first, reference, 'DECLINED', { reason: 'Insufficient funds' })
      const named = charges.map((row, i) =>
        rowOf(i + 1, row, { made: false, cameFrom: { batchId: first, rowNo: i + 1 } }),
      )
      const reattempt = { categories: ['funds'], reasonRules: [], xtlOrderIdOf: (name: string) => name } as const
      const later = { nowMs: NOW + 7 * DAY_MS }
      const again = await submit(ledger, accountId, named, { fedBack: true, reattempt, ...later })
      expect(await statesIn(ledger, again)).toEqual(['READY', 'READY'])
      const own = ['A', 'B'].map((name, i) => sale(name, `6${i + 1}`))
      expect((await check(own, later)).review).toMatchObject({ accepted: 0, duplicate: 2, correction: { rows: 2 } })
    })

    test('is known by rows that were mended in rejects: their references were made for them', async () => {
      await submit(
        ledger,
        accountId,
        [1, 2].map((rowNo) => faultyRow(rowNo, made(FIRST, rowNo))),
      )
      const mended = refunds(FIRST, ['71', '72']).map((row, i) => rowOf(i + 1, row, { made: false }))
      await submit(ledger, accountId, mended)
      const own = [refund('A', { orderId: '71' }), refund('B', { orderId: '72' })]
      expect((await check(own)).review).toMatchObject({ accepted: 0, duplicate: 2, correction: { rows: 2 } })
    })

    test('is none where few rows are those of earlier files: these are asked about as ever', async () => {
      await submit(ledger, accountId, refunds(FIRST, ['71', '72']))
      const { review: reviewed } = await check(refunds(MENDED, ['71', '72', '73', '74', '75']))
      expect(reviewed).toMatchObject({ accepted: 5, duplicate: 0, lookalikes: 2, correction: null })
    })

    test('is none where one row alone repeats: it may be a second refund', async () => {
      await submit(ledger, accountId, refunds(FIRST, ['71']))
      const { review: reviewed } = await check(refunds(MENDED, ['71']))
      expect(reviewed).toMatchObject({ accepted: 1, lookalikes: 1, correction: null })
    })

    test('is none under another run key: that is another run', async () => {
      await submit(ledger, accountId, refunds(FIRST, ['71', '72']))
      await submit(ledger, accountId, [refund('2026-12/other')], { runKey: '2026-12' })
      const rows = ['71', '72'].map((orderId, i) => refund(made(MENDED, i + 1, '2026-12'), { orderId }))
      const { review: reviewed } = await check(rows, { runKey: '2026-12', ...onlyNew })
      expect(reviewed).toMatchObject({ accepted: 2, duplicate: 0, lookalikes: 2, correction: null })
    })

    test('is none where both files have references of their own: those name instructions', async () => {
      await submit(ledger, accountId, [refund('A', { orderId: '71' }), refund('B', { orderId: '72' })])
      const rows = [refund('C', { orderId: '71' }), refund('D', { orderId: '72' })]
      const { review: reviewed } = await check(rows, onlyNew)
      expect(reviewed).toMatchObject({ accepted: 2, duplicate: 0, lookalikes: 2, correction: null })
    })

    test('of an order is known however long ago it was recorded', async () => {
      const batchId = await submit(ledger, accountId, refunds(FIRST, ['71', '72']))
      for (const rowNo of [1, 2]) await work(ledger, batchId, made(FIRST, rowNo), 'APPROVED')
      for (const asked of [{}, onlyNew]) {
        const { review: reviewed } = await check(refunds(MENDED, ['71', '72', '73']), {
          nowMs: NOW + 400 * DAY_MS,
          ...asked,
        })
        expect(reviewed).toMatchObject({ accepted: 1, duplicate: 2, correction: { rows: 2, rowsOfLongAgo: 2 } })
      }
    })

    test('of a sale of long ago is asked about where most of the file is so, and known where only new rows are wanted', async () => {
      const batchId = await submit(ledger, accountId, sales(FIRST, ['71', '72']))
      for (const rowNo of [1, 2]) await work(ledger, batchId, made(FIRST, rowNo), 'APPROVED')
      const later = { nowMs: NOW + 400 * DAY_MS }
      const rows = sales(MENDED, ['71', '72', '73'])
      const found = await check(rows, later)
      expect(found.review).toMatchObject({ accepted: 3, duplicate: 0, correction: null, lookalikes: 2 })
      expect(found.lookalikes).toMatchObject([1, 2].map((rowNo) => ({ rowNo, like: { batchId, rowNo, atMs: NOW } })))
      expect((await check(rows, { ...later, runKey: '2027-06' })).review).toMatchObject({ accepted: 3, lookalikes: 0 })
      expect((await check(rows, { ...later, ...onlyNew })).review).toMatchObject({ accepted: 1, duplicate: 2 })
      const few = sales(MENDED, ['71', '73', '74', '75'])
      expect((await check(few, later)).review).toMatchObject({ accepted: 4, lookalikes: 0 })
    })

    describe('of a batch that was cancelled', () => {
      const cancel = (batchId: BatchId) => ledger.cancel(batchId, 'a cell is wrong', CLERK, NOW)
      const fed: Partial<DraftHeader> = { fedBack: true, retry: ['FAILED', 'CANCELLED', 'INVALID'] }
      const lineOf = (batchId: BatchId, rowNo: number, orderId: string) =>
        rowOf(1, refund(made(FIRST, rowNo), { orderId }), { cameFrom: { batchId, rowNo } })

      test.each([
        ['', {}],
        [', where only new rows are wanted', onlyNew],
      ])('sends every row that was not sent, under its first reference and once%s', async (_, asked) => {
        const first = await submit(ledger, accountId, refunds(FIRST, ['71', '72', '73']))
        await cancel(first)
        const mended = refunds(MENDED, ['71', '72', '73']).with(
          1,
          refund(made(MENDED, 2), { orderId: '72', amountMinor: 5n }),
        )
        const { review: reviewed } = await check(mended, asked)
        expect(reviewed).toMatchObject({ accepted: 3, duplicate: 0, lookalikes: 0, correction: null })
        expect(reviewed.cancelledBefore).toEqual([{ batchId: first, rows: 2 }])
        const second = await submit(ledger, accountId, mended, asked)
        const names = [made(FIRST, 1), made(MENDED, 2), made(FIRST, 3)]
        expect((await dueIn(ledger, second)).map(({ instruction }) => instruction.reference)).toEqual(names)
        for (const name of names) await work(ledger, second, name, 'APPROVED')
        expect((await rowIn(ledger, first, made(FIRST, 1))).warning).toContain(`row 1 of batch ${second}: APPROVED`)
        expect((await check([lineOf(first, 1, '71')], fed)).review).toMatchObject({ accepted: 0, duplicate: 1 })
        expect((await check(mended, onlyNew)).review).toMatchObject({ accepted: 0, duplicate: 3, cancelledBefore: [] })
        expect(await auditOf(ledger)).toEqual([])
      })

      test('after some rows were sent knows those, and sends the others where only new rows are wanted', async () => {
        const orders = ['71', '72', '73', '74', '75'] as const
        const first = await submit(ledger, accountId, refunds(FIRST, orders))
        await work(ledger, first, made(FIRST, 1), 'APPROVED')
        await cancel(first)
        for (const asked of [{}, onlyNew]) {
          const { review: reviewed } = await check(refunds(MENDED, orders), asked)
          expect(reviewed).toMatchObject({ accepted: 4, duplicate: 1, lookalikes: 0, correction: { rows: 1 } })
          expect(reviewed.cancelledBefore).toEqual([{ batchId: first, rows: 4 }])
        }
        const mended = refunds(MENDED, orders).with(4, refund(made(MENDED, 5), { orderId: '75', amountMinor: 5n }))
        const second = await submit(ledger, accountId, mended, onlyNew)
        expect(await statesIn(ledger, second)).toEqual(['DUPLICATE', 'READY', 'READY', 'READY', 'READY'])
        const reading = await ledger.openFamily(first, NOW)
        expect(reading.batch.batchId).toBe(second)
        expect((await listOf(reading.rows())).map(({ recordedAs }) => recordedAs)).toEqual([
          { batchId: first, rowNo: 1 },
          ...[2, 3, 4, 5].map((rowNo) => ({ batchId: second, rowNo })),
          { batchId: first, rowNo: 5 },
        ])
        await reading.close()
      })

      test('sends those rows, though most are those of another one', async () => {
        const first = await submit(ledger, accountId, refunds('1111aaaa1111aaaa', ['71']))
        await cancel(first)
        await submit(ledger, accountId, refunds(FIRST, ['72', '73']))
        const { review: reviewed } = await check(refunds(MENDED, ['71', '72', '73', '74']), onlyNew)
        expect(reviewed).toMatchObject({ accepted: 2, duplicate: 2, cancelledBefore: [{ batchId: first, rows: 1 }] })
      })

      test('sends no row that may have been sent before it was cancelled', async () => {
        const first = await submit(ledger, accountId, refunds(FIRST, ['71', '72', '73']))
        const doubt = await work(ledger, first, made(FIRST, 1), 'IN_DOUBT')
        await settle(ledger, doubt, 'READY') // proven unsent, and yet
        const late = await work(ledger, first, made(FIRST, 2), 'READY')
        await cancel(first)
        await settle(ledger, late, 'APPROVED', { facts: factsWith('501') })
        const { review: reviewed } = await check(refunds(MENDED, ['71', '72', '73']), onlyNew)
        expect(reviewed).toMatchObject({ accepted: 1, duplicate: 2, cancelledBefore: [{ batchId: first, rows: 1 }] })
      })

      test('sends a row with a reference of its own under that one', async () => {
        const first = await submit(ledger, accountId, refunds(FIRST, ['71', '72']))
        await cancel(first)
        const named = [refund('R-1', { orderId: '71' }), refund('R-2', { orderId: '72' })]
        const second = await submit(ledger, accountId, named, onlyNew)
        expect((await dueIn(ledger, second)).map(({ instruction }) => instruction.reference)).toEqual(['R-1', 'R-2'])
      })

      test('does not ask once more for a charge that was declined, though the second attempt was cancelled', async () => {
        const roster = (hash: string) => [sale(made(hash, 1), '41'), sale(made(hash, 2), '42')]
        const first = await submit(ledger, accountId, roster(FIRST))
        await work(ledger, first, made(FIRST, 1), 'APPROVED')
        await work(ledger, first, made(FIRST, 2), 'DECLINED', { reason: 'Insufficient funds' })
        const reattempt = { categories: ['funds' as const], reasonRules: [], xtlOrderIdOf: () => 'T2' }
        const second = await submit(ledger, accountId, roster(FIRST), { reattempt })
        expect(await statesIn(ledger, second)).toEqual(['DUPLICATE', 'READY'])
        await cancel(second)
        const { review: reviewed } = await check(roster(MENDED), onlyNew)
        expect(reviewed).toMatchObject({ accepted: 0, duplicate: 2, cancelledBefore: [] })
      })

      test('takes no reference over that another row of the file has', async () => {
        const first = await submit(ledger, accountId, refunds(FIRST, ['71', '72', '73']))
        await cancel(first)
        const odd = [
          ...refunds(MENDED, ['71', '72']),
          refund(made(FIRST, 1), { orderId: '74' }),
          refund(made(FIRST, 3), { orderId: '73' }),
        ]
        const { review: reviewed, draft } = await review(ledger, headerOf(accountId, onlyNew), odd)
        expect(reviewed).toMatchObject({ accepted: 2, duplicate: 2, invalid: 0 })
        const second = await draft.record(CLERK)
        expect((await rowsIn(ledger, second)).map(({ state, reference }) => [state, reference])).toEqual([
          ['READY', made(MENDED, 1)],
          ['READY', made(FIRST, 2)],
          ['DUPLICATE', made(FIRST, 1)],
          ['DUPLICATE', made(FIRST, 3)],
        ])
      })

      test('sends nothing that was retried meanwhile', async () => {
        const first = await submit(ledger, accountId, refunds(FIRST, ['71', '72']))
        await cancel(first)
        await submit(ledger, accountId, [lineOf(first, 1, '71')], fed)
        const { review: reviewed } = await check(refunds(MENDED, ['71', '72']), onlyNew)
        expect(reviewed).toMatchObject({ accepted: 1, duplicate: 1 })
      })

      test('leaves rows that were cancelled long ago alone: a month’s file comes again', async () => {
        const first = await submit(ledger, accountId, refunds(FIRST, ['71', '72']))
        await cancel(first)
        const { review: reviewed } = await check(refunds(MENDED, ['71', '72']), { nowMs: NOW + 31 * DAY_MS })
        expect(reviewed).toMatchObject({ accepted: 2, duplicate: 0, cancelledBefore: [] })
      })
    })

    test('sends nothing a second time, however its rows are moved, doubled, changed or left out', async () => {
      let trials = 0
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 12 }),
          fc.array(fc.integer({ min: 1, max: 14 }), { minLength: 1, maxLength: 16 }),
          async (before, after) => {
            const trial = ++trials // orders and files of its own
            const order = (n: number) => `${trial}${String(n).padStart(2, '0')}`
            const hash = (n: number) => `${trial}a${n}`.padStart(16, '0')
            await submit(ledger, accountId, refunds(hash(1), before.map(order)))
            const { review: reviewed } = await check(refunds(hash(2), after.map(order)), onlyNew)
            const left = [...before]
            const fresh = after.filter((n) => {
              const at = left.indexOf(n)
              if (at !== -1) left.splice(at, 1)
              return at === -1
            })
            expect(reviewed.accepted).toBe(fresh.length)
            const known = new Set(before)
            const unknown = fresh.filter((n, i) => !known.has(n) && fresh.indexOf(n) === i)
            // What repeats a recorded row or another one is asked about, once for each.
            expect(reviewed.lookalikes).toBe(fresh.length - unknown.length)
          },
        ),
        { numRuns: tries(60) },
      )
    })
  })

  describe('results of a corrected file that are fed back', () => {
    const ORDERS = ['71', '72', '73', '74'] as const
    const fed = (...retry: RetryStatus[]): Partial<DraftHeader> => ({ fedBack: true, retry })
    const line = (batchId: BatchId, rowNo: number, reference: string, orderId: string, at = rowNo) =>
      rowOf(at, refund(reference, { orderId }), { cameFrom: { batchId, rowNo } })
    const linesOf = (batchId: BatchId, hash = MENDED) =>
      ORDERS.map((orderId, i) => line(batchId, i + 1, made(hash, i + 1), orderId))

    /** Of the first file 71 was paid, 72 failed and 73 was declined; 74 came with the corrected one, and failed. */
    async function corrected(): Promise<{ first: BatchId; mended: BatchId }> {
      const first = await submit(ledger, accountId, refunds(FIRST, ORDERS.slice(0, 3)))
      for (const [i, to] of (['APPROVED', 'FAILED', 'DECLINED'] as const).entries())
        await work(ledger, first, made(FIRST, i + 1), to)
      const mended = await submit(ledger, accountId, refunds(MENDED, ORDERS), onlyNew)
      await work(ledger, mended, made(MENDED, 4), 'FAILED')
      return { first, mended }
    }

    test('send nothing by themselves, and no line of them is a stranger', async () => {
      const { mended } = await corrected()
      const { review: reviewed, faults } = await check(linesOf(mended), fed())
      expect(faults).toEqual([])
      expect(reviewed).toMatchObject({ accepted: 0, duplicate: 4, invalid: 0, lookalikes: 0 })
    })

    test('with --retry failed run the failed rows, each under its own first reference and once', async () => {
      const { first, mended } = await corrected()
      const again = await submit(ledger, accountId, linesOf(mended), fed('FAILED'))
      expect(await statesIn(ledger, again)).toEqual(['DUPLICATE', 'READY', 'DUPLICATE', 'READY'])
      expect((await dueIn(ledger, again)).map(({ attempt, instruction }) => [attempt, instruction.reference])).toEqual([
        [1, made(FIRST, 2)],
        [1, made(MENDED, 4)],
      ])
      await work(ledger, again, made(FIRST, 2), 'APPROVED')
      expect((await rowIn(ledger, first, made(FIRST, 2))).warning).toContain(`row 2 of batch ${again}: APPROVED`)
      expect((await rowIn(ledger, mended, made(MENDED, 2))).reason).toContain(`row 2 of batch ${again}: APPROVED`)
      for (const lines of [linesOf(mended), linesOf(first, FIRST).slice(0, 3)])
        expect((await check(lines, fed('FAILED', 'CANCELLED', 'INVALID'))).review.accepted).toBe(0)
      expect(await auditOf(ledger)).toEqual([])
    })

    test('know a row that was retried meanwhile from the results of the first file', async () => {
      const { first, mended } = await corrected()
      const retried = await submit(ledger, accountId, linesOf(first, FIRST).slice(0, 3), fed('FAILED'))
      const { review: reviewed } = await check(linesOf(mended).slice(0, 3), fed('FAILED'))
      expect(reviewed).toMatchObject({ accepted: 0, duplicate: 3, again: { repeated: expect.anything() } })
      await work(ledger, retried, made(FIRST, 2), 'FAILED')
      const again = await submit(ledger, accountId, linesOf(mended).slice(0, 3), fed('FAILED'))
      expect(await dueIn(ledger, again)).toMatchObject([{ attempt: 2, instruction: { reference: made(FIRST, 2) } }])
    })

    test('pasted together with those of the first file are refused in both lines of one row', async () => {
      const { first, mended } = await corrected()
      const pasted = [line(first, 2, made(FIRST, 2), '72', 1), line(mended, 2, made(MENDED, 2), '72', 2)]
      const { review: reviewed, faults } = await check(pasted, fed('FAILED'))
      expect(reviewed).toMatchObject({ accepted: 0, invalid: 2, unidentified: 0 })
      expect(faults.map(({ rowNo, problem }) => [rowNo, problem])).toEqual([
        [1, 'another line is of the same recorded row (line 3)'],
        [2, 'another line is of the same recorded row (line 2)'],
      ])
    })

    test('whose own results are fed back in turn are known over all of these files', async () => {
      const { mended } = await corrected()
      const once = await submit(ledger, accountId, linesOf(mended), fed())
      const names = [made(FIRST, 1), made(FIRST, 2), made(FIRST, 3), made(MENDED, 4)]
      const lines = ORDERS.map((orderId, i) => line(once, i + 1, names[i] as string, orderId))
      const again = await submit(ledger, accountId, lines, fed('FAILED'))
      expect((await dueIn(ledger, again)).map(({ instruction }) => instruction.reference)).toEqual([
        made(FIRST, 2),
        made(MENDED, 4),
      ])
    })

    test('are refused where a late answer said that the row was executed', async () => {
      const { first, mended } = await corrected()
      const batchId = await submit(ledger, accountId, refunds('1111aaaa1111aaaa', ['81', '82']))
      const row = await work(ledger, batchId, made('1111aaaa1111aaaa', 1), 'FAILED')
      const more = await submit(ledger, accountId, refunds('2222bbbb2222bbbb', ['81', '82', '83']), onlyNew)
      await settle(ledger, row, 'APPROVED', { facts: factsWith('501') })
      const late = line(more, 1, made('2222bbbb2222bbbb', 1), '81')
      const { review: reviewed, faults } = await check([late], fed('FAILED'))
      expect(reviewed).toMatchObject({ accepted: 0, invalid: 1 })
      expect(faults[0]?.problem).toMatch(/may have been executed after all/)
      expect(first).not.toBe(mended)
    })

    test('are refused where a line asks for something else, or names the place of another', async () => {
      const { mended } = await corrected()
      const lines = [
        rowOf(1, refund(made(MENDED, 2), { orderId: '72', amountMinor: 5n }), {
          cameFrom: { batchId: mended, rowNo: 2 },
        }),
        line(mended, 3, made(MENDED, 1), '71', 2),
        rowOf(3, refund(made(MENDED, 1), { orderId: '71' })),
      ]
      const { review: reviewed, faults } = await check(lines, fed('FAILED'))
      expect(reviewed).toMatchObject({ accepted: 0, invalid: 3 })
      expect(faults.map(({ rowNo }) => rowNo)).toEqual(expect.arrayContaining([1, 2, 3]))
    })

    test('that became unreadable are a fault only of rows that would run again', async () => {
      const { mended } = await corrected()
      const unread = [1, 2].map((rowNo) =>
        faultyRow(rowNo, made(MENDED, rowNo), { cameFrom: { batchId: mended, rowNo } }),
      )
      expect((await check(unread, fed())).review).toMatchObject({ duplicate: 2, invalid: 0 })
      expect((await check(unread, fed('FAILED'))).review).toMatchObject({ duplicate: 1, invalid: 1, unidentified: 0 })
    })

    test('leave out again what was left out because it asks for something else', async () => {
      const roster = (vaultId: string) => [sale('k/a', '41'), sale('k/b', vaultId), sale('k/c', '43')]
      const first = await submit(ledger, accountId, roster('42'), { runKey: 'k' })
      for (const reference of ['k/a', 'k/b']) await work(ledger, first, reference, 'FAILED')
      const mended = await submit(ledger, accountId, [...roster('99'), sale('k/d', '44')], { runKey: 'k', ...onlyNew })
      const lines = [...roster('99'), sale('k/d', '44')].map((row, i) =>
        rowOf(i + 1, row, { cameFrom: { batchId: mended, rowNo: i + 1 } }),
      )
      const { review: reviewed } = await check(lines, fed('FAILED'))
      expect(reviewed).toMatchObject({ accepted: 1, duplicate: 3, invalid: 0, again: { changed: 1 } })
      const edited = lines.map((row) => (row.rowNo === 2 ? { ...row, instruction: sale('k/b', '98') } : row))
      expect((await check(edited, fed('FAILED'))).review).toMatchObject({ accepted: 1, invalid: 1 })
    })
  })

  describe('a roster that comes again under its run key', () => {
    const DECEMBER: Partial<DraftHeader> = { runKey: '2026-12' }
    const roster = (...rows: readonly (readonly [string, string])[]): Instruction[] =>
      rows.map(([name, vaultId]) => sale(`2026-12/${name}`, vaultId, { details: { cust_email: `${name}@a.example` } }))

    test('charges a new subscriber, though card and price are those of another one', async () => {
      await submit(ledger, accountId, roster(['sub-1', '41'], ['sub-2', '42']), DECEMBER)
      const { review: reviewed } = await check(roster(['sub-1', '41'], ['sub-2', '42'], ['sub-3', '42']), DECEMBER)
      expect(reviewed).toMatchObject({ accepted: 1, duplicate: 2, lookalikes: 0 })
    })

    test('holds two subscriptions of one card', async () => {
      expect((await check(roster(['sub-1', '41'], ['sub-2', '41']), DECEMBER)).review.lookalikes).toBe(0)
    })

    test('without references is asked about two charges of one card; references of its own may look the same', async () => {
      const charges = (isMade: boolean) =>
        roster([made(FIRST, 1), '41'], [made(FIRST, 2), '41']).map((row, i) => rowOf(i + 1, row, { made: isMade }))
      expect((await check(charges(true), DECEMBER)).review.lookalikes).toBe(1)
      expect((await check(charges(false), DECEMBER)).review.lookalikes).toBe(0)
    })

    test('is asked about a subscriber whose card and price a row has that the roster no longer holds', async () => {
      await submit(ledger, accountId, roster(['sub-1', '41'], ['sub-2', '42']), DECEMBER)
      const { review: reviewed } = await check(roster(['sub-1', '41'], ['sub-9', '42']), DECEMBER)
      expect(reviewed).toMatchObject({ accepted: 1, duplicate: 1, lookalikes: 1 })
    })

    test('is refused where a card was replaced, and leaves that row out where only new rows are wanted', async () => {
      const batchId = await submit(ledger, accountId, roster(['sub-1', '41'], ['sub-2', '42']), DECEMBER)
      const replaced = roster(['sub-1', '41'], ['sub-2', '99'], ['sub-3', '43'])
      expect((await check(replaced, DECEMBER)).review).toMatchObject({ accepted: 1, duplicate: 1, invalid: 1 })
      const { draft, review: reviewed } = await review(
        ledger,
        headerOf(accountId, { ...DECEMBER, ...onlyNew }),
        replaced,
      )
      expect(reviewed).toMatchObject({ accepted: 1, duplicate: 2, invalid: 0, again: { changed: 1 } })
      const again = await draft.record(CLERK)
      expect(await ledger.batch(again)).toMatchObject({ duplicateOf: { READY: 2 }, duplicatesChanged: 1 })
      const { reason, repeats } = await rowIn(ledger, again, '2026-12/sub-2')
      expect([reason, repeats?.warned]).toEqual([
        `the reference is row 2 of batch ${batchId}: PENDING, recorded with other content (vault id); not sent`,
        true,
      ])
    })

    test('is asked about a subscriber with the card that another one had when it was charged', async () => {
      await submit(ledger, accountId, roster(['sub-1', '41'], ['sub-2', '42']), DECEMBER)
      const renamed = roster(['sub-1', '41'], ['sub-2', '99'], ['sub-3', '42'])
      const { review: reviewed } = await check(renamed, { ...DECEMBER, ...onlyNew })
      expect(reviewed).toMatchObject({ accepted: 1, duplicate: 2, lookalikes: 1 })
    })

    test('whose numbers have moved on is refused even where only new rows are wanted', async () => {
      await submit(ledger, accountId, roster(['1', '41'], ['2', '42'], ['3', '43']), DECEMBER)
      const moved = roster(['1', '40'], ['2', '41'], ['3', '42'], ['4', '43'])
      const { review: reviewed } = await check(moved, { ...DECEMBER, ...onlyNew })
      expect(reviewed).toMatchObject({ invalid: 3, accepted: 1, lookalikes: 1 })
    })

    test('in which a line was put between numbered ones is refused, though few rows changed', async () => {
      const numbered = (ids: readonly string[]) => roster(...ids.map((vaultId, i) => [String(i + 1), vaultId] as const))
      await submit(ledger, accountId, numbered(['41', '42', '43', '44', '45']), DECEMBER)
      const { review: reviewed } = await check(numbered(['41', '42', '43', '49', '44', '45']), {
        ...DECEMBER,
        ...onlyNew,
      })
      expect(reviewed).toMatchObject({ invalid: 2 })
    })

    test('of captures is asked about two of one order', async () => {
      const rows = ['a', 'b'].map((name, i) =>
        rowOf(i + 1, refund(`2026-12/${name}`, { operation: 'CAUTH', orderId: '7' })),
      )
      expect((await check(rows, DECEMBER)).review.lookalikes).toBe(1)
    })
  })
}
