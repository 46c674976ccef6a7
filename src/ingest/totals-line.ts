// The line of totals that a spreadsheet puts below its rows. It needs one word, not one for every cell that it lacks.

import type { RowFault } from '../domain/draft.ts'
import { shown } from '../domain/problem.ts'
import { unquoted } from './csv/quotes.ts'
import type { CsvRecord } from './csv/records.ts'
import type { Header } from './header.ts'

const TOTALS =
  /^(?:(?:grand|sub|zwischen)?[ -]?totals?|sum|(?:gesamt|end|zwischen)?summe|gesamt|total g[ée]n[ée]ral|sous-total|somme|suma|totale(?: generale)?|total general|somma)\s*:?$/i

/** In fewer columns a row that lacks its id looks the same. */
const COLUMNS_SURE = 3
/** Such as no id is written. */
const SUM = /^\d[\d.,']*[.,]\d\d$/

/** The place of the cell that says so: a word for totals, or the only one that is filled, with a sum. -1: none does. */
function placeOfTotals({ written, fields }: Header, cells: readonly string[]): number {
  const word = cells.findIndex((cell) => TOTALS.test(unquoted(cell)))
  const [place = -1, ...others] = cells.flatMap((cell, i) => (cell.trim() === '' ? [] : [i]))
  if (word !== -1 || others.length > 0 || written.length < COLUMNS_SURE) return word
  const isAmount = place === fields.amount && cells.length === written.length
  return isAmount || SUM.test(unquoted(cells[place] ?? '')) ? place : -1
}

/** Of a bad row; null: it is something else. */
export function totalsFault(header: Header, { cells, line }: CsvRecord, rowNo: number): RowFault | null {
  const place = placeOfTotals(header, cells)
  if (place === -1) return null
  const column = (header.written[place] ?? '').trim() || null
  return { rowNo, line, column, value: shown(cells[place] ?? ''), problem: `the row ${LOOKS_SO}`, remedy: REMEDY }
}

/** What a line with cells too few or too many is told to be, in front of that; null: it is something else. */
export function totalsOf(
  header: Header,
  { cells, line }: CsvRecord,
): { readonly says: string; readonly remedy: string } | null {
  return placeOfTotals(header, cells) === -1 ? null : { says: `line ${line} ${LOOKS_SO}`, remedy: REMEDY }
}

const LOOKS_SO = 'looks like a line of totals, not like an instruction'
const REMEDY = 'take the line out of the file; if it is an instruction, fill in its empty cells and call it otherwise'
