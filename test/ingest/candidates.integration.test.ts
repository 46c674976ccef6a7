// Where a column is missing, the columns that look like it by what they hold are named.

import { expect, test } from 'vitest'
import { partsOf, rowsOf, zip } from './sheets.ts'
import { readWhole, refusalOf } from './table.ts'

const REFUND = { operation: 'REFUND' } as const
const rows = (header: string, ...lines: readonly string[]) => [header, ...lines, ''].join('\n')
const ACTIVITY = rows(
  'Date;Type;Cur;Gross;Fee;Net;Invoice Number;Order Number;Phone;Items',
  '01.12.2026;Refund;EUR;-1.024,90;0,00;-1.024,90;700000001;500000001;491511234567;3',
  '02.12.2026;Refund;EUR;-20,00;0,59;-19,41;700000002;500000002;491511234568;1',
)

test('columns are named by their cells: amounts, currencies, ids, and never an order number', async () => {
  const file = rows(
    'Date;Cur;Gross;Fee;Invoice Number;Order Number;Bestell-Nr;Phone;Day;Items',
    ...Array.from(
      { length: 3 },
      (_, i) => `01.12.2026;EUR;-${i}1,90;0,00;70000000${i};50000000${i};60000000${i};491511234567;20261201;3`,
    ),
  )
  const { remedy } = await refusalOf(file, REFUND)
  expect(remedy).toMatch(
    /\. In this file there are columns with amounts: "Gross", "Fee"; with currencies: "Cur"; with numbers of 9 digits: "Invoice Number"$/,
  )
})

test('they are named in a workbook as well, and nothing is read as what is missing', async () => {
  const table = ACTIVITY.trim()
    .split('\n')
    .map((line) => line.split(';'))
  const fault = await refusalOf(zip(partsOf({ A: rowsOf(table) })), REFUND)
  expect(fault.problem).toContain('no column amount, request_currency, request_ref_po_id')
  expect(fault.remedy).toContain(
    'columns with amounts: "Gross", "Fee", "Net"; with currencies: "Cur"; with numbers of 9 digits: "Invoice Number"',
  )
  const map = [
    { column: 'Gross', field: 'amount' as const },
    { column: 'Cur', field: 'request_currency' as const },
    { column: 'Invoice Number', field: 'request_ref_po_id' as const },
  ]
  expect((await readWhole(ACTIVITY, { ...REFUND, sign: 'minus', map })).rows).toHaveLength(2)
})

test('only what is missing is looked for', async () => {
  const { remedy } = await refusalOf(rows('Amount;Currency;Fee;Ref Id', '5,00;EUR;1,00;700000001'), REFUND)
  expect(remedy).toContain('In this file there are columns with numbers of 9 digits: "Ref Id"')
  expect(remedy).not.toContain('with amounts')
})

test('a file without such columns, or without rows, is refused as it was', async () => {
  for (const file of ['name;city\na;b\n', 'name;city\n'])
    expect((await refusalOf(file, REFUND)).remedy).not.toContain('In this file')
  const twice = await refusalOf('amount;Betrag;Nr\n5,00;6,00;700000001\n', REFUND)
  expect([twice.problem, twice.remedy]).toEqual([
    expect.stringContaining('both mean amount'),
    expect.not.stringContaining('In this file'),
  ])
})

test('what is wrong further down does not hide which column is missing', async () => {
  const fault = await refusalOf('Gross;Currency;No\n5,00;EUR;700000001\n6,00;EUR;"7\n', REFUND)
  expect(fault.problem).toContain('no column amount')
})
