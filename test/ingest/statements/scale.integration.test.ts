// Amounts in cents or in thousands, as the name of their column says: never read as whole units.

import { describe, expect, test } from 'vitest'
import { formatAmount, parseCurrency } from '../../../src/domain/money.ts'
import { carriedColumns } from '../../../src/ingest/header.ts'
import { number, partsOf, rowsOf, zip } from '../sheets.ts'
import { readWhole, refusalOf } from '../table.ts'

const REFUND = { operation: 'REFUND', currency: parseCurrency('USD') } as const
const MINOR = { ...REFUND, scale: 'minor' } as const
const fileOf = (column: string, ...amounts: readonly string[]) =>
  [`${column};order_id`, ...amounts.map((amount, i) => `${amount};${100 + i}`), ''].join('\n')
const asAmount = (column: string) => [{ column, field: 'amount' as const }]

async function moneyOf(
  file: string | Uint8Array,
  options: Parameters<typeof readWhole>[1],
): Promise<readonly string[]> {
  const { rows } = await readWhole(file, options)
  return rows.map(({ instruction, faults }) =>
    instruction?.money == null ? faults.map(({ problem }) => problem).join() : formatAmount(instruction.money),
  )
}

describe('minor units in the name of the column', () => {
  test.each([
    ...['amount_cents', 'amount_in_cents', 'amountCents', 'amount_minor', 'Amount (cents)', 'Amount (ct)'],
    ...['Betrag in Cent', 'montant_centimes', 'Importe (céntimos)', 'amount_pence', 'Amount in paise', 'Belopp (öre)'],
    ...[
      'value_minor_units',
      'Amount (x100)',
      'AMOUNT_CENTS_USD',
      'Bedrag (centen)',
      'Bedrag (eurocent)',
      'Kwota w groszach',
    ],
  ])('%s is refused until it is said', async (column) => {
    const map = asAmount(column)
    const sheet = zip(
      partsOf({
        A: rowsOf([
          [column, 'order_id'],
          [number('2990'), '100'],
        ]),
      }),
    )
    for (const file of [fileOf(column, '2990'), sheet]) {
      const fault = await refusalOf(file, { ...REFUND, map })
      expect(fault.problem).toContain('says that its amounts are in minor units')
      expect(fault.remedy).toContain('--scale minor')
      expect(await moneyOf(file, { ...MINOR, map })).toEqual(['29.90'])
    }
  })

  test.each([
    ...[
      'Amount in thousands',
      'Betrag (TEUR)',
      'Amount (k)',
      'Amount T€',
      'Umsatz Mio',
      'Amount (x1000)',
      '金額（千円）',
    ],
    ...['montant_milliers', 'Importe (miles)', 'Amount k USD', 'Belopp tkr'],
  ])('%s is refused, whatever is said', async (column) => {
    for (const said of [REFUND, MINOR]) {
      const fault = await refusalOf(fileOf(column, '2990'), { ...said, map: asAmount(column) })
      expect(fault.problem).toContain('thousands or millions')
      expect(fault.remedy).not.toContain('--scale')
    }
  })

  test.each(['Amount', 'Amount (percent)', 'Accents amount', 'Minority amount', 'Amount EUR', 'Kilo amount'])(
    'is not what %s says',
    async (column) => {
      const said = column === 'Amount EUR' ? { ...REFUND, currency: parseCurrency('EUR') } : REFUND
      expect(await moneyOf(fileOf(column, '2990'), { ...said, map: asAmount(column) })).toEqual(['2990.00'])
    },
  )
})

