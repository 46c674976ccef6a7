// The forms that results can have, by the ending of their file, and what each of them is asked for.

import { extname } from 'node:path'
import { type Options, stringify } from 'csv-stringify/sync'
import { guardCell } from '../domain/formula-guard.ts'

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

// With a record delimiter of its own, csv-stringify leaves cells with a lone CR or LF unquoted, and readers would see two
// rows. A cell that begins with a byte order mark is quoted too, else the first one would be taken for the file's own. So
// is one with another separator in it: a spreadsheet that parts cells there as well would find a formula behind it.
const CSV: Options = { record_delimiter: '\r\n', quoted_match: /[\r\n,;\t|]|^\uFEFF/ }

/** What the library quotes with these options. */
const QUOTED = /[",\r\n;\t|]|^\uFEFF/

/** The mark in front is one without which Excel takes UTF-8 for the machine's old code page. */
export function toCsvText(records: readonly Cells[], bom: boolean, delimiter = ','): string {
  return (bom ? '\uFEFF' : '') + stringify(records as string[][], { ...CSV, delimiter })
}

/**
 * The records of a large file, written exactly as `toCsvText` would: the library takes five times as long, and would be half of
 * the cost of results. Cell by cell it looks again at options that never change, for what one pattern finds.
 */
export function toCsvRecords(records: readonly Cells[]): string {
  let text = ''
  for (const cells of records) {
    let separator = ''
    for (const cell of cells) {
      text += separator
      text += QUOTED.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
      separator = ','
    }
    text += '\r\n'
  }
  return text
}

/** A table of its own, whose cells are guarded here. */
export function toGuardedCsv(columns: Cells, records: readonly Cells[]): string {
  return toCsvText([columns, ...records.map((record) => record.map(guardCell))], false)
}
