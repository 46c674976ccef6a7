// Workbooks and CSV files of programs that many people export with, read back cell by cell against what was put in. Where a
// program writes something else than it was given, the difference is named here with its reason; no other may be there.
//   WRITERS_SEED=7 npx vitest run test/ingest/writers

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeToString } from '@fast-csv/format'
import { stringify } from 'csv-stringify/sync'
import { writeCsv } from 'hucre/csv'
import { writeXlsx } from 'hucre/xlsx'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import writeXlsxFile from 'write-excel-file/node'
import type { CellKind } from '../../src/ingest/workbook/cell.ts'
import { openWorkbook } from '../../src/ingest/workbook/workbook.ts'
import { MAY_SKIP, OPENING, saveAs } from '../fixtures/libreoffice.ts'
import { MAY_SKIP_PYTHON, writeWithPython } from '../fixtures/python.ts'
import { asText, COLUMNS, type Put, type Table, tablesOf } from '../fixtures/tables.ts'
import { readWhole, refusalOf } from './table.ts'

const SEED = Number(process.env.WRITERS_SEED ?? 1)
const TABLES = tablesOf(SEED, 3, 80)

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tranche-writers-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

// ───────────────────────────────────────────────────────────── What writers do to what they are given

interface WorkbookWriter {
  readonly name: string
  readonly skip?: boolean
  /** What a reader of its files finds in place of the text that was put in. */
  readonly changes?: (text: string) => string
  /** Whether it writes such a text as an error of the spreadsheet. */
  readonly asError?: (text: string) => boolean
  /** `a_x0041_b`, the way a workbook writes a character, as a reader finds it. Excel reads so what is not escaped. */
  readonly escaped: string
  write(table: Table): Promise<Uint8Array>
}

function toExcelFile(put: Put) {
  switch (put.kind) {
    case 'text':
      return { value: put.value, type: String }
    case 'number':
      return { value: Number(put.value), type: Number, ...(put.format === null ? {} : { format: put.format }) }
    case 'date':
      return { value: dateOf(put.value), type: Date, format: put.format }
    case 'boolean':
      return { value: put.value, type: Boolean }
    case 'empty':
      return null
  }
}

function toHucre(put: Put): string | number | boolean | Date | null {
  switch (put.kind) {
    case 'text':
    case 'boolean':
      return put.value
    case 'number':
      return Number(put.value)
    case 'date':
      return dateOf(put.value)
    case 'empty':
      return null
  }
}

const dateOf = (iso: string) => new Date(iso.includes('T') ? `${iso}Z` : iso)

const WORKBOOK_WRITERS: readonly WorkbookWriter[] = [
  {
    name: 'write-excel-file',
    // It takes the replacement character, which XML allows, for one that XML does not.
    changes: (text) => text.replaceAll('\ufffd', ''),
    escaped: 'aAb',
    write: (table) => writeXlsxFile(table.map((cells) => cells.map(toExcelFile))).toBuffer(),
  },
  {
    name: 'hucre',
    // It takes the names of errors for errors, whatever type they were given.
    asError: (text) => /^#(?:REF!|N\/A)$/.test(text),
    escaped: 'aAb',
    write: (table) => {
      const styled = table.flatMap((cells, row) =>
        cells.flatMap((put, column) =>
          'format' in put && put.format !== null
            ? [[`${row},${column}`, { style: { numFmt: put.format } }] as const]
            : [],
        ),
      )
      return writeXlsx({
        sheets: [{ name: 'Export', rows: table.map((cells) => cells.map(toHucre)), cells: new Map(styled) }],
      })
    },
  },
  {
    name: 'openpyxl',
    skip: MAY_SKIP_PYTHON,
    escaped: 'aAb',
    write: (table) => pythonBook('openpyxl', table),
  },
  {
    name: 'XlsxWriter',
    skip: MAY_SKIP_PYTHON,
    escaped: 'a_x0041_b',
    write: (table) => pythonBook('XlsxWriter', table),
  },
  {
    name: 'XlsxWriter as a stream',
    skip: MAY_SKIP_PYTHON,
    escaped: 'a_x0041_b',
    write: (table) => pythonBook('XlsxWriter', table, { streams: true }),
  },
  {
    name: 'LibreOffice',
    // It opens what write-excel-file wrote, takes no text for an escaped character, and escapes its own.
    changes: (text) => text.replaceAll('\ufffd', ''),
    escaped: 'a_x0041_b',
    skip: MAY_SKIP,
    write: async (table) => {
      const path = join(dir, 'to-office.xlsx')
      writeFileSync(path, await (WORKBOOK_WRITERS[0] as WorkbookWriter).write(table))
      return readFileSync(saveAs('xlsx', path, dir))
    },
  },
]

