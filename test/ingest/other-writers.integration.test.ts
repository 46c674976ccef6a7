// Workbooks as programs other than Excel write them: legal, odd, and opened by every spreadsheet program.

import { describe, expect, test } from 'vitest'
import { cell, number, type Parts, partsOf, rowOf, rowsOf, sheetOf, type Written, zip } from './sheets.ts'
import { readWhole, refusalOf } from './table.ts'

const HEADER = ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id', 'note']
const REFUND = ['R1', 'REFUND', '12.30', 'EUR', '0123', 'x']
const withNote = (note: Written): Written[] => [...REFUND.slice(0, 5), note]
const SHEET = sheetOf(rowsOf([HEADER, REFUND]))
const withSheet = (xml: string | Uint8Array, over: Parts = {}) =>
  zip({ ...partsOf({ A: '' }), 'xl/worksheets/sheet1.xml': xml, ...over })
const cellsOf = async (bytes: Uint8Array) => (await readWhole(bytes)).rows.map(({ cells }) => cells)
const noteOf = async (xml: string) => (await cellsOf(withSheet(sheetOf(rowOf(1, HEADER) + xml))))[0]?.[5]

describe('attributes', () => {
  const spaced = (before: string, after: string) => SHEET.replace(/ (r|t)="/g, ` $1${before}=${after}"`)
  test.each([
    [' ', ''],
    ['', ' '],
    [' ', ' '],
    ['\n\t', '\r\n'],
  ])('may have blanks around their = (%j, %j)', async (before, after) => {
    expect(await cellsOf(withSheet(spaced(before, after)))).toEqual([REFUND])
  })

  test('may have them in a sheet of many pieces, in single quotation marks, with > and = in them', async () => {
    const rows = Array.from({ length: 3_000 }, (_, i) => withNote(`a = "${i}" > b`))
    const xml = sheetOf(rowsOf([HEADER, ...rows])).replace(/ t="(\w+)"/g, ` t = '$1' x ="a>b = 'c'"`)
    expect((await cellsOf(withSheet(xml))).map((cells) => cells[5])).toEqual(rows.map((cells) => cells[5]))
  })

  test('may have > in them wherever the sheet is cut into pieces', async () => {
    for (let before = 0; before < 30; before++) {
      const xml = sheetOf(rowsOf([HEADER, withNote('x')])).replace('<t xml:space="preserve">x<', '<t a="b>c" d="e">x<')
      const at = xml.indexOf('<t a=')
      const padded = xml.replace('<sheetData>', `<!--${'-'.repeat(65_536 - at - before - 7)}--><sheetData>`)
      expect(await cellsOf(withSheet(padded))).toEqual([REFUND])
    }
  })

  test.each([
    [' t=inlineStr'],
    [' t'],
    [' t="inlineStr" t="s"'],
    [' t = "inlineStr" t = "s"'],
    [' t="inlineStr"r="B2"'],
    [' t =x "inlineStr"'],
    [' t="inlineStr" ="s"'],
  ])('that are no XML refuse the file: %s', async (attribute) => {
    const xml = SHEET.replace('<c r="A2" t="inlineStr"', `<c r="A2"${attribute}`)
    expect((await refusalOf(withSheet(xml))).problem).toMatch(/damaged/)
  })
})

describe('styles', () => {
  const noted = (over: Parts) =>
    withSheet(sheetOf(rowsOf([HEADER, withNote(number('7'))]).replaceAll(' s="0"', '')), over)
  test('may be left out of cells and of their list', async () => {
    for (const styles of ['<styleSheet/>', '<styleSheet><cellXfs/></styleSheet>'])
      expect((await cellsOf(noted({ 'xl/styles.xml': styles })))[0]?.[5]).toBe('7')
  })

  test('that a cell names and the workbook has not may be those of dates: the file is refused', async () => {
    const named = rowsOf([HEADER, withNote(number('46143', 3))])
    for (const styles of ['<styleSheet/>', '<styleSheet><cellXfs><xf/></cellXfs></styleSheet>'])
      expect((await refusalOf(withSheet(sheetOf(named), { 'xl/styles.xml': styles }))).problem).toMatch(/damaged/)
    const parts = Object.entries(partsOf({ A: named })).filter(([name]) => name !== 'xl/styles.xml')
    expect((await refusalOf(zip(Object.fromEntries(parts)))).problem).toMatch(/damaged/)
  })
})

describe('the parts', () => {
  const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const root = (...targets: readonly string[]) =>
    `<Relationships>${targets.map((target, i) => `<Relationship Id="r${i}" Type="${RELATIONS}/officeDocument" Target="${target}"/>`).join('')}</Relationships>`
  /** The parts of a workbook, elsewhere. */
  const moved = (to: (name: string) => string): Parts =>
    Object.fromEntries(Object.entries(partsOf({ A: rowsOf([HEADER, REFUND]) })).map(([name, part]) => [to(name), part]))
  const relative = (parts: Parts): Parts =>
    Object.fromEntries(
      Object.entries(parts).map(([name, part]) => [
        name,
        String(part).replace('Target="/xl/styles.xml"', 'Target="styles.xml"'),
      ]),
    )

  test.each([
    ['book/main.xml', '/book/main.xml'],
    ['main.xml', 'main.xml'],
    ['a/b/main.xml', './a/x/../b/main.xml'],
    ['Book/Main.XML', 'book\\main.xml'],
  ])('may stand anywhere: %s', async (main, target) => {
    const folder = main.replace(/[^/]*$/, '')
    const to = (name: string) =>
      name === 'xl/workbook.xml'
        ? main
        : name === 'xl/_rels/workbook.xml.rels'
          ? `${folder}_rels/${main.slice(folder.length)}.rels`
          : name.replace('xl/', folder)
    expect(await cellsOf(zip({ ...relative(moved(to)), '_rels/.rels': root(target) }))).toEqual([REFUND])
  })

  test('are those that the archive names, not those of the usual names beside them', async () => {
    const other = partsOf({ A: rowsOf([HEADER, withNote('other')]) })
    const usual = relative(moved((name) => name.replace('xl/', 'book/')))
    const bytes = zip({ ...other, ...usual, '_rels/.rels': root('book/workbook.xml') })
    expect(await cellsOf(bytes)).toEqual([REFUND])
  })

  test.each([
    ['two workbooks', root('xl/workbook.xml', 'other.xml'), /damaged/],
    ['one that is not there', root('xl/nowhere.xml'), /damaged/],
    ['one outside', root('../../etc/workbook.xml'), /damaged/],
    ['a document', root('word/document.xml'), /a Word document/],
    ['a binary one', root('xl/workbook.bin'), /binary Excel/],
  ])('are refused where the archive names %s', async (_, rels, said) => {
    const parts = { ...partsOf({ A: rowsOf([HEADER, REFUND]) }), 'word/document.xml': '<a/>', 'xl/workbook.bin': 'x' }
    expect((await refusalOf(zip({ ...parts, 'other.xml': '<workbook/>', '_rels/.rels': rels }))).problem).toMatch(said)
  })

  test('may have backslashes in their names; two of one name are refused as ever', async () => {
    const back = moved((name) => name.replaceAll('/', '\\'))
    expect(await cellsOf(zip(back))).toEqual([REFUND])
    expect((await refusalOf(zip({ ...back, 'xl/worksheets/sheet1.xml': SHEET }))).problem).toMatch(/damaged/)
  })

  test.each(['utf16le', 'utf16be'] as const)('may be %s, with a mark or without', async (encoding) => {
    const encode = (text: string) => {
      const bytes = Buffer.from(text, 'utf16le')
      return encoding === 'utf16le' ? bytes : bytes.swap16()
    }
    for (const mark of ['\ufeff', '']) {
      const parts = Object.entries(partsOf({ Ä: rowsOf([HEADER, withNote('ü😀')]) }))
      const bytes = zip(Object.fromEntries(parts.map(([name, part]) => [name, encode(mark + String(part))])))
      expect((await cellsOf(bytes))[0]?.[5]).toBe('ü😀')
    }
    const broken = Buffer.concat([encode('\ufeff'), encode(SHEET), Buffer.from([0x0a])])
    expect((await refusalOf(withSheet(broken))).problem).toMatch(/damaged/)
  })
})

describe('rows', () => {
  test('may come in pieces whose columns go on', async () => {
    const pieces = HEADER.map((_, i) =>
      rowOf(2, REFUND).replace(/<c r="(.)2".*?<\/c>/g, (xml, letter) => (letter === 'ABCDEF'[i] ? xml : '')),
    )
    const xml = rowOf(1, HEADER.slice(0, 3)) + rowOf(1, HEADER).replace(/<c r="[ABC]1".*?<\/c>/g, '') + pieces.join('')
    const { survey, rows } = await readWhole(withSheet(sheetOf(xml + rowOf(3, withNote('y')).replaceAll('R1', 'R2'))))
    expect(rows.map(({ line, cells }) => [line, cells[0], cells[5]])).toEqual([
      [2, 'R1', 'x'],
      [3, 'R2', 'y'],
    ])
    expect(survey.rows).toBe(2)
  })

  test('that come again with columns that were there are refused', async () => {
    const xml = rowOf(1, HEADER) + rowOf(2, REFUND)
    for (const again of ['<c r="A2"><v>1</v></c>', '<c r="F2"><v>1</v></c>'])
      expect((await refusalOf(withSheet(sheetOf(`${xml}<row r="2">${again}</row>`)))).problem).toMatch(/damaged/)
    expect((await refusalOf(withSheet(sheetOf(`${xml}<row r="1"/>`)))).problem).toMatch(/damaged/)
  })

  test('are hidden where a piece is', async () => {
    const xml = `${rowOf(1, HEADER)}<row r="2" hidden="1"/>${rowOf(2, REFUND)}`
    expect((await readWhole(withSheet(sheetOf(xml)), { allowHidden: 1 })).survey.warnings).toEqual([
      expect.stringContaining('1 of the rows is hidden'),
    ])
  })

  test('may have addresses in lower case, and none that are no addresses', async () => {
    expect(
      await cellsOf(
        withSheet(SHEET.replace(/ r="([A-F])(\d)"/g, (_, letter, line) => ` r="${letter.toLowerCase()}${line}"`)),
      ),
    ).toEqual([REFUND])
    expect((await refusalOf(withSheet(SHEET.replace('r="A2"', 'r="0"')))).problem).toMatch(/damaged/)
  })
})

describe('sheets', () => {
  const both = (state = ''): Parts => {
    const parts = partsOf({ Rows: rowsOf([HEADER, REFUND]), Other: rowsOf([['x'], ['y']]) })
    const main = String(parts['xl/workbook.xml']).replace('name="Other"', `name="Other"${state}`)
    return { ...parts, 'xl/workbook.xml': main }
  }
  const without = (parts: Parts, part: string): Parts =>
    Object.fromEntries(Object.entries(parts).filter(([name]) => name !== part))

  test('that are listed and missing are refused by themselves: the others are read by name', async () => {
    const bytes = zip(without(both(), 'xl/worksheets/sheet2.xml'))
    expect((await refusalOf(bytes)).problem).toContain('"Rows", "Other" (listed, but missing from the file)')
    expect((await readWhole(bytes, { sheet: 'Rows' })).rows).toHaveLength(1)
    const { problem } = await refusalOf(bytes, { sheet: 'Other' })
    expect(problem).toBe('the sheet "Other" is listed in the workbook and missing from the file')
    expect((await refusalOf(zip(without(partsOf({ A: '' }), 'xl/worksheets/sheet1.xml')))).problem).toContain(
      '"A" is listed',
    )
  })

  test.each([
    [' state="hidden"', '"Other" (hidden)'],
    [' state="veryHidden"', '"Other" (hidden)'],
    [' state="visible"', '"Other"'],
  ])('that are not visible are named as hidden: %s', async (state, said) => {
    expect((await refusalOf(zip(both(state)))).problem).toMatch(
      new RegExp(`: "Rows", ${said.replace(/[()]/g, '\\$&')}$`),
    )
  })
})

describe('texts', () => {
  test.each([
    ['one\r\ntwo', 'one\ntwo'],
    ['one\rtwo', 'one\ntwo'],
    ['one\r\r\ntwo', 'one\n\ntwo'],
    ['_x000D_\r\ntwo', '\r\ntwo'],
    ['one&#13;&#10;two', 'one\r\ntwo'],
    ['one_x000D_two', 'one\rtwo'],
  ])('have the line ends of XML: %j is %j', async (written, read) => {
    expect(
      await noteOf(
        rowOf(2, [...REFUND.slice(0, 5), '']).replace(
          '</row>',
          `<c r="F2" t="inlineStr"><is><t>${written}</t></is></c></row>`,
        ),
      ),
    ).toBe(read)
  })

  test('have them wherever the sheet is cut into pieces', async () => {
    for (const length of [65_000, 65_100, 65_200]) {
      for (let more = 0; more < 12; more++) {
        const long = `${'y'.repeat(length / 5 + more)}\r\n`.repeat(5)
        const xml = sheetOf(rowOf(1, HEADER)).replace(
          '</sheetData>',
          `<row r="2"><c t="inlineStr"><is><t>${long}</t></is></c></row></sheetData>`,
        )
        const row = (await readWhole(withSheet(xml))).rows[0]
        expect(row?.cells[0]).toBe(long.replaceAll('\r\n', '\n'))
      }
    }
  })

  test('keep the sign for a zero character as it is written, and have none', async () => {
    expect(await noteOf(rowOf(2, withNote('a_x0000_b')))).toBe('a_x0000_b')
    for (const nul of ['a&#0;b', 'a&#x0;b', 'a&#00000;b', 'a\0b'])
      expect((await refusalOf(withSheet(SHEET.replace('>x<', `>${nul}<`)))).problem).toMatch(/damaged/)
  })
})

describe('days', () => {
  test.each([
    ['1', '1900-01-01'],
    ['1.5', '1900-01-01T12:00:00'],
    ['11', '1900-01-11'],
    ['59', '1900-02-28'],
    ['60', '60'],
    ['60.5', '60.5'],
    ['61', '1900-03-01'],
    ['0.5', '12:00:00'],
  ])('of a spreadsheet begin in 1900, with a day that never was: %s is %s', async (stored, text) => {
    expect(await noteOf(rowOf(2, withNote(number(stored, 3))))).toBe(text)
  })

  test('of old Macintosh workbooks have no such day', async () => {
    const parts = partsOf({ A: rowsOf([HEADER, withNote(number('59', 2))]) })
    const main = String(parts['xl/workbook.xml']).replace('<sheets>', '<workbookPr date1904="1"/><sheets>')
    expect((await cellsOf(zip({ ...parts, 'xl/workbook.xml': main })))[0]?.[5]).toBe('1904-02-29')
  })
})

test('an error of the spreadsheet stays one', async () => {
  expect(await noteOf(rowOf(2, withNote(cell('e', '<v>#N/A</v>'))))).toBe('#N/A')
})
