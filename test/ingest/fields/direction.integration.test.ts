// A minus says which way the money goes. Where some amounts of a file have one and others have none, leaving out the bad rows
// would leave out one way and send the other.

import { describe, expect, test } from 'vitest'
import { cell, number, partsOf, rowsOf, workbook, zip } from '../sheets.ts'
import { readWhole, refusalOf, toCsv } from '../table.ts'

const HEADER = ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id']
const rowsWith = <T>(amounts: readonly T[]) =>
  amounts.map((amount, i) => [`R${i}`, 'REFUND', amount, 'EUR', `${100 + i}`])
const fileOf = (...amounts: readonly string[]) => toCsv([HEADER, ...rowsWith(amounts)], ';', '\n')

test('a letter that was typed for a digit goes no way: a bad row', async () => {
  const { rows } = await readWhole(fileOf('3O.00', '12.00', 'l5.00'))
  expect(rows.map(({ faults }) => faults.map(({ problem }) => problem).join())).toEqual([
    'has a letter in the place of a digit',
    '',
    'has a letter in the place of a digit',
  ])
})

test.each(['8,7x', '8.x7', '1.024,9z'])('nor does a letter in the place of a decimal: %s', async (amount) => {
  const { rows } = await readWhole(fileOf(amount, '12'))
  expect(rows.map(({ instruction }) => instruction !== null)).toEqual([false, true])
})

/** Each with one that goes the other way. */
const MIXED = [
  ['-9.99', '3500.00'],
  ['3500.00', '-9.99'],
  ['−9.99', '1'],
  ['–9.99', '1,234.50'],
  ['9.99-', '1.00'],
  ['(9.99)', '1.00'],
  ['-€9.99', '1.00'],
  ['€ -9.99', '1.00'],
  ['EUR -9.99', '1.00'],
  ['($9.99)', '1.00'],
  ['9.99 CR', '1.00'],
  ['9.99DR', '1.00'],
  ['9,99 H', '1,00'],
  ["'-9.99", '1.00'],
  ['- 9.99', '1.00'],
  ['-1.024,90', '1.024,90'],
  ['-5.–', '80.00'],
  ['- 5.--', '80.00'],
  ['€ -5.-', '80.00'],
  ['5.00 C', '1.00'],
  ['5.00 D', '1.00'],
  ['5.00 Cr.', '1.00'],
  ['5.00 C.R.', '1.00'],
  ['CR 5.00', '1.00'],
  ['CR5.00', '1.00'],
  ['5.00 Haben', '1.00'],
  ['Soll: 5,00', '1,00'],
  ['⁻5.00', '1.00'],
  ['₋5.00', '1.00'],
  ['[5.00]', '1.00'],
  ['{5.00}', '1.00'],
  ['<5.00>', '1.00'],
  ['（5.00）', '1.00'],
  ['*-5.00', '1.00'],
  ['*-5.00*', '1.00'],
  ['5.00 minus', '1.00'],
  ['5E2 CR', '1.00'],
  ['5.00 R', '1.00'],
  ['5.0H', '1.00'],
  ['5.00x', '1.00'],
  ['CR$5.00', '1.00'],
  ['5.00 refunded', '1.00'],
  ['(5.00) EUR', '1.00'],
] as const

