// Where a column is missing, the columns that look like it by what they hold are named.

import { describe, expect, test } from 'vitest'
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

describe('card data in a file that lacks columns', () => {
  const VAULT = 'first_name,card_number,card_exp_mm,card_exp_yy,card_cvv'
  const lines = (count: number, line: (i: number) => string) => Array.from({ length: count }, (_, i) => line(i))
  const card = '4111111111111111'

  test.each([
    ['a list for the vault', {}, VAULT, [`Ann,${card},12,30,123`]],
    ['the same, read as refunds', REFUND, VAULT, [`Ann,${card},12,30,123`]],
    ['a security code alone', REFUND, 'amount;currency;CVV', ['5,00;EUR;123']],
    ['a card beside refunds', REFUND, 'amount;currency;Karte', [`5,00;EUR;${card}`]],
    ['a card far below', REFUND, 'amount;currency;note', [...lines(900, () => '5,00;EUR;a'), `5,00;EUR;card ${card}`]],
    ['a security code in a text', REFUND, 'amount;currency;note', ['5,00;EUR;CVV: 123']],
    ['a file without names', REFUND, `5,00;EUR;7`, [`6,00;EUR;${card}`]],
    ['below a title', REFUND, 'My refunds', ['amount;currency;Karte', `5,00;EUR;${card}`]],
  ])('makes it card data, and says what is missing: %s', async (_, said, header, body) => {
    expect(await refusalOf(rows(header, ...body), said)).toMatchObject({ code: 'card-data' })
  })

  test('in a workbook as well', async () => {
    const table = [VAULT.split(','), ['Ann', card, '12', '30', '123']]
    const fault = await refusalOf(zip(partsOf({ A: rowsOf(table) })), REFUND)
    expect([fault.code, fault.problem]).toEqual(['card-data', expect.stringContaining('no column amount')])
  })

  test('is not what is masked, what is taken there, or ids of which one in ten has a check digit', async () => {
    const ids = lines(40, (i) => `5,00;EUR;41111111111111${String(i + 10)}`)
    for (const [said, file] of [
      [REFUND, rows('amount;currency;card_number', '5,00;EUR;411111******1111')],
      [REFUND, rows('amount;currency;Ref', ...ids)],
      [{ operation: 'VAULT_CREATE', cards: 'taken', nowMs: 0 }, rows(VAULT, `Ann,${card},12,30,123`)],
    ] as const)
      expect(await refusalOf(file, said)).toMatchObject({
        code: 'structure',
        problem: expect.stringContaining('no column'),
      })
  })

  test('is in no column that is proposed', async () => {
    const { remedy } = await refusalOf(rows('amount;currency;Karte;Invoice No', `5,00;EUR;${card};700000001`), REFUND)
    expect(remedy).toContain('"Invoice No"')
    expect(remedy).not.toContain('"Karte"')
  })
})
