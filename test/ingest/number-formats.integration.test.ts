// Which number formats are a cell's, and what a cell's own format makes of its number.

import { describe, expect, test } from 'vitest'
import { number, partsOf, rowsOf, zip } from './sheets.ts'
import { readWhole } from './table.ts'

const HEADER = ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id', 'note']

/** One refund whose amount and note have the style 1 of these styles. */
async function read(styles: string, stored = '46143') {
  const row = ['R1', 'REFUND', number(stored, 1), 'EUR', '0123', number(stored, 1)]
  const parts = partsOf({ A: rowsOf([HEADER, row]) }, { 'xl/styles.xml': `<styleSheet>${styles}</styleSheet>` })
  const { rows } = await readWhole(zip(parts))
  return { fault: rows[0]?.faults[0]?.problem ?? null, note: rows[0]?.cells[5], money: rows[0]?.instruction?.money }
}
const cellStyles = (id: number) => `<cellXfs><xf numFmtId="0"/><xf numFmtId="${id}"/></cellXfs>`
const format = (id: number, code: string) => `<numFmt numFmtId="${id}" formatCode="${code}"/>`

const DATES = [14, 15, 16, 17, 18, 19, 20, 21, 22, 27, 30, 36, 45, 46, 47, 50, 58, 71, 81]

describe('the number format of a cell', () => {
  test.each(DATES)('with the number %i is a date, whatever conditional formats call by that number', async (id) => {
    for (const where of ['dxfs><dxf', 'extLst><ext><dxfs><dxf', 'tableStyles><numFmts']) {
      const [open, close] = [
        `<${where}>`,
        where
          .split('><')
          .toReversed()
          .map((name) => `</${name}>`)
          .join(''),
      ]
      for (const styles of [
        cellStyles(id) + open + format(id, '#,##0') + close,
        open + format(id, '@') + close + cellStyles(id),
      ]) {
        const { fault, note } = await read(styles)
        expect(fault).toContain('turned into a date')
        expect(note).toMatch(/^2026-05-01|^00:00:00/)
      }
    }
  })

  test.each([9, 10])(
    'with the number %i is a per cent, whatever conditional formats call by that number',
    async (id) => {
      const { fault } = await read(`${cellStyles(id)}<dxfs><dxf>${format(id, '0')}</dxf></dxfs>`, '5')
      expect(fault).toContain('as another number')
    },
  )

  test('is no date because a conditional format of that number is one', async () => {
    const { fault, money } = await read(`${cellStyles(4)}<dxfs><dxf>${format(4, 'dd.mm.yyyy')}</dxf></dxfs>`)
    expect([fault, money?.amountMinor]).toEqual([null, 4614300n])
  })

  test.each([
    [14, '0.00'],
    [22, '@'],
    [10, '0.00'],
  ])('that is built in (%i) stays what it is where the workbook spells it out as %s', async (id, code) => {
    expect((await read(`<numFmts>${format(id, code)}</numFmts>${cellStyles(id)}`)).fault).not.toBeNull()
  })

  test('that is given twice is the stricter of the two', async () => {
    for (const codes of [
      ['0.00', 'dd.mm.'],
      ['dd.mm.', '0.00'],
    ]) {
      const twice = codes.map((code) => format(164, code)).join('')
      expect((await read(`<numFmts>${twice}</numFmts>${cellStyles(164)}`)).fault).toContain('turned into a date')
    }
  })

  test.each(['-0.00', '\\-0.00', '&quot;-&quot;#,##0.00', '(0.00)', '\\(0.00\\)', ';;;', ';-0.00', '&quot;paid&quot;'])(
    'that shows a positive number with another sign or not at all (%s) makes an amount a fault',
    async (code) => {
      const { fault } = await read(`<numFmts>${format(164, code)}</numFmts>${cellStyles(164)}`, '5')
      expect(fault).toContain('as another number')
    },
  )

  test.each([
    '0.00;-0.00',
    '#,##0.00_);(#,##0.00)',
    '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* &quot;-&quot;??_);_(@_)',
    '_-* #,##0.00\\ &quot;€&quot;_-;\\-* #,##0.00\\ &quot;€&quot;_-',
    '[&lt;0]-0.00;0.00',
    '[Red]0.00',
    '0.00E-00',
    '0.00&quot; (net)&quot;',
    '&quot;EUR - &quot;0.00',
    'General',
    'Standard',
    '@',
    '',
  ])('that shows the number as it is (%s) is none of a fault', async (code) => {
    const { fault, money } = await read(`<numFmts>${format(164, code)}</numFmts>${cellStyles(164)}`, '5')
    expect([fault, money?.amountMinor]).toEqual([null, 500n])
  })
})
