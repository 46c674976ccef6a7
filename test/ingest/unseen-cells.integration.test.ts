// What a workbook holds and a person does not see: cells under a merge, hidden columns, rows of no height.

import { describe, expect, test } from 'vitest'
import { number, type Parts, partsOf, rowOf, rowsOf, sheetOf, type Written, zip } from './sheets.ts'
import { readWhole, refusalOf } from './table.ts'

const HEADER = ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id', 'note']
const row = (n: number, over: Partial<Record<string, Written>> = {}): Written[] => {
  const cells: Record<string, Written> = {
    ...{ reference: `R${n}`, transaction_type: 'REFUND', amount: '12.30', request_currency: 'EUR' },
    ...{ request_ref_po_id: `${100 + n}`, note: 'n', ...over },
  }
  return HEADER.map((name) => cells[name] ?? '')
}
const withSheet = (xml: string | Uint8Array): Parts => ({ ...partsOf({ A: '' }), 'xl/worksheets/sheet1.xml': xml })
const merged = (table: readonly (readonly Written[])[], ...refs: readonly string[]) => {
  const merges = `<mergeCells>${refs.map((ref) => `<mergeCell ref="${ref}"/>`).join('')}</mergeCells>`
  return zip(withSheet(sheetOf(rowsOf(table)).replace('</sheetData>', `</sheetData>${merges}`)))
}

describe('a value under merged cells', () => {
  const UNDER = expect.stringContaining('is hidden under merged cells')

  test('is a fault in a column that is understood, whatever it is stored as', async () => {
    for (const [ref, over] of [
      ['C2:C3', { amount: '99.00' }],
      ['C2:C3', { amount: number('99') }],
      ['c2:c4', { amount: number('99', 4) }],
      ['$C$2:$C$3', { amount: '99.00' }],
      ['E2:E3', { request_ref_po_id: '777' }],
      ['D2:D3', { request_currency: 'EUR' }],
      ['B2:B3', { transaction_type: 'REFUND' }],
    ] as const) {
      const { rows } = await readWhole(merged([HEADER, row(1), row(2, over)], ref))
      expect(rows[0]?.instruction?.reference).toBe('R1')
      expect(rows[1]?.instruction).toBeNull()
      expect(rows[1]?.faults).toContainEqual(
        expect.objectContaining({ column: Object.keys(over)[0], line: 3, problem: UNDER }),
      )
    }
  })

  test('is a fault to the right of the first cell too, and in a whole row', async () => {
    const right = await readWhole(merged([HEADER, row(1)], 'B2:C2'))
    expect(right.rows[0]?.faults).toMatchObject([{ column: 'amount', problem: UNDER }])
    const whole = await readWhole(merged([HEADER, row(1), row(2), row(3)], 'A2:F3'))
    expect(whole.rows.map(({ faults }) => faults.length > 0)).toEqual([true, true, false])
  })

  test('of a column that is carried through is warned of and read unchanged', async () => {
    const { survey, rows } = await readWhole(merged([HEADER, row(1), row(2, { note: 'hidden' })], 'F2:F3'))
    expect(rows.map(({ instruction, cells }) => [instruction?.reference, cells[5]])).toEqual([
      ['R1', 'n'],
      ['R2', 'hidden'],
    ])
    expect(survey.warnings).toEqual([
      '1 cell with a value is hidden under merged cells. In a column that is understood this is a fault; elsewhere it is read like any other.',
    ])
  })

  test('stays bad in the text of rejects, and a card number there refuses the file', async () => {
    const { rows } = await readWhole(merged([HEADER, row(1), row(2, { amount: '99.00' })], 'C2:C3'))
    expect(rows[1]?.cells[2]).toBe("'99.00")
    for (const note of ['4111111111111111', number('4.11111111111111E+15')])
      expect(await refusalOf(merged([HEADER, row(1), row(2, { note })], 'F2:F3'))).toMatchObject({ code: 'card-data' })
  })

  test('is no column name', async () => {
    expect(await refusalOf(merged([HEADER, row(1)], 'B1:C1'))).toMatchObject({
      line: 1,
      column: 'amount',
      problem: expect.stringContaining('the name of a column is hidden under merged cells'),
    })
  })

  test('is none where the cells under them are empty', async () => {
    const found = await readWhole(merged([HEADER, row(1), row(2, { note: '' })], 'F2:F3', 'A10:F20', 'H1:Z9', 'C2'))
    expect(found.rows.flatMap(({ faults }) => faults)).toEqual([])
    expect(found.survey.warnings).toEqual([])
  })

  test('is seen among many merges, in any order', async () => {
    const table = Array.from({ length: 300 }, (_, i) => row(i, i % 3 === 0 ? {} : { note: '' }))
    const refs = Array.from({ length: 100 }, (_, i) => `F${2 + 3 * i}:F${4 + 3 * i}`).toReversed()
    const found = await readWhole(merged([HEADER, ...table], ...refs))
    expect(found.survey.warnings).toEqual([])
    const bad = await readWhole(merged([HEADER, ...table, row(300, { amount: '1.00' })], ...refs, 'C299:C302'))
    expect(bad.rows.filter(({ faults }) => faults.length > 0).map(({ rowNo }) => rowNo)).toEqual([299, 300, 301])
  })

  test.each(['C3:C2', 'C2:C', 'A1:XFE9', 'A0:A2', 'x', '', 'A1:A1048577'])(
    'cannot be told where merged cells are %j: the file is refused',
    async (ref) => {
      const { problem } = await refusalOf(merged([HEADER, row(1)], ref))
      expect(problem).toMatch(/damaged/)
    },
  )

  test('is found in a sheet of UTF-16 and of any prefix', async () => {
    const xml = sheetOf(rowsOf([HEADER, row(1), row(2)])).replace(
      '</sheetData>',
      '</sheetData><x:mergeCells xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:mergeCell ref="C2:C3"/></x:mergeCells>',
    )
    for (const part of [xml, Buffer.from(`\ufeff${xml}`, 'utf16le')]) {
      const { rows } = await readWhole(zip(withSheet(part)))
      expect(rows[1]?.faults).toMatchObject([{ problem: UNDER }])
    }
  })
})