describe('amounts with a minus and without one in a file', () => {
  test.each(MIXED)('refuse it, whatever is left out: %s beside %s', async (...amounts) => {
    const fault = await refusalOf(fileOf(...amounts))
    expect(fault.problem).toMatch(/amounts with a minus.*are mixed with amounts without/)
    expect(fault.remedy).toContain('must move money one way')
  })

  describe('are few bad rows of a good file', () => {
    const signOf = async (text: string, said: { sign?: 'minus' } = {}) =>
      (await readWhole(text, said)).rows.flatMap(({ line, faults }) =>
        faults.map(({ problem }) => `${line} ${problem}`),
      )
    const among = (many: string, count: number, ...few: readonly string[]) =>
      fileOf(...Array.from({ length: count }, () => many), ...few)

    test('where one in 20 or fewer have the other sign', async () => {
      expect(await signOf(among('1.00', 99, '-9.99'))).toEqual(['101 has a sign'])
      expect(await signOf(among('1.00', 20, '9.99 CR'))).toEqual(['22 has letters or a currency symbol in it'])
      expect(await signOf(among('-1.00', 40, '9.99', '8.00'), { sign: 'minus' })).toEqual(
        [42, 43].map((line) => `${line} has no minus, and --sign minus says that every amount of the file has one`),
      )
    })

    test.each(MIXED)('each of them: %s among many such as %s', async (...pair) => {
      const [bad, good] = pair[0] === '3500.00' ? pair.toReversed() : pair
      const { rows } = await readWhole(among(good!, 20, bad!))
      expect(rows.map(({ instruction }) => instruction !== null)).toEqual([...Array(20).fill(true), false])
    })

    test('and not where they are more, where the good ones are few, or where these would be the good ones', async () => {
      for (const mixed of [among('1.00', 19, '-9.99'), among('1.00', 39, '-9.99', '-8.00'), among('-1.00', 99, '9.99')])
        expect((await refusalOf(mixed)).problem).toMatch(/are mixed with amounts without/)
      expect(String((await refusalOf(among('-1.00', 99, '9.99'))).remedy)).toContain('add --sign minus')
      const said = { sign: 'minus' } as const
      expect((await refusalOf(among('1.00', 99, '-9.99'), said)).problem).toMatch(/are mixed with amounts without/)
    })
  })

  test('are named by the lines of either kind', async () => {
    const many = [...Array.from({ length: 7 }, () => '-1.00'), '2.00']
    expect((await refusalOf(fileOf(...many))).problem).toBe(
      'amounts with a minus, in brackets or with letters (lines 2, 3, 4, 5, 6 and 2 more, such as "-1.00") are mixed with amounts without (line 9)',
    )
    expect(await refusalOf(fileOf('5.00 storno', '1.00'))).toMatchObject({
      column: 'amount',
      problem: expect.stringContaining('(line 2: "5.00 storno")'),
    })
  })

  test('refuse a workbook whose amounts are numbers', async () => {
    for (const amounts of [
      [number('-9.99'), number('3500')],
      [number('-9.99', 4), '3500.00'],
      [cell('n', '<f>0-9.99</f><v>-9.99</v>'), number('1', 4)],
    ])
      expect((await refusalOf(workbook([HEADER, ...rowsWith(amounts)]))).problem).toContain('with a minus')
  })
})

describe('amounts that a number format shows with a mark, and amounts without one in a workbook', () => {
  const bookOf = (currency: string, ...codes: readonly string[]) => {
    const list = codes.map(
      (code, i) => `<numFmt numFmtId="${164 + i}" formatCode="${code.replaceAll('"', '&quot;')}"/>`,
    )
    const styles = codes.map((_, i) => `<xf numFmtId="${164 + i}"/>`)
    const rows = rowsWith(codes.map((_, i) => number(`${5 + i}`, i + 1))).map((row) => row.with(3, currency))
    return zip(
      partsOf(
        { A: rowsOf([HEADER, ...rows]) },
        {
          'xl/styles.xml': `<styleSheet><numFmts>${list.join('')}</numFmts><cellXfs><xf/>${styles.join('')}</cellXfs></styleSheet>`,
        },
      ),
    )
  }

  test('refuse it, however few they are: by themselves they would be good', async () => {
    const codes = [...Array.from({ length: 99 }, () => '0.00'), '0.00" Cr"']
    expect((await refusalOf(bookOf('EUR', ...codes))).problem).toContain('are mixed with amounts without')
  })

  test.each(['0.00" Cr"', '"-"0.00', '(0.00)', '"Gutschrift "0.00', '0.00" €CR"', '"€"* (0.00)'])(
    'refuse it, whatever is left out: %s',
    async (code) => {
      for (const codes of [
        [code, '0.00'],
        ['0.00', code],
      ])
        expect((await refusalOf(bookOf('EUR', ...codes))).problem).toContain('are mixed with amounts without (line')
    },
  )

  test.each([
    ['EUR', '0.00" Euro"'],
    ['EUR', '[$€-407] 0.00'],
    ['EUR', '"$"0.00'],
    ['ZAR', '"R" 0.00'],
    ['CHF', '"Fr." 0.–'],
  ])('are each judged by themselves where the mark is a currency: %s as %s', async (currency, code) => {
    expect((await readWhole(bookOf(currency, code, '0.00'))).rows[1]?.instruction).not.toBeNull()
  })
})

test.each([
  [['5.00', '7.50']],
  [['-5.00', '-7.50']],
  [['-5.00', '(7.50)', '9.99-']],
  [['5.00', '-0.00']],
  [['-5.00', '0.00']],
  [['5.00', '-']],
  [['5.00', '5.–', '12.-']],
  [['-5.00', '€ 7.50']],
  [['5.00', '2026-12-01']],
  [['5.00', '+7.50']],
  [['-5.00', '']],
  [['5.00', 'EUR 7.50', '7.50 EUR', '7.50€', 'USD7.50', '7.50 US$', 'R$ 5', 'kr 5', '5 zł', 'Fr. 5.–', '5 Kč']],
  [['5.00', '7.50E2']],
  [['5.00', 'n/a']],
])('%j are of one way, or say nothing: each is judged by itself', async (amounts) => {
  expect((await readWhole(fileOf(...amounts))).rows).toHaveLength(amounts.length)
})

