// The moments of a draft: what is too late already, what a person is asked about, and what they are told. `rules/dates.ts` says which.

import type { DraftHeader, DraftReview, FarDate } from '../../../domain/draft.ts'
import { executeAtBounds, isOver, judgeDates, madeAtOf } from '../../rules/dates.ts'
import { all, change, count, one, type Script } from '../script.ts'
import { DRAFT_FAULT, RUNS_AGAIN } from './draft-rows.ts'

const ROWS_PER_PAGE = 500

interface Expired {
  readonly rowNo: number
  readonly line: number
  readonly expiresAtMs: number
}

const EXPIRED = `
    SELECT row_no AS "rowNo", line, expires_at AS "expiresAtMs" FROM draft_row
    WHERE state = 'READY' AND expires_at <= :madeAtMs AND row_no > :after ORDER BY row_no LIMIT ${ROWS_PER_PAGE}`

/** Rows that are recorded already are not judged: they were in time when they came. */
export function* refuseExpired(header: DraftHeader): Script<void> {
  const madeAtMs = madeAtOf(header)
  for (let after = 0; ; ) {
    const rows: readonly Expired[] = yield* all<Expired>(EXPIRED, { madeAtMs, after })
    for (const { rowNo, line, expiresAtMs } of rows) {
      const verdict = judgeDates({ executeAtMs: null, expiresAtMs }, madeAtMs, true)
      if (verdict === 'fits' || verdict.kind === 'asked') continue
      const { column, value, problem, remedy } = verdict
      yield* change(`INSERT INTO ${DRAFT_FAULT} VALUES (:rowNo, :line, :column, :value, :problem, :remedy)`, {
        ...{ rowNo, line, column, value, problem, remedy },
      })
    }
    if (rows.length < ROWS_PER_PAGE) return
    after = rows.at(-1)!.rowNo
  }
}

/** What runs again was answered for when it came first. */
const IS_FAR = `d.state = 'READY' AND NOT (${RUNS_AGAIN}) AND (d.execute_at < :earliestMs OR d.execute_at > :latestMs)`

const FIRST_FAR = `
    SELECT line, execute_at AS "executeAtMs" FROM draft_row d WHERE ${IS_FAR} ORDER BY row_no LIMIT 1`

export function* farDates(header: DraftHeader): Script<DraftReview['farDates']> {
  const bounds = executeAtBounds(madeAtOf(header))
  const rows = yield* count(`SELECT count(*) AS n FROM draft_row d WHERE ${IS_FAR}`, { ...bounds })
  if (rows === 0) return { rows, first: null }
  return { rows, first: (yield* one<FarDate>(FIRST_FAR, { ...bounds })) ?? null }
}

interface Before {
  readonly rowNo: number
  readonly executeAtMs: number | null
  readonly atMs: number
}

/** When the authorization of a capture, or the sale of a refund, was approved: it was sent then, whenever a person found what became of it. */
const approvedBefore = (operation: 'CAUTH' | 'REFUND', known: 'authorized_row' | 'sold_row') => `
    SELECT d.row_no AS "rowNo", d.execute_at AS "executeAtMs", coalesce(i.sent_at, i.completed_at) AS "atMs"
    FROM draft_row d JOIN draft_order o ON o.order_key = d.order_key JOIN instruction i ON i.id = o.${known}
    WHERE d.state = 'READY' AND d.operation = '${operation}' AND coalesce(i.sent_at, i.completed_at) IS NOT NULL AND d.row_no > :after
    ORDER BY d.row_no LIMIT ${ROWS_PER_PAGE}`
const CAPTURES = approvedBefore('CAUTH', 'authorized_row')
const REFUNDS = approvedBefore('REFUND', 'sold_row')

function* countBefore(text: string, counts: (before: Before) => boolean): Script<number> {
  let found = 0
  for (let after = 0; ; ) {
    const rows: readonly Before[] = yield* all<Before>(text, { after })
    found += rows.filter(counts).length
    if (rows.length < ROWS_PER_PAGE) return found
    after = rows.at(-1)!.rowNo
  }
}

/** Rows that are too late for their order, as far as the record knows it. Nothing is refused for it. */
export function* lateForOrder(header: DraftHeader): Script<DraftReview['late']> {
  const { nowMs, authorizationDays = null, refundDays = null } = header
  const over = (days: number | null) => (before: Before) => isOver(before, nowMs, days)
  return {
    captures: {
      rows: authorizationDays === null ? 0 : yield* countBefore(CAPTURES, over(authorizationDays)),
      days: authorizationDays,
    },
    refunds: { rows: refundDays === null ? 0 : yield* countBefore(REFUNDS, over(refundDays)), days: refundDays },
  }
}
