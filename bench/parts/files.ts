// The file of every case: refunds of distinct orders. Nothing in it repeats, so nothing in it looks alike.

import { closeSync, openSync, writeSync } from 'node:fs'

export const FIRST_ORDER = 10_000_000
const ROWS_AT_ONCE = 10_000

/** `from`: the place of its first row, so that a second file of an installation asks for other orders. */
export function writeRefunds(path: string, rows: number, from = 0): void {
  const file = openSync(path, 'w')
  try {
    writeSync(file, 'reference,amount,request_currency,request_ref_po_id\n')
    for (let i = 0; i < rows; i += ROWS_AT_ONCE) {
      const count = Math.min(ROWS_AT_ONCE, rows - i)
      writeSync(file, Array.from({ length: count }, (_, k) => refundLine(from + i + k)).join(''))
    }
  } finally {
    closeSync(file)
  }
}

function refundLine(place: number): string {
  return `B-${place},${amountOf(place)},EUR,${FIRST_ORDER + place}\n`
}

/** From 1.00 to 900.99. */
export function amountOf(place: number): string {
  return `${(place % 900) + 1}.${String(place % 100).padStart(2, '0')}`
}
