// What people and spreadsheets leave in files: titles, pasted headers, wrapped lines, rows inside quotation marks. Read
// rightly with a warning, or refused with the line.

import { holdsCardData } from '../domain/card-secrets.ts'
import { parseOperation } from '../domain/instruction.ts'
import { refuse, type StructuralFault, shown } from '../domain/problem.ts'
import { words } from '../domain/words.ts'
import { unquoted } from './csv/quotes.ts'
import type { CsvRecord } from './csv/records.ts'
import type { Field } from './field-names.ts'
import { signShownBy } from './fields/decimal-sign.ts'
import type { Header } from './header.ts'

/** Title lines above the column names: the file is refused, and the line that has the names is named. */
export function titledFault(first: CsvRecord, headerLine: number | null): StructuralFault | null {
  // A card number in the first line is the worse news.
  if (headerLine === null || first.cells.some(holdsCardData)) return null
  const title = first.cells.find((cell) => cell.trim() !== '') ?? ''
  const lines = headerLine === 2 ? 'line 1' : `lines 1 to ${headerLine - 1}`
  return refuse(
    {
      problem: `the file begins with "${shown(title.trim())}" where the column names should be; line ${headerLine} looks like the column names`,
      remedy: words`take out ${lines}, so that the column names come first${{ set: 'header-row', to: String(headerLine), lead: ', or leave them in and say ' }}`,
    },
    { line: first.line },
  )
}

/**
 * Sees the lines above the column names, one after another, and answers whether they have become a table: names, and below
 * them as many cells with numbers among them. Two names may be a label and its text, unless one of them is a column's.
 */
export function tableAbove(isKnown: (name: string) => boolean): (cells: readonly string[]) => boolean {
  let named = 0
  return (cells) => {
    const filled = cells.filter((cell) => cell.trim() !== '')
    const width = cells.findLastIndex((cell) => cell.trim() !== '') + 1
    if (named > 0 && filled.length >= 2 && (width === named || cells.length === named) && filled.some(isNumberLike))
      return true
    const isNames = filled.every((cell) => cell.length <= NAME_CHARACTERS && /\p{L}/u.test(cell) && !/\d{3}/.test(cell))
    named = isNames && (filled.length > 2 || (filled.length === 2 && filled.some(isKnown))) ? width : 0
    return false
  }
}

const NAME_CHARACTERS = 60

/** Digits and signs, with the mark of a currency at most. */
function isNumberLike(cell: string): boolean {
  return /\d/.test(cell) && !/\p{L}{4}/u.test(cell)
}

/** What stands above the column names would be left out, and are rows: no person wants them taken out as titles. */
export function twoTablesFault(lineAbove: number, headerLine: number): StructuralFault {
  return refuse(
    {
      problem: `line ${headerLine} looks like the column names, and line ${lineAbove} is a row of another table above it: two tables are in one file`,
      remedy: 'make a file of each table, with its own column names in the first line',
    },
    { line: headerLine },
  )
}

/** Lines named one by one in a warning; the rest is counted. */
const LINES_NAMED = 10

/** What was read otherwise than it is written; a person is told of it. */
export class Oddities {
  readonly #headers: number[] = []
  #headersMore = 0
  #wrapped = 0
  #firstWrapped = 0
  #takenIn: number | null = null
  #ragged = 0
  #firstRagged = 0

  see({ wrapped, line }: CsvRecord): void {
    if (wrapped !== true) return
    this.#firstWrapped ||= line
    this.#wrapped += 1
  }

  /** The line has empty cells too few or too many. */
  seeRagged({ line }: CsvRecord): void {
    this.#firstRagged ||= line
    this.#ragged += 1
  }

  /** Answers with how many there are. */
  seeHeader({ line }: CsvRecord): number {
    if (this.#headers.length < LINES_NAMED) this.#headers.push(line)
    else this.#headersMore += 1
    return this.#headers.length + this.#headersMore
  }

  seeTakenIn(line: number): void {
    this.#takenIn ??= line
  }

  warnings(): string[] {
    const warnings = this.#headers.map(
      (line) => `Line ${line} repeats the column names: two files seem to be pasted together; it was left out.`,
    )
    if (this.#headersMore > 0)
      warnings.push(
        `Lines that repeat the column names, these and others: ${this.#headers.length + this.#headersMore}.`,
      )
    if (this.#wrapped > 0)
      warnings.push(
        `Whole lines are in quotation marks (${this.#wrapped}, the first is line ${this.#firstWrapped}); they were read without them.`,
      )
    if (this.#ragged > 0)
      warnings.push(
        `${this.#ragged === 1 ? 'Line' : `${this.#ragged} lines, the first of them line`} ${this.#firstRagged}${this.#ragged === 1 ? ' has' : ', have'} cells too few or empty cells too many at the end: missing ones are read as empty.`,
      )
    if (this.#takenIn !== null)
      warnings.push(
        `Line ${this.#takenIn} is inside quotation marks and is part of a cell. If it is a row of its own, close the quotation mark before it: as it is now, it is not sent.`,
      )
    return warnings
  }
}

/**
 * A quotation mark that is opened in one row and closed in another takes in what stands between: as CSV that is one cell
 * with line breaks, and instructions would be lost in it without a word. The line of the first row taken in, or null.
 */
export function lineTakenIn(header: Header, record: CsvRecord, delimiter: string): number | null {
  let line = record.line
  for (const cell of record.cells) {
    if (!/[\r\n]/.test(cell)) continue
    for (const text of cell.split(/\r\n|\r|\n/).slice(1)) {
      line += 1
      if (looksLikeRow(header, text.split(delimiter))) return line
    }
  }
  return null
}

/** In fewer columns a line of an address looks like a row as well: "12, Main Street". That is a warning. */
const COLUMNS_SURE = 3

export function takenInFault(header: Header, record: CsvRecord, rowNo: number, line: number): StructuralFault | null {
  if (header.written.length < COLUMNS_SURE) return null
  return refuse(
    {
      problem: `a quotation mark in the row that begins in line ${record.line} takes in line ${line}, which looks like a row of its own`,
      remedy:
        'close the quotation mark in its own row, or write one that belongs to the text twice ("") inside a quoted cell',
    },
    { rowNo, line: record.line },
  )
}

function looksLikeRow({ written, fields }: Header, cells: readonly string[]): boolean {
  if (cells.length !== written.length) return false
  const cellOf = (field: Field) => unquoted(cells[fields[field] ?? -1] ?? '')
  if (parseOperation(cellOf('transaction_type')) !== undefined) return true
  const names = /^\d+$/.test(cellOf('request_ref_po_id')) || /^\d+$/.test(cellOf('customer_vault_id'))
  return names && (fields.amount === undefined || signShownBy(cellOf('amount')) !== 'malformed')
}
