// Lines with cells too few or too many. Where only empty cells are missing or left over the line is read, unless it could
// just as well be one whose cells have moved: by a delimiter inside a cell, or by one that is lost.

import { parseCurrency } from '../../domain/money.ts'
import type { Field } from '../field-names.ts'
import { partMark } from '../fields/currency-marks.ts'
import { signShownBy } from '../fields/decimal-sign.ts'
import type { Header } from '../header.ts'
import { unquoted } from './quotes.ts'
import type { CsvRecord } from './records.ts'

/** What a cell must look like to be meant for the field; a row that moves money has each of these that its file has. */
const COULD_BE = {
  amount: (cell) => /\d/.test(cell),
  request_currency: (cell) => parseCurrency(cell) !== undefined,
  request_ref_po_id: (cell) => /^\d+$/.test(cell),
  customer_vault_id: (cell) => /^\d+$/.test(cell),
} as const satisfies Partial<Record<Field, (cell: string) => boolean>>
type Needed = keyof typeof COULD_BE
const NEEDED = Object.keys(COULD_BE) as readonly Needed[]

/** The record with as many cells as there are columns; the same record where that cannot be said for certain. */
export function squared(header: Header, record: CsvRecord): CsvRecord {
  const { cells } = record
  const wanted = header.written.length
  const surplus = cells.length - wanted
  if (surplus === 0 || header.cardParts.size > 0 || record.kinds !== undefined) return record
  if (cells.slice(wanted).some((cell) => cell.trim() !== '')) return record
  if (mayHaveMoved(header, cells, surplus)) return record
  return { ...record, cells: Array.from({ length: wanted }, (_, i) => cells[i] ?? '') }
}

/**
 * A delimiter too many moves what stands behind it to the right, one too few to the left. Whatever is moved, the last of
 * the fields that no row lacks is moved with it, so that a cell for it stands beside its place.
 */
function mayHaveMoved(header: Header, cells: readonly string[], surplus: number): boolean {
  const last = lastNeeded(header, cells)
  if (last === null) return true
  if (isPartedAmount(header, cells)) return true
  const steps = Array.from({ length: Math.abs(surplus) }, (_, i) => (surplus > 0 ? i + 1 : -i - 1))
  if (steps.some((step) => COULD_BE[last.field](cellAt(cells, last.place + step)))) return true
  const behind = Object.values(header.fields).filter((place) => place > last.place)
  return behind.some((place) =>
    [0, ...steps].some((step) => place + step > last.place && cellAt(cells, place + step) !== ''),
  )
}

/**
 * `12` and `30` beside each other may be 12,30, and `1` and `234.50` may be 1,234.50, whatever is around the first and whatever else is
 * missing in the line. So may an amount behind a text that was parted.
 */
function isPartedAmount({ fields }: Header, cells: readonly string[]): boolean {
  const { amount } = fields
  if (amount === undefined || !/\d/.test(cellAt(cells, amount))) return false
  const next = cellAt(cells, amount + 1)
  if (/^\d{1,3}$|^\d+[.,]\d/.test(next)) return true
  const isField = Object.values(fields).includes(amount + 1)
  return !isField && signShownBy(partMark(next).number) !== 'malformed'
}

function cellAt(cells: readonly string[], place: number): string {
  return unquoted(cells[place] ?? '')
}

function lastNeeded({ fields }: Header, cells: readonly string[]) {
  let last: { readonly field: Needed; readonly place: number } | null = null
  for (const field of NEEDED) {
    const place = fields[field]
    if (place === undefined || cellAt(cells, place) === '') continue
    if (last === null || place > last.place) last = { field, place }
  }
  return last
}

/** Whole lines that are looked at. */
const SAMPLE = 1_000

/**
 * Where the very cell of that field is lost, the next one stands in its place. The whole lines of the file show whether
 * the columns behind it ever hold anything that could be taken for it.
 */
export class ShortLines {
  readonly #header: Header
  #whole = 0
  /** `amount 7`: a cell in that place could be that. */
  readonly #alike = new Set<string>()
  /** By field and number of missing cells, the first line. */
  readonly #short = new Map<string, { readonly record: CsvRecord; readonly rowNo: number }>()

  constructor(header: Header) {
    this.#header = header
  }

  /** `record`: as it was found. */
  see(record: CsvRecord, rowNo: number): void {
    const { length } = record.cells
    const wanted = this.#header.written.length
    if (length === wanted && this.#whole < SAMPLE) this.#seeWhole(record.cells)
    if (length >= wanted) return
    const key = `${lastNeeded(this.#header, record.cells)?.field} ${wanted - length}`
    if (!this.#short.has(key)) this.#short.set(key, { record, rowNo })
  }

  #seeWhole(cells: readonly string[]): void {
    this.#whole += 1
    for (const field of NEEDED) {
      const place = this.#header.fields[field]
      for (let i = (place ?? cells.length) + 1; i < cells.length; i++)
        if (COULD_BE[field](cellAt(cells, i))) this.#alike.add(`${field} ${i}`)
    }
  }

  /** The first short line whose cells may not be what they seem; null: there is none. */
  decide(): { readonly record: CsvRecord; readonly rowNo: number } | null {
    for (const found of this.#short.values()) {
      const { cells } = found.record
      const last = lastNeeded(this.#header, cells)
      const missing = this.#header.written.length - cells.length
      const behind = Array.from({ length: missing }, (_, i) => (last?.place ?? 0) + 1 + i)
      if (this.#whole === 0 || last === null || behind.some((i) => this.#alike.has(`${last.field} ${i}`))) return found
    }
    return null
  }
}
