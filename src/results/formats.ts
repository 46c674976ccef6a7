// The forms that results can have, by the ending of their file. Each takes the same cells, row after row, and holds none.

import type { FileHandle } from 'node:fs/promises'
import { extname } from 'node:path'
import { type Options, stringify } from 'csv-stringify/sync'
import { unguardCell } from '../domain/guard.ts'
import { openWorkbookFile } from './workbook-file.ts'

export type Format = 'csv' | 'xlsx' | 'jsonl'

export function formatOf(path: string): Format {
  switch (extname(path).toLowerCase()) {
    case '.xlsx':
      return 'xlsx'
    case '.jsonl':
      return 'jsonl'
    default:
      return 'csv'
  }
}

export type Cells = readonly string[]

/** The names of the columns, and how many of them, from the first, are the input's own. */
export interface Columns {
  readonly names: Cells
  readonly carried: number
}

/** A file of results being written. Cells come with the guard's apostrophe. */
export interface ResultsFile {
  add(rows: readonly Cells[]): Promise<void>
  /** After the last row. The summary has its header first. */
  finish(summary: readonly Cells[]): Promise<void>
}

export async function openResultsFile(
  format: Format,
  file: FileHandle,
  columns: Columns,
  bom: boolean,
): Promise<ResultsFile> {
  switch (format) {
    case 'csv':
      return openCsvFile(file, columns, bom)
    case 'jsonl':
      return openJsonLines(file, columns)
    case 'xlsx':
      return openWorkbookFile(file, columns)
  }
}

// With a record delimiter of its own, csv-stringify leaves cells with a lone CR or LF unquoted, and readers would see two
// rows. A cell that begins with a byte order mark is quoted too, else the first one would be taken for the file's own. So
// is one with another separator in it: a spreadsheet that parts cells there as well would find a formula behind it.
export const CSV: Options = { record_delimiter: '\r\n', quoted_match: /[\r\n;\t|]|^\uFEFF/ }

/** The mark in front is one without which Excel takes UTF-8 for the machine's old code page. */
export function toCsvText(records: readonly Cells[], bom: boolean): string {
  return (bom ? '\uFEFF' : '') + stringify(records as string[][], CSV)
}

async function openCsvFile(file: FileHandle, columns: Columns, bom: boolean): Promise<ResultsFile> {
  await file.appendFile(toCsvText([columns.names], bom))
  return {
    add: (rows) => file.appendFile(toCsvText(rows, false)),
    finish: async () => {},
  }
}

/** One object a row: the input's cells and the results, each under the name of its column. A program reads it: the guard is taken away. */
function openJsonLines(file: FileHandle, { names, carried }: Columns): ResultsFile {
  const input = uniqueKeys(names.slice(0, carried).map(unguardCell))
  const result = names.slice(carried)
  const toLine = (cells: Cells) =>
    `{"input":${toObject(input, cells)},"result":${toObject(result, cells.slice(carried))}}\n`
  return {
    add: (rows) => file.appendFile(rows.map(toLine).join('')),
    finish: async () => {},
  }
}

/** Written member by member: an object of the language would put names that are numbers first. */
function toObject(keys: Cells, cells: Cells): string {
  return `{${keys.map((key, i) => `${JSON.stringify(key)}:${JSON.stringify(unguardCell(cells[i] ?? ''))}`).join(',')}}`
}

/** A column without a name, or with one that is taken, goes by its place: `#3`. No cell is lost to another. */
function uniqueKeys(names: Cells): Cells {
  const taken = new Set(names)
  const used = new Set<string>()
  return names.map((name, i) => {
    let key = name
    if (name.trim() === '' || used.has(name)) {
      key = `#${i + 1}`
      while (taken.has(key) || used.has(key)) key = `#${key}`
    }
    used.add(key)
    return key
  })
}
