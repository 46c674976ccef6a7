// Amounts in many number formats, against what LibreOffice shows of them.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAY_SKIP, saveAs } from '../fixtures/libreoffice.ts'
import { format, HEADER, readAs } from './number-formats.ts'
import { number, partsOf, rowsOf, zip } from './sheets.ts'

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'

const TEXTS = [
  '',
  '',
  '',
  '"€"',
  '[$€-407]',
  '" Cr"',
  '\\-',
  '"-"',
  '(',
  '"1"',
  '\\ ',
  '_-',
  '* ',
  '%',
  '","',
  '"."',
  '.–',
]
const PLACES = [
  '0',
  '0.00',
  '#,##0',
  '#,##0.00',
  '0.0',
  '0.000',
  '# ##0.00',
  '00000',
  '0\\ 00',
  '0\\.00',
  '0.00E+00',
  '0.00,',
]
const section = fc
  .tuple(fc.constantFrom('', '', '', '[<100]', '[>=100]', '[Red]'), fc.constantFrom(...TEXTS))
  .chain(([condition, before]) =>
    fc
      .tuple(fc.constantFrom(...PLACES, 'General'), fc.constantFrom(...TEXTS, '%'))
      .map(([places, after]) => condition + before + places + after),
  )
const formats = fc.array(section, { minLength: 1, maxLength: 3 }).map((sections) => sections.join(';'))
const stored = fc.constantFrom('5', '10.4', '12.34', '100', '150.5', '1234', '1234.56', '0.05', '36.299999999999997')

/** As LibreOffice shows it, without what parts thousands and without the sign of the euro. */
const bare = (text: string) => text.replace(/[ \u00a0,€]|[.,]–/g, '').replace(/^0+(?=\d)/, '')
const isShown = (text: string, amount: string) =>
  /^[\d.]+(?:E[+-]\d+)?$/.test(bare(text)) && Number(bare(text)) === Number(Number(amount).toPrecision(15))

const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument'
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const PARTS = { workbook: 'sheet.main', 'worksheets/sheet1': 'worksheet', styles: 'styles' }
const CONTENT_TYPES = `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${Object.entries(
  PARTS,
)
  .map(([part, type]) => `<Override PartName="/xl/${part}.xml" ContentType="${TYPE}.${type}+xml"/>`)
  .join('')}</Types>`

describe.skipIf(MAY_SKIP)('an amount in any number format', () => {
  test('is read only where LibreOffice shows just that amount', async () => {
    const cases = fc.sample(fc.tuple(formats, stored), { numRuns: 400, seed: Number(process.env.FORMATS_SEED ?? 1) })
    const styles = `<numFmts>${cases.map(([code], i) => format(200 + i, code)).join('')}</numFmts><cellXfs><xf numFmtId="0"/>${cases.map((_, i) => `<xf numFmtId="${200 + i}" applyNumberFormat="1"/>`).join('')}</cellXfs>`
    const rows = cases.map(([, amount], i) => [`R${i}`, 'REFUND', number(amount, i + 1), 'EUR', '0123', ''])
    const whole = {
      '[Content_Types].xml': CONTENT_TYPES,
      '_rels/.rels': `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="r" Type="${DOCUMENT}" Target="xl/workbook.xml"/></Relationships>`,
      'xl/styles.xml': `<styleSheet xmlns="${MAIN}">${styles}</styleSheet>`,
    }
    const bytes = zip(partsOf({ A: rowsOf([HEADER, ...rows]) }, whole))
    const dir = mkdtempSync(join(tmpdir(), 'tranche-formats-'))
    try {
      writeFileSync(join(dir, 'formats.xlsx'), bytes)
      const shown = parse(readFileSync(saveAs('csv', join(dir, 'formats.xlsx'), dir), 'utf8')) as string[][]
      const found = []
      for (const [i, [code, amount]] of cases.entries()) {
        const { money } = await readAs(code, amount)
        found.push({ code, amount, shown: shown[i + 1]?.[2] ?? '', isRead: money !== undefined })
      }
      expect(found.filter(({ isRead, shown, amount }) => isRead && !isShown(shown, amount))).toEqual([])
      expect(found.filter(({ isRead }) => isRead).length).toBeGreaterThan(25)
    } finally {
      rmSync(dir, { recursive: true })
    }
  })
})
