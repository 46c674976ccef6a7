// What a workbook holds and a person does not see: cells under a merge, hidden columns, rows of no height.

import { describe, expect, test } from 'vitest'
import type { MappedColumn } from '../../src/ingest/columns.ts'
import { cell, number, type Parts, partsOf, rowOf, rowsOf, sheetOf, type Written, zip } from './sheets.ts'
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
  test('is refused as the amount where another is seen, until one of them is chosen', async () => {
    const table = [
      [...HEADER.slice(0, 5), 'Total (€)'],
      [...row(1).slice(0, 5), '9.00'],
    ]
    const sheet = sheetOf(rowsOf(table))
    const hidden = (column: number) =>
      zip(
        withSheet(
          sheet.replace('<sheetData>', `<cols><col min="${column}" max="${column}" hidden="1"/></cols><sheetData>`),
        ),
      )
    const { problem, remedy } = await refusalOf(hidden(3))
    expect(problem).toBe(
      'the column "amount" would be read as the amount and is hidden in the sheet, where "Total (€)" is seen',
    )
    expect(remedy).toBe(
      'to read it: --map "amount=amount"; to read the other: --map "amount=ignore" --map "Total (€)=amount"',
    )
    const amountBy = async (...map: readonly MappedColumn[]) =>
      (await readWhole(hidden(3), { map })).rows[0]?.instruction?.money
    expect(await amountBy({ column: 'amount', field: 'amount' })).toMatchObject({ amountMinor: 1230n })
    const other = [
      { column: 'amount', field: null },
      { column: 'Total (€)', field: 'amount' },
    ] as const
    expect(await amountBy(...other)).toMatchObject({ amountMinor: 900n })
    expect((await readWhole(hidden(6))).rows[0]?.instruction?.money).toMatchObject({ amountMinor: 1230n })
  })

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
    const { survey } = await readWhole(zip(withSheet(xml.replace('<sheetData>', format))), { allowHidden: 2 })
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

test('rows that a filter hides, or that have no height, are refused until their number is said', async () => {
  const xml =
    rowOf(1, HEADER, ' hidden="1"') +
    rowOf(2, row(1), ' ht="0" customHeight="1"') +
    rowOf(3, row(2), ' ht="15"') +
    rowOf(4, row(3), ' hidden="1"')
  const book = zip(partsOf({ A: xml }))
  expect(await refusalOf(book)).toMatchObject({
    problem: '2 rows of the sheet are hidden, as by a filter, and would be read like any other',
    remedy: 'if they are meant: --allow-hidden 2; if not, show all rows and delete what is not meant',
  })
  expect((await refusalOf(book, { allowHidden: 1 })).problem).toContain('2 rows')
  expect((await readWhole(book, { allowHidden: 2 })).survey.warnings).toEqual([
    '2 of the rows are hidden in the sheet and are read like any other.',
  ])
})

