import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import writeXlsxFile from 'write-excel-file/node'
import { surveyFile } from '../../../src/ingest/inspect-file.ts'
import { readRows } from '../../../src/ingest/rows.ts'
import { numberText } from '../../../src/ingest/workbook/cell.ts'
import { parseFormat, showNumber, showsDate } from '../../../src/ingest/workbook/number-format.ts'
import { openWhole } from '../../../src/ingest/workbook/workbook.ts'
import { type Entry, inflate, readDirectory } from '../../../src/ingest/workbook/zip.ts'
import { tries } from '../../fixtures/tries.ts'
import { cell, number, partsOf, rowOf, rowsOf, sheetOf, type Written, workbook, zip } from '../sheets.ts'
import { READING, read, readWhole, refusalOf, toCsv, withFile } from '../table.ts'

const HEADER = ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id', 'note']
const refund = (over: Partial<Record<string, Written>> = {}): Written[] => {
  const cells: Record<string, Written> = {
    ...{ reference: 'R1', transaction_type: 'REFUND', amount: '12.30', request_currency: 'EUR' },
    ...{ request_ref_po_id: '0123', note: 'x' },
    ...over,
  }
  return HEADER.map((name) => cells[name] ?? '')
}
const of = (...rows: Written[][]) => workbook([HEADER, ...rows])
const faultsOf = async (row: Written[]) => (await readWhole(of(row))).rows.flatMap(({ faults }) => faults)
const amountOf = async (amount: Written) => {
  const { rows } = await readWhole(of(refund({ amount })))
  return rows[0]?.instruction?.money?.amountMinor ?? rows[0]?.faults[0]?.problem
}

describe('a workbook', () => {
  test('of text cells reads as the CSV of the same table does', async () => {
    const table = [
      HEADER,
      ['R1', 'REFUND', '12,30', 'EUR', '0123', ' =spaces & <signs> ä\n"stay" '],
      ['R-😀', 'REFUND', '1.000,00', 'EUR', '9007199254740993', ''],
      ['', 'CANCEL', '', '', '125', '00123'],
    ]
    const ofSheet = await readWhole(workbook(table))
    const ofCsv = await readWhole(toCsv(table, ';', '\n'))
    expect(ofSheet.survey).toMatchObject({ sheet: 'Sheet1', decimal: ',', rows: 3, fedBack: false })
    const told = (rows: (typeof ofCsv)['rows']) =>
      rows.map(({ reference, instruction, ...row }) => ({
        ...row,
        line: row.rowNo,
        reference: reference.replace(/^[0-9a-f]{16}-/, ''),
        instruction: { ...instruction, reference: '', xtlOrderId: '' },
      }))
    expect(told(ofSheet.rows)).toEqual(told(ofCsv.rows))
    expect(ofSheet.rows[1]?.reference).toBe('R-😀')
  })

  test('is known by its bytes, whatever its name', async () => {
    expect((await readWhole(of(refund()))).rows).toHaveLength(1) // the file of these tests is called file.csv
  })

  test('gives a record the number of its row; empty rows are counted and left out', async () => {
    const xml = `<row r="2"/>${rowOf(3, HEADER)}<row r="5"><c r="A5" s="2"/></row>${rowOf(7, ['  '])}${rowOf(9, refund())}${rowOf(12, refund({ reference: 'R2' }))}<row r="1048576"><c r="XFD1048576" s="1"/></row>`
    const { survey, rows } = await readWhole(zip(partsOf({ Sheet1: xml })))
    expect(survey.rows).toBe(2)
    expect(rows.map(({ rowNo, line }) => [rowNo, line])).toEqual([
      [1, 9],
      [2, 12],
    ])
  })

  test('may leave out the addresses of rows and cells', async () => {
    const xml = rowsOf([HEADER, refund()]).replaceAll(/ r="[A-Z]*\d+"/g, '')
    expect((await readWhole(zip(partsOf({ Sheet1: xml })))).rows).toMatchObject([{ line: 2, reference: 'R1' }])
  })

  test('may have prefixes, runs of fonts, readings, comments, CDATA and escapes in its texts', async () => {
    const strings =
      '<x:sst xmlns:x="y"><x:si><x:r><x:t>R</x:t></x:r><x:r><x:t>_x0031_</x:t></x:r><x:rPh><x:t>no</x:t></x:rPh></x:si><x:si><x:t>a<!-- not -->b<![CDATA[<c>]]>&#128512;&#x41;_x005F_x0041_</x:t></x:si></x:sst>'
    const row = refund({ reference: cell('s', '<v>0</v>'), note: cell('s', '<v>1</v>') })
    const bytes = zip(partsOf({ Sheet1: rowsOf([HEADER, row]) }, { 'xl/sharedStrings.xml': strings }))
    const { rows } = await readWhole(bytes)
    expect(rows[0]).toMatchObject({ reference: 'R1' })
    expect(rows[0]?.cells[5]).toBe('ab<c>😀A_x0041_')
  })

  test('that another program wrote is read to the same cells', async () => {
    const table = [HEADER, ['R1', 'REFUND', '12.30', 'EUR', '0123', 'é "q"\n']]
    const written = await writeXlsxFile(
      table.map((cells) => cells.map((value) => ({ value, type: String }))),
    ).toBuffer()
    expect((await readWhole(written)).rows.map(({ cells }) => cells)).toEqual(table.slice(1))
  })

  test('tells how many hidden rows are read', async () => {
    const xml = rowOf(1, HEADER) + rowOf(2, refund(), ' hidden="1"') + rowOf(3, refund({ reference: 'R2' }))
    const { survey } = await readWhole(zip(partsOf({ Sheet1: xml })), { allowHidden: 1 })
    expect(survey.rows).toBe(2)
    expect(survey.warnings).toEqual([expect.stringContaining('1 of the rows is hidden')])
  })

  test('that changed since the first reading is no longer read', async () => {
    await withFile(of(refund()), async (file) => {
      const options = READING
      const survey = await surveyFile(file, options)
      if (survey.kind === 'refused') throw new Error(survey.problem)
      await file.write(of(refund({ amount: '99.30' })), 0, null, 0)
      const rows = async () => {
        for await (const _ of readRows(file, survey, options));
      }
      await expect(rows()).rejects.toThrow(/changed while it was read/)
    })
  })
})

