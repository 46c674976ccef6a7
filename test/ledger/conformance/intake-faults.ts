// What is wrong with a draft: every fault, the few lines a person reads of many, and the rows to be mended.

import { describe, expect, test } from 'vitest'
import type { Draft, DraftHeader, DraftReview, DraftRow, RowFault } from '../../../src/domain/draft.ts'
import { EUR, faultyRow, headerOf, listOf, refund, review, rowOf, submit } from '../../fixtures/ledgers.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'

export function describeFaults(): void {
  async function look<T>(
    rows: readonly DraftRow[],
    see: (draft: Draft, review: DraftReview) => Promise<T>,
    over: Partial<DraftHeader> = {},
  ): Promise<T> {
    const { draft, review: reviewed } = await review(ledger, headerOf(accountId, over), rows)
    try {
      return await see(draft, reviewed)
    } finally {
      await draft.discard()
    }
  }

  const good = (rowNo: number, reference = `R-${rowNo}`) => rowOf(rowNo, refund(reference))
  const bad = (rowNo: number, ...faults: Partial<RowFault>[]) => {
    const row = faultyRow(rowNo, `R-${rowNo}`)
    return { ...row, faults: faults.map((over) => ({ ...(row.faults[0] as RowFault), ...over })) }
  }
  const badRows = (from: number, count: number, over: Partial<RowFault> = {}) =>
    Array.from({ length: count }, (_, i) => bad(from + i, over))

  describe('causes: the causes of a refusal', () => {
    test('that five rows share are named row by row; that six share is one line', async () => {
      const five = await look(badRows(1, 5), (draft) => draft.causes(50))
      expect(five.map(({ rows, firstLine, lastLine }) => [rows, firstLine, lastLine])).toEqual(
        [2, 3, 4, 5, 6].map((line) => [1, line, line]),
      )
      expect(await look(badRows(1, 6), (draft) => draft.causes(50))).toEqual([
        {
          ...{ rows: 6, firstLine: 2, lastLine: 7, together: true, column: 'amount', value: 'ten', sameValue: true },
          ...{ problem: 'not an amount', remedy: 'write 10.00' },
        },
      ])
    })

    test('stand in the order of their first rows, and say whether rows and values are all alike', async () => {
      const rows = [
        bad(1, { column: 'currency', value: null, problem: 'is empty' }),
        good(2),
        ...Array.from({ length: 8 }, (_, i) => bad(3 + 2 * i, { value: `${i}x` })),
        bad(4, { column: null, value: null, problem: 'is odd' }),
      ].toSorted((a, b) => a.rowNo - b.rowNo)
      const causes = await look(rows, (draft) => draft.causes(50))
      expect(causes.map(({ rows: count, firstLine, lastLine }) => [count, firstLine, lastLine])).toEqual([
        [1, 2, 2],
        [8, 4, 18],
        [1, 5, 5],
      ])
      expect(causes[1]).toMatchObject({ together: false, value: '0x', sameValue: false })
      expect(causes[2]).toMatchObject({ column: null, value: null })
    })

    test('leave out what is of one row only: a file pasted twice is one line', async () => {
      const rows = Array.from({ length: 20 }, (_, i) => good(i + 1, `R-${i % 10}`))
      const causes = await look(rows, (draft) => draft.causes(50))
      expect(causes).toMatchObject([
        { rows: 20, column: 'reference', problem: 'the reference is in more than one row of this file' },
      ])
    })

    test('are no more than asked for, whatever the file', async () => {
      const rows = badRows(1, 60).map((row, i) => bad(row.rowNo, { problem: `is wrong in way ${i}` }))
      const { causes, faults } = await look(rows, async (draft, { faults: count }) => ({
        causes: await draft.causes(50),
        faults: count,
      }))
      expect(causes).toHaveLength(50)
      expect(causes.at(-1)).toMatchObject({ firstLine: 51 })
      expect(faults).toBe(60)
    })
  })

  describe('rejects: the rejects', () => {
    test('are whole rows in file order, each once with all that is wrong with it', async () => {
      const rows = [
        { ...good(1), cells: ['R-1', 'a'] },
        { ...bad(2, { value: '1x' }, { column: 'currency', value: null }), cells: ['R-2', 'b'] },
        { ...bad(3, {}), cells: ['R-3', 'c'] },
        { ...good(4, 'R-1'), cells: ['R-1', 'd'] },
      ]
      const rejects = await look(rows, (draft) => listOf(draft.rejects()))
      expect(rejects.map(({ rowNo, line, cells, faults }) => [rowNo, line, cells[1], faults.length])).toEqual([
        [1, 2, 'a', 1],
        [2, 3, 'b', 2],
        [3, 4, 'c', 1],
        [4, 5, 'd', 1],
      ])
      expect(rejects[1]).toMatchObject({ reference: 'R-2', cameFrom: null, faults: [{ value: '1x' }, { value: null }] })
    })

    test('of fed-back results tell where they came from', async () => {
      const batchId = await submit(ledger, accountId, [refund('R-1')])
      const stranger = { ...good(1, 'R-9'), cameFrom: { batchId, rowNo: 9 } }
      const rejects = await look([stranger], (draft) => listOf(draft.rejects()), { fedBack: true })
      expect(rejects).toMatchObject([{ reference: 'R-9', cameFrom: { batchId, rowNo: 9 } }])
    })

    test('are none where nothing is wrong', async () => {
      expect(await look([good(1)], async (draft) => [await listOf(draft.rejects()), await draft.causes(50)])).toEqual([
        [],
        [],
      ])
    })
  })

  describe('review: the amounts of a draft', () => {
    const amount = (rowNo: number, amountMinor: bigint, reference = `R-${rowNo}`) =>
      rowOf(rowNo, refund(reference, { amountMinor }))

    test('show the smallest and the largest that would be sent, each with its first line', async () => {
      const rows = [amount(1, 500n), amount(2, 100n), amount(3, 900n), amount(4, 100n), amount(5, 900n)]
      const { extents } = await look(rows, async (_, reviewed) => reviewed)
      expect(extents).toEqual([
        {
          ...{ operation: 'REFUND', currency: 'EUR' },
          smallest: { line: 3, amountMinor: 100n },
          largest: { line: 4, amountMinor: 900n },
        },
      ])
    })

    test('add up over every row as read, also recorded ones and bad ones with a readable amount', async () => {
      await submit(ledger, accountId, [refund('R-1', { amountMinor: 500n })])
      const money = { amountMinor: 70n, currency: EUR }
      const rows: DraftRow[] = [
        amount(1, 500n),
        amount(2, 100n),
        amount(3, 7n, 'R-2'),
        { ...bad(4, { column: 'request_ref_po_id' }), money },
        { ...bad(5, {}), money: 'unread' },
        { ...bad(6, { column: 'execute_at' }), money: null },
      ]
      const reviewed = await look(rows, async (_, seen) => seen)
      expect(reviewed).toMatchObject({ rows: 6, duplicate: 1, invalid: 5, amountsUnread: 1, extents: [] })
      expect(reviewed.totalsRead.reduce((sum, total) => sum + total.amountMinor, 0n)).toBe(677n)
      expect(reviewed.totalsRead.reduce((sum, total) => sum + total.count, 0)).toBe(4)
    })
  })
}
