// Columns that say how far the money of a row has come, and that nothing reads.

import { describe, expect, test } from 'vitest'
import { readWhole, refusalOf, toCsv } from '../table.ts'

const REFUND = { operation: 'REFUND' } as const
const fileOf = (name: string, ...cells: readonly string[]) =>
  toCsv(
    [['amount', 'currency', 'order_id', name], ...cells.map((cell, i) => ['5.00', 'EUR', `${100 + i}`, cell])],
    ';',
    '\n',
  )

describe('a column that says how far a row has come', () => {
  test.each([
    ['Status', ['Completed', 'Denied']],
    ['status', ['Pending', 'Pending']],
    ['Payment Status', ['Paid', '', 'failed']],
    ['Buchungsstatus', ['gebucht', 'Ausstehend']],
    ['Info', ['Umsatz gebucht', 'Umsatz vorgemerkt']],
    ['Info', ['Umsatz vorgemerkt']],
    ['Remarks', ['ok', 'on hold']],
    ['Status', ['new customer', 'Denied']],
  ])('%s with %j refuses the file until it is ignored', async (name, cells) => {
    const fault = await refusalOf(fileOf(name, ...cells), REFUND)
    expect(fault.problem).toMatch(/says how far a row has come \(.* and it is not read: every row would be sent/)
    expect(fault.remedy).toContain(`--map "${name}=ignore"`)
    const map = [{ column: name, field: null }]
    expect((await readWhole(fileOf(name, ...cells), { ...REFUND, map })).rows).toHaveLength(cells.length)
  })

  test.each([
    ['Status', ['Refunded', 'partially_refunded', 'Paid']],
    ['Status', ['vip', 'regular']],
    ['Payout Status', ['paid', 'pending']],
    ['Fulfillment Status', ['fulfilled', 'pending']],
    ['Dispute Status', ['', 'declined']],
    ['State', ['CA', 'NY']],
    ['Reason', ['failed delivery', 'late', 'declined']],
    ['Reason', ['declined', 'declined']],
    ['Note', ['ok', 'paid']],
    ['Info', ['Umsatz gebucht', 'Umsatz gebucht']],
  ])('%s with %j is carried through', async (name, cells) => {
    expect((await readWhole(fileOf(name, ...cells), REFUND)).rows).toHaveLength(cells.length)
  })

  test('says nothing where only rows without an amount are not done', async () => {
    const file = 'amount;currency;order_id;Status\n5.00;EUR;1;Paid\n0.00;EUR;2;Failed\n;EUR;3;Failed\n'
    expect((await readWhole(file, REFUND)).rows).toHaveLength(3)
  })
})