describe('an amount', () => {
  test.each([
    ['36.299999999999997', 3630n],
    ['1E2', 10000n],
    ['1234.5', 123450n],
    ['0.1', 10n],
    ['9.9999999999999995E-2', 10n],
    ['1000000', 100000000n],
    ['-5', 'has a minus'],
    ['1E+20', 'has more than 15 digits'],
  ])('stored as the number %s is %s', async (stored, expected) => {
    expect(await amountOf(number(stored))).toBe(expected)
    expect(await amountOf(number(stored, 4))).toBe(expected)
  })

  test('stored with more decimals than its currency has, or than are shown, is a fault', async () => {
    expect(await amountOf(number('1.234'))).toBe('EUR has 2 decimals and this amount has more')
    expect(await amountOf(number('1.234', 4))).toContain('shown by the spreadsheet as another number')
  })

  test('that is a number is one whatever sign the texts of the file have, and shows none', async () => {
    const rows = [
      refund({ amount: number('1234.5') }),
      refund({ reference: 'R2', amount: '1.234,50' }),
      refund({ reference: 'R3', amount: number('0.125'), request_currency: 'KWD' }),
    ]
    const found = await readWhole(of(...rows))
    expect(found.survey).toMatchObject({ decimal: ',', warnings: [] })
    expect(found.rows.map(({ instruction }) => instruction?.money?.amountMinor)).toEqual([123450n, 123450n, 125n])
    expect((await readWhole(of(refund({ amount: number('1.5') })))).survey.decimal).toBeNull()
  })

  test('of any minor units comes through a double unharmed', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 999_999_999_999_999n }),
        fc.integer({ min: 0, max: 3 }),
        (minor, decimals) => {
          const digits = minor.toString().padStart(decimals + 1, '0')
          const plain = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
          const stored = Number(plain)
          const shortened = decimals === 0 ? plain : plain.replace(/\.?0+$/, '')
          for (const written of [String(stored), stored.toPrecision(17), stored.toExponential()]) {
            expect(numberText(written)).toBe(shortened)
          }
        },
      ),
    )
  })

  test.each([
    [2, '46357'],
    [3, '46357.5'],
  ])('that was turned into a date (style %i) is a fault', async (style, stored) => {
    expect(await faultsOf(refund({ amount: number(stored, style) }))).toMatchObject([
      { column: 'amount', problem: expect.stringContaining('turned into a date') },
    ])
  })

  test('that is an error of the spreadsheet or a truth value is a fault', async () => {
    expect(await amountOf(cell('e', '<f>1/0</f><v>#DIV/0!</v>'))).toMatch(/error of the spreadsheet/)
    expect(await amountOf(cell('b', '<v>1</v>'))).toMatch(/TRUE or FALSE/)
  })

  test('that is a formula is its computed value; one never computed refuses the file', async () => {
    expect(await amountOf(cell('n', '<f>6*2</f><v>12</v>'))).toBe(1200n)
    expect(await amountOf(cell('str', '<f>"12.30"</f><v>12.30</v>'))).toBe(1230n)
    for (const inside of ['<f>6*2</f>', '<f>6*2</f><v/>', '<f>6*2</f><v></v>']) {
      const fault = await refusalOf(of(refund({ amount: cell('n', inside) })))
      expect(fault).toMatchObject({ line: 2, column: 'C', problem: expect.stringContaining('never computed') })
    }
  })
})