describe('amounts in minor units, as a person says', () => {
  test.each([
    ['USD', '2990', '29.90'],
    ['USD', '5', '0.05'],
    ['JPY', '2990', '2990'],
    ['KWD', '2990', '2.990'],
    ['USD', '123456789012345', '1234567890123.45'],
    ['USD', '1234567890123456', 'has more than 15 digits'],
    ['USD', '0', 'is zero'],
    ['USD', '29.90', expect.stringMatching(/^has decimals, and --scale minor says/)],
    ['USD', '29.00', expect.stringMatching(/^has decimals, and --scale minor says/)],
  ])('are read exactly: %s %s', async (currency, amount, money) => {
    expect(await moneyOf(fileOf('Amount', amount), { ...MINOR, currency: parseCurrency(currency) })).toEqual([money])
  })

  test('are called so in the results, which are refused where it is not said again', async () => {
    const { survey } = await readWhole(fileOf('Betrag', '2990'), MINOR)
    const [amount = ''] = carriedColumns(survey.header)
    expect(amount).toBe('Betrag (minor units)')
    expect((await refusalOf(fileOf(amount, '2990'), REFUND)).problem).toContain('minor units')
    for (const map of [[], asAmount('Betrag')])
      expect(await moneyOf(fileOf(amount, '2990'), { ...MINOR, map })).toEqual(['29.90'])
    const named = await readWhole(fileOf('amount_cents', '2990'), { ...MINOR, map: asAmount('amount_cents') })
    expect(carriedColumns(named.survey.header)[0]).toBe('amount_cents')
  })

  test('may be what a file without any decimals means: a note', async () => {
    const amounts = Array.from({ length: 20 }, (_, i) => `${2990 + i}`)
    const note =
      'None of the 20 amounts has decimals, and they are read as whole USD; if they are in cents, add --scale minor.'
    const sheet = zip(partsOf({ A: rowsOf([['Amount', 'order_id'], ...amounts.map((text) => [number(text), '7'])]) }))
    for (const file of [fileOf('Amount', ...amounts), sheet])
      expect((await readWhole(file, REFUND)).survey.warnings).toContain(note)
    for (const [file, said] of [
      [fileOf('Amount', ...amounts.slice(1)), REFUND],
      [fileOf('Amount', ...amounts, '1.50'), REFUND],
      [fileOf('Amount', ...amounts), MINOR],
      [fileOf('Amount', ...amounts), { ...REFUND, currency: parseCurrency('JPY') }],
    ] as const)
      expect((await readWhole(file, said)).survey.warnings).toEqual([])
  })
})

describe('an amount above what the order came to, in the same row', () => {
  const EUR = { operation: 'REFUND', currency: parseCurrency('EUR') } as const
  const beside = (name: string, amount: string, sum: string) =>
    `amount;order_id;${name}\n${amount};7;${sum}\n5.00;8;9.00\n`

  test.each([
    ['order total', '300.00', '60.00'],
    ['Order Total (EUR)', '60.01', '€60.00'],
    ['Bestellsumme', '1300,00', '1.200,00'],
    ['amount_charged', '300', '60'],
    ['Montant de la commande', '300', '60.50'],
  ])('is a bad row: %s', async (name, amount, sum) => {
    const file = beside(name, amount, sum).replaceAll('.00;', amount.includes(',') ? ',00;' : '.00;')
    const read = { ...EUR, map: [{ column: 'amount', field: 'amount' as const }] }
    const { rows } = await readWhole(amount.includes(',') ? file.replaceAll('9.00', '9,00') : file, read)
    expect(rows.map(({ instruction }) => instruction === null)).toEqual([true, false])
    expect(rows[0]?.faults).toMatchObject([
      { line: 2, column: name, value: sum, remedy: expect.stringContaining(`--map "${name}=ignore"`) },
    ])
    expect(rows[0]).toMatchObject({ money: { currency: 'EUR' }, said: { operation: 'REFUND', card: null } })
    const ignored = { ...read, map: [...read.map, { column: name, field: null }] }
    expect((await readWhole(file, ignored)).rows[0]?.faults).toEqual([])
  })

  test.each([
    ['order total', '60.00', '60.00'],
    ['order total', '60.00', ''],
    ['order total', '60.00', '0.00'],
    ['order total (USD)', '60.00', '50.00'],
    ['order total', '60.00', 'USD 50.00'],
    ['net', '60.00', '50.00'],
    ['order total tax', '60.00', '9.00'],
    ['order number', '60.00', '17'],
    ['charge amount', '60.00', '1.00'],
  ])('is none beside %s: %s and %s', async (name, amount, sum) => {
    const { rows } = await readWhole(beside(name, amount, sum), EUR)
    expect(rows.map(({ faults }) => faults)).toEqual([[], []])
  })

  test('is asked about captures of authorizations as well, about sales never, and about numbers of a workbook', async () => {
    const table = [
      ['amount', 'order_id', 'order total'],
      [number('300'), '7', number('60.5')],
    ]
    const sheet = zip(partsOf({ A: rowsOf(table) }))
    expect((await readWhole(sheet, { ...EUR, operation: 'CAUTH' })).rows[0]?.faults).toHaveLength(1)
    const soFar = beside('captured amount', '50.00', '20.00')
    expect((await readWhole(soFar, { ...EUR, operation: 'CAUTH' })).rows[0]?.faults).toEqual([])
    expect((await readWhole(soFar, EUR)).rows[0]?.faults).toHaveLength(1)
    const sale = beside('order total', '300.00', '60.00').replace('order_id', 'vault_id')
    expect((await readWhole(sale, { ...EUR, operation: 'CAPTURE' })).rows[0]?.faults).toEqual([])
    const cents = beside('order total', '3000', '60').replace('5.00;', '500;')
    expect((await readWhole(cents, { ...EUR, scale: 'minor' })).rows[0]?.faults).toEqual([])
  })
})

