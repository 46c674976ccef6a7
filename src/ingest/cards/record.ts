// Card data in a record that one record alone shows: refuses the whole file. The finding names the place, never the value.

import { isRoundedPan } from '../../domain/card-number.ts'
import { holdsCardSecret } from '../../domain/card-secrets.ts'
import { refuse, type StructuralFault } from '../../domain/problem.ts'
import type { CsvRecord } from '../csv/records.ts'
import type { Header } from '../header.ts'
import { canBe } from './columns.ts'
import { holdsOtherPan } from './evidence.ts'

/** `passed`: forms of numbers that the whole file has shown to be no card numbers; null: that is not known yet. */
export function findCardData(
  header: Header,
  record: CsvRecord,
  rowNo: number,
  passed: ReadonlySet<string> | null,
): StructuralFault | null {
  const at = (i: number) => ({ code: 'card-data' as const, rowNo, line: record.line, column: header.written[i] ?? '' })
  const filled = header.cards.find(({ place, kinds }) => canBe(kinds, record.cells[place] ?? ''))?.place
  if (filled !== undefined) {
    return refuse(
      {
        problem: 'holds card data, which never travels through this program',
        remedy:
          'use customer_vault_id (a stored card) or request_ref_po_id (an order), and leave card columns empty or masked',
      },
      at(filled),
    )
  }
  const rounded =
    record.kinds?.findIndex(
      (kind, i) =>
        (kind === 'number' || kind === 'rescaled' || kind === 'stale' || kind === 'covered') &&
        isRoundedPan(record.cells[i] ?? ''),
    ) ?? -1
  if (rounded !== -1) {
    return refuse(
      {
        problem: 'holds a number that may be a card number whose last digits the spreadsheet has made zeros',
        remedy:
          'if it is one, remove it from the file, and from wherever the file came from; if not, format the column as Text and fill it again from the source',
      },
      at(rounded),
    )
  }
  const secret = record.cells.findIndex(holdsCardSecret)
  if (secret !== -1) {
    return refuse(
      {
        problem: 'holds the security code or the magnetic track of a card, which may never be kept',
        remedy: 'remove it from the file, and from wherever the file came from',
      },
      at(secret),
    )
  }
  const pan = passed === null ? -1 : record.cells.findIndex((cell) => holdsOtherPan(cell, passed))
  if (pan === -1) return null
  return refuse(
    { problem: 'holds a card number', remedy: 'remove it from the file, and from wherever the file came from' },
    at(pan),
  )
}