describe('the values of formulas, where the workbook says that they are to be computed', () => {
  const book = (calc: string, rows: string) => {
    const parts = partsOf({ Sheet1: rows })
    const main = (parts['xl/workbook.xml'] as string).replace('</sheets>', `</sheets>${calc}`)
    return zip({ ...parts, 'xl/workbook.xml': main })
  }
  const FULL = '<calcPr calcId="0" fullCalcOnLoad="1"/>'
  const STALE = expect.stringContaining('its value is out of date')
  const formula = (inside = '<f>6*2</f>') => cell('n', `${inside}<v>12</v>`)

  test.each([FULL, '<calcPr fullCalcOnLoad="true"/>', '<calcPr forceFullCalc="1"/>', '<calcPr calcCompleted="0"/>'])(
    'are faults in a column that is understood: %s',
    async (calc) => {
      for (const over of [
        { amount: formula() },
        { request_ref_po_id: cell('str', '<f>F2</f><v>0123</v>') },
        { reference: cell('str', '<f>F2</f><v>R1</v>') },
        { request_currency: cell('str', '<f>F2</f><v>EUR</v>') },
        { transaction_type: cell('str', '<f>F2</f><v>REFUND</v>') },
      ]) {
        const { rows } = await readWhole(book(calc, rowsOf([HEADER, refund(over)])))
        expect(rows[0]?.faults).toContainEqual(
          expect.objectContaining({
            column: Object.keys(over)[0],
            problem: STALE,
            remedy: expect.stringContaining('save it'),
          }),
        )
        expect([rows[0]?.instruction, rows[0]?.cells[HEADER.indexOf(Object.keys(over)[0] as string)]]).toEqual([
          null,
          expect.stringMatching(/^'/),
        ])
      }
    },
  )

  test('are faults in every cell that one formula fills', async () => {
    const filled = (amount: Written, n: number) => refund({ amount, reference: `R${n}` })
    for (const inside of ['<f t="array" ref="C2:C3">A1:A2*2</f>', '<f t="dataTable" ref="C2:C3"/>']) {
      const table = [HEADER, filled(formula(inside), 1), filled(number('12'), 2), filled(number('12'), 3)]
      const { rows } = await readWhole(book(FULL, rowsOf(table)))
      expect(rows.map(({ faults }) => faults.map(({ problem }) => problem))).toEqual([[STALE], [STALE], []])
    }
  })

  test('are no column names', async () => {
    const names: readonly Written[] = HEADER.map((name) =>
      name === 'amount' ? cell('str', `<f>X1</f><v>${name}</v>`) : name,
    )
    const fault = await refusalOf(book(FULL, rowsOf([names, refund({})])))
    expect(fault).toMatchObject({ line: 1, column: 'amount', problem: STALE })
  })

  test('are none in a column that is carried through, nor are values that were written', async () => {
    const { rows } = await readWhole(book(FULL, rowsOf([HEADER, refund({ note: formula() })])))
    expect([rows[0]?.faults, rows[0]?.cells[5]]).toEqual([[], '12'])
  })

  test.each(['', '<calcPr calcId="191029"/>', '<calcPr fullCalcOnLoad="0"/>', '<calcPr iterate="false"/>'])(
    'are read like any other where it does not say so: %s',
    async (calc) => {
      const { rows } = await readWhole(book(calc, rowsOf([HEADER, refund({ amount: formula() })])))
      expect(rows[0]?.instruction?.money?.amountMinor).toBe(1200n)
    },
  )

  test('hide no card number whose last digits are zeros', async () => {
    const note = cell('n', '<f>F9</f><v>4.11111111111111E+15</v>')
    expect(await refusalOf(book(FULL, rowsOf([HEADER, refund({ note })])))).toMatchObject({ code: 'card-data' })
  })
})

test.each([
  ['0.00%', 'rescaled'],
  ['#,##0.00,"k"', 'rescaled'],
  ['0.00,,;-0.00,,', 'rescaled'],
  ['0\\.00', 'rescaled'],
  ['0"."00', 'rescaled'],
  ['0"00"', 'rescaled'],
  ['#,##0.00', 'number'],
  ['_-* #,##0.00\\ "€"_-;-* #,##0.00\\ "€"_-;_-* "-"??\\ "€"_-;_-@_-', 'number'],
  ['_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)', 'number'],
  ['#,##0.00\\ [$€-407];[Red]\\-#,##0.00\\ [$€-407]', 'number'],
  ['0.00" h"', 'number'],
  ['dd.mm.yyyy', 'date'],
])('the format %s makes a number a %s', (format, style) => {
  expect(showNumber([parseFormat(format)], '5').style).toBe(style)
})

test('an amount that is shown as another one is a fault: it may be stored a hundredfold', async () => {
  const styles =
    '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="0\\.00"/></numFmts><cellXfs><xf/><xf numFmtId="164"/></cellXfs></styleSheet>'
  const table = rowsOf([HEADER, refund({ amount: number('1250', 1), note: number('7', 1) })])
  const { rows } = await readWhole(zip(partsOf({ A: table }, { 'xl/styles.xml': styles })))
  expect(rows[0]?.faults.map(({ column, problem }) => [column, problem.slice(0, 22)])).toEqual([
    ['amount', 'is shown by the spread'],
  ])
})

test('an amount that is a number is carried through with the sign of its file', async () => {
  const rows = [
    refund({ amount: '1,50' }),
    refund({ reference: 'R2', amount: number('1.234'), request_currency: 'KWD' }),
  ]
  const whole = await readWhole(of(...rows))
  expect(whole.rows.map(({ cells }) => cells[2])).toEqual(['1,50', '1,234'])
  const again = await readWhole(toCsv([HEADER, ...whole.rows.map(({ cells }) => [...cells])], ';', '\n'))
  const moneyIn = ({ rows }: typeof whole) => rows.map(({ instruction }) => instruction?.money)
  expect(moneyIn(again)).toEqual(moneyIn(whole))
  const without = await readWhole(of(refund({ amount: number('12.5') })))
  expect(without.rows[0]?.cells[2]).toBe('12.5')
})

describe('an id', () => {
  const ids = ['reference', 'request_ref_po_id', 'customer_vault_id', 'xtl_order_id']
  const sale = { transaction_type: 'CAPTURE', amount: '1.00', request_currency: 'EUR' }
  test.each(ids)('in %s that is stored as a number is a fault that says why, and as a date too', async (column) => {
    for (const [written, said] of [
      [number('123', 4), /keeps 15 digits of it and drops leading zeros/],
      [number('46357', 2), /turned into a date/],
      [cell('e', '<v>#N/A</v>'), /error of the spreadsheet/],
      [cell('b', '<v>1</v>'), /TRUE or FALSE/],
    ] as const) {
      const row: Record<string, Written> = { reference: 'r', customer_vault_id: '7', ...sale, [column]: written }
      if (column === 'request_ref_po_id') Object.assign(row, { transaction_type: 'REFUND', customer_vault_id: '' })
      const { rows } = await readWhole(workbook([Object.keys(row), Object.values(row)]))
      expect(rows[0]?.instruction).toBeNull()
      expect(rows[0]?.faults).toMatchObject([{ column, problem: expect.stringMatching(said) }])
    }
  })

  test('that a spreadsheet has damaged stays bad in results and rejects until it is mended', async () => {
    const damaged: Partial<Record<string, Written>>[] = [
      ...['reference', 'request_ref_po_id'].flatMap((column) => [
        { [column]: number('123') },
        { [column]: number('46357', 2) },
        { [column]: cell('b', '<v>1</v>') },
        { [column]: cell('e', '<v>#N/A</v>') },
      ]),
      { amount: number('46357', 2) },
      { amount: cell('b', '<v>1</v>') },
    ]
    for (const over of damaged) {
      const { rows } = await readWhole(of(refund(over), refund({ reference: 'R2' })))
      const again = await readWhole(toCsv([HEADER, ...rows.map(({ cells }) => [...cells])], ',', '\n'))
      expect(again.rows.map(({ faults }) => faults.length)).toEqual([1, 0])
      expect(again.rows[1]?.cells).toEqual(refund({ reference: 'R2' }))
    }
  })

  test('of results fed back that is stored as a number is a fault', async () => {
    const table = [
      [...HEADER, 'result_reference', 'result_row'],
      [...refund(), number('123'), number('1')],
    ]
    const { survey, rows } = await readWhole(workbook(table))
    expect(survey.fedBack).toBe(true)
    expect(rows[0]?.faults).toMatchObject([{ column: 'result_reference', problem: expect.stringMatching(/number/) }])
  })

  test('that has leading zeros, 19 digits or an apostrophe style as text is taken as it stands', async () => {
    for (const id of ['00123', '1234567890123456789']) {
      const text = cell('inlineStr', `<is><t>${id}</t></is>`, 1)
      const { rows } = await readWhole(of(refund({ reference: text, request_ref_po_id: text })))
      expect(rows[0]).toMatchObject({ reference: id, instruction: { orderId: id } })
    }
  })
})

describe('cells that are carried through', () => {
  test.each<[Written, string]>([
    [number('0.30000000000000004'), '0.3'],
    [number('1.5E+20'), '150000000000000000000'],
    [number('-1E-7'), '-0.0000001'],
    [number('46357', 2), '2026-12-01'],
    [number('46357.430555555555', 3), '2026-12-01T10:20:00'],
    [number('0.430555555555555', 3), '10:20:00'],
    [cell('d', '<v>2026-12-01T10:20:00</v>'), '2026-12-01T10:20:00'],
    [cell('b', '<v>0</v>'), 'FALSE'],
    [cell('e', '<v>#N/A</v>'), '#N/A'],
    [cell('s', ''), ''],
    ['00123', '00123'],
  ])('%# are their text', async (written, expected) => {
    const { rows } = await readWhole(of(refund({ note: written })))
    expect(rows[0]?.faults).toEqual([])
    expect(rows[0]?.cells[5]).toBe(expected)
  })

  test('dates of old Macintosh workbooks count from 1904', async () => {
    const parts = partsOf({ Sheet1: rowsOf([HEADER, refund({ note: number('44895', 2) })]) })
    const main = (parts['xl/workbook.xml'] as string).replace('<sheets>', '<workbookPr date1904="1"/><sheets>')
    const { rows } = await readWhole(zip({ ...parts, 'xl/workbook.xml': main }))
    expect(rows[0]?.cells[5]).toBe('2026-12-01')
  })

  test('formats that show days or times are told from those that do not', () => {
    for (const format of ['d/m/yy', '[$-407]d. mmm yyyy', '[h]:mm', 'mm:ss.0', 'yyyy"年"', '"x"h'])
      expect(showsDate(format)).toBe(true)
    for (const format of [
      'General',
      '0.00',
      '#,##0.00 "days"',
      '_-* #,##0.00\\ _d_-',
      '[Red]0',
      '0.00E+00',
      '@',
      '\\d0',
    ])
      expect(showsDate(format)).toBe(false)
  })
})

describe('execute_at', () => {
  const sale = (when: Written) =>
    workbook([
      ['operation', 'amount', 'currency', 'vault_id', 'execute_at'],
      ['CAPTURE', '1.00', 'EUR', '7', when],
    ])
  test('that is a date cell has no offset and is a fault', async () => {
    const { rows } = await readWhole(sale(number('46357.5', 3)))
    expect(rows[0]?.faults).toMatchObject([{ column: 'execute_at', remedy: expect.stringContaining('ISO 8601') }])
  })

  test('that is an error of the spreadsheet never means now', async () => {
    expect((await readWhole(sale(cell('e', '<v>#REF!</v>')))).rows[0]?.instruction).toBeNull()
    expect(await refusalOf(sale(cell('n', '<f>A1</f>')))).toMatchObject({ column: 'E' })
  })

  test('that is text is read', async () => {
    const { rows } = await readWhole(sale('2026-12-01T09:00:00+01:00'))
    expect(rows[0]?.instruction?.executeAtMs).toBe(Date.UTC(2026, 11, 1, 8))
  })
})

describe('sheets', () => {
  const two = zip(
    partsOf({ Refunds: rowsOf([HEADER, refund()]), 'Old &amp; new': rowsOf([HEADER, refund({ reference: 'old' })]) }),
  )
  test('without anything in them are passed over', async () => {
    const found = await readWhole(
      zip(partsOf({ Empty: '', Styled: rowOf(1, [number('')]), Full: rowsOf([HEADER, refund()]) })),
    )
    expect(found.survey.sheet).toBe('Full')
  })

  test('are refused by name where several are filled, unless one is named', async () => {
    expect((await refusalOf(two)).problem).toContain('"Refunds", "Old & new"')
    expect((await readWhole(two, { sheet: 'Old & new' })).rows[0]?.reference).toBe('old')
    await expect(read(two, { sheet: 'Nope' })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('"Refunds"'),
    })
  })

  test('give rows without a reference one of their own: the second row of June is not that of May', async () => {
    const unnamed = rowsOf([HEADER, refund({ reference: '' })])
    const one = zip(partsOf({ May: unnamed }))
    const both = zip(partsOf({ May: unnamed, June: unnamed }))
    const of = async (bytes: Uint8Array, sheet?: string) =>
      (await readWhole(bytes, sheet === undefined ? {} : { sheet })).rows[0]?.reference
    expect(await of(both, 'May')).not.toBe(await of(both, 'June'))
    expect(await of(one, 'May')).toBe(await of(one))
  })

  test('are none where all are empty, and in a CSV file', async () => {
    expect((await refusalOf(zip(partsOf({ Empty: '' })))).problem).toMatch(/no sheet/)
    await expect(read('a,b\n1,2\n', { sheet: 'x' })).rejects.toMatchObject({ code: 'usage' })
  })

  test('that carry the summary of results are not asked about', async () => {
    const bytes = zip(
      partsOf({
        Results: rowsOf([
          [...HEADER, 'result_reference'],
          [...refund(), 'R1'],
        ]),
        Summary: rowsOf([
          ['summary_batch', 'x'],
          ['b', 'y'],
        ]),
      }),
    )
    expect((await readWhole(bytes)).survey).toMatchObject({ sheet: 'Results', fedBack: true })
  })
})

