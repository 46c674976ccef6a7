// Lines above the column names: refused with the line that seems to have them, left out where a person says which it is.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCurrency } from '../../src/domain/money.ts'
import { partsOf, rowsOf, zip } from './sheets.ts'
import { encode, readWhole, refusalOf } from './table.ts'

const REFUND = { operation: 'REFUND' } as const
const TABLE = ['Betrag;Währung;Order ID', '5,00;EUR;700000001', '6,00;EUR;700000002']
const sheetWith = (above: readonly string[]) =>
  zip(partsOf({ A: rowsOf([...above, ...TABLE].map((line) => line.split(';'))) }))

describe('what lines above the column names say of all amounts', () => {
  const below = { ...REFUND, headerRow: 3 }
  const filesWith = (above: readonly string[], rows = ['Betrag;Order ID', '500;700000001']) => [
    [...above, ...rows].join('\n'),
    zip(partsOf({ A: rowsOf([...above, ...rows].map((line) => line.split(';'))) })),
  ]
  const EUR = parseCurrency('EUR')

  test.each([
    ['All amounts in cents', 'minor units'],
    ['Angaben in Cent;;', 'minor units'],
    ['Currency: EUR (cents)', 'minor units'],
    ['Beträge in TEUR', 'thousands or millions'],
    ['Refunds in thousands of EUR', 'thousands or millions'],
  ])('%s counts as a scale', async (line, problem) => {
    for (const file of filesWith(['Export', line])) {
      const fault = await refusalOf(file, { ...below, currency: EUR })
      expect(fault.problem).toContain(`line 2 ("${line.replaceAll(';', '')}") says that its amounts are`)
      expect(fault.problem).toContain(problem)
      if (problem !== 'minor units') continue
      const { rows } = await readWhole(file, { ...below, currency: EUR, scale: 'minor' })
      expect(rows[0]?.instruction?.money).toEqual({ amountMinor: 500n, currency: 'EUR' })
    }
  })

  test.each(['currency: JPY', 'Currency;JPY', 'Währung: JPY', 'all amounts in JPY', 'Amounts in Yen'])(
    '%s counts as the currency',
    async (line) => {
      for (const file of filesWith([line, ''])) {
        const { survey, rows } = await readWhole(file, below)
        expect(rows[0]?.instruction?.money).toEqual({ amountMinor: 500n, currency: 'JPY' })
        expect(survey.warnings).toContainEqual(
          expect.stringMatching(/^All amounts are read as JPY, as line 1 \(".*"\) says\.$/),
        )
        const { rows: others } = await readWhole(file, { ...below, currency: EUR })
        expect(others[0]?.faults).toMatchObject([
          { problem: expect.stringMatching(/^is to be in EUR, and line 1 .* says JPY$/) },
        ])
      }
    },
  )

  test.each([
    'Total amount: 1000',
    'Amount: 5.000,00 EUR',
    'Report in November 2026',
    'Konto: EUR',
    'K (in total)',
    'Sum (500)',
  ])('%s says nothing of it', async (line) => {
    for (const file of filesWith([line, ''])) {
      const { rows } = await readWhole(file, { ...below, currency: parseCurrency('USD') })
      expect(rows[0]?.instruction?.money).toEqual({ amountMinor: 50000n, currency: 'USD' })
    }
  })
})

test('a line above the column names that says that nothing is to be sent refuses the file', async () => {
  for (const line of ['DO NOT PAY', 'ON HOLD - do not process', 'Noch nicht überweisen!']) {
    for (const file of [[`Refunds;${line}`, ...TABLE].join('\n'), sheetWith([line])]) {
      const fault = await refusalOf(file, { ...REFUND, headerRow: 2 })
      expect([fault.problem, fault.line]).toEqual([
        `line 1 ("${line}") says that the rows below it are not to be sent`,
        1,
      ])
      expect(fault.remedy).toContain('delete that line')
    }
  }
  expect((await readWhole(sheetWith(['Refunds on 28 November']), { ...REFUND, headerRow: 2 })).rows).toHaveLength(2)
})

