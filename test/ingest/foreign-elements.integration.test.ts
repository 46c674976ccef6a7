// A workbook may hold elements of other programs, and extensions of its own, anywhere. A cell's value is where the standard puts it.

import { describe, expect, test } from 'vitest'
import { cell, type Parts, partsOf, rowOf, rowsOf, sheetOf, type Written, zip } from './sheets.ts'
import { readWhole, refusalOf } from './table.ts'

const HEADER = ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id', 'note']
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const STRICT = 'http://purl.oclc.org/ooxml/spreadsheetml/main'
const FOREIGN = 'xmlns:y="urn:y"'
const refund = (amount: Written): Written[] => ['R1', 'REFUND', amount, 'EUR', '123', 'x']
const bookOf = (amount: Written, over: Parts = {}) => zip(partsOf({ A: rowsOf([HEADER, refund(amount)]) }, over))
const raw = (xml: string): Written => ({ xml: (address) => xml.replace('ADDRESS', address) })
const amountsOf = async (bytes: Uint8Array) => (await readWhole(bytes)).rows.map(({ cells }) => cells[2])

describe('the value of a cell', () => {
  test.each([
    ['an extension of the cell', '<v>5.5</v><extLst><ext><v>66</v></ext></extLst>'],
    ['a whole sheet in an extension', '<v>5.5</v><extLst><ext><row r="9"><c r="A9"><v>66</v></c></row></ext></extLst>'],
    ['a value of another program', `<v>5.5</v><y:v ${FOREIGN}>66</y:v>`],
    ['one without the prefix', '<v>5.5</v><v xmlns="urn:y">66</v>'],
    ['an element of another program around one', `<v>5.5</v><y:a ${FOREIGN}><v>66</v></y:a>`],
    ['the same with a text and a formula', `<v>5.5</v><y:a ${FOREIGN}><is><t>66</t></is><f>1</f></y:a>`],
    ['none', '<v>5.5</v>'],
  ])('is its own, beside %s', async (_, inside) => {
    expect(await amountsOf(bookOf(cell('n', inside)))).toEqual(['5.5'])
  })

  test.each([
    ['two values', 'n', '<v>5.5</v><v>99</v>'],
    ['an element in the value', 'n', '<v>5<b>6</b>.5</v>'],
    ['an element of another program in the value', 'n', `<v>5<y:b ${FOREIGN}>6</y:b>.5</v>`],
    ['an empty element in the value', 'n', '<v>5<b/>5</v>'],
    ['two inline texts', 'inlineStr', '<is><t>5</t></is><is><t>6</t></is>'],
    ['two texts in one', 'inlineStr', '<is><t>5</t><t>6</t></is>'],
    ['two texts in a run', 'inlineStr', '<is><r><t>5</t><t>6</t></r></is>'],
    [
      'two alternatives',
      'n',
      '<A xmlns="http://schemas.openxmlformats.org/markup-compatibility/2006"/><v>1</v><v>2</v>',
    ],
    ['a prefix that means nothing', 'n', '<v>5.5</v><z:v>66</z:v>'],
  ])('with %s refuses the file', async (_, type, inside) => {
    expect((await refusalOf(bookOf(cell(type, inside)))).problem).toMatch(/damaged/)
  })

  test('in alternatives counts where there is one, and refuses the file where there are two', async () => {
    const mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    const one = (more: string) =>
      cell('n', `<mc:AlternateContent ${mc}><mc:Choice><v>5.5</v></mc:Choice>${more}</mc:AlternateContent>`)
    expect(await amountsOf(bookOf(one('')))).toEqual(['5.5'])
    expect((await refusalOf(bookOf(one('<mc:Fallback><v>6</v></mc:Fallback>')))).problem).toMatch(/damaged/)
  })

  test.each([
    ['type', `<c r="ADDRESS" y:t="s" ${FOREIGN}><v>0</v></c>`],
    ['type, whatever it is called', `<c r="ADDRESS" y:t="b" ${FOREIGN}><v>0</v></c>`],
    ['style', `<c r="ADDRESS" y:s="2" ${FOREIGN}><v>0</v></c>`],
    ['address', `<c y:r="Z9" ${FOREIGN}><v>0</v></c>`],
  ])('is not read by the %s of another program', async (_, xml) => {
    const shared = `<sst xmlns="${MAIN}"><si><t>66</t></si></sst>`
    expect(await amountsOf(bookOf(raw(xml), { 'xl/sharedStrings.xml': shared }))).toEqual(['0'])
  })
})