describe('card numbers', () => {
  test('refuse the file, as text and as numbers, and are not shown', async () => {
    for (const note of [
      'card 4111111111111111',
      number('4111111111111111'),
      number('4.11111111111111E+15'),
      number('378282246310005'),
    ]) {
      const fault = await refusalOf(of(refund({ note })))
      expect(fault).toMatchObject({ line: 2, column: 'note', problem: expect.stringContaining('card number') })
      expect(JSON.stringify(fault)).not.toMatch(/\d{13}/)
    }
  })

  test('are not shown where the sheet has no column names', async () => {
    const fault = await refusalOf(
      workbook([
        ['R1', number('4.11111111111111E+15')],
        ['R2', 'x'],
      ]),
    )
    expect(fault.problem).toMatch(/card number where the column names/)
    expect(JSON.stringify(fault)).not.toMatch(/\d{13}/)
  })

  test('are not seen in other long numbers', async () => {
    for (const note of [number('1763700000000000'), number('411111111111111'), number('4.1E+12'), '4111111111111110']) {
      expect((await readWhole(of(refund({ note })))).rows).toHaveLength(1)
    }
  })

  test('of a card column refuse the file whatever is in it', async () => {
    const fault = await refusalOf(
      workbook([
        [...HEADER, 'card_number'],
        [...refund(), number('1')],
      ]),
    )
    expect(fault).toMatchObject({ column: 'card_number' })
  })
})