describe('struck-through text', () => {
  const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
  /** 0 plain; 1 struck; 2 by its named style; 3 says that it is not. */
  const STYLES = `<styleSheet ${MAIN}><fonts><font/><font><strike/></font><font><strike val="0"/></font></fonts><cellStyleXfs><xf/><xf fontId="1"/></cellStyleXfs><cellXfs><xf fontId="0" xfId="0"/><xf fontId="1"/><xf xfId="1"/><xf fontId="2" xfId="1"/></cellXfs><dxfs><dxf><font><strike/></font></dxf></dxfs></styleSheet>`
  const amounts = (...cells: Written[]) =>
    zip({
      ...withSheet(sheetOf(rowsOf([HEADER, ...cells.map((amount, i) => row(i, { amount }))]))),
      'xl/styles.xml': STYLES,
      'xl/sharedStrings.xml': `<sst ${MAIN}><si><t>12.30</t></si><si><r><rPr><strike/></rPr><t>12.30</t></r></si></sst>`,
    })

  test('makes a bad row of its row, however it is struck', async () => {
    const inline = (inside: string) => cell('inlineStr', `<is>${inside}</is>`)
    const book = amounts(
      ...[
        number('12.3'),
        number('12.3', 3),
        cell('s', '<v>0</v>'),
        inline('<r><rPr><strike val="0"/></rPr><t>12.30</t></r>'),
      ],
      ...[
        number('12.3', 1),
        number('12.3', 2),
        cell('s', '<v>1</v>'),
        inline('<r><rPr><strike/></rPr><t>12.30</t></r>'),
      ],
    )
    const { rows } = await readWhole(book)
    expect(rows.map(({ instruction }) => instruction !== null)).toEqual([
      ...[true, true, true, true],
      ...[false, false, false, false],
    ])
    expect(rows[4]?.faults).toMatchObject([
      { column: 'amount', line: 6, problem: expect.stringContaining('is struck through') },
    ])
    expect(rows[4]?.cells[2]).toBe("'12.3") // in rejects it stays bad
  })

  test('counts in an id as well, and in a column that is carried through, if something is in it', async () => {
    const struck = cell('inlineStr', '<is><r><rPr><strike/></rPr><t>101</t></r></is>')
    const empty = cell('inlineStr', '<is><r><rPr><strike/></rPr><t> </t></r></is>')
    const cells = [HEADER, row(1, { request_ref_po_id: struck }), row(2, { note: struck }), row(3, { note: empty })]
    const book = zip(withSheet(sheetOf(rowsOf(cells))))
    const { rows } = await readWhole(book)
    expect(rows.map(({ faults }) => faults.map(({ column }) => column))).toEqual([['request_ref_po_id'], ['note'], []])
    expect(rows[1]?.faults[0]).toMatchObject({ line: 3, value: '101', problem: expect.stringContaining('is struck') })
    expect(rows[1]?.cells[2]).toBe("'12.30") // in rejects it stays bad
    const ignored = await readWhole(book, { map: [{ column: 'note', field: null }] })
    expect(ignored.rows.map(({ faults }) => faults.length)).toEqual([1, 0, 0])
  })
})

test('comments on amounts, ids and names are told, the one of a thread in place of its double; one that says no makes its row bad', async () => {
  const relation = (kind: string, target: string) =>
    `<Relationship Id="${kind}" Type="http://schemas.microsoft.com/office/2017/10/relationships/${kind}" Target="${target}"/>`
  const comment = (ref: string, text: string) =>
    `<comment ref="${ref}" authorId="0"><text><r><t>${text}</t></r></text></comment>`
  const book = (comments: string) =>
    zip({
      ...withSheet(sheetOf(rowsOf([HEADER, row(1), row(2)]))),
      'xl/worksheets/_rels/sheet1.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relation('comments', '../comments1.xml')}${relation('threadedComment', '../threadedComments/t1.xml')}</Relationships>`,
      'xl/comments1.xml': comments,
      'xl/threadedComments/t1.xml':
        '<ThreadedComments xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"><threadedComment ref="E3"><text>on hold</text></threadedComment><threadedComment ref="E3"><text>until when?</text></threadedComment></ThreadedComments>',
    })
  const listed = `<comments xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><commentList>${comment('E3', '[Threaded comment]')}${comment('C2', 'Ann:\npaid by bank, 4111111111111111')}${comment('C1', 'net')}${comment('F2', 'x')}</commentList></comments>`
  const { survey, rows } = await readWhole(book(listed))
  expect(survey.warnings).toEqual([
    'Line 1, column "amount", has a comment: "net".',
    'Line 2, column "amount", has a comment: "Ann: paid by bank, 4111110000001111".',
    'Line 3, column "request_ref_po_id", has a comment: "on hold until when?".',
  ])
  expect(rows.map(({ faults }) => faults.map(({ column }) => column))).toEqual([[], ['request_ref_po_id']])
  expect(rows[1]?.faults[0]?.problem).toBe(
    'has a comment that says that the row is not to be sent ("on hold until when?")',
  )
  expect(rows[1]?.cells[2]).toBe("'12.30") // in rejects it stays bad
  const anywhere = listed.replace('>x<', '>Ann:\npaid by bank transfer, DO NOT SEND<')
  expect((await readWhole(book(anywhere))).rows[0]?.faults).toMatchObject([
    {
      ...{ line: 2, column: 'note', value: 'n' },
      problem: expect.stringContaining('"Ann: paid by bank transfer, DO NOT SEND"'),
    },
  ])
  const onName = await refusalOf(book(listed.replace('>net<', '>Ann:\nhold<')))
  expect([onName.line, onName.problem]).toEqual([1, expect.stringContaining('"Ann: hold"')])
  const unreadable = await readWhole(book('<comments'))
  expect(unreadable.survey.warnings).toEqual([])
})
