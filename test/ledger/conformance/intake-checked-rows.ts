// The rows of a draft as they were understood, with what would become of each.

import { describe, expect, test } from 'vitest'
import type { DraftHeader, DraftRow } from '../../../src/domain/draft.ts'
import type { Instruction } from '../../../src/domain/instruction.ts'
import { EUR, faultyRow, headerOf, listOf, refund, review, rowOf, submit } from '../../fixtures/ledgers.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'
import { FIRST, MENDED, refunds } from './given.ts'

export function describeCheckedRows(): void {
  async function look(rows: readonly (Instruction | DraftRow)[], over: Partial<DraftHeader> = {}) {
    const { draft, review: reviewed } = await review(ledger, headerOf(accountId, over), rows)
    const checked = await listOf(draft.rows())
    await draft.discard()
    return { reviewed, checked, statuses: checked.map(({ status }) => status) }
  }

  describe('rows: the rows of a draft', () => {
    test('are all there as they were understood, in file order, over many pages', async () => {
      const many = Array.from({ length: 1_001 }, (_, i) => refund(`R-${i + 1}`, { orderId: String(i + 1) }))
      const { checked, reviewed } = await look(many)
      expect(checked.map(({ rowNo }) => rowNo)).toEqual(many.map((_, i) => i + 1))
      expect(reviewed).toMatchObject({ rows: 1_001, accepted: 1_001 })
      expect(checked[500]).toEqual({
        ...{ rowNo: 501, line: 502, reference: 'R-501', status: 'accepted', operation: 'REFUND' },
        ...{ amountMinor: 1_000n, currency: EUR, orderId: '501', vaultId: null, dueAtMs: null, cellsJson: '["R-501"]' },
      })
    })

    test('keep an amount of fifteen digits, a due time and cells with any sign', async () => {
      const executeAtMs = 1_800_000_000_000
      const row = rowOf(1, refund('R-1', { amountMinor: 999_999_999_999_999n, executeAtMs }), {
        cells: ['a"b\\', 'ü\u2028\u202e', '=1+1'],
      })
      const { checked } = await look([row])
      expect(checked).toMatchObject([{ amountMinor: 999_999_999_999_999n, dueAtMs: executeAtMs }])
      expect(JSON.parse(checked[0]?.cellsJson ?? '')).toEqual(row.cells)
    })

    test('say what would become of each, and tie out with the counts of the review', async () => {
      await submit(ledger, accountId, [refund('R-1')])
      const { statuses, reviewed } = await look([
        rowOf(1, refund('R-1')),
        rowOf(2, refund('R-2')),
        faultyRow(3, 'R-3'),
        rowOf(4, refund('R-4')),
        rowOf(5, refund('R-4')),
      ])
      expect(statuses).toEqual(['duplicate', 'accepted', 'invalid', 'invalid', 'invalid'])
      expect(reviewed).toMatchObject({ rows: 5, accepted: 1, duplicate: 1, invalid: 3 })
    })

    test('of a bad row have no more than could be read', async () => {
      const { checked } = await look([
        { ...faultyRow(1, 'R-1'), money: { amountMinor: 70n, currency: EUR } },
        faultyRow(2, 'R-2'),
      ])
      expect(checked).toMatchObject([
        { operation: null, amountMinor: 70n, currency: EUR, orderId: null },
        { operation: null, amountMinor: null, currency: null, orderId: null },
      ])
    })

    test('that earlier files hold are left out', async () => {
      await submit(ledger, accountId, refunds(FIRST, ['71', '72']))
      const { statuses, reviewed } = await look(refunds(MENDED, ['72', '74', '71']), { onlyNew: true })
      expect(statuses).toEqual(['left_out', 'accepted', 'left_out'])
      expect(reviewed).toMatchObject({ accepted: 1, duplicate: 2 })
    })

    test('that ask for something else under a recorded reference are left out where only new ones are wanted', async () => {
      await submit(ledger, accountId, [refund('R-1'), refund('R-2'), refund('R-3')])
      const { statuses } = await look([refund('R-1'), refund('R-2'), refund('R-3', { amountMinor: 5n })], {
        onlyNew: true,
      })
      expect(statuses).toEqual(['duplicate', 'duplicate', 'left_out'])
    })
  })
}