describe('a file is refused with a sentence', () => {
  const sheet = rowsOf([HEADER, refund()])
  const good = () => partsOf({ Sheet1: sheet })
  const withSheet = (xml: string | Uint8Array) => zip({ ...good(), 'xl/worksheets/sheet1.xml': xml })
  const patched = (bytes: Buffer, patch: (bytes: Buffer) => void) => {
    patch(bytes)
    return bytes
  }
  const central = Buffer.from('PK\x01\x02')
  const end = Buffer.from('PK\x05\x06')
  test.each<[string, Uint8Array, RegExp]>([
    ['an old workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /old Excel workbook/],
    [
      'a password',
      Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]),
      /with a password/,
    ],
    [
      'OpenDocument',
      zip({ mimetype: 'application/vnd.oasis.opendocument.spreadsheet', 'content.xml': '<a/>' }),
      /OpenDocument/,
    ],
    ['a binary workbook', zip({ 'xl/workbook.bin': 'x' }), /binary Excel/],
    ['another archive', zip({ 'a.txt': 'x' }), /zip archive without a workbook/],
    ['a cut archive', zip(good()).subarray(0, 900), /damaged or cut off/],
    ['a sheet that is not there', zip({ ...good(), 'xl/worksheets/sheet1.xml': '' }), /damaged/],
    ['a DTD', withSheet(`<!DOCTYPE x [<!ENTITY a "b">]>${sheetOf(sheet)}`), /DTD/],
    ['an unclosed element', withSheet(sheetOf(sheet).replace('</sheetData>', '')), /damaged/],
    ['elements in elements without end', withSheet(sheetOf('<row>'.repeat(101))), /damaged/],
    ['no XML', withSheet('reference,amount'), /damaged/],
    ['no UTF-8', withSheet(Buffer.from(sheetOf(sheet).replace('R1', 'R\xe4'), 'latin1')), /damaged/],
    ['an endless text', withSheet(sheetOf(rowOf(1, ['x'.repeat(2_000_000)]))), /damaged/],
    ['rows out of order', withSheet(sheetOf(rowOf(2, HEADER) + rowOf(1, refund()))), /damaged/],
    ['a row beyond the last', withSheet(sheetOf(rowOf(1_048_577, HEADER))), /damaged/],
    [
      'cells out of order',
      withSheet(sheetOf('<row r="1"><c r="B1"><v>1</v></c><c r="A1"><v>2</v></c></row>')),
      /damaged/,
    ],
    ['a cell of another row', withSheet(sheetOf('<row r="1"><c r="A2"><v>1</v></c></row>')), /damaged/],
    ['a column beyond the last', withSheet(sheetOf('<row r="1"><c r="XFE1"><v>1</v></c></row>')), /damaged/],
    ['a text that is not there', withSheet(sheetOf('<row r="1"><c r="A1" t="s"><v>7</v></c></row>')), /damaged/],
    ['a number that is none', withSheet(sheetOf('<row r="1"><c r="A1"><v>0x10</v></c></row>')), /damaged/],
    ['a style that is not there', withSheet(sheetOf('<row r="1"><c r="A1" s="99"><v>1</v></c></row>')), /damaged/],
    [
      'a row of too much text',
      withSheet(
        sheetOf(
          `<row r="1">${'<c t="inlineStr"><is><t>'.concat('x'.repeat(30_000), '</t></is></c>').repeat(10)}</row>`,
        ),
      ),
      /KiB of text/,
    ],
    [
      'too many columns',
      withSheet(sheetOf(`<row r="1">${'<c><v>1</v></c>'.repeat(1_001)}</row>`)),
      /more than 1000 columns/,
    ],
    ['a cell under no name', workbook([HEADER, [...refund(), 'stray']]), /gives no name/],
    ['a wrong checksum', patched(zip(good()), (bytes) => bytes.writeUInt8(1, bytes.indexOf(central) + 16)), /damaged/],
    [
      'a declared size that lies',
      patched(zip(good()), (bytes) => bytes.writeUInt32LE(5, bytes.indexOf(central) + 24)),
      /damaged/,
    ],
    [
      'an encrypted entry',
      patched(zip(good()), (bytes) => bytes.writeUInt8(1, bytes.indexOf(central) + 8)),
      /password/,
    ],
    [
      'another compression',
      patched(zip(good()), (bytes) => bytes.writeUInt8(12, bytes.indexOf(central) + 10)),
      /damaged/,
    ],
    ['zip64', patched(zip(good()), (bytes) => bytes.writeUInt32LE(0xffffffff, bytes.indexOf(end) + 16)), /zip64/],
    ['two entries of one name', zip({ ...good(), 'XL/WORKBOOK.XML': '<workbook/>' }), /damaged/],
  ])('%s', async (_, bytes, said) => {
    const fault = await refusalOf(bytes)
    expect(fault.problem).toMatch(said)
    expect(fault.remedy).not.toBe('')
  })

  test('a bomb, whatever size it declares, before more of it is inflated than is allowed', async () => {
    const bomb = patched(zip({ a: Buffer.alloc(30_000_000) }, { level: 9 }), (bytes) =>
      bytes.writeUInt32LE(5, bytes.indexOf(central) + 24),
    )
    let inflated = 0
    const inflateAll = async () => {
      const entry = readDirectory(bomb).get('a') as Entry
      for await (const piece of inflate(bomb, entry, { leftBytes: 1_000_000 })) inflated += piece.length
    }
    await expect(inflateAll()).rejects.toThrow(/larger inside/)
    expect(inflated).toBeLessThan(1_000_001)
  })

  test('more than 50 MiB', async () => {
    const bytes = Buffer.alloc(50 * 1024 * 1024 + 1)
    zip(good()).copy(bytes)
    expect((await refusalOf(bytes)).problem).toContain('larger than 50 MiB')
  })

  test('and never with a crash, whichever bytes are changed', async () => {
    const bytes = zip(partsOf({ Sheet1: sheet, Second: rowsOf([HEADER, refund({ amount: number('1.5', 4) })]) }), {
      level: 0,
    })
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255))
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 6 }),
        fc.option(fc.nat(bytes.length)),
        async (changes, cut) => {
          const mutated = Buffer.from(bytes)
          for (const [at, value] of changes) mutated[at] = value
          const found = await read(mutated.subarray(0, cut ?? mutated.length), { sheet: undefined })
          if ('kind' in found) expect(found).toMatchObject({ problem: expect.any(String), remedy: expect.any(String) })
        },
      ),
      { numRuns: tries(300) },
    )
  })

  test('and never with a crash, whatever the sheet says', async () => {
    const piece = fc.constantFrom(
      '<row r="1">',
      '</row>',
      '<c r="A1" t="s">',
      '<c>',
      '</c>',
      '<v>',
      '</v>',
      '1',
      '&#99999999;',
      '<f/>',
      '<!--',
      '-->',
      '<is><t>',
      '</t></is>',
      'reference',
      '<![CDATA[',
      ']]>',
      '<?',
      ' ',
      '"',
      '<c r="B1"',
      '/>',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 20 }), async (pieces) => {
        const found = await read(withSheet(sheetOf(pieces.join(''))))
        expect('kind' in found).toBe(true)
      }),
      { numRuns: tries(300) },
    )
  })
})