describe('beside a column that is called amount', () => {
  const EUR = { currency: parseCurrency('EUR') } as const
  const fileOf = (amount: string, name: string, cell: string) => `${amount},order_id,${name}\n50.00,7,${cell}\n`

  test.each([
    ['amount', 'amount to refund', 'REFUND'],
    ['Amount', 'Amount to refund', 'REFUND'],
    ['amount', 'refund', 'REFUND'],
    ['amount', 'Rückerstattung', 'REFUND'],
    ['amount', 'amount to capture', 'CAUTH'],
    ['amount', 'new amount', 'CAUTH'],
    ['amount', 'amount.1', 'REFUND'],
    ['amount', 'Amount due', 'CAUTH'],
  ] as const)('%s: other amounts under %s are asked about: %s', async (amount, name, operation) => {
    const fault = await refusalOf(fileOf(amount, name, '20.00'), { ...EUR, operation })
    expect(fault.problem).toBe(
      `the column "${amount}" would be read as the amount, and "${name}" could be the one that is meant`,
    )
    expect(fault.remedy).toContain(`--map "${name}=ignore"`)
    for (const [map, read] of [
      [[{ column: name, field: null }], 'amount: 50.00'],
      [[{ column: amount, field: 'amount' as const }], 'amount: 50.00'],
      [
        [
          { column: amount, field: null },
          { column: name, field: 'amount' as const },
        ],
        'amount: 20.00',
      ],
    ] as const)
      expect([`amount: ${await moneyOf(fileOf(amount, name, '20.00'), { ...EUR, operation, map })}`]).toEqual([read])
  })

  test.each([
    ['refund', 'yes', 'REFUND'],
    ['refund', '', 'REFUND'],
    ['refund', '1', 'REFUND'],
    ['refund', '0.00', 'REFUND'],
    ['amount refunded', '20.00', 'REFUND'],
    ['refund fee', '2.00', 'REFUND'],
    ['refund reason', '7', 'REFUND'],
    ['total', '20.00', 'REFUND'],
    ['refund', '20.00', 'CAUTH'],
  ] as const)('%s with %s is none: %s', async (name, cell, operation) => {
    expect(await moneyOf(fileOf('amount', name, cell), { ...EUR, operation })).toEqual(['50.00'])
  })
})
