// The elements of a sheet → its rows, with each cell as the workbook means it.

import type { Problem } from '../../domain/problem.ts'
import { LIMITS } from '../limits.ts'
import { COLUMNS_MOST, lettersOf, parseAddress, parseRange, ROWS_MOST } from './address.ts'
import { type CellKind, dateText, numberText, type Stored } from './cell.ts'
import { Covers, type Merge } from './merges.ts'
import { GENERAL, type NumberFormat, showNumber } from './number-format.ts'
import { type AttributeOf, type Shape, TEXT_OR_RUNS } from './xml.ts'
import { isOn, isTrue, joined, unescapeText } from './xml-text.ts'
import { damaged, Unreadable } from './zip.ts'

/** What the cells of every sheet refer to. */
export interface CellContext {
  readonly shared: readonly string[]
  /** By number: shared texts and styles that are struck through. */
  readonly struckTexts: ReadonlySet<number>
  readonly struckStyles: ReadonlySet<number>
  /** Per style. */
  readonly numberFormats: readonly NumberFormat[]
  readonly from1904: boolean
  /** The workbook says that its formulas are to be computed again before their values mean anything. */
  readonly isStale: boolean
}

export interface Cell extends Stored {
  readonly text: string
}

export interface CellFault extends Problem {
  readonly column: string
}

export interface Row {
  readonly line: number
  readonly hidden: boolean
  readonly cells: readonly Cell[]
  readonly fault: CellFault | null
}

/** The formula is not read. That there is one is. */
export const SHEET: Shape = {
  worksheet: {
    sheetFormatPr: {},
    cols: { col: {} },
    sheetData: { row: { c: { v: 'text', f: 'text', is: TEXT_OR_RUNS } } },
  },
}

/** Takes the elements of a sheet and gathers its rows. */
export class RowReader {
  readonly #book: CellContext
  readonly #covers: Covers
  #rows: Row[] = []
  #hasData: boolean = false
  /** The row at hand; 0: none is. It may come in pieces. */
  #line = 0
  #hidden: boolean = false
  #hidesRows: boolean = false
  readonly #hiddenColumns: { readonly from: number; readonly to: number }[] = []
  #cells: Cell[] = []
  #characters = 0
  #fault: CellFault | null = null
  /** Of the cell at hand, from 1; 0: none is. */
  #column = 0
  #type: string = 'n'
  #style = 0
  #value: string | null = null
  #inline: string | null = null
  #isFormula: boolean = false
  #isStruck: boolean = false
  /** By formulas of several cells: those that reach down to the row at hand. */
  #filled: Merge[] = []

  constructor(book: CellContext, merges: readonly Merge[] = []) {
    this.#book = book
    this.#covers = new Covers(merges)
  }

  /** Known before the first row is. */
  hidesColumn(column: number): boolean {
    return this.#hiddenColumns.some(({ from, to }) => from <= column && column <= to)
  }