describe('what would take hours or all memory is refused', () => {
  const long = 300_000
  // What grows with the square of these does not end within the time of a test.
  const refused = async (bytes: Buffer) => (await refusalOf(bytes)).problem

  test('a number of a thousand pages', async () => {
    expect(await refused(of(refund({ amount: number(`${'1'.repeat(long)}x`) })))).toContain('damaged')
  })

  test('a format of brackets', () => {
    expect(showsDate('['.repeat(long))).toBe(true)
  })

  test.each(['cell', 'shared text'])('one %s in pieces without end', async (where) => {
    const pieces = `<r><t>${'a'.repeat(long)}</t></r>`.repeat(5)
    const xml = `${rowOf(1, HEADER)}<row r="2"><c r="A2" t="inlineStr"><is>${pieces}</is></c></row>`
    const parts =
      where === 'cell'
        ? partsOf({ A: xml })
        : partsOf({ A: rowsOf([HEADER]) }, { 'xl/sharedStrings.xml': `<sst><si>${pieces}</si></sst>` })
    expect(await refused(zip(parts))).toContain('damaged')
  })

  test('a tag with attributes without end', async () => {
    const withAttributes = (count: number) => {
      const named = Array.from({ length: count - 1 }, (_, i) => ` a${i}=""`).join('')
      return of(refund({ note: { xml: (address) => `<c r="${address}"${named}/>` } }))
    }
    expect((await readWhole(withAttributes(64))).rows).toHaveLength(1)
    expect(await refused(withAttributes(65))).toContain('more than 64 attributes')
  })

  test('names in the archive without end', async () => {
    const withName = (length: number) =>
      zip(partsOf({ Sheet1: rowsOf([HEADER, refund()]) }, { ['n'.repeat(length)]: '' }))
    expect((await readWhole(withName(1024))).rows).toHaveLength(1)
    expect(await refused(withName(1025))).toContain('a name longer than 1 KiB')
  })

  test('a row longer than any of a CSV file may be', async () => {
    const texts = (length: number) => of(refund({ note: 'x'.repeat(32_000), reference: 'y'.repeat(length) }))
    expect((await readWhole(texts(33_000))).rows).toHaveLength(1)
    expect(await refused(texts(34_000))).toContain('row 2 of the sheet holds more than 64 KiB of text')
  })

  const named = (rows: number) => {
    const cell = (address: string) => `<c r="${address}" t="s"><v>0</v></c>`
    const lines = Array.from({ length: rows }, (_, i) =>
      rowOf(i + 2, [...refund(), { xml: cell }, { xml: cell }, { xml: cell }]),
    )
    const shared = `<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>${'x'.repeat(12_000)}</t></si></sst>`
    return zip(
      partsOf(
        { Sheet1: `${rowOf(1, [...HEADER, 'a', 'b', 'c'])}${lines.join('')}` },
        { 'xl/sharedStrings.xml': shared },
      ),
    )
  }

  test('one text that is named by so many cells that the file grows many times over', async () => {
    expect((await readWhole(named(100))).rows).toHaveLength(100)
    const small = named(200)
    expect(small.length).toBeLessThan(10_000)
    expect(await refused(small)).toContain('more text than is read here')
    // What comes behind it would be read in another pass, and is not.
    await withFile(small, async (file) => {
      const whole = await openWhole(file)
      const readAll = async () => {
        for await (const _ of whole?.rowsBeside('none') ?? []);
      }
      await expect(readAll()).rejects.toThrow(/more text/)
    })
  })

  test('elements without end, be they cells with nothing in them or letters of their own fonts', async () => {
    const rows = (count: number, inside: string) =>
      zip(
        partsOf({
          S: `${rowOf(1, HEADER)}${Array.from({ length: count }, (_, i) => `<row r="${i + 2}">${inside}</row>`).join('')}${rowOf(5000, refund())}`,
        }),
      )
    const cells = '<c s="1"/>'.repeat(1000)
    const runs = `<c t="inlineStr"><is>${'<r><t>x</t></r>'.repeat(20_000)}</is></c>`
    expect((await readWhole(rows(300, cells))).rows).toHaveLength(1)
    expect(await refused(rows(1100, cells))).toContain('more elements than are read here')
    expect(await refused(rows(30, runs))).toContain('more elements than are read here')
  })

  test('a file that inflates to many times what it is', async () => {
    const blanks = (mebibytes: number) =>
      zip(partsOf({ Sheet1: `${rowsOf([HEADER, refund()])}${`${' '.repeat(1020)}<x/>`.repeat(mebibytes * 1024)}` }), {
        level: 6,
      })
    expect((await readWhole(blanks(60))).rows).toHaveLength(1)
    expect(await refused(blanks(65))).toContain('larger inside')
  })

  test('sheets without number', async () => {
    const list = '<sheet name="a" r:id="rId1"/>'.repeat(1_001)
    const xml = `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>${list}</sheets></workbook>`
    expect(await refused(zip(partsOf({ A: '' }, { 'xl/workbook.xml': xml })))).toContain('more than 1000 sheets')
  })
})