describe('a column whose values are the two sides of an amount', () => {
  const fileWith = (name: string, values: readonly string[]) =>
    toCsv(
      [[...HEADER, name], ...rowsWith(values.map(() => '5.00')).map((row, i) => [...row, values[i] as string])],
      ';',
      '\n',
    )

  test.each([
    ['', ['S', 'H']],
    [' ', ['s', '', 'h', 'S']],
    ['+/-', ['+', '-']],
    ['+/-', ["'+", '−']],
    ['In/Out', ['In', 'OUT']],
    ['Incoming/Outgoing', ['incoming', 'outgoing']],
    ['Credit/Debit Amount Sign', ['C', 'D']],
    ['Betragsvorzeichen', ['-', '+']],
    ['Sens (D/C)', ['D', 'C']],
    ['Tipo (D/H)', ['D', 'H']],
    ['Tipo (D/H)', ['D', 'D', 'Haber']],
    ['Gutschrift-/Lastschrift-Art', ['Gutschrift', 'Lastschrift']],
    ['Zu-/Abgang', ['Zugang', 'Abgang']],
    ['Ein/Aus', ['Ein', 'Aus']],
    ['Polarity', ['1', '-1']],
    ['Money flow', ['Money in', 'money-out']],
    ['Booking side', ['Dr.', 'CR']],
    ['Kind', ['CRDT', 'DBIT']],
    ['Mouvement', ['Débit', 'Crédit']],
    ['Af Bij', ['Af', 'Bij']],
    ['x', ['"Soll"', '"Haben"']],
    ['Event', ['sale', 'Refund']],
    ['Document type', ['Invoice', 'Credit note']],
    ['Belegart', ['Rechnung', 'Gutschrift']],
    ['Movement', ['Sale', 'Return']],
    ['Document', ['Facture', 'Avoir']],
    ['Documento', ['Factura', 'Abono']],
    ['Tipo di documento', ['Fattura', 'Nota di credito']],
    ['Soort', ['Factuur', 'Creditnota']],
    ['Boeking', ['Betaling', 'Terugbetaling']],
    ['Rodzaj', ['Sprzedaż', 'Zwrot']],
  ])('refuses the file, whatever it is called: %j with %j', async (name, values) => {
    const fault = await refusalOf(fileWith(name, values), { map: [] })
    expect(fault.problem).toMatch(/says which way the money of a row goes \(".+" in line \d, ".+" in line \d\)/)
    expect(fault.remedy).toContain(name.trim() === '' ? '--map "NAME=ignore"' : `--map "${name}=ignore"`)
    const oneSide = fileWith(
      name,
      values.map(() => values[0] as string),
    )
    expect((await readWhole(oneSide)).rows.every(({ instruction }) => instruction !== null)).toBe(true)
    if (name.trim() === '') return
    const { rows } = await readWhole(fileWith(name, values), { map: [{ column: name, field: null }] })
    expect(rows.map(({ instruction }) => instruction?.money?.amountMinor)).toEqual(values.map(() => 500n))
  })

  test('is one wherever its second side comes, and by its place where it has no name', async () => {
    const values = Array.from({ length: 2_000 }, (_, i) => (i === 1_999 ? 'H' : 'S'))
    expect(await refusalOf(fileWith('', values))).toMatchObject({
      line: 2_001,
      problem: expect.stringContaining('column 6, which has no name, says'),
    })
  })

  test('is one in a workbook', async () => {
    const table = rowsWith(['5.00', '6.00']).map((row, i) => [...row, i === 0 ? 'S' : 'H'])
    expect((await refusalOf(workbook([[...HEADER, 'Umsatzart'], ...table]))).problem).toContain('which way the money')
  })

  test.each([
    ['VIP', ['yes', 'no']],
    ['Gender', ['M', 'F']],
    ['Size', ['S', 'M', 'H']],
    ['Size', ['S', 'L']],
    ['Decision', ['A', 'D']],
    ['Card type', ['Debit', 'Credit']],
    ['Kartenart', ['debit', 'credit']],
    ['Funding', ['credit', 'debit']],
    ['Note', ['in', 'out', 'in the shop']],
    ['Count', ['1', '2', '-1']],
    ['Mixed', ['S', 'C']],
    ['Mixed', ['+', 'Cr']],
    ['Feedback', ['positive', 'negative']],
    ['Empty', ['', '']],
    ['D', ['D', 'D']],
  ])('is none with other values, or with one side: %j with %j', async (name, values) => {
    expect((await readWhole(fileWith(name, values))).rows).toHaveLength(values.length)
  })
})

// A pattern that went back for every digit would take minutes: a test that does not end in time has failed.
test('a long cell is looked at once', async () => {
  const long = ['(', '1'.repeat(32_000), 'x'].join('')
  expect((await readWhole(fileOf(...Array.from({ length: 20 }, () => long)))).rows).toHaveLength(20)
})
