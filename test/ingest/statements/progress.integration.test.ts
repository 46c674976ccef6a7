// Columns that say how far the money of a row has come, whether and when it may move and which way, and that nothing reads.

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
    ['Refund paid on', ['2026-11-01', '']],
    ['Refunded via', ['PayPal', '']],
    ['Booking status', ['Cancelled by guest', 'Confirmed']],
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
    ['Paid on', ['2026-11-01', '2026-11-02']],
    ['paid_at', ['2026-11-01', '']],
    ['Paid with', ['Visa', 'Amex']],
    ['Booking status', ['Cancelled by guest', 'Cancelled by venue']],
  ])('%s with %j is carried through', async (name, cells) => {
    expect((await readWhole(fileOf(name, ...cells), REFUND)).rows).toHaveLength(cells.length)
  })

  test('of the payment, when it was made is told of sales and of no voids, and how it was made of none', async () => {
    const paid = fileOf('Paid on', '2026-11-01', '2026-11-02')
    const { survey } = await readWhole(paid.replace('order_id', 'vault_id'), { operation: 'CAPTURE' })
    expect(survey.warnings).toEqual([expect.stringContaining('as if the file was carried out already')])
    for (const operation of ['CAPTURE', 'CAUTH'] as const) {
      const half = fileOf('Paid on', '2026-11-01', '').replace(
        'order_id',
        operation === 'CAUTH' ? 'order_id' : 'vault_id',
      )
      expect((await refusalOf(half, { operation })).problem).toContain('says how far a row has come')
    }
    expect((await readWhole('order_id;Paid on\n100;2026-11-01\n', { operation: 'CANCEL' })).rows).toHaveLength(1)
    const how = fileOf('Paid with', 'Visa', 'Amex').replace('order_id', 'vault_id')
    expect((await readWhole(how, { operation: 'CAPTURE' })).survey.warnings).toEqual([])
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

const NOW = { nowMs: Date.parse('2026-11-28T12:00:00Z') }
const REFUND_NOW = { ...REFUND, ...NOW }
const SALE = { operation: 'CAPTURE', ...NOW } as const
const salesOf = (name: string, ...cells: readonly string[]) => fileOf(name, ...cells).replace('order_id', 'vault_id')
const said = (column: string, field: 'amount' | 'execute_at' | null) => ({ map: [{ column, field }] })

describe('a column that decides row by row', () => {
  test.each([
    ['Decision', ['approve', 'reject']],
    ['Remarks', ['Accepted', 'denied']],
    ['Ergebnis', ['genehmigt', 'abgelehnt']],
    ['Kundenstatus (Abo)', ['aktiv', 'inaktiv']],
    ['Environment', ['live', 'test']],
    ['', ['Approved', 'on hold']],
    ['Approved', ['yes', 'no']],
    ['Approved?', ['TRUE', 'FALSE', '']],
    ['Approved by finance', ['y', 'n']],
    ['Genehmigt', ['ja', 'nein']],
    ['Eligible', ['Y', 'N']],
    ['Pay?', ['yes', 'no']],
    ['OK?', ['ok', '']],
    ['Approved', ['ok', '', 'no']],
    ['Freigabe', ['', 'x']],
    ['à rembourser', ['oui', 'non']],
    ['Aprobado', ['sí', 'no']],
    ['include_in_refund', ['1', '0']],
    ['Payment method', ['card', 'PayPal']],
    ['Refund to', ['card', 'voucher', 'store credit']],
    ['Refund type', ['full', 'voucher']],
    ['Paid with', ['Visa', 'PayPal']],
    ['Refundable', ['yes', 'no']],
    ['gateway', ['Alpha', 'Beta']],
    ['Zahlungsart', ['Kreditkarte', 'Überweisung']],
    ['How', ['Visa 4242', 'bank transfer']],
    ['Notes', ['', 'DO NOT PAY', 'thanks']],
    ['Comment', ['already refunded by Ann 12.11.', 'late']],
    ['Bemerkung', ['bitte noch nicht auszahlen', '']],
    ['Note', ['', 'bereits am Montag erstattet', '']],
    ['Memo', ['duplicate', 'late delivery']],
    ['Merchant', ['shop', 'Hotel']],
    ['Decision', ['Yes', 'No']],
    ['Outcome', ['upheld', 'dismissed']],
    ['Resolution', ['refund', 'replacement']],
    ['Skip', ['', 'yes']],
    ['On hold', ['no', 'yes']],
    ['Bill?', ['Y', 'N']],
    ['Notes', ['', 'must not be charged']],
    ['Notes', ['', 'not yet approved']],
    ['Notes', ['', 'do not debit']],
    ['Notes', ['already billed in October', '']],
    ['Notes', ['', 'HOLD']],
    ['Notes', ['', 'Duplicate ']],
    ['Notes', ['', ' skip']],
    ['Notes', ['', ' Doppelt! ']],
  ])('%s with %j refuses the file until it is ignored', async (name, cells) => {
    const options = { ...REFUND, merchants: ['shop', 'hotel'] }
    const fault = await refusalOf(fileOf(name, ...cells), options)
    expect(fault.problem).toMatch(/and it is not read: every row would be sent$|says how far/)
    expect(fault.remedy).toContain(`--map "${name === '' ? 'NAME' : name}=ignore"`)
    if (name === '') return
    const ignored = { ...options, ...said(name, null) }
    expect((await readWhole(fileOf(name, ...cells), ignored)).rows).toHaveLength(cells.length)
  })

  test.each([
    ['Accepts Marketing', ['yes', 'no']],
    ['Newsletter', ['ja', 'nein']],
    ['Newsletter OK', ['yes', 'no']],
    ['Refund type', ['full', 'Partial']],
    ['Approved', ['yes', 'yes']],
    ['Decision', ['reject', 'reject']],
    ['Approved by', ['Ann', 'Bob']],
    ['Approved amount', ['5.00', '4.00']],
    ['Payment method', ['Visa', 'Mastercard', 'card', '']],
    ['Payment method ID', ['pm_1', 'pm_2']],
    ['gateway_fee', ['0.10', '0.20']],
    ['Payment method', ['PayPal', 'PayPal']],
    ['Reason', ['duplicate', 'already paid elsewhere']],
    ['Notes', ['on hold', 'on hold']],
    ['Notes', ['not happy', 'paid by card', 'sent back']],
    ['Merchant', ['shop', 'shop']],
    ['Town', ['Hotel', 'Rome']],
    ['Cancelled', ['yes', 'no']],
    ['Notes', ['', 'cancelled', 'do not contact', 'free']],
    ['Resolution', ['refund', 'refund']],
  ])('%s with %j is carried through', async (name, cells) => {
    const options = { ...REFUND, merchants: ['shop', 'hotel'] }
    expect((await readWhole(fileOf(name, ...cells), options)).rows).toHaveLength(cells.length)
  })

  test.each([
    ['environment', 'test', 'live'],
    ['livemode', 'false', 'true'],
    ['Is test', 'TRUE', 'FALSE'],
    ['gateway environment', 'Sandbox', 'production'],
    ['Testmode', 'yes', ''],
  ])('%s with %s in every row refuses a file for an account that is live, and for no other', async (name, cell, ok) => {
    const live = { ...REFUND, environment: 'live' } as const
    const fault = await refusalOf(fileOf(name, cell, cell), live)
    expect(fault.problem).toContain(
      `the column "${name}" says that rows are for tests, and the account is live ("${cell}"`,
    )
    expect(fault.remedy).toContain(`--map "${name}=ignore"`)
    for (const [cells, options] of [
      [[cell], { ...live, ...said(name, null) }],
      [[cell], { ...live, environment: 'test' }],
      [[cell], REFUND],
      [[ok, ok], live],
    ] as const)
      expect((await readWhole(fileOf(name, ...cells), options)).rows).toHaveLength(cells.length)
  })

  test('whether a sale may be refunded is asked about refunds alone', async () => {
    for (const operation of ['CAPTURE', 'CAUTH'] as const) {
      const file = operation === 'CAUTH' ? fileOf('Refundable', 'yes', 'no') : salesOf('Refundable', 'yes', 'no')
      expect((await readWhole(file, { operation })).rows).toHaveLength(2)
    }
  })

  test('also where it is passed on under a name that means a part of an address, and nothing but such words is in it', async () => {
    for (const [cells, what] of [
      [['paid', 'refunded'], 'how far a row has come'],
      [['Completed', 'open'], 'how far a row has come'],
      [['active', 'Inactive'], 'decides which rows are meant'],
      [['approved', 'rejected', ''], 'how far a row has come'],
    ] as const) {
      for (const [file, operation] of [
        [fileOf('State', ...cells), 'REFUND'],
        [salesOf('State', ...cells), 'CAPTURE'],
      ] as const) {
        const fault = await refusalOf(file, { operation })
        expect(fault.problem).toContain(what)
        expect(fault.problem).toContain('it is read as bill_addr_state only: every row would be sent')
        expect(fault.remedy).toContain('--map "State=ignore"')
        expect((await readWhole(file, { operation, ...said('State', null) })).rows).toHaveLength(cells.length)
        const address = { map: [{ column: 'State', field: 'bill_addr_state' as const }] }
        expect((await readWhole(file, { operation, ...address })).rows).toHaveLength(cells.length)
      }
    }
    for (const cells of [
      ['OK', 'OK'],
      ['OK', ''],
      ['paid', 'Ohio'],
      ['CA', 'NY'],
    ])
      expect((await readWhole(fileOf('State', ...cells), REFUND)).rows).toHaveLength(2)
  })

  test.each([
    ['Refundable', ['no', 'no'], true],
    ['Refundable', ['yes', 'yes'], false],
    ['Non-refundable', ['yes', 'yes'], true],
    ['nonrefundable?', ['no', 'no'], false],
    ['Fare', ['Refundable', 'Non-refundable'], true],
    ['Fare', ['non refundable', 'non refundable'], true],
    ['Fare', ['refundable', 'refundable'], false],
    ['Fare', ['Flex', 'Semi-flex', 'Non-refundable'], true],
    ['Fare', ['saver', 'Basic (non-refundable)'], true],
    ['Fare', ['Flex', 'Semi-flex'], false],
  ])('%s with %j asks about refunds: %s', async (name, cells, asks) => {
    const found = asks ? await refusalOf(fileOf(name, ...cells), REFUND) : null
    if (found === null) expect((await readWhole(fileOf(name, ...cells), REFUND)).rows).toHaveLength(cells.length)
    else expect(found.problem).toContain('says that rows are not refundable')
    expect((await readWhole(salesOf(name, ...cells), { operation: 'CAPTURE' })).rows).toHaveLength(cells.length)
  })

  test('names the lines whose notes say no', async () => {
    const { problem, line } = await refusalOf(fileOf('Note', 'do not send', 'a', "DON'T PAY", 'b'), REFUND)
    expect([problem, line]).toEqual([
      expect.stringContaining('says in lines 2, 4 that a row is not to be sent ("do not send" in line 2),'),
      2,
    ])
  })
})

describe('a file whose names say refund', () => {
  const sales = 'vault_id,Refund amount,currency\n7,5.00,EUR\n'
  test.each([
    ['CAPTURE', sales, 'Refund amount', 'amount'],
    ['AUTH', sales.replace('Refund amount', 'Erstattungsbetrag'), 'Erstattungsbetrag', 'amount'],
    ['CAUTH', sales.replace('vault_id', 'order_id'), 'Refund amount', 'amount'],
    ['CANCEL', sales.replace('vault_id', 'order_id'), 'Refund amount', 'amount'],
    ['CAPTURE', 'vault_id,amount,currency,Refund reason,refund_date\n7,5.00,EUR,late,\n', 'Refund reason', null],
    ['CANCEL', 'order_id,Grund der Erstattung,Erstattung an\n7,a,b\n', 'Grund der Erstattung', null],
  ] as const)('is refused as %s until a person says that it is meant: %s', async (operation, file, column, field) => {
    const { problem, remedy } = await refusalOf(file, { operation })
    expect(problem).toContain(`"${column}"`)
    expect(remedy).toContain('--operation REFUND')
    expect(remedy).toContain(`--map "${column}=${field ?? 'ignore'}"`)
    expect((await readWhole(file, { operation, ...said(column, field) })).rows).toHaveLength(1)
  })

  test('is read as refunds, where its rows are all refunds, and where it only tells what was refunded', async () => {
    const refunds = 'type,order_id,Refund amount,currency\nREFUND,7,5.00,EUR\n'
    expect((await readWhole(refunds)).rows).toHaveLength(1)
    expect((await refusalOf(`${refunds}CANCEL,8,,EUR\nCANCEL,9,2.00,EUR\n`)).problem).toContain('are refunds')
    const told = 'vault_id,amount,currency,Refunded,Refundable\n7,5.00,EUR,no,yes\n'
    expect((await readWhole(told, { operation: 'CAPTURE' })).rows).toHaveLength(1)
  })
})

describe('a column of credits', () => {
  test.each([
    ['Credit note', ['CN-1', '']],
    ['Credit Note No.', ['CN-1', 'CN-2']],
    ['Gutschrift', ['x', 'nein']],
    ['Kind', ['Payout', 'payout']],
    ['Type', ['Payout', 'Payout']],
    ['Type', ['Gutschrift', 'Gutschrift']],
    ['Belegart', ['Rückerstattung', '']],
  ])('%s with %j refuses sales until it is ignored, and no refunds', async (name, cells) => {
    const sales = { operation: 'CAPTURE' } as const
    const { problem, remedy } = await refusalOf(salesOf(name, ...cells), sales)
    expect(problem).toContain(`the column "${name}" says that rows are refunds or payouts ("${cells[0]}" in line 2)`)
    expect(remedy).toContain('--operation REFUND')
    expect(remedy).toContain(`--map "${name}=ignore"`)
    expect((await readWhole(salesOf(name, ...cells), { ...sales, ...said(name, null) })).rows).toHaveLength(2)
    expect((await readWhole(fileOf(name, ...cells), REFUND)).rows).toHaveLength(2)
  })

  test.each([
    ['Credit note', ['', 'no']],
    ['Credit note text', ['a', 'b']],
    ['Credit', ['yes', 'yes']],
    ['Trip', ['return', 'return']],
    ['Kind', ['Payout', 'Bonus']],
  ])('%s with %j is carried through', async (name, cells) => {
    const read = readWhole(salesOf(name, ...cells), {
      operation: 'CAPTURE',
      ...said(name === 'Credit' ? name : 'none', null),
    })
    expect((await read).rows).toHaveLength(2)
  })

  test('beside refunds in the same file it may be theirs', async () => {
    const both = 'type,order_id,vault_id,amount,currency,Credit note\nREFUND,7,,5.00,EUR,CN-1\nSALE,,8,6.00,EUR,\n'
    expect((await readWhole(both)).rows).toHaveLength(2)
  })

  test('a payout beside a sale goes another way', async () => {
    const fault = await refusalOf(salesOf('Kind', 'Sale', 'Payout'), { operation: 'CAPTURE' })
    expect(fault.problem).toContain('which way the money of a row goes')
  })

  test('a list of sales of which few were refunded is none of refunds', async () => {
    const sales = 'vault_id,amount,currency,Refund reason,Refund comment\n7,5.00,EUR,,\n8,6.00,EUR,late,\n'
    expect((await readWhole(sales, { operation: 'CAPTURE' })).rows).toHaveLength(2)
    const wishes = 'vault_id,amount,currency,refund_address,refund_currency\n7,5.00,EUR,a,EUR\n'
    expect((await readWhole(wishes, { operation: 'CAPTURE' })).rows).toHaveLength(1)
  })
})

describe('a column that says of which month a row is', () => {
  const DECEMBER = { ...SALE, runKey: '2026-12' }
  const refs = (...cells: readonly string[]) => salesOf('reference', ...cells)
  test('refuses a run of one month where some rows are of it and others are not', async () => {
    for (const [name, cells] of [
      ['Month', ['December 2026', 'November 2026']],
      ['Billing period', ['2026-11', '12/2026', '']],
      ['Monat', ['Dezember', 'November']],
    ] as const) {
      const fault = await refusalOf(salesOf(name, ...cells), DECEMBER)
      expect(fault.problem).toMatch(
        /names another month than the run key 2026-12 \("(?:November 2026|2026-11|November)" in/,
      )
      expect(fault.remedy).toContain(`--map "${name}=ignore"`)
      expect((await readWhole(salesOf(name, ...cells), { ...DECEMBER, ...said(name, null) })).rows).toHaveLength(
        cells.length,
      )
    }
  })

  test('also in the references, which may be run under another key', async () => {
    const fault = await refusalOf(refs('ann-2026-12', 'bob-2026-11'), DECEMBER)
    expect(fault.problem).toContain('("bob-2026-11" in line 3, and "ann-2026-12" in line 2)')
    expect(fault.remedy).toContain('--run-key 2026-12-all')
    expect((await readWhole(refs('ann-2026-12', 'bob-2026-11'), { ...SALE, runKey: '2026-12-all' })).rows).toHaveLength(
      2,
    )
  })

  test('and in the name of the column that is read as the amount, as where a list has one for each month', async () => {
    const list = 'reference,vault id,currency,Nov 2026,Dec 2026\nsub-1,7,EUR,9.90,12.90\n'
    const months = (amount: string, other: string) => ({
      map: [
        { column: amount, field: 'amount' as const },
        { column: other, field: null },
      ],
    })
    const november = { ...DECEMBER, ...months('Nov 2026', 'Dec 2026') }
    const fault = await refusalOf(list, november)
    expect(fault.problem).toBe(
      'the column "Nov 2026", which is read as the amount, names another month than the run key 2026-12',
    )
    expect(fault.remedy).toContain('--map "Dec 2026=amount"')
    expect(fault.remedy).toContain('--run-key 2026-12-all')
    for (const meant of [
      { ...november, runKey: '2026-11' },
      { ...november, runKey: '2026-12-all' },
      { ...DECEMBER, ...months('Dec 2026', 'Nov 2026') },
    ])
      expect((await readWhole(list, meant)).rows).toHaveLength(1)
  })

  test.each([
    ['Month', ['2026-11', '2026-10'], '2026-12'],
    ['Month', ['2026-12', '2026-11'], 'spring'],
    ['Month', ['2026-12', 'soon'], '2026-12'],
    ['Member since', ['2026-12', '2026-11'], '2026-12'],
    ['reference', ['ann-2026-12', 'bob'], '2026-12'],
    ['reference', ['2026-11-1', '2026-12-2'], '2026-12'],
  ])('%s with %j is no such column under %s', async (name, cells, runKey) => {
    expect((await readWhole(salesOf(name, ...cells), { ...SALE, runKey })).rows).toHaveLength(2)
  })
})

describe('a column that says when', () => {
  test.each([
    ['Due date', ['2026-12-01', '2027-02-01']],
    ['Fällig am', ['01.02.2027']],
    ['Charge on', ['28.11.2026', '1/2/2027']],
    ['Next billing date', ['Feb 1, 2027']],
    ['Payment date', ['2027-02-01T00:00:00Z']],
    ['Valid from', ['1 Feb 2027']],
    ["Date d'échéance", ['01/02/2027']],
    ['Cancelled on', ['', '2026-11-01']],
    ['gekündigt zum', ['31.10.2026', '']],
    ['Cancelled at', ['2026-11-01 10:00', '2026-11-02 11:00']],
    ['churned', ['2026-10-31', '2026-10-31']],
    ['termination date', ['2026-09-30', '2026-10-31']],
    ['Cancelled', ['yes', 'no']],
    ['On leave', ['', 'yes']],
    ['End date', ['2027-05-01', '2026-10-31']],
    ['Contract until', ['2027-05-01', '2026-10-31']],
    ['Paused until', ['', '2027-05-01']],
    ['First charge', ['2027-02-01', '2026-10-31']],
  ])('%s with %j refuses sales until it is ignored', async (name, cells) => {
    const file = salesOf(name, ...cells)
    const fault = await refusalOf(file, SALE)
    expect(fault.problem).toMatch(
      /(?:says that rows (?:are for later|have ended)|decides which rows are meant) .*and it is not read: every row would be sent$/,
    )
    expect(fault.remedy).toContain(`--map "${name}=ignore"`)
    expect((await readWhole(file, { ...SALE, ...said(name, null) })).rows).toHaveLength(cells.length)
  })

  test.each([
    ['Due date', ['2026-11-28', '29.11.2026', '1/2/2026', '']],
    ['Payment date', ['2026-10-01', '31/10/2026', '12/11/2026']],
    ['Delivery date', ['2027-02-01', '2027-02-02']],
    ['Cancelled on', ['', '2026-12-31']],
    ['End date', ['2026-10-31', '2026-09-30']],
    ['End date', ['', '2027-09-30']],
    ['Trial end', ['2026-10-31', '']],
    ['Due', ['yes', '40/40/2027']],
  ])('%s with %j is carried through', async (name, cells) => {
    expect((await readWhole(salesOf(name, ...cells), SALE)).rows).toHaveLength(cells.length)
  })

  test.each(['CAUTH', 'REFUND', 'CANCEL'] as const)(
    'is asked about as %s where it is due itself',
    async (operation) => {
      const later = { operation, ...NOW }
      const due = fileOf('Due date', '2027-02-01')
      if (operation === 'CAUTH') expect((await refusalOf(due, later)).problem).toContain('"2027-02-01" in line 2')
      else expect((await readWhole(due, later)).rows).toHaveLength(1)
      for (const name of ['Send on', 'scheduled for'])
        expect((await refusalOf(fileOf(name, '2027-02-01'), later)).problem).toContain('"2027-02-01" in line 2')
    },
  )

  test.each([
    ['Shipped', ['yes', 'no'], 'CAUTH'],
    ['Versandt', ['', 'ja'], 'CAUTH'],
    ['Goods received', ['Y', 'N'], 'REFUND'],
    ['Returned', ['no', 'yes'], 'REFUND'],
    ['Chargeback', ['', 'yes'], 'REFUND'],
  ] as const)('%s with %j is a matter of %s alone', async (name, cells, operation) => {
    for (const one of ['CAUTH', 'REFUND'] as const) {
      const file = fileOf(name, ...cells)
      if (one !== operation) expect((await readWhole(file, { operation: one })).rows).toHaveLength(2)
      else expect((await refusalOf(file, { operation })).problem).toContain('decides which rows are meant')
    }
  })

  test('is asked about under a bare name where it is to come in every row, of refunds too', async () => {
    for (const [name, cells] of [
      ['when', ['2026-12-24', '24 December 2026']],
      ['Datum', ['02.01.2027', '1.2.2027']],
    ] as const) {
      const fault = await refusalOf(fileOf(name, ...cells), REFUND_NOW)
      expect(fault.problem).toContain('says that rows are for later')
      expect(fault.remedy).toContain(`--map "${name}=execute_at"`)
      expect((await readWhole(fileOf(name, ...cells), { ...REFUND_NOW, ...said(name, null) })).rows).toHaveLength(2)
      for (const other of ['2026-11-21', '2026-11-29', ''])
        expect((await readWhole(fileOf(name, ...cells, other), REFUND_NOW)).rows).toHaveLength(3)
    }
    expect((await readWhole(fileOf('Event date', '2026-12-24'), REFUND_NOW)).rows).toHaveLength(1)
    // November or December: a list of every day says it so.
    expect((await readWhole(fileOf('date', '11/12/2026', '10/12/2026'), REFUND_NOW)).rows).toHaveLength(2)
  })

  test('is no matter of refunds where it is about the sale, of a file with moments of its own, or without a clock', async () => {
    for (const [name, cell] of [
      ['Cancelled on', '2026-11-01'],
      ['Next billing date', '2027-02-01'],
    ] as const)
      expect((await readWhole(fileOf(name, cell), { ...REFUND, ...NOW })).rows).toHaveLength(1)
    expect((await readWhole(salesOf('Due date', '2027-02-01'), { operation: 'CAPTURE' })).rows).toHaveLength(1)
    const own = 'amount;currency;order_id;due;execute_at\n5.00;EUR;100;2027-02-01;2027-02-01T09:00:00Z\n'
    expect((await readWhole(own, { ...REFUND, ...NOW })).rows).toHaveLength(1)
  })

  test('execute_at that is empty below a moment refuses the file until it is said to be meant', async () => {
    const [now, later] = ['2026-11-28T09:00:00Z', '2027-01-02T09:00:00+01:00']
    const file = fileOf('execute_at', now, later, '', '2027-01-03T09:00:00Z', later)
    const { problem, remedy, line } = await refusalOf(file, REFUND_NOW)
    expect([problem, line]).toEqual([expect.stringContaining('filled in line 3 and empty in line 4'), 4])
    expect(remedy).toContain('--map "execute_at=execute_at"')
    expect((await readWhole(file, { ...REFUND_NOW, ...said('execute_at', 'execute_at') })).rows).toHaveLength(5)
    for (const good of [fileOf('execute_at', '', later), fileOf('execute_at', now, ''), fileOf('execute_at', '', '')])
      expect((await readWhole(good, REFUND_NOW)).rows).toHaveLength(2)
  })
})
