// What a 403 means: this row waits, this row is given up, or the account is stopped.

import type { RowId } from '../domain/ids.ts'

/** What a 403 means for its row, or for the account. */
export type Forbidden = 'wait' | 'give-up-row' | 'stop-account'

/** Who was answered 403 since anything last passed. */
export interface Refusals {
  /** What a 403 for this row, its `count`th, means. */
  judge(rowId: RowId, count: number): Forbidden
  passed(): void
}

const ROWS_BEFORE_STOP = 3
const REFUSALS_BEFORE_GIVING_UP = 3

export function createRefusals(): Refusals {
  const sinceLastPass = new Set<RowId>()
  let anyPassed = false
  return {
    judge(rowId, count) {
      sinceLastPass.add(rowId)
      if (sinceLastPass.size >= ROWS_BEFORE_STOP) return 'stop-account'
      if (count < REFUSALS_BEFORE_GIVING_UP) return 'wait'
      return anyPassed ? 'give-up-row' : 'stop-account'
    },
    passed() {
      anyPassed = true
      sinceLastPass.clear()
    },
  }
}