const NOTHING_MORE = { hiddenColumns: [], hiddenRows: [], merges: [], conditional: [] }

async function pythonBook(writer: string, rows: Table, more: object = {}): Promise<Buffer> {
  const path = join(dir, `${writer}.xlsx`)
  writeWithPython([{ writer, path, rows, ...NOTHING_MORE, ...more }])
  return readFileSync(path)
}

/** Every record of the only sheet, the names first. */
async function recordsOf(bytes: Uint8Array) {
  const path = join(dir, 'read.xlsx')
  writeFileSync(path, bytes)
  const file = await open(path)
  try {
    const workbook = await openWorkbook(file, undefined)
    if (workbook.kind === 'refused') throw new Error(`${workbook.problem}`)
    const records = []
    for await (const read of workbook.records()) {
      if (read.kind === 'refused') throw new Error(`${read.problem}`)
      records.push(read)
    }
    return records
  } finally {
    await file.close()
  }
}

const LOOKS_ESCAPED: Put = { kind: 'text', value: 'a_x0041_b', text: 'a_x0041_b' }
const [NOTE, AMOUNT] = [COLUMNS.indexOf('note'), COLUMNS.indexOf('amount')]
const REFERENCE = COLUMNS.indexOf('reference')
const ORDER = COLUMNS.indexOf('request_ref_po_id')

/** The format of the number has fewer decimals than it. */
function isRounded(put: Put): boolean {
  if (put.kind !== 'number' || put.format === null) return false
  const decimals = (text: string) => (/\.(\d+)/.exec(text)?.[1] ?? '').length
  return decimals(put.text) > decimals(put.format)
}

/** A whole number without a format of its own is shown digit for digit. */
function numberKindOf({ kind, ...put }: Put): CellKind | 'empty' {
  return kind === 'number' &&
    'format' in put &&
    [null, '0', '@'].includes(put.format) &&
    /^[1-9]\d{0,14}$/.test(put.text)
    ? 'whole'
    : kind
}

const minorOf = (cells: readonly Put[]) => BigInt(Math.round(Number(cells[AMOUNT]?.text) * 100))

describe.each(WORKBOOK_WRITERS)('a workbook of $name', ({ skip = false, changes, asError, escaped, write }) => {
  const written: Uint8Array[] = []
  beforeAll(async () => {
    if (!skip) for (const table of TABLES) written.push(await write(table))
  })

  test.skipIf(skip)('gives back every cell as it was put in', async () => {
    const textOf = (put: Put) => (put.kind === 'text' ? (changes?.(put.text) ?? put.text) : put.text)
    const kindOf = (put: Put) =>
      put.kind === 'empty'
        ? 'text'
        : asError?.(put.text) === true
          ? 'error'
          : isRounded(put)
            ? 'rescaled'
            : numberKindOf(put)
    for (const [i, table] of TABLES.entries()) {
      const records = await recordsOf(written[i] as Uint8Array)
      expect(records.map(({ cells }) => cells)).toEqual(table.map((cells) => cells.map(textOf)))
      const foundKinds = records.map(({ kinds, cells }) =>
        kinds?.map((kind, place) => (cells[place] === '' ? 'text' : kind)),
      )
      expect(foundKinds).toEqual(table.map((cells) => cells.map(kindOf)))
    }
  })

  test.skipIf(skip)('moves the money that was put in', async () => {
    for (const [i, table] of TABLES.entries()) {
      const { survey, rows } = await readWhole(written[i] as Uint8Array)
      expect([survey.warnings, rows.flatMap(({ faults }) => faults)]).toEqual([[], []])
      const moved = rows.map(({ instruction }) => [
        instruction?.reference,
        instruction?.orderId,
        instruction?.money?.amountMinor,
      ])
      expect(moved).toEqual(table.slice(1).map((cells) => [cells[REFERENCE]?.text, cells[ORDER]?.text, minorOf(cells)]))
    }
  })

  test.skipIf(skip)('has what looks like an escaped character, or the character', async () => {
    const table = (TABLES[0] as Table)
      .slice(0, 2)
      .map((cells, line) => cells.map((put, place) => (line === 1 && place === NOTE ? LOOKS_ESCAPED : put)))
    expect((await recordsOf(await write(table)))[1]?.cells[NOTE]).toBe(escaped)
  })
})

// ───────────────────────────────────────────────────────────── What a person does not see

