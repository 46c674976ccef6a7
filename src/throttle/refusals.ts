// What a refusal of one row (403, or 429 again and again) means: it waits, it is given up, or the account is stopped.

import type { RowId } from '../domain/ids.ts'

/** What a refusal means for its row, or for the account. `wait-apart`: the row waits longer than the account does. */
export type Refused = 'wait' | 'wait-apart' | 'give-up-row' | 'stop-account'

/** Who was refused since anything last passed. Times are epoch milliseconds. */
export interface Refusals {
  /** What a 403 for this row, its `count`th, means. */
  forbidden(rowId: RowId, count: number): Refused
  /** What being asked to wait (429) means for this row. */
  throttled(rowId: RowId, atMs: number): Refused
  passed(rowId: RowId, sentAtMs: number): void
}

const ROWS_BEFORE_STOP = 3
export const REFUSALS_BEFORE_GIVING_UP = 3
/** So many different rows are never meant one by one: the account is throttled. It bounds the memory as well. */
const ROWS_OF_A_THROTTLED_ACCOUNT = 100

export function createRefusals(): Refusals {
  const sinceLastPass = new Set<RowId>()
  let anyPassed = false
  const throttling = createThrottling()
  return {
    forbidden(rowId, count) {
      sinceLastPass.add(rowId)
      if (sinceLastPass.size >= ROWS_BEFORE_STOP) return 'stop-account'
      if (count < REFUSALS_BEFORE_GIVING_UP) return 'wait'
      return anyPassed ? 'give-up-row' : 'stop-account'
    },
    throttled: throttling.judge,
    passed(rowId, sentAtMs) {
      anyPassed = true
      sinceLastPass.clear()
      throttling.passed(rowId, sentAtMs)
    },
  }
}

/**
 * A throttled account refuses whichever row comes, and lets the same row pass later. Where it refuses the same rows again and
 * again, and lets those pass that are sent in between, it means those rows.
 */
function createThrottling() {
  const timesOf = new Map<RowId, number>()
  /** When a row was refused that had not been before. */
  let latestNewAtMs = Number.NEGATIVE_INFINITY
  let lastPassSentAtMs = Number.NEGATIVE_INFINITY
  return {
    judge(rowId: RowId, atMs: number): Refused {
      if (timesOf.size >= ROWS_OF_A_THROTTLED_ACCOUNT) timesOf.clear()
      const before = timesOf.get(rowId)
      if (before === undefined) latestNewAtMs = atMs
      // Nothing has passed since: it may be the account, and says nothing of the row.
      const times = before === undefined ? 1 : lastPassSentAtMs > latestNewAtMs ? before + 1 : before
      timesOf.set(rowId, times)
      if (times === 1 || times === before) return 'wait'
      return times < REFUSALS_BEFORE_GIVING_UP ? 'wait-apart' : 'give-up-row'
    },
    passed(rowId: RowId, sentAtMs: number): void {
      if (timesOf.has(rowId)) timesOf.clear()
      else lastPassSentAtMs = Math.max(lastPassSentAtMs, sentAtMs)
    },
  }
}
