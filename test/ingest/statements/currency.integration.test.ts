// The currency of a file that says it once: in the name of the column of amounts, or as one mark beside each of them. It is
// never guessed, and whatever contradicts it is a fault.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatAmount, parseCurrency } from '../../../src/domain/money.ts'
import { isAmountIn, marksInName, mayMark } from '../../../src/ingest/fields/currency-marks.ts'
import type { ReadingOptions } from '../../../src/ingest/inspect-records.ts'
import { cell, number, partsOf, rowsOf, zip } from '../sheets.ts'
import { read, readWhole, refusalOf, toCsv } from '../table.ts'

const REFUND = { operation: 'REFUND' } as const
const saying = (code: string) => ({ ...REFUND, currency: parseCurrency(code) })

const fileOf = (column: string, amounts: readonly string[], currencies: readonly string[] | null = null) =>
  toCsv(
    [
      [column, 'order_id', ...(currencies === null ? [] : ['currency'])],
      ...amounts.map((amount, i) => [amount, `${100 + i}`, ...(currencies === null ? [] : [currencies[i] ?? ''])]),
    ],
    ';',
    '\n',
  )

async function moneyOf(
  file: string | Uint8Array,
  options: Partial<ReadingOptions> = REFUND,
): Promise<readonly string[]> {
  const { rows } = await readWhole(file, options)
  return rows.map(({ instruction, faults }) =>
    instruction?.money == null
      ? faults.map(({ problem }) => problem).join()
      : `${formatAmount(instruction.money)} ${instruction.money.currency}`,
  )
}

describe('a currency in the name of the column', () => {
  test.each([
    ['Amount (EUR)', 'EUR'],
    ['Betrag in EUR', 'EUR'],
    ['Betrag in €', 'EUR'],
    ['Gross [USD]', 'USD'],
    ['refund_amount_in_GBP', 'GBP'],
    ['Montant (CHF)', 'CHF'],
    ['Amount (£)', 'GBP'],
    ['Amount CZK', 'CZK'],
    ['CZK Amount', 'CZK'],
    ['AmountCZK', 'CZK'],
    ['amount_usd', 'USD'],
    ['Amount - CZK', 'CZK'],
    ['Amount/CZK', 'CZK'],
    ['Amount: CZK', 'CZK'],
    ['Betrag €', 'EUR'],
    ['Amount US$', 'USD'],
    ['Amount (US Dollars)', 'USD'],
    ['Montant en euros', 'EUR'],
    ['Amount (eur)', 'EUR'],
  ])('%s is the amount, in %s', async (column, currency) => {
    expect(isAmountIn(column)).toBe(true)
    expect(await moneyOf(fileOf(column, ['5.00', '6.50']))).toEqual([`5.00 ${currency}`, `6.50 ${currency}`])
  })

  test.each([
    ...['Amount', 'Amount (gross)', 'Amount ($)', 'Amount (EUR cents)', 'Betrag in TEUR', 'Amount (ALL)'],
    ...['Amount in cents (EUR)', 'Fee (EUR)', 'Net (EUR)', 'Balance in EUR', '(EUR)'],
  ])('%s says none of an amount', (column) => {
    expect(isAmountIn(column)).toBe(false)
  })

  test('a column of that kind beside the amount stays what it was: another amount', async () => {
    const file = 'amount;currency;order_id;Amount (USD)\n5.00;EUR;7;5.40\n'
    expect(await moneyOf(file)).toEqual(['5.00 EUR'])
  })

  test('two of them are not chosen from', async () => {
    const fault = await refusalOf('Amount (EUR);Amount (USD);order_id\n5.00;5.40;7\n', REFUND)
    expect(fault.problem).toContain('both mean amount')
  })

  test('holds against nothing that is said', async () => {
    const file = fileOf('Amount (EUR)', ['5.00'])
    expect(await moneyOf(file, saying('EUR'))).toEqual(['5.00 EUR'])
    expect(await moneyOf(file, saying('USD'))).toEqual(['is to be in USD, and the name of the column says EUR'])
    expect(await moneyOf(fileOf('Amount (EUR)', ['5.00', '6.00'], ['USD', 'EUR']))).toEqual([
      'is to be in USD, and the name of the column says EUR',
      '6.00 EUR',
    ])
  })

  test('holds where a person said which column the amount is', async () => {
    const file = fileOf('Fee (EUR)', ['5.00'])
    const map = [{ column: 'Fee (EUR)', field: 'amount' as const }]
    expect(marksInName('Fee (EUR)')).toEqual(['EUR'])
    expect(await moneyOf(file, { ...REFUND, map })).toEqual(['5.00 EUR'])
  })
})