describe('hidden columns', () => {
  const hiding = (cols: string) =>
    zip(withSheet(sheetOf(rowsOf([HEADER, row(1)])).replace('<sheetData>', `<cols>${cols}</cols><sheetData>`)))
  test.each([
    ['<col min="3" max="3" hidden="1"/>', 'The column "amount" is hidden in the sheet and is read like any other.'],
    [
      '<col min="3" max="5" width="0" customWidth="1"/>',
      'The columns "amount", "request_currency" and "request_ref_po_id" are hidden in the sheet and are read like any other.',
    ],
    ['<col min="7" max="16384" hidden="true"/>', null],
    ['<col min="1" max="16384" width="12"/>', null],
  ])('%s are named in a warning', async (cols, warning) => {
    const { survey, rows } = await readWhole(hiding(cols))
    expect(survey.warnings).toEqual(warning === null ? [] : [warning])
    expect(rows[0]?.instruction?.reference).toBe('R1')
  })
})

test('rows of a sheet whose rows have no height are hidden, but those that say otherwise', async () => {
  const rows = [rowOf(2, row(1)), rowOf(3, row(2)), rowOf(4, row(3), ' hidden="0"'), rowOf(5, row(4), ' ht="15"')]
  const xml = sheetOf(rowOf(1, HEADER, ' hidden="0"') + rows.join(''))
  for (const [zero, warnings] of [
    ['1', ['2 of the rows are hidden in the sheet and are read like any other.']],
    ['true', ['2 of the rows are hidden in the sheet and are read like any other.']],
    ['0', []],
  ] as const) {
    const format = `<sheetFormatPr defaultRowHeight="15" zeroHeight="${zero}"/><sheetData>`
    const { survey } = await readWhole(zip(withSheet(xml.replace('<sheetData>', format))))
    expect(survey.warnings).toEqual(warnings)
  }
})

test('a hidden sheet is read with a warning, alone or by name', async () => {
  const hide = (parts: Parts, name: string) =>
    zip({
      ...parts,
      'xl/workbook.xml': (parts['xl/workbook.xml'] as string).replace(
        `name="${name}"`,
        `name="${name}" state="hidden"`,
      ),
    })
  const warning = expect.stringContaining('The sheet "Old" is hidden in the workbook and is read like any other.')
  const table = rowsOf([HEADER, row(1)])
  const alone = hide(partsOf({ Visible: '', Old: table }), 'Old')
  expect((await readWhole(alone)).survey.warnings).toEqual([warning])
  const beside = partsOf({ Now: table, Old: table })
  expect((await readWhole(hide(beside, 'Old'), { sheet: 'Old' })).survey.warnings).toEqual([warning])
  expect((await readWhole(hide(beside, 'Old'), { sheet: 'Now' })).survey.warnings).toEqual([])
})

test('rows of no height are hidden rows', async () => {
  const xml = rowOf(1, HEADER) + rowOf(2, row(1), ' ht="0" customHeight="1"') + rowOf(3, row(2), ' ht="15"')
  expect((await readWhole(zip(partsOf({ A: xml })))).survey.warnings).toEqual([
    '1 of the rows is hidden in the sheet and is read like any other.',
  ])
})
