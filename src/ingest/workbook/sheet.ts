// One sheet of a workbook → records, row by row as they are inflated: nothing but the row at hand is held.

import { refuse, type StructuralFault } from '../../domain/problem.ts'
import type { CsvRecord } from '../csv/records.ts'
import { findCardAbove } from '../header-faults.ts'
import { LIMITS } from '../limits.ts'
import { lettersOf } from './address.ts'
import type { Merge } from './merges.ts'
import { type Cell, type CellContext, type CellFault, EMPTY, type Row, RowReader, SHEET } from './sheet-rows.ts'
import { readXml } from './xml.ts'
import { type Budget, type Entry, Unreadable } from './zip.ts'

/** What is read of every sheet, and how much of it. */
export interface Book extends CellContext {
  readonly bytes: Buffer
  readonly budget: Budget
  readonly textBudget: TextBudget
}

/** Characters that cells may still hold, over all sheets of one reading; what is recorded is no more. */
interface TextBudget {
  leftCharacters: number
}

export function textBudget(fileBytes: number): TextBudget {
  const { textCharacters, textCharactersOfAny, textTimes } = LIMITS
  return { leftCharacters: Math.min(textCharacters, Math.max(textCharactersOfAny, fileBytes * textTimes)) }
}

export function tooMuchText(): Unreadable {
  return new Unreadable({
    problem: 'the workbook holds more text than is read here',
    remedy: 'split it, or save the sheet as "CSV UTF-8": CSV may have any size',
  })
}

/** Rows with something in them, the header left out. What is more belongs in a CSV file, which costs no memory. */
const FILLED_ROWS_MOST = 1_000_000

/**
 * Every row with something in it, the header first. A record's line is the number of its row in the sheet; empty rows
 * are counted and left out. A fault, where there is one, is the last thing that comes. Throws Unreadable.
 */
export async function* readSheet(
  book: Book,
  part: Entry,
  { merges, unseen, firstLine }: SheetReading,
): AsyncGenerator<CsvRecord | StructuralFault> {
  const rows = new RowReader(book, merges)
  let columns: number | null = null
  let filled = -1
  for await (const _ of readXml(book.bytes, part, book.budget, SHEET, rows)) {
    for (const row of withinText(book.textBudget, rows.take())) {
      if (row.line < firstLine) {
        const card = findCardAbove(row.cells.map(({ text }) => text))
        if (card === null) continue
        yield card
        return
      }
      if (columns === null) {
        columns = widthOf(row.cells)
        unseen.columns = row.cells.flatMap(({ text }, i) =>
          rows.hidesColumn(i + 1) && text.trim() !== '' ? [text] : [],
        )
      }
      filled += 1
      if (row.hidden && filled > 0) unseen.rows += 1
      unseen.cells += row.cells.filter(({ kind }) => kind === 'covered').length
      const fault = row.fault ?? findExcess(row, columns, filled)
      if (fault !== null) {
        yield refuse(fault, { line: row.line, column: fault.column })
        return
      }
      yield toRecord(row, columns)
    }
  }
}

interface SheetReading {
  readonly merges: readonly Merge[]
  readonly unseen: Unseen
  /** Rows above it are left out. */
  readonly firstLine: number
}

/** What a person who looks at the sheet does not see of it, so far. */
export interface Unseen {
  rows: number
  /** With something in them, under merged cells. */
  cells: number
  /** By the names in the first row. */
  columns: readonly string[]
}

/** The text of the first cell that has any; null: the sheet is empty. */
export async function sheetStart(book: Book, part: Entry): Promise<string | null> {
  const rows = new RowReader(book)
  for await (const _ of readXml(book.bytes, part, book.budget, SHEET, rows)) {
    const [first] = rows.take()
    if (first !== undefined) return first.cells.find(({ text }) => text.trim() !== '')?.text ?? ''
  }
  return null
}

/** All that is in a sheet, row by row, whether it is a table or not. Throws Unreadable. */
export async function* readCells(book: Book, part: Entry): AsyncGenerator<Pick<Row, 'line' | 'cells'>> {
  const rows = new RowReader(book)
  for await (const _ of readXml(book.bytes, part, book.budget, SHEET, rows))
    yield* withinText(book.textBudget, rows.take())
}

function* withinText(budget: TextBudget, rows: readonly Row[]): Generator<Row> {
  for (const row of rows) {
    budget.leftCharacters -= row.cells.reduce((sum, { text }) => sum + text.length, 0)
    if (budget.leftCharacters < 0) throw tooMuchText()
    yield row
  }
}

/** Cells up to the last one with something to see in it: invisible blanks make no column. */
function widthOf(cells: readonly Cell[]): number {
  return cells.findLastIndex(({ text }) => text.trim() !== '') + 1
}

function findExcess({ cells }: Row, columns: number, filled: number): CellFault | null {
  const width = widthOf(cells)
  if (width > LIMITS.columns) {
    return {
      column: lettersOf(LIMITS.columns + 1),
      problem: `the sheet has more than ${LIMITS.columns} columns with something in them`,
      remedy: 'remove what does not belong to the table',
    }
  }
  if (width > columns) {
    return {
      column: lettersOf(width),
      problem: 'the row has something in a column that the first row of the table gives no name',
      remedy: 'name the column, or remove what is in it',
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
  const all = Array.from({ length: columns }, (_, i) => cells[i] ?? EMPTY)
  return {
    kind: 'record',
    line,
    cells: all.map(({ text }) => text),
    kinds: all.map(({ kind }) => kind),
    marks: all.map(({ marks }) => marks),
  }
}