test('a sheet whose name says that nothing is to be sent is read only where it is named', async () => {
  for (const sheet of ['DO NOT SEND', 'old - already paid']) {
    const file = zip(partsOf({ [sheet]: rowsOf(TABLE.map((line) => line.split(';'))) }))
    const fault = await refusalOf(file, REFUND)
    expect([fault.problem, fault.remedy]).toEqual([
      expect.stringContaining(`"${sheet}"`),
      expect.stringContaining(`--sheet "${sheet}"`),
    ])
    expect((await readWhole(file, { ...REFUND, sheet })).rows).toHaveLength(2)
  }
})

describe('a line of text among the rows or below them', () => {
  const TEXTS = ['Already refunded in October:', 'Row A2: please do not pay', 'All amounts in USD', 'Amounts in cents']
  const ROWS = ['Reference;Betrag;Währung;Order ID', 'a;5,00;EUR;700000001', 'b;6,00;EUR;700000002']
  const withLine = (line: string, place: number) => ROWS.toSpliced(place, 0, `${line};;;`)

  test.each(TEXTS)('refuses the file by what it says, also where bad rows are left out: %s', async (line) => {
    for (const place of [2, 3]) {
      const lines = withLine(line, place)
      for (const file of [lines.join('\n'), zip(partsOf({ A: rowsOf(lines.map((one) => one.split(';'))) }))]) {
        const fault = await refusalOf(file, REFUND)
        expect(fault.problem).toContain(`line ${place + 1} ("${line}") s`)
        expect(fault.remedy).toContain('delete')
      }
    }
  })

  test.each(['Refunds of October', 'Total amount: 11,00', 'already refunded;;EUR'])(
    'is a bad row: %s',
    async (line) => {
      const { rows } = await readWhole(withLine(line, 2).join('\n').replace('EUR;;;', 'EUR;'), REFUND)
      expect(rows.map(({ faults }) => faults.length > 0)).toEqual([false, true, false])
    },
  )
})

describe('title lines above the column names', () => {
  test('are refused, and the sentence says what to do', async () => {
    for (const file of [['Export', '', ...TABLE].join('\n'), sheetWith(['Export', ''])]) {
      const fault = await refusalOf(file, REFUND)
      expect(fault.problem).toContain('line 3 looks like the column names')
      expect(fault.remedy).toBe(
        'take out lines 1 to 2, so that the column names come first, or leave them in and say --header-row 3',
      )
    }
  })

  test('are left out where the line is said, and lines keep their numbers', async () => {
    const titles = fc.array(
      fc.constantFrom(
        '',
        'Export vom 1.12.2026',
        '"half a quote',
        ';;;',
        'a;b;c;d;e',
        'Konto;4711',
        'sum"of"all',
        'ä€',
      ),
      { minLength: 1, maxLength: 8 },
    )
    const ends = fc.constantFrom('\n', '\r\n', '\r')
    const encodings = fc.constantFrom('utf8', 'utf8-bom', 'utf16le-bom', 'windows-1252')
    await fc.assert(
      fc.asyncProperty(titles, ends, encodings, async (above, end, encoding) => {
        const headerRow = above.length + 1
        const { survey, rows } = await readWhole(encode([...above, ...TABLE].join(end), encoding), {
          ...REFUND,
          headerRow,
        })
        expect(rows.map(({ line, rowNo, instruction }) => [line, rowNo, instruction?.orderId])).toEqual([
          [headerRow + 1, 1, '700000001'],
          [headerRow + 2, 2, '700000002'],
        ])
        expect(survey.warnings[0]).toContain('above the column names and left out')
      }),
      { numRuns: 60 },
    )
  })

  test('are left out of a workbook in the same way, however wide they are', async () => {
    const { survey, rows } = await readWhole(sheetWith(['a;b;c;d;e;f', '', 'Export']), { ...REFUND, headerRow: 4 })
    expect(rows.map(({ line, instruction }) => [line, instruction?.orderId])).toEqual([
      [5, '700000001'],
      [6, '700000002'],
    ])
    expect(survey.warnings).toEqual(['Lines 1 to 3 are above the column names and left out.'])
  })

  test('may follow a sep= line', async () => {
    const { rows } = await readWhole(['sep=;', 'a,b,c,d', ...TABLE].join('\n'), { ...REFUND, headerRow: 3 })
    expect(rows.map(({ line }) => line)).toEqual([4, 5])
  })

  test('must hold no card number', async () => {
    for (const file of [['Card 4111 1111 1111 1111', ...TABLE].join('\n'), sheetWith(['Card 4111111111111111'])]) {
      const fault = await refusalOf(file, { ...REFUND, headerRow: 2 })
      expect([fault.code, fault.problem]).toEqual(['card-data', 'a line above the column names holds a card number'])
    }
  })

  test.each([
    [2, 'line 2 is empty or not there, and --header-row says that it names the columns'],
    [4, 'the first line is mostly numbers'],
    [99, 'line 99 is empty or not there'],
  ])('are not what a line says that names nothing: %i', async (headerRow, problem) => {
    for (const file of [['Export', '', ...TABLE].join('\n'), sheetWith(['Export', ''])])
      expect((await refusalOf(file, { ...REFUND, headerRow })).problem).toContain(problem)
  })

  test('are no titles where one of them names the same columns: rows would be left out', async () => {
    const [names = '', ...rows] = TABLE
    const joined = [names, rows[0] as string, names, rows[1] as string]
    const spread = ['Export', ` "betrag"; Währung;"ORDER ID"`, rows[0] as string, names, rows[1] as string]
    const inSheet = zip(
      partsOf({ A: rowsOf([...joined.slice(0, 3), rows[1] as string].map((line) => line.split(';'))) }),
    )
    for (const [file, first, headerRow] of [
      [joined.join('\n'), 1, 3],
      [spread.join('\r\n'), 2, 4],
      [inSheet, 1, 3],
    ] as const) {
      const fault = await refusalOf(file, { ...REFUND, headerRow })
      expect(fault.problem).toBe(
        `line ${first} has the same column names as line ${headerRow}, which --header-row says is the first to name them: what is between them would be left out`,
      )
      expect(fault.remedy).toContain(`to have those rows read too: --header-row ${first};`)
      const { rows: read } = await readWhole(file, { ...REFUND, headerRow: first })
      expect(read.map(({ instruction }) => instruction?.orderId)).toEqual(['700000001', '700000002'])
    }
  })
})

