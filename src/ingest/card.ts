// Card data in a record that is not meant for it: refuses the whole file. The finding names the place, never the value.

import { isRoundedPan, mayHoldPan } from '../domain/pan.ts'
import { plainName } from './columns.ts'
import type { Header } from './header.ts'
import { refuse, type StructuralFault } from './problem.ts'
import type { CsvRecord } from './records.ts'

export function findCardData(header: Header, record: CsvRecord, rowNo: number): StructuralFault | null {
  const at = (i: number) => ({ code: 'card-data' as const, rowNo, line: record.line, column: header.written[i] ?? '' })
  const filled = header.cards.find((i) => record.cells[i]?.trim() !== '')
  if (filled !== undefined) {
    return refuse(
      {
        problem: 'holds card data, which never travels through this program',
        remedy: 'use customer_vault_id (a stored card) or request_ref_po_id (an order), and leave card columns empty',
      },
      at(filled),
    )
  }
  const rounded =
    record.kinds?.findIndex(
      (kind, i) =>
        (kind === 'number' || kind === 'rescaled' || kind === 'covered') && isRoundedPan(record.cells[i] ?? ''),
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
  const pan = record.cells.findIndex((cell, i) => mayHoldPan(cell) && !isOwnId(header, i, cell))
  if (pan === -1) return null
  return refuse(
    {
      problem: 'holds a card number',
      remedy: 'remove it from the file, and from wherever the file came from; use customer_vault_id for stored cards',
    },
    at(pan),
  )
}

/** Ids that the gateway gave and this program wrote into its results: one in ten has the check digit of a card number. */
function isOwnId(header: Header, i: number, cell: string): boolean {
  return header.results !== null && OWN_IDS.has(plainName(header.written[i] ?? '')) && /^'?\d+$/.test(cell.trim())
}

const OWN_IDS: ReadonlySet<string> = new Set([
  'result_transaction_id',
  'result_order_id',
  'result_record_id',
  'result_vault_id',
])
