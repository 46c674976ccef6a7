// What a person's spreadsheet program makes of results: opened with a double click, saved again, fed back.

import { readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guardCell } from '../../src/domain/formula-guard.ts'
import { toCsvText } from '../../src/results/formats.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { type FileRow, preparationFor, toCsv } from '../fixtures/files.ts'
import { FORMULAS } from '../fixtures/formulas.ts'
import { MAY_SKIP, OPENING, saveAs } from '../fixtures/libreoffice.ts'

const ROWS = 1000
const pad = (n: number, digits: number) => String(n).padStart(digits, '0')
const REFERENCES: readonly ((n: number) => string)[] = [
  (n) => pad(n, 8),
  (n) => `123456789012345${pad(n, 4)}`,
  (n) => `${n}e5`,
  (n) => `${1000 + n}-12`,
  (n) => `3-${n}`,
  (n) => `Größe ${n}, "ä"`,
  (n) => `${n}.10`,
  (n) => `${n}/4`,
]
const NOTES = [
  '=1+1',
  '+49 30 123',
  '@SUM(A1)',
  '-',
  'Zoë\nzweite Zeile',
  'sagt "ja"',
  "'00123",
  '00123',
  ' Rand ',
  'a;b,c\td',
  '_x0041_',
  '€ 5',
  '1.234,50',
  'TRUE',
  '50%',
  '',
]
const AMOUNTS = ['1234.50', '0.10', '1000000.00', '7.00', '3.04']

const rows: readonly FileRow[] = Array.from({ length: ROWS }, (_, i) => ({
  reference: (REFERENCES[i % REFERENCES.length] as (n: number) => string)(i + 1),
  transaction_type: 'REFUND',
  amount: AMOUNTS[i % AMOUNTS.length] as string,
  request_currency: 'EUR',
  request_ref_po_id: i % 2 === 0 ? `1234567890123${pad(i, 6)}1` : `00${70_000_000 + i}`,
  note: NOTES[i % NOTES.length] as string,
}))

const cellsIn = (path: string): string[][] => parse(readFileSync(path), { bom: true })
/** The columns in which a cell is not as it was written. */
const changedIn = (saved: readonly string[][], written: readonly string[][]) =>
  (written[0] ?? []).filter((_, column) => written.some((cells, i) => cells[column] !== saved[i]?.[column]))

let office: Office
let csv: string
let xlsx: string
beforeAll(async () => {
  if (MAY_SKIP) return
  office = await openOffice()
  office.sandbox.prepare(preparationFor(rows, '2000000.00'))
  const input = await office.put('in.csv', toCsv(rows))
  xlsx = office.path('results.xlsx')
  csv = office.path('results.csv')
  const ran = await office.tranche('run', input, '--out', xlsx, '--json')
  expect(ran.code, ran.stderr).toBe(0)
  const written = await office.tranche('results', ran.last.batch, '--out', csv)
  expect(written.code, written.stderr).toBe(0)
  expect(
    cellsIn(csv)
      .slice(1)
      .map((cells) => cells[0]),
  ).toEqual(rows.map(({ reference }) => reference))
})
afterAll(async () => {
  if (!MAY_SKIP) await office.close()
})

test.skipIf(MAY_SKIP)(
  'no separator makes a formula of results, however LibreOffice opens them',
  async () => {
    const cells = FORMULAS.map(([, cell]) => cell).filter((cell) => !/[\0\r\n]/.test(cell))
    const formulasIn = (path: string, separator: string) =>
      [
        ...readFileSync(saveAs('fods', path, office.dir, OPENING.computed(separator.charCodeAt(0))), 'utf8').matchAll(
          /table:formula="([^"]*)"/g,
        ),
      ].map(([, formula]) => formula)
    const lines = (guard: (cell: string) => string) =>
      toCsvText(
        cells.map((cell) => ['R-1', guard(cell), 'APPROVED']),
        false,
      )
    const [plain, guarded] = [
      await office.put(
        'plain.csv',
        lines((cell) => cell),
      ),
      await office.put('guarded.csv', lines(guardCell)),
    ]
    for (const separator of [',', ';', '\t', '|']) {
      expect(formulasIn(plain, separator).length, separator).toBeGreaterThan(0)
      expect(formulasIn(guarded, separator), separator).toEqual([])
    }
  },
  120_000,
)

describe.skipIf(MAY_SKIP)('results of 1,000 rows in LibreOffice', () => {
  test('as a workbook keep every character of every cell', () => {
    expect(cellsIn(saveAs('csv', xlsx, office.dir))).toEqual(cellsIn(csv))
  })

  test('as a workbook saved again are known as results, row for row', async () => {
    const saved = saveAs('xlsx', xlsx, office.dir)
    const checked = await office.tranche('check', saved, '--json')
    expect(checked.code, checked.stderr).toBe(0)
    expect(checked.last).toMatchObject({ ok: true, rows: ROWS, duplicate: ROWS, accepted: 0, invalid: 0 })
    expect(cellsIn(saveAs('csv', saved, office.dir))).toEqual(cellsIn(csv))
  })

  test('as CSV keep every character where every column is opened as text', () => {
    const written = cellsIn(csv)
    const opened = saveAs('xlsx', csv, office.dir, OPENING.text((written[0] ?? []).length))
    expect(cellsIn(saveAs('csv', opened, office.dir))).toEqual(written)
  })

  test('as CSV opened as proposed lose zeros and digits of ids, amounts and notes only', () => {
    const written = cellsIn(csv)
    const saved = cellsIn(saveAs('csv', saveAs('xlsx', csv, office.dir, OPENING.standard), office.dir))
    expect(saved).toHaveLength(written.length)
    expect(changedIn(saved, written)).toEqual([
      ...['reference', 'amount', 'request_ref_po_id', 'note'],
      ...['result_order_id', 'result_record_id', 'result_amount', 'result_reference'],
    ])
    const references = (table: readonly string[][]) => table.slice(1, 7).map((cells) => cells[0])
    expect(references(written)).toEqual([
      ...['00000001', '1234567890123450002', '3e5', '1004-12', '3-5', 'Größe 6, "ä"'],
    ])
    expect(references(saved)).toEqual(['1', '1.23456789012345E+018', '300000', '1004-12', '3-5', 'Größe 6, "ä"'])
    expect(saved[1]?.slice(2, 3)).toEqual(['1234.5'])
  })
})