describe('a table above the column names', () => {
  const names = ['settlement_id', 'processor', 'gross', 'fee']
  const above = [names, ['st_1', 'card', '100.00', '1.50'], ['st_2', 'card', '200.00', '']]
  const table = [
    ['Betrag', 'Währung', 'Order ID'],
    ['5,00', 'EUR', '700000001'],
  ]
  const csvOf = (...lines: readonly (readonly string[])[]) => lines.map((cells) => cells.join(';')).join('\n')
  const problem = 'looks like the column names, and line 2 is a row of another table above it'

  test('is no title: without advice to take it out, and with the line said', async () => {
    for (const lines of [
      [...above, [''], ...table],
      [...above, ...table],
      [['order_id', 'gross'], ['7', '5.00'], ...table],
    ]) {
      const headerRow = lines.length - 1
      for (const file of [csvOf(...lines), zip(partsOf({ A: rowsOf(lines) }))])
        for (const said of [REFUND, { ...REFUND, headerRow }]) {
          const fault = await refusalOf(file, said)
          expect(fault.problem).toContain(`line ${headerRow} ${problem}`)
          expect(fault.remedy).toBe('make a file of each table, with its own column names in the first line')
        }
    }
  })

  test.each([
    [
      [
        ['Export', 'Januar'],
        ['Konto', '4711'],
        ['Von', '01.01.2026'],
      ],
    ],
    [
      [
        ['Kontonummer:', 'DE12 3456', ''],
        ['Kontostand:', '1.234,00 EUR', ''],
      ],
    ],
    [[['Report of all refunds'], ['Page', '1', 'of', '2']]],
    [
      [
        ['Bank', 'Filiale', 'Ort'],
        ['Sparkasse', 'Mitte', 'Berlin'],
      ],
    ],
  ])('is not what %j are', async (titles) => {
    const fault = await refusalOf(csvOf(...titles, ...table), REFUND)
    expect(fault.remedy).toContain(`--header-row ${titles.length + 1}`)
    const { rows } = await readWhole(csvOf(...titles, ...table), { ...REFUND, headerRow: titles.length + 1 })
    expect(rows).toHaveLength(1)
  })
})
