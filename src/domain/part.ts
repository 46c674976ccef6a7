// Parts of what is due in a batch, so that several workers do not reach for the same rows.

import type { RowId } from './ids.ts'

/** The rows whose id leaves `n` over when it is divided by `of`. All parts together are all rows. */
export interface Part {
  readonly n: number
  readonly of: number
}

/** Of one part: every row is in it. */
export const WHOLE: Part = { n: 0, of: 1 }

export function isIn({ n, of }: Part, rowId: RowId): boolean {
  return rowId % of === n
}
