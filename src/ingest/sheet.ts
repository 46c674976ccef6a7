// One sheet of a workbook → records, row by row as they are inflated: nothing but the row at hand is held.

import { type CellKind, dateText, type NumberStyle, numberText } from './cell.ts'
import { type Problem, refuse, type StructuralFault } from './problem.ts'
import type { CsvRecord } from './records.ts'
import { joined, readXml, unescapeText } from './xml.ts'
import { type Budget, damaged, type Entry, Unreadable } from './zip.ts'

/** What the cells of every sheet refer to. */
export interface Book {
  readonly bytes: Buffer
  readonly budget: Budget
  readonly shared: readonly string[]
  /** Per style, what it makes of a number; null: the workbook has no styles. */
  readonly numberStyles: readonly NumberStyle[] | null
  readonly from1904: boolean
}

/** The last row and column of a sheet in any spreadsheet program. */
const ROWS_MOST = 1_048_576
const COLUMNS_MOST = 16_384
/** Rows with something in them, the header left out. What is more belongs in a CSV file, which costs no memory. */
const FILLED_ROWS_MOST = 1_000_000
/** More columns with something in them than that are no table of instructions. */
const FILLED_COLUMNS_MOST = 1_000
/** One shared text may be named by every cell of a row. */
const ROW_CHARACTERS_MOST = 256 * 1024

/**
 * Every row with something in it, the header first. A record's line is the number of its row in the sheet; empty rows
 * are counted and left out. A fault, where there is one, is the last thing that comes. Throws Unreadable.
 */
export async function* readSheet(
  book: Book,
  part: Entry,
  seen: { hiddenRows: number },
): AsyncGenerator<CsvRecord | StructuralFault> {
  const rows = new RowReader(book)
  let columns: number | null = null
  let filled = -1
  for await (const _ of readXml(book.bytes, part, book.budget, rows)) {
    for (const row of rows.take()) {
      columns ??= widthOf(row.cells)
      filled += 1
      if (row.hidden) seen.hiddenRows += 1
      const fault = row.fault ?? findExcess(row, columns, filled)
      if (fault !== null) {
        yield refuse(fault, { line: row.line, column: fault.column })
        return
      }
      yield toRecord(row, columns)
    }
  }
}

/** The text of the first cell that has any; null: the sheet is empty. */
export async function sheetStart(book: Book, part: Entry): Promise<string | null> {
  const rows = new RowReader(book)
  for await (const _ of readXml(book.bytes, part, book.budget, rows)) {
    const [first] = rows.take()
    if (first !== undefined) return first.cells.find(({ text }) => text.trim() !== '')?.text ?? ''
  }
  return null
}

/** Whatever stands in a sheet, row by row, be it a table or not. Throws Unreadable. */
export async function* readCells(book: Book, part: Entry): AsyncGenerator<Pick<Row, 'line' | 'cells'>> {
  const rows = new RowReader(book)
  for await (const _ of readXml(book.bytes, part, book.budget, rows)) yield* rows.take()
}

export interface Cell {
  readonly text: string
  readonly kind: CellKind
}

interface CellFault extends Problem {
  readonly column: string
}

interface Row {
  readonly line: number
  readonly hidden: boolean
  readonly cells: readonly Cell[]
  readonly fault: CellFault | null
}

/** Cells up to the last one with something to see in it: blanks nobody sees make no column. */
function widthOf(cells: readonly Cell[]): number {
  return cells.findLastIndex(({ text }) => text.trim() !== '') + 1
}

function findExcess({ cells }: Row, columns: number, filled: number): CellFault | null {
  const width = widthOf(cells)
  if (width > FILLED_COLUMNS_MOST) {
    return {
      column: lettersOf(FILLED_COLUMNS_MOST + 1),
      problem: `the sheet has more than ${FILLED_COLUMNS_MOST} columns with something in them`,
      remedy: 'remove what does not belong to the table',
    }
  }
  if (width > columns) {
    return {
      column: lettersOf(width),
      problem: 'the row has something in a column that the first row of the table gives no name',
      remedy: 'name the column, or remove what stands in it',
    }
  }
  if (filled <= FILLED_ROWS_MOST) return null
  return {
    column: 'A',
    problem: `the sheet has more than ${FILLED_ROWS_MOST} rows`,
    remedy: 'split it, or save the sheet as "CSV UTF-8": CSV may have any number of rows',
  }
}

function toRecord({ line, cells }: Row, columns: number): CsvRecord {
  const at = Array.from({ length: columns }, (_, i) => cells[i])
  return {
    kind: 'record',
    line,
    cells: at.map((cell) => cell?.text ?? ''),
    kinds: at.map((cell) => cell?.kind ?? 'text'),
  }
}

/** Takes the elements of a sheet and gathers its rows. */
class RowReader {
  readonly #book: Book
  #rows: Row[] = []
  #inData: boolean = false
  #line = 0
  #hidden: boolean = false
  #cells: Cell[] = []
  #characters = 0
  #fault: CellFault | null = null
  /** Of the cell at hand, from 1; 0: none is. */
  #column = 0
  #type: string = 'n'
  #style = 0
  #value: string | null = null
  #inline = ''
  #isFormula: boolean = false
  #taking: 'value' | 'inline' | null = null
  #inReading: boolean = false

  constructor(book: Book) {
    this.#book = book
  }