  take(): readonly Row[] {
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  open(element: string, attribute: AttributeOf): void {
    if (element === 'sheetData') this.#startData()
    else if (element === 'col' && !this.#hasData) this.#takeColumns(attribute)
    else if (element === 'sheetFormatPr' && !this.#hasData) this.#hidesRows = isTrue(attribute('zeroHeight'))
    else if (element === 'row') this.#openRow(attribute('r'), this.#hidesRow(attribute('hidden'), attribute('ht')))
    else if (element === 'c') this.#openCell(attribute('r'), attribute('t'), attribute('s'))
    else if (element === 'v') this.#value = ''
    else if (element === 'f') this.#openFormula(attribute('t'), attribute('ref'))
    else if (element === 'is') this.#startInline()
    else if (element === 'strike') this.#isStruck ||= isOn(attribute('val'))
  }

  close(element: string): void {
    if (element === 'sheetData') this.#endData()
    else if (element === 'c') this.#closeCell()
  }

  text(text: string, element: string): void {
    if (element === 'v') this.#value = joined(this.#value ?? '', text)
    else if (element === 't') this.#inline = joined(this.#inline ?? '', text)
  }

  /** Of a row that says nothing about it, the sheet does. */
  #hidesRow(hidden: string | undefined, height: string | undefined): boolean {
    return isTrue(hidden) || isZero(height) || (this.#hidesRows && hidden === undefined && height === undefined)
  }

  #startData(): void {
    if (this.#hasData) throw damaged() // once is all
    this.#hasData = true
  }

  #startInline(): void {
    if (this.#inline !== null) throw damaged()
    this.#inline = ''
  }

  #takeColumns(attribute: AttributeOf): void {
    if (!isTrue(attribute('hidden')) && !isZero(attribute('width'))) return
    this.#hiddenColumns.push({ from: Number(attribute('min')), to: Number(attribute('max')) })
    if (this.#hiddenColumns.length > COLUMNS_MOST) throw damaged()
  }

  /** A row of the same number goes on with the one before: some programs write one for every cell. */
  #openRow(number: string | undefined, hidden: boolean): void {
    const line = number === undefined ? this.#line + 1 : Number(number)
    if (line !== this.#line || line === 0) this.#startRow(line)
    this.#hidden ||= hidden
  }

  #startRow(line: number): void {
    if (!Number.isInteger(line) || line <= this.#line || line > ROWS_MOST) throw damaged()
    this.#finishRow()
    this.#line = line
    this.#hidden = false
    this.#cells = []
    this.#characters = 0
    this.#column = 0
    this.#fault = null
    this.#covers.goTo(line)
    this.#filled = this.#filled.filter(({ last }) => last.line >= line)
  }

  #openCell(address: string | undefined, type: string | undefined, style: string | undefined): void {
    const column = address === undefined ? this.#column + 1 : columnIn(address, this.#line)
    if (this.#line === 0 || column === null || column <= this.#column || column > COLUMNS_MOST) throw damaged()
    this.#column = column
    this.#type = type ?? 'n'
    this.#style = Number(style ?? 0)
    this.#isStruck = this.#book.struckStyles.has(this.#style)
    this.#value = null
    this.#inline = null
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
      // One shared text may be named by every cell.
      if (this.#characters > LIMITS.recordBytes) throw tooMuchInARow(this.#line)
      while (this.#cells.length < this.#column - 1) this.#cells.push(EMPTY)
      this.#cells.push({ ...cell, kind: this.#kindHere(cell) })
    }
  }

  #kindHere({ kind }: Cell): CellKind {
    if (this.#covers.has(this.#line, this.#column)) return 'covered'
    if (this.#isStruck) return 'struck'
    return this.#book.isStale && this.#isComputed() && kind !== 'error' ? 'stale' : kind
  }

  #isComputed(): boolean {
    if (this.#isFormula) return true
    return this.#filled.some(
      ({ first, last }) => first.column <= this.#column && this.#column <= last.column && this.#line <= last.line,
    )
  }

  /** One formula may fill many cells; only the first of them has it. */
  #openFormula(type: string | undefined, ref: string | undefined): void {
    this.#isFormula = true
    if (!this.#book.isStale || ref === undefined || (type !== 'array' && type !== 'dataTable')) return
    const range = parseRange(ref)
    if (range === null || this.#filled.length === LIMITS.columns) throw damaged()
    this.#filled.push(range)
  }

  /** null: nothing is in it. */
  #toCell(): Cell | 'not-computed' | null {
    const value = this.#value
    const { shared, from1904 } = this.#book
    if (this.#isFormula && (value === null || (value === '' && this.#type !== 'str'))) return 'not-computed'
    switch (this.#type) {
      case 'inlineStr':
        return toText(unescapeText(this.#inline ?? ''))
      case 'str':
        return toText(unescapeText(value ?? ''))
      case 's': {
        if (value === null || value === '') return null
        const text = /^\d+$/.test(value) ? shared[Number(value)] : undefined
        if (text === undefined) throw damaged()
        this.#isStruck ||= this.#book.struckTexts.has(Number(value))
        return toText(text)
      }
      case 'b':
        if (value === null || value === '') return null
        if (value !== '0' && value !== '1') throw damaged()
        return { text: value === '1' ? 'TRUE' : 'FALSE', kind: 'boolean', marks: NO_MARKS }
      case 'e':
        return { text: value === null || value === '' ? '#ERROR' : value, kind: 'error', marks: NO_MARKS }
      case 'd':
        return value === null || value === '' ? null : { text: value, kind: 'date', marks: NO_MARKS }
      case 'n':
        return value === null || value.trim() === '' ? null : toNumber(value.trim(), this.#numberFormat(), from1904)
      default:
        throw damaged()
    }
  }

  /** Without any styles a cell has the general one. A style that is named and not there could be that of a date. */
  #numberFormat(): NumberFormat {
    const format = this.#book.numberFormats[this.#style] ?? (this.#style === 0 ? GENERAL : undefined)
    if (format === undefined) throw damaged()
    return format
  }

  #endData(): void {
    this.#finishRow()
    this.#cells = []
    this.#fault = null
  }

  #finishRow(): void {
    const isEmpty = this.#cells.every(({ text }) => text.trim() === '')
    if (isEmpty && this.#fault === null) return
    this.#rows.push({ line: this.#line, hidden: this.#hidden, cells: this.#cells, fault: this.#fault })
  }
}

function isZero(text: string | undefined): boolean {
  return text !== undefined && Number(text) === 0
}

function tooMuchInARow(line: number): Unreadable {
  return new Unreadable({
    problem: `row ${line} of the sheet holds more than ${LIMITS.recordBytes / 1024} KiB of text`,
    remedy: 'shorten it: no table of instructions has such a row',
  })
}

const NO_MARKS: readonly string[] = []
export const EMPTY: Cell = { text: '', kind: 'text', marks: NO_MARKS }

function toText(text: string): Cell | null {
  return text === '' ? null : { text, kind: 'text', marks: NO_MARKS }
}

function toNumber(stored: string, format: NumberFormat, from1904: boolean): Cell {
  const text = numberText(stored)
  if (text === null) throw damaged()
  const { style: kind, marks } = showNumber(format, text)
  return { text: kind === 'date' ? (dateText(stored, from1904) ?? text) : text, kind, marks }
}

/** null where the address is none, or of another row. */
function columnIn(address: string, line: number): number | null {
  const found = parseAddress(address)
  return found?.line === line ? found.column : null
}