describe('a currency that nothing reads', () => {
  const said = saying('EUR')

  test.each([
    ...[
      'Amount $',
      'Subtotal ($)',
      'Amount CZK',
      'CZK',
      'Částka Kč',
      'Kwota zł',
      '金额(元)',
      '金額（円）',
      'Amount (US Dollars)',
    ],
    ...['montant_chf', 'Importe en dólares', 'Amount (yen)', 'gross_amount_hkd'],
  ])('in the name %s contradicts another one', async (column) => {
    const map = [{ column, field: 'amount' as const }]
    expect(await moneyOf(fileOf(column, ['5']), { ...said, map })).toEqual([
      expect.stringMatching(/^is to be in EUR, and the name of the column says /),
    ])
    expect(await moneyOf(fileOf(column, ['5'], ['EUR']), { ...REFUND, map })).toEqual([
      expect.stringMatching(/^is to be in EUR, and the name of the column says /),
    ])
  })

  test.each(['Amount all', 'Top amount', 'Try amount', 'Amount (net)', 'Amount mad'])(
    'is not what %s says',
    async (column) => {
      const map = [{ column, field: 'amount' as const }]
      expect(await moneyOf(fileOf(column, ['5']), { ...said, map })).toEqual(['5.00 EUR'])
    },
  )

  const withColumn = (name: string, cells: readonly string[]) =>
    toCsv([['amount', 'order_id', name], ...cells.map((cell, i) => ['5.00', `${100 + i}`, cell])], ';', '\n')

  test.each([
    ['native_currency', ['JPY'], 'JPY has no decimals and this amount has more'],
    ['Billing currency', ['EUR', '', 'CNY'], '5.00 CNY'],
    ['Buchungswährung', ['CHF', 'CHF'], '5.00 CHF'],
    ['货币', ['EUR', 'HKD'], '5.00 HKD'],
    ['anything', ['USD'], '5.00 USD'],
    ['通貨', ['円'], null],
    ['Waluta', ['zł', ''], null],
    ['Devises', ['€', 'Dollars US'], null],
    ['Munt', ['euro', 'dollar'], null],
  ])('in the column %s with %j refuses the file where it differs', async (name, cells, money) => {
    const book = zip(
      partsOf({ A: rowsOf([['amount', 'order_id', name], ...cells.map((cell) => ['5.00', '7', cell])]) }),
    )
    for (const file of [withColumn(name, cells), book]) {
      const fault = await refusalOf(file, said)
      const line = cells.findIndex((cell) => !['', 'EUR', '€', 'euro'].includes(cell)) + 2
      expect(fault.problem).toBe(
        `the column "${name}" says ${cells[line - 2]} in line ${line}, whose amount would be read as EUR`,
      )
      expect(fault.remedy).toContain(`--map "${name}=request_currency"`)
      expect(fault.remedy).toContain(`--map "${name}=ignore"`)
      const ignored = [{ column: name, field: null }]
      expect((await readWhole(file, { ...said, map: ignored })).rows).toHaveLength(cells.length)
      if (money === null) continue
      const mapped = [{ column: name, field: 'request_currency' as const }]
      expect(await moneyOf(file, { ...said, map: mapped })).toContain(money)
    }
  })

  test('says nothing where it agrees, and is weighed for voids and beside a column that is read', async () => {
    const { survey } = await readWhole(withColumn('Billing currency', ['EUR', '']), said)
    expect(survey.warnings).toEqual([])
    const voids = withColumn('Billing currency', ['USD'])
    expect((await refusalOf(voids, { ...said, operation: 'CANCEL' })).problem).toContain('says USD in line 2')
    const both = 'amount;currency;order_id;Original\n5.00;EUR;7;EUR\n6.00;USD;8;EUR\n'
    expect((await refusalOf(both, REFUND)).problem).toContain('says EUR in line 3, whose amount would be read as USD')
    expect((await refusalOf(withColumn('', ['USD']), said)).problem).toContain('column 3, which has no name, says USD')
  })

  test.each([
    ['Fee Currency', ['USD']],
    ['Country', ['USD', 'Germany']],
    ['Scope', ['ALL', 'TOP']],
    ['unit', ['usd']],
    ['Country', ['kr', 'rand']],
  ])('is not what %s with %j says', async (name, cells) => {
    expect((await readWhole(withColumn(name, cells), said)).rows).toHaveLength(cells.length)
  })
})

