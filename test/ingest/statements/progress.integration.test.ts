// Columns that say how far the money of a row has come, and that nothing reads.

import { describe, expect, test } from 'vitest'
import { isProblem } from '../../../src/domain/problem.ts'
import { parseColumnMap } from '../../../src/ingest/columns.ts'
import { partsOf, rowsOf, zip } from '../sheets.ts'
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
    ['Status', ['Refunded', 'partially_refunded', 'Paid']],
    ['Status', ['vip', 'regular']],
    ['STATUS', ['SUCCESS', '']],
    ['rma-status', ['Pending Receipt', 'Refunded', 'Closed']],
    ['Status', ['Refunded', 'To refund']],
    ['Status', ['done', 'open']],
    ['Status', ['SUCCESS', 'NEW']],
    ['Order Status', ['refunded', 'processing']],
    ['returnStatus', ['refunded', 'new']],
    ['Estado', ['reembolsado', 'nuevo']],
    ['Erstattungsstatus', ['erstattet', 'offen']],
    ['状態', ['返金済み', '未処理']],
    ['Refunded', ['yes', 'no']],
    ['Refunded?', ['x', '']],
    ['already_processed', ['✓', '']],
    ['Refunded', ['5.00', '0.00']],
    ['Erledigt', ['ja', 'nein']],
    ['Remboursé', ['oui', '']],
    ['paid', ['TRUE', 'FALSE']],
    ['refunded_at', ['2026-11-01', '']],
    ['Refund ID', ['', 're_1', 're_2']],
    ['Erstattet am', ['1.11.2026', '', '2.11.2026']],
    ['transaction id of the refund', ['7', '']],
    ['Terugbetaald', ['ja', '', 'ja']],
    ['Gutgeschrieben', ['x', '']],
    ['Bearbeitet', ['ja', 'nein']],
    ['Credited', ['yes', 'no']],
    ['Zwrócono', ['tak', 'nie']],
    ['対応済', ['○', '']],
    ['Info', ['', 'x']],
    ['Result', ['Denied', '', '']],
    ['Outcome', ['', 'Refunded']],
    ['Kontrolle', ['✓', '', 'ok']],
  ])('%s with %j refuses the file until it is ignored', async (name, cells) => {
    const fault = await refusalOf(fileOf(name, ...cells), REFUND)
    expect(fault.problem).toMatch(/says how far a row has come \(.* and it is not read: every row would be sent/)
    expect(fault.remedy).toContain(`--map "${name}=ignore"`)
    const map = [{ column: name, field: null }]
    expect((await readWhole(fileOf(name, ...cells), { ...REFUND, map })).rows).toHaveLength(cells.length)
  })

  test.each([
    ['Payout Status', ['paid', 'pending']],
    ['Fulfillment Status', ['fulfilled', 'pending']],
    ['Dispute Status', ['', 'declined']],
    ['State', ['CA', 'NY']],
    ['Reason', ['failed delivery', 'late', 'declined']],
    ['Reason', ['declined', 'declined']],
    ['Note', ['ok', 'paid']],
    ['Info', ['Umsatz gebucht', 'Umsatz gebucht']],
    ['Status', ['to refund', 'To Refund']],
    ['Status', ['', '']],
    ['Paid', ['yes', 'yes']],
    ['Refunded', ['no', 'no']],
    ['refund_id', ['a', 'b']],
    ['Refund requested at', ['2026-11-01', '']],
    ['Refund reason', ['late', '']],
    ['Refunded by', ['Ann', '']],
    ['Payee', ['Ann', 'Bob']],
    ['Status date', ['2026-11-01', '2026-11-02']],
    ['Refunded Amount', ['1.00', '2.00']],
    ['Bearbeitet von', ['Anna', '']],
    ['Decline reason', ['expired', '']],
    ['Note', ['x', '']],
    ['Express', ['ja', '']],
    ['Grade', ['x', 'xx']],
    ['Grade', ['x', '', 'y']],
    ['VIP', ['x', 'x']],
  ])('%s with %j is carried through', async (name, cells) => {
    expect((await readWhole(fileOf(name, ...cells), REFUND)).rows).toHaveLength(cells.length)
  })

  test('says nothing where only rows without an amount are not done', async () => {
    const file = 'amount;currency;order_id;Status\n5.00;EUR;1;Paid\n0.00;EUR;2;Failed\n;EUR;3;Failed\n'
    expect((await readWhole(file, REFUND)).rows).toHaveLength(3)
  })

  test.each([
    ['STATUS', 'SUCCESS'],
    ['refund_status', 'Success'],
    ['Status', 'Refunded'],
    ['refunded_at', '2026-11-01T10:00:00Z'],
    ['Erstattet am', '1.11.2026'],
    ['Refunded?', 'x'],
    ['Erledigt', 'ja'],
    ['état du remboursement', 'remboursé'],
  ])('%s with %s in every row refuses refunds and voids, and is told of sales', async (name, cell) => {
    const problem = `the column "${name}" says "${cell}" in every row, as if the file was carried out already`
    const voids = `order_id;${name}\n100;${cell}\n101;${cell}\n`
    const mixed = `transaction_type;${fileOf(name, cell, cell).replaceAll('\n5', '\nREFUND;5')}`
    for (const [file, said] of [
      [fileOf(name, cell, cell), REFUND],
      [voids, { operation: 'CANCEL' }],
      [mixed, {}],
    ] as const) {
      const fault = await refusalOf(file, said)
      expect([fault.problem, fault.remedy]).toEqual([problem, expect.stringContaining(`--map "${name}=ignore"`)])
      const map = [{ column: name, field: null }]
      expect((await readWhole(file, { ...said, map })).rows).toHaveLength(2)
    }
    const sales = `amount;currency;vault_id;${name}\n5.00;EUR;7;${cell}\n`
    const { survey } = await readWhole(sales, { operation: 'CAPTURE' })
    expect(survey.warnings).toEqual([expect.stringContaining(problem.slice(1))])
  })

  test('a list of voids that is half done is refused, and one of cards is not asked', async () => {
    const fault = await refusalOf('order_id;Voided\n100;yes\n101;\n', { operation: 'CANCEL' })
    expect(fault.problem).toContain('"yes" in line 2, and nothing in line 3')
    const cards = 'customer_vault_id;Status\n7;active\n8;done\n'
    expect((await readWhole(cards, { operation: 'VAULT_DELETE' })).rows).toHaveLength(2)
  })

  test('a workbook is read in the same way, and every such column is named at once', async () => {
    const table = [
      ['amount', 'currency', 'order_id', 'STATUS', 'refunded_at'],
      ['5.00', 'EUR', '100', 'SUCCESS', '2026-11-01'],
      ['6.00', 'EUR', '101', '', ''],
    ]
    const { problem, remedy } = await refusalOf(zip(partsOf({ A: rowsOf(table) })), REFUND)
    expect(`${problem} ${remedy}`).toMatch(/"STATUS" says how far.*--map "STATUS=ignore".*--map "refunded_at=ignore"/)
  })

  test('of a column that may say what is done, only what is not done refuses the file', async () => {
    const map = parseColumnMap([{ column: 'Status', field: 'done' }])
    if (isProblem(map)) throw new Error(map.problem)
    for (const cells of [['Completed'], ['Refunded', 'Paid'], ['Completed', 'anything']])
      expect((await readWhole(fileOf('Status', ...cells), { ...REFUND, map })).rows).toHaveLength(cells.length)
    expect((await refusalOf(fileOf('Status', 'Completed', 'Denied'), { ...REFUND, map })).problem).toContain('"Denied"')
    expect((await readWhole(fileOf('Note', 'a'), { ...REFUND, map })).rows).toHaveLength(1)
  })
})