describe.skipIf(MAY_SKIP_PYTHON).each(['openpyxl', 'XlsxWriter'])('a workbook of %s', (writer) => {
  const table = (TABLES[0] as Table).slice(0, 6)
  const put = (value: string): Put => ({ kind: 'text', value, text: value })
  const withNotes = table.map((cells, line) => cells.map((one, place) => (line > 0 && place === NOTE ? put('x') : one)))

  test('has hidden rows that are asked about, and columns that are warned of', async () => {
    const bytes = await pythonBook(writer, table, { hiddenColumns: ['E', 'F'], hiddenRows: [3, 5] })
    expect((await refusalOf(bytes)).problem).toContain('2 rows of the sheet are hidden')
    const { survey, rows } = await readWhole(bytes, { allowHidden: 2 })
    expect(survey.warnings).toEqual([
      '2 of the rows are hidden in the sheet and are read like any other.',
      'The columns "request_ref_po_id" and "note" are hidden in the sheet and are read like any other.',
    ])
    expect(rows).toHaveLength(5)
  })

  test('has values under merged cells that are faults where they would move money', async () => {
    const { survey, rows } = await readWhole(await pythonBook(writer, withNotes, { merges: ['C3:C4', 'F5:F6'] }))
    expect(rows.flatMap(({ line, faults }) => faults.map(({ column }) => [line, column]))).toEqual([[4, 'amount']])
    expect(survey.warnings).toEqual([expect.stringContaining('2 cells with values are hidden under merged cells')])
    expect(rows[4]?.cells[NOTE]).toBe('x')
  })

  test('has conditional formats, whose numbers are not those of its cells', async () => {
    const day: Put = { kind: 'date', value: '2026-05-01', format: 'd-mmm', text: '2026-05-01' }
    const days = table.map((cells, line) => cells.map((one, place) => (line > 0 && place === AMOUNT ? day : one)))
    const conditional = [14, 15, 16, 17, 22, 164].map((id) => ({ id, format: '#,##0.00', range: 'C2:C6' }))
    const { rows } = await readWhole(await pythonBook(writer, days, { conditional }))
    expect(rows.map(({ faults }) => faults.map(({ column, problem }) => [column, problem]))).toEqual(
      rows.map(() => [['amount', 'was turned into a date by the spreadsheet']]),
    )
    expect(rows.map(({ cells }) => cells[AMOUNT])).toEqual(rows.map(() => "'2026-05-01"))
  })
})

// ───────────────────────────────────────────────────────────── CSV

type Cells = readonly (readonly string[])[]

interface CsvWriter {
  readonly name: string
  readonly skip?: boolean
  write(cells: Cells): Promise<string | Uint8Array>
}

const EVERY = { quoted: true, bom: false } as const
const CSV_WRITERS: readonly CsvWriter[] = [
  { name: 'csv-stringify', write: async (cells) => stringify(cells as string[][]) },
  {
    name: 'csv-stringify for a German spreadsheet',
    write: async (cells) =>
      stringify(cells as string[][], { ...EVERY, delimiter: ';', record_delimiter: 'windows', bom: true }),
  },
  { name: 'fast-csv', write: (cells) => writeToString(cells as string[][]) },
  {
    name: 'fast-csv with tabs, everything quoted',
    write: (cells) => writeToString(cells as string[][], { delimiter: '\t', quoteColumns: true, rowDelimiter: '\r\n' }),
  },
  { name: 'hucre', write: async (cells) => writeCsv(cells as string[][]) },
  { name: "Python's csv", skip: MAY_SKIP_PYTHON, write: (cells) => pythonCsv(cells, 'utf-8', {}) },
  {
    name: "Python's csv in UTF-16, with |",
    skip: MAY_SKIP_PYTHON,
    write: (cells) => pythonCsv(cells, 'utf-16', { delimiter: '|', quoting: 2 }),
  },
  {
    name: 'LibreOffice',
    skip: MAY_SKIP,
    write: async (cells) => {
      const path = join(dir, 'to-office.csv')
      writeFileSync(path, stringify(cells as string[][], { quoted: true }))
      return readFileSync(saveAs('csv', path, dir, OPENING.text(COLUMNS.length)))
    },
  },
]

async function pythonCsv(cells: Cells, encoding: string, dialect: object): Promise<Buffer> {
  const path = join(dir, 'python.csv')
  const rows = cells.map((row) => row.map((text) => ({ text })))
  writeWithPython([{ writer: 'csv', path, rows, encoding, dialect }])
  return readFileSync(path)
}

describe.each(CSV_WRITERS)('a CSV file of $name', ({ skip = false, write }) => {
  test.skipIf(skip)('gives back every cell and the money as they were put in', async () => {
    for (const table of TABLES) {
      const { rows } = await readWhole(await write(asText(table)))
      expect(rows.map(({ cells }) => cells)).toEqual(asText(table.slice(1)))
      expect(rows.map(({ instruction }) => instruction?.money?.amountMinor)).toEqual(table.slice(1).map(minorOf))
    }
  })
})