describe('rows', () => {
  const withRows = (xml: string) => zip(partsOf({ A: rowOf(1, HEADER) + xml }))
  test.each([
    ['of another program', `<y:row r="3" ${FOREIGN}><c r="A3"><v>1</v></c></y:row>`],
    ['in an extension', '<extLst><ext><row r="3"><c r="A3"><v>1</v></c></row></ext></extLst>'],
    ['in a row', '<row r="4"><extLst><ext><row r="5"><c r="A5"><v>1</v></c></row></ext></extLst></row>'],
  ])('are none: %s', async (_, xml) => {
    expect((await readWhole(withRows(rowOf(2, refund('5.5')) + xml))).rows).toHaveLength(1)
  })

  test('in a second table of the sheet refuse the file; in an extension they are none', async () => {
    const rest = (xml: string) =>
      zip({
        ...partsOf({ A: '' }),
        'xl/worksheets/sheet1.xml': sheetOf(rowsOf([HEADER, refund('5.5')])).replace(
          '</worksheet>',
          `${xml}</worksheet>`,
        ),
      })
    const more = `<sheetData>${rowOf(3, refund('66'))}</sheetData>`
    expect((await refusalOf(rest(more))).problem).toMatch(/damaged/)
    expect(await amountsOf(rest(`<extLst><ext>${more}</ext></extLst>`))).toEqual(['5.5'])
  })
})

describe('a shared text', () => {
  const sharedAs = (si: string) =>
    bookOf(cell('s', '<v>0</v>'), { 'xl/sharedStrings.xml': `<sst xmlns="${MAIN}">${si}</sst>` })
  test.each([
    ['in an extension', '<si><t>5.5</t><extLst><ext><t>66</t></ext></extLst></si>'],
    ['of another program', `<si><t>5.5</t><y:t ${FOREIGN}>66</y:t></si>`],
    ['that is another program’s whole', `<y:si ${FOREIGN}><t>66</t></y:si><si><t>5.5</t></si>`],
    ['in an extension of the list', '<extLst><ext><si><t>66</t></si></ext></extLst><si><t>5.5</t></si>'],
    ['in a reading', '<si><t>5.5</t><rPh><t>66</t></rPh></si>'],
  ])('is not one %s', async (_, si) => {
    expect(await amountsOf(sharedAs(si))).toEqual(['5.5'])
  })

  test.each(['<si><t>5</t><t>6</t></si>', '<si><t>5<b/>6</t></si>'])(
    'of two parts refuses the file: %s',
    async (si) => {
      expect((await refusalOf(sharedAs(si))).problem).toMatch(/damaged/)
    },
  )
})

test('styles, sheets and relations of another program are none', async () => {
  const styles = `<styleSheet xmlns="${MAIN}" ${FOREIGN}><cellXfs><y:xf numFmtId="14"/><xf y:numFmtId="14"/></cellXfs></styleSheet>`
  expect(await amountsOf(bookOf(cell('n', '<v>46143</v>'), { 'xl/styles.xml': styles }))).toEqual(['46143'])
  const parts = partsOf({ A: rowsOf([HEADER, refund('5.5')]), B: rowsOf([HEADER, refund('66')]) })
  const hidden = String(parts['xl/workbook.xml']).replace('<sheet name="B"', `<y:sheet ${FOREIGN} name="B"`)
  expect(await amountsOf(zip({ ...parts, 'xl/workbook.xml': hidden }))).toEqual(['5.5'])
  const id = String(parts['xl/workbook.xml'])
    .replace(/<sheet name="B".*?\/>/, '')
    .replace('r:id', `${FOREIGN} y:id="rId2" r:id`)
  expect(await amountsOf(zip({ ...parts, 'xl/workbook.xml': id }))).toEqual(['5.5'])
  const none = String(parts['xl/workbook.xml']).replace(' r:id="rId2"', '')
  expect((await refusalOf(zip({ ...parts, 'xl/workbook.xml': none }))).problem).toMatch(/damaged/)
})

test('a workbook in the strict form is read, wherever its prefix is declared', async () => {
  const parts = partsOf({ A: rowsOf([HEADER, refund(cell('n', '<f>1</f><v>5.5</v>'))]) })
  const over = (change: (xml: string) => string) =>
    zip(Object.fromEntries(Object.entries(parts).map(([name, xml]) => [name, change(String(xml))])))
  const strict = over((xml) =>
    xml
      .replaceAll(MAIN, STRICT)
      .replaceAll('http://schemas.openxmlformats.org/officeDocument/2006', 'http://purl.oclc.org/ooxml/officeDocument'),
  )
  const prefixed = over((xml) => xml.replace('xmlns=', 'xmlns:x=').replaceAll(/<(\/?)(?=[a-zA-Z])/g, '<$1x:'))
  const lower = over((xml) => xml.replaceAll('<c r=', `<z:c xmlns:z='${MAIN}' r=`).replaceAll('</c>', '</z:c>'))
  for (const bytes of [strict, prefixed, lower]) expect(await amountsOf(bytes)).toEqual(['5.5'])
})