describe('a mark beside every amount', () => {
  test('is the currency where it stands for one alone', async () => {
    expect(await moneyOf(fileOf('Amount', ['€5.00', '€ 1,234.50']))).toEqual(['5.00 EUR', '1234.50 EUR'])
    expect(await moneyOf(fileOf('Betrag', ['5,00 €', '1.234,50 €']))).toEqual(['5.00 EUR', '1234.50 EUR'])
    expect(await moneyOf(fileOf('Amount', ['GBP 5', 'GBP 6']))).toEqual(['5.00 GBP', '6.00 GBP'])
  })

  test('of several currencies needs one that is said, and must be able to stand for it', async () => {
    const file = fileOf('Amount', ['$5.00', '$6.00'])
    expect((await refusalOf(file, REFUND)).problem).toContain('no column request_currency')
    expect(await moneyOf(file, saying('USD'))).toEqual(['5.00 USD', '6.00 USD'])
    expect(await moneyOf(file, saying('CAD'))).toEqual(['5.00 CAD', '6.00 CAD'])
    expect(await moneyOf(fileOf('Amount', ['$5.00', '$6.00'], ['USD', 'EUR']))).toEqual([
      '5.00 USD',
      'is to be in EUR, and it is written with "$"',
    ])
  })

  test('is a fault where it does not stand beside every amount', async () => {
    const bad = 'has letters or a currency symbol in it'
    expect(await moneyOf(fileOf('Amount', ['€5.00', '6.00'], ['EUR', 'EUR']))).toEqual([bad, '6.00 EUR'])
    expect(await moneyOf(fileOf('Amount', ['€5.00', '£6.00'], ['EUR', 'GBP']))).toEqual([bad, bad])
  })

  test('does not hide that amounts go two ways', async () => {
    for (const said of [REFUND, { ...REFUND, sign: 'minus' as const }])
      expect((await refusalOf(fileOf('Amount', ['-€9.99', '€3500.00']), said)).problem).toContain('are mixed with')
  })

  test('may stand beside a minus', async () => {
    const said = { ...REFUND, sign: 'minus' as const }
    expect(await moneyOf(fileOf('Amount', ['-€9.99', '€-1.00', '(€2.00)', '-3.00 €']), said)).toEqual([
      ...['9.99 EUR', '1.00 EUR', '2.00 EUR', '3.00 EUR'],
    ])
  })

  test('may be of a number format of a workbook', async () => {
    const styles = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="#,##0.00\\ [$€-407]"/></numFmts><cellXfs><xf/><xf numFmtId="164"/></cellXfs></styleSheet>`
    const bookOf = (...styled: readonly number[]) =>
      zip(
        partsOf(
          {
            A: rowsOf([
              ['Amount', 'order_id'],
              ...styled.map((style) => [number('5', style), cell('str', '<v>7</v>')]),
            ]),
          },
          { 'xl/styles.xml': styles },
        ),
      )
    expect(await moneyOf(bookOf(1, 1))).toEqual(['5.00 EUR', '5.00 EUR'])
    expect((await refusalOf(bookOf(1, 0), REFUND)).problem).toContain('no column request_currency')
    expect(await moneyOf(bookOf(1), saying('USD'))).toEqual([
      'is shown by the spreadsheet with "€", which does not stand for USD',
    ])
  })
})

test('no row is sent in a currency that anything in the file contradicts', async () => {
  const marks = ['', '€', '$', '£', 'USD ', 'EUR ']
  const columns = ['Amount', 'Amount (EUR)', 'Amount [USD]']
  const cells = [null, '', 'EUR', 'USD', 'CAD']
  const options = [REFUND, saying('EUR'), saying('USD')]
  let sent = 0
  for (const mark of marks)
    for (const column of columns)
      for (const currency of cells)
        for (const said of options) {
          const file = fileOf(column, [`${mark}5.00`, `${mark}6.00`], currency === null ? null : [currency, currency])
          const found = await read(file, said)
          for (const { instruction } of 'kind' in found ? [] : found.rows) {
            if (instruction?.money == null) continue
            sent += 1
            const used = instruction.money.currency
            const stated = /\((\w+)\)|\[(\w+)\]/.exec(column)
            expect([null, '', used]).toContain(currency)
            if (stated !== null) expect(stated[1] ?? stated[2]).toBe(used)
            if (mark !== '') expect(mayMark(mark.trim(), used)).toBe(true)
            if ('currency' in said && !currency) expect(used).toBe(said.currency)
          }
        }
  expect(sent).toBeGreaterThan(100)
})

test('a file with a mark is read as the same file with a column of currencies', async () => {
  const amount = fc.integer({ min: 1, max: 9_999_999 }).map((n) => (n / 100).toFixed(2))
  const notation = fc.constantFrom<(text: string) => string>(
    (text) => `€${text}`,
    (text) => `€ ${text}`,
    (text) => `${text} €`,
    (text) => `${text}\u00a0€`,
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(amount, notation), { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      async (all, comma) => {
        const write = (text: string) => (comma ? text.replace('.', ',') : text)
        const marked = fileOf(
          'Amount',
          all.map(([text, mark]) => mark(write(text))),
        )
        const plain = fileOf(
          'Amount',
          all.map(([text]) => write(text)),
          all.map(() => 'EUR'),
        )
        expect(await moneyOf(marked)).toEqual(await moneyOf(plain))
      },
    ),
    { numRuns: 60 },
  )
})

describe('a row that names no currency beside rows that name one', () => {
  const gap = 'is empty, and would be read as EUR, while other rows say USD'
  test('is filled by no other, from wherever it comes', async () => {
    const three = ['5.00', '6.00', '7.00']
    expect(await moneyOf(fileOf('amount', three, ['USD', '', 'USD']), saying('EUR'))).toEqual([
      '5.00 USD',
      gap,
      '7.00 USD',
    ])
    expect(await moneyOf(fileOf('amount', ['€5.00', '€6.00'], ['EUR', '']))).toEqual(['5.00 EUR', '6.00 EUR'])
    expect(await moneyOf(fileOf('amount', three, ['EUR', '', 'USD']), saying('EUR'))).toEqual([
      '5.00 EUR',
      gap,
      '7.00 USD',
    ])
    expect(await moneyOf(fileOf('amount', three, ['EUR', '', '']), saying('EUR'))).toEqual(
      three.map((one) => `${one} EUR`),
    )
  })

  test('is a bad row too where a workbook has its cells merged', async () => {
    const table = [
      ['amount', 'order_id', 'currency'],
      ...['5.00', '6.00'].map((amount, i) => [amount, `${100 + i}`, i === 0 ? 'USD' : '']),
    ]
    const parts = partsOf({ A: rowsOf(table) })
    const [sheet] = Object.keys(parts).filter((name) => name.includes('sheet1'))
    const merged = `${parts[sheet as string]}`.replace(
      '</sheetData>',
      '</sheetData><mergeCells count="1"><mergeCell ref="C2:C3"/></mergeCells>',
    )
    expect(await moneyOf(zip({ ...parts, [sheet as string]: merged }), saying('EUR'))).toEqual(['5.00 USD', gap])
  })
})