  take(): readonly Row[] {
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  open(element: string, attribute: (name: string) => string | undefined): void {
    if (element === 'sheetData') this.#inData = true
    if (!this.#inData) return
    if (element === 'row') this.#openRow(attribute('r'), attribute('hidden'))
    else if (element === 'c') this.#openCell(attribute('r'), attribute('t'), attribute('s'))
    else if (element === 'v') this.#startValue()
    else if (element === 'f') this.#isFormula = true
    else if (element === 't' && !this.#inReading) this.#taking = 'inline'
    else if (element === 'rPh') this.#inReading = true
  }

  close(element: string): void {
    if (!this.#inData) return
    if (element === 'sheetData') this.#inData = false
    else if (element === 'row') this.#closeRow()
    else if (element === 'c') this.#closeCell()
    else if (element === 'v' || element === 't') this.#taking = null
    else if (element === 'rPh') this.#inReading = false
  }

  text(text: string): void {
    if (this.#taking === 'value') this.#value = joined(this.#value ?? '', text)
    else if (this.#taking === 'inline') this.#inline = joined(this.#inline, text)
  }

  #startValue(): void {
    this.#value = ''
    this.#taking = 'value'
  }

  #openRow(number: string | undefined, hidden: string | undefined): void {
    const line = number === undefined ? this.#line + 1 : Number(number)
    if (!Number.isInteger(line) || line <= this.#line || line > ROWS_MOST) throw damaged()
    this.#line = line
    this.#hidden = hidden === '1' || hidden === 'true'
    this.#cells = []
    this.#characters = 0
    this.#column = 0
    this.#fault = null
  }

  #openCell(address: string | undefined, type: string | undefined, style: string | undefined): void {
    const column = address === undefined ? this.#column + 1 : columnIn(address, this.#line)
    if (this.#line === 0 || column === null || column <= this.#column || column > COLUMNS_MOST) throw damaged()
    this.#column = column
    this.#type = type ?? 'n'
    this.#style = Number(style ?? 0)
    this.#value = null
    this.#inline = ''
    this.#isFormula = false
  }

  #closeCell(): void {
    const cell = this.#toCell()
    if (cell === 'not-computed') {
      this.#fault ??= {
        column: lettersOf(this.#column),
        problem: 'holds a formula whose value was never computed',
        remedy: 'open the workbook in the spreadsheet program, which computes it, save it, and use that file',
      }
    } else if (cell !== null) {
      this.#characters += cell.text.length
      if (this.#characters > ROW_CHARACTERS_MOST) throw tooMuchInARow(this.#line)
      while (this.#cells.length < this.#column - 1) this.#cells.push(EMPTY)
      this.#cells.push(cell)
    }
  }

  /** null: nothing is in it. */
  #toCell(): Cell | 'not-computed' | null {
    const value = this.#value
    const { shared, from1904 } = this.#book
    if (this.#isFormula && (value === null || (value === '' && this.#type !== 'str'))) return 'not-computed'
    switch (this.#type) {
      case 'inlineStr':
        return toText(unescapeText(this.#inline))
      case 'str':
        return toText(unescapeText(value ?? ''))
      case 's': {
        if (value === null || value === '') return null
        const text = /^\d+$/.test(value) ? shared[Number(value)] : undefined
        if (text === undefined) throw damaged()
        return toText(text)
      }
      case 'b':
        if (value === null || value === '') return null
        if (value !== '0' && value !== '1') throw damaged()
        return { text: value === '1' ? 'TRUE' : 'FALSE', kind: 'boolean' }
      case 'e':
        return { text: value === null || value === '' ? '#ERROR' : value, kind: 'error' }
      case 'd':
        return value === null || value === '' ? null : { text: value, kind: 'date' }
      case 'n':
        return value === null || value.trim() === '' ? null : toNumber(value.trim(), this.#numberStyle(), from1904)
      default:
        throw damaged()
    }
  }

  #numberStyle(): NumberStyle {
    const { numberStyles } = this.#book
    if (numberStyles === null) return 'number'
    const style = numberStyles[this.#style]
    if (style === undefined) throw damaged()
    return style
  }

  #closeRow(): void {
    const isEmpty = this.#cells.every(({ text }) => text.trim() === '')
    if (isEmpty && this.#fault === null) return
    this.#rows.push({ line: this.#line, hidden: this.#hidden, cells: this.#cells, fault: this.#fault })
  }
}

function tooMuchInARow(line: number): Unreadable {
  return new Unreadable({
    problem: `row ${line} of the sheet holds more than ${ROW_CHARACTERS_MOST / 1024} KiB of text`,
    remedy: 'shorten it: no table of instructions has such a row',
  })
}

const EMPTY: Cell = { text: '', kind: 'text' }

function toText(text: string): Cell | null {
  return text === '' ? null : { text, kind: 'text' }
}

function toNumber(stored: string, style: NumberStyle, from1904: boolean): Cell {
  const text = numberText(stored)
  if (text === null) throw damaged()
  return { text: style === 'date' ? (dateText(stored, from1904) ?? text) : text, kind: style }
}

/** The column of `AB12`, from 1; null where the address is none, or of another row. */
function columnIn(address: string, line: number): number | null {
  const match = /^([A-Z]{1,3})(\d{1,7})$/.exec(address)
  if (match === null || Number(match[2]) !== line) return null
  return [...(match[1] as string)].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0)
}

function lettersOf(column: number): string {
  let letters = ''
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters
  }
  return letters
}
