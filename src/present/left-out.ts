// What a cancelled batch leaves undone in others: rows that they left out because it was to send them.

import type { SharedRows } from '../domain/batch.ts'
import { plural } from './text.ts'

export function leftOutLines(leftOut: readonly SharedRows[]): string[] {
  return leftOut.map(
    ({ batchId, rows }) =>
      `Batch ${batchId} left out ${plural(rows, 'row')} because this one was to send ${rows === 1 ? 'it' : 'them'}: nothing is sent for ${rows === 1 ? 'it' : 'them'} now. Hand ${rows === 1 ? 'it' : 'them'} in again under new references.`,
  )
}

export function leftOutObject(leftOut: readonly SharedRows[]): object {
  return leftOut.length === 0 ? {} : { left_out: leftOut.map(({ batchId, rows }) => ({ batch: batchId, rows })) }
}
