// Which number formats are a cell's, and what a cell's own format makes of its number.

import { describe, expect, test } from 'vitest'
import { cellStyles, format, read, readAs } from './number-formats.ts'

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

  test.each([9, 10, 67, 68])(
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

  test('is that of its named style where it has none of its own, wherever the styles stand', async () => {
    const named = `<cellStyleXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf/></cellStyleXfs>`
    const own = (xf: string) => `<cellXfs><xf numFmtId="0"/>${xf}</cellXfs>`
    for (const styles of [named + own('<xf xfId="1"/>'), own('<xf xfId="1"/>') + named])
      expect((await read(styles)).fault).toContain('turned into a date')
    for (const xf of [
      '<xf numFmtId="0" xfId="1"/>',
      '<xf numFmtId="2" xfId="1"/>',
      '<xf xfId="0"/>',
      '<xf xfId="2"/>',
      '<xf/>',
    ])
      expect((await read(named + own(xf))).money?.amountMinor).toBe(4614300n)
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

  test.each([
    ...['-0.00', '\\-0.00', '"-"#,##0.00', '(0.00)', '\\(0.00\\)', '0.00\\-', '"EUR - "0.00', '*-0.00', '[$--409]0.00'],
    ...['0.00\\ \\-', '"−"0.00', '[<100]"-"0.00;0.00', '[>100]0.00;-0.00', '[>100]0;"-"0.00;0.00', '[?]-0.00;0.00'],
  ])('that shows a positive number with a minus or in brackets (%s) makes an amount a fault', async (code) => {
    expect((await readAs(code, '5')).fault).toContain('as another number')
  })

  test.each([
    ...[';;;', ';-0.00', '"paid"', '[>100]0.00;[<0]0.00', '0.00,', '#,##0.00,"k"', '0%', '0.00\\%', '0.00"‰"'],
    '[>=100]%0;[<100]0',
    ...[
      '0"00"',
      '"1"0.00',
      '0" 000"',
      '0\\ 00',
      '# 0 00',
      '0\\.00',
      '0","00',
      '"."00',
      '",0"0',
      '0/0',
      '# ?/?',
      '0\\:00',
    ],
  ])('that shows another number or none (%s) makes an amount a fault', async (code) => {
    expect((await readAs(code, '5')).fault).toContain('as another number')
  })

  test.each([
    ['0', '10.4'],
    ['#,##0', '1234.56'],
    ['0.0', '12.34'],
    ['#,##0.00', '1.005'],
    ['0.00E+00', '1234.56'],
    ['##0.0E+0', '1234'],
    ['[<100]0.00;0', '100.5'],
    ['0;0.00', '10.4'],
  ])('with fewer decimals than the number has (%s, %s) makes an amount a fault', async (code, stored) => {
    expect((await readAs(code, stored, 'KWD')).fault).toContain('as another number')
  })

  test('built in with fewer decimals than the number has makes an amount a fault', async () => {
    for (const id of [1, 3, 37, 41, 59, 61]) {
      expect((await read(cellStyles(id), '10.4')).fault).toContain('as another number')
      expect((await read(cellStyles(id), '10')).money?.amountMinor).toBe(1000n)
    }
  })

  test.each([
    ['0', '10', 1000n],
    ['#,##0', '1234', 123400n],
    ['0.00', '10.4', 1040n],
    ['0.00', '36.299999999999997', 3630n],
    ['0.000', '10.4', 1040n],
    ['General', '1234.56', 123456n],
    ['@', '1234.56', 123456n],
    ['0.00E+00', '1250', 125000n],
    ['# ##0.00', '1234.5', 123450n],
    ['#"\u00a0"##0.00', '1234.5', 123450n],
    ['[<100]"-"0.00;0.00', '150', 15000n],
    ['[<=100]0.00;"-"0.00', '100', 10000n],
    ['0.–', '5', 500n],
    ['0".--"', '5', 500n],
    ['#', '5', 500n],
    ['[DBNum1]0.00', '5', 500n],
  ])('that shows all there is (%s, %s) is none of a fault', async (code, stored, minor) => {
    const { fault, money } = await readAs(code, stored)
    expect([fault, money?.amountMinor]).toEqual([null, minor])
  })

  test.each([
    '0.00;-0.00',
    '#,##0.00_);(#,##0.00)',
    '_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-',
    '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)',
    '[<0]-0.00;0.00',
    '[Red]0.00',
    '0.00E-00',
    '"EUR: "0.00',
    'General',
    'Standard',
    '@',
    '',
  ])('that shows the number as it is (%s) is none of a fault', async (code) => {
    const { fault, money } = await readAs(code, '5')
    expect([fault, money?.amountMinor]).toEqual([null, 500n])
  })
})

describe('what a number format shows beside an amount', () => {
  test.each([
    ['[$$-409]#,##0.00', 'USD'],
    ['[$$-1009]#,##0.00', 'CAD'],
    ['"$"#,##0.00', 'AUD'],
    ['"US$"0.00', 'USD'],
    ['[$A$-C09]0.00', 'AUD'],
    ['[$€-407] #,##0.00', 'EUR'],
    ['#,##0.00\\ [$€-407];[Red]\\-#,##0.00\\ [$€-407]', 'EUR'],
    ['0.00" Euro"', 'EUR'],
    ['[$EUR] 0.00', 'EUR'],
    ['[$£-809]#,##0.00', 'GBP'],
    ['[$¥-411]#,##0', 'JPY'],
    ['[$¥-804]#,##0.00', 'CNY'],
    ['[$CHF] #,##0.00', 'CHF'],
    ['[$Fr.-807] #,##0.00', 'CHF'],
    ['#,##0.00 [$kr.-406]', 'DKK'],
    ['#,##0.00 [$kr-41D]', 'SEK'],
    ['#,##0.00 "zł"', 'PLN'],
    ['#,##0.00 [$Kč-405]', 'CZK'],
    ['[$R$-416] #,##0.00', 'BRL'],
    ['[$₹-4009] #,##0.00', 'INR'],
    ['[$₪-40D] \u200f#,##0.00', 'ILS'],
    ['[$USD] 0.00" US$"', 'USD'],
    ['0.00;0.00" Cr"', 'EUR'],
  ])('agrees with the currency of its row: %s is %s', async (code, currency) => {
    const { fault, money } = await readAs(code, '5', currency)
    expect([fault, money?.currency]).toEqual([null, currency])
  })

  test.each([
    ['[$¥-411]#,##0', '1000', '¥'],
    ['[$$-409]#,##0.00', '10', '$'],
    ['"$"#,##0.00', '10', '$'],
    ['$0.00', '10', '$'],
    ['[$£-809]#,##0.00', '10', '£'],
    ['[$CHF] #,##0.00', '10', 'CHF'],
    ['[$R$-416] #,##0.00', '10', 'R$'],
    ['""0.00" Cr"', '5', 'Cr'],
    ['0.00" Dr."', '5', 'Dr'],
    ['0.00\\C\\R', '5', 'CR'],
    ['"minus "0.00', '5', 'minus'],
    ['"Gutschrift "0.00', '5', 'Gutschrift'],
    ['0.00" (net)"', '5', ''],
    ['0.00" Mio"', '5', 'Mio'],
    ['0" ct"', '1050', 'ct'],
    ['0"¢"', '1050', '¢'],
    ['0" k"', '5', 'k'],
    ['0.00" €CR"', '5', '€CR'],
    ['[Red]"€ "0.00" Haben"', '5', 'Haben'],
    ['[<100]0.00" Cr";0.00', '5', 'Cr'],
    ['[>100]0.00;0.00" Cr";0.00', '5', 'Cr'],
  ])('makes an amount in EUR a fault where it is something else: %s', async (code, stored, mark) => {
    const { fault, amount, money } = await readAs(code, stored)
    if (mark !== '') expect(fault).toBe(`is shown by the spreadsheet with "${mark}", which does not stand for EUR`)
    expect([fault === null, amount, money]).toEqual([false, `'${stored}`, undefined])
  })

  test('is compared with the currency that holds for the whole file where the row names none', async () => {
    expect((await readAs('"£"0.00', '5', '')).money?.currency).toBe('GBP')
    expect((await readAs('"€"0.00', '5', '')).fault).toContain('does not stand for GBP')
  })

  test('is a dollar in the built-in formats of money, unless the workbook spells them out', async () => {
    for (const id of [5, 6, 7, 8, 42, 44]) {
      expect((await read(cellStyles(id), '5')).fault).toContain('"$", which does not stand for EUR')
      expect((await read(cellStyles(id), '5', 'USD')).fault).toBeNull()
      const spelled = `<numFmts>${format(id, '0.00\\ "€"')}</numFmts>${cellStyles(id)}`
      expect([(await read(spelled, '5')).fault, (await read(spelled, '5', 'USD')).fault]).toEqual([
        null,
        expect.stringContaining('"€", which does not stand for USD'),
      ])
    }
    for (const id of [37, 38, 39, 40, 41, 43]) expect((await read(cellStyles(id), '5')).fault).toBeNull()
  })

  test('stays with a bad amount in rejects: it is no amount of another currency there', async () => {
    const { amount } = await readAs('[$$-409]0.00', '5', 'EURO')
    expect(amount).toBe("'5")
  })
})
