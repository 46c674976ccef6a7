// The cells of a record as the fields of its file.

import { assert } from '../domain/fault.ts'
import { unguardCell } from '../domain/formula-guard.ts'
import type { CardColumns } from './card-of-row.ts'
import { unquoted } from './csv/quotes.ts'
import type { CsvRecord } from './csv/records.ts'
import type { Field } from './field-names.ts'
import type { Header } from './header.ts'
import type { ReadingOptions } from './inspect-records.ts'
import type { CellOf, StoredOf } from './row-reading.ts'
import type { Stored } from './workbook/cell.ts'

interface RowCells {
  /** Without the apostrophes of the formula guard where this program wrote the file. */
  readonly cells: readonly string[]
  readonly cellOf: CellOf
  readonly storedOf: StoredOf
}

export function fieldsIn(header: Header, record: CsvRecord, numericIds: ReadonlySet<Field>): RowCells {
  const cells = header.guarded ? record.cells.map(unguardCell) : record.cells
  const placeOf = (field: Field) => header.fields[field] ?? -1
  return {
    cells,
    cellOf: (field) => unquoted(cells[placeOf(field)] ?? ''),
    storedOf: (field) => storedIn(record, placeOf(field), numericIds.has(field)),
  }
}

/** A whole number is an id only where the column says so. */
function storedIn({ kinds, marks }: CsvRecord, place: number, isNumericId: boolean): Stored {
  const kind = kinds?.[place] ?? 'text'
  return { kind: kind === 'whole' ? (isNumericId ? 'text' : 'number') : kind, marks: marks?.[place] ?? [] }
}

/** null: the file has no cards, or none are taken. */
export function cardColumnsOf({ vocabulary, fields }: Header, { nowMs }: ReadingOptions): CardColumns | null {
  const { card } = vocabulary
  if (card === null || fields[card.number] === undefined) return null
  assert(nowMs !== undefined, 'cards are taken by a clock')
  const parted = fields[card.expiry] === undefined && (fields[card.month] ?? fields[card.year]) !== undefined
  return { fields: card, parted, nowMs }
}