describe('workbooks of LibreOffice', () => {
  const fixture = (name: string) => readFile(new URL(name, import.meta.url))
  test('are read cell by cell', async () => {
    const { rows } = await readWhole(await fixture('workbooks/libreoffice-refunds.xlsx'))
    expect(rows.map(({ cells, line }) => [line, ...cells])).toMatchSnapshot()
    expect(rows.map(({ faults }) => faults.map(({ column, problem }) => `${column}: ${problem}`))).toMatchSnapshot()
  })

  test.each([
    ['standard', [1, 2, 3, 8, 10]],
    ['german', [1, 2, 3, 8]],
  ])('that hold results saved again (%s) never give another reference', async (name, damaged) => {
    const written = await readWhole(await fixture('../../fixtures/mangled/written.csv'))
    const { survey, rows } = await readWhole(await fixture(`../../fixtures/mangled/${name}.xlsx`))
    expect(survey.fedBack).toBe(true)
    const faulty = rows.filter(({ faults }) => faults.some(({ column }) => column === 'result_reference'))
    expect(faulty.map(({ rowNo }) => rowNo)).toEqual(damaged)
    const others = rows.filter((row) => !faulty.includes(row))
    const wanted = new Map(written.rows.map(({ rowNo, reference }) => [rowNo, reference]))
    expect(others.map(({ reference }) => reference)).toEqual(others.map(({ rowNo }) => wanted.get(rowNo)))
  })
})
