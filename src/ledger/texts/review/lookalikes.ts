// Which recorded row looks like a new one: the same operation, amount, currency and target under another reference. One
// rule for the rows of a file and for messages.

import type { AccountId } from '../../../domain/ids.ts'
import {
  COUNTS_ALWAYS,
  COUNTS_FOR_A_WHILE,
  COUNTS_IF_SENT_TWICE,
  type LikeRow,
  lookalikeWindow,
} from '../../rules/lookalikes.ts'
import { listOf } from '../conditions.ts'
import { clockIsOff } from '../orders.ts'
import { one, type Script } from '../script.ts'

/** The states in which a row moved money or may. */
export const COUNTING = listOf([...COUNTS_ALWAYS, ...COUNTS_FOR_A_WHILE])
export const OTHER_RUN_KEY = 'i.run_key IS NOT NULL AND d.run_key IS NOT NULL AND i.run_key <> d.run_key'
const ONE_OF_SEVERAL = `i.state IN (${listOf(COUNTS_IF_SENT_TWICE)}) AND i.ever_in_doubt = 1 AND i.attempt > 1`
/** Whether row `i` ended, and is known to have moved no money. */
export const MOVED_NOTHING = `i.state NOT IN (${COUNTING}) AND i.money_warning = 0 AND NOT (${ONE_OF_SEVERAL})`
const SENT_AT = 'coalesce(i.sent_at, i.claimed_at, i.completed_at, b.created_at)'
/** A charge that was declined and asked for once more is still that of its own month. */
const FIRST_SENT_AT = `coalesce((SELECT f.sent_at FROM instruction f WHERE i.reattempt_of IS NOT NULL AND f.account_id = i.account_id
  AND f.reference = i.reattempt_of AND f.holds_reference = 1), ${SENT_AT})`

/**
 * Whether row `i` of batch `b` still counts for row `d`. What is not settled counts however old it is, because it is not known yet
 * what becomes of it. What names an order counts for ever: no order is captured, voided or refunded every month. Of sales,
 * what was approved counts for 30 days after it was sent. Between different run keys what was sent,
 * approved or in doubt, counts for fewer days: it is last month's charge. What has still to be sent always counts there
 * too, because both would be sent from now on. A row that was answered APPROVED after a person had called it not executed
 * counts like an approved one, and so does one that a person ended after it was sent more than once. While the clock is not to be
 * believed, whatever was sent counts: how long ago that was is not known. The parameters are those of
 * `lookalikeSince`.
 */
export const STILL_COUNTS = `b.stage = 'open' AND CASE
      WHEN i.state IN (${listOf(COUNTS_ALWAYS)}) THEN TRUE
      WHEN ${MOVED_NOTHING} THEN FALSE
      WHEN EXISTS (SELECT 1 FROM account k WHERE k.id = i.account_id AND ${clockIsOff('k')}) THEN TRUE
      WHEN ${OTHER_RUN_KEY} THEN ${FIRST_SENT_AT} >= :otherRunKeySince
      WHEN i.state = 'IN_DOUBT' OR i.order_key IS NOT NULL THEN TRUE
      ELSE ${SENT_AT} >= :approvedSince END`

/** The recorded row that row `d` runs again; NULL: none, it is new or was bad. */
export const EARLIER_ATTEMPT = 'coalesce(d.supersedes, d.declined_row)'

/** The recorded row that row `d` is, once more; NULL: it is new. */
export const FORMER_ROW = `coalesce(${EARLIER_ATTEMPT}, (
    SELECT c.id FROM instruction c WHERE c.batch_id = d.came_batch AND c.row_no = d.came_row), d.bad_row)`

/**
 * Whether row `i` was recorded after row `again`, or came to count after it had ended: a finding was corrected, or an answer came late.
 * Then it may have moved what that one asks for since.
 */
export function isAfter(again: string): string {
  return `(i.id > ${again} OR (i.id <> ${again} AND (i.money_warning = 1 OR EXISTS (
    SELECT 1 FROM move v WHERE v.row_id = i.id AND v.cause = 'resolve' AND v.from_state NOT IN (${COUNTING})))))`
}

/**
 * Whether row `i` moved money, or may, after row `again` was recorded, which is to run once more: it may have been asked for in the
 * place of that one, and no time makes it another. Under another run key it is the charge of another month.
 */
export function cameAfter(again: string): string {
  return `(b.stage = 'open' AND ${isAfter(again)} AND NOT (${MOVED_NOTHING}) AND NOT (${OTHER_RUN_KEY}))`
}

const likeRow = (counts: string) => `
  SELECT max(i.id) FROM instruction i JOIN batch b ON b.id = i.batch_id
  WHERE i.account_id = :account AND i.lookalike = d.lookalike AND i.reference <> d.reference AND i.lookalike IS NOT NULL
    AND ${counts}`

/** Whether either row had no reference of its own: then the two need not be two instructions. */
export const IS_ONE_MADE = '(i.made = 1 OR d.made = 1)'

/** A charge that was declined is asked for once more after the next month's was approved. */
const OF_OTHER_MONTH = `${EARLIER_ATTEMPT} IS NOT NULL AND ${OTHER_RUN_KEY} AND i.state = 'APPROVED'`

/** The latest row that row `d` of a draft looks like; NULL: none. */
export const RECORDED_LOOKALIKE = likeRow(`((${STILL_COUNTS} AND NOT (${OF_OTHER_MONTH})) OR ${cameAfter(FORMER_ROW)})`)

/** The latest earlier row that row `d` of a batch looks like; NULL: none. */
export const EARLIER_LOOKALIKE = likeRow(`i.id < d.id AND ${STILL_COUNTS}`)

/**
 * Whether row `i` had ended and moved nothing when an older state was put back. In what was lost it may have run again, at the latest
 * in that moment, and a sale counts for 30 days from then. Under another run key that was the charge of another month.
 */
export const MAY_BE_LOST = `(b.stage = 'open' AND i.holds_reference = 1 AND ${MOVED_NOTHING} AND coalesce(i.completed_at, b.created_at) <= :restoredAt AND NOT (${OTHER_RUN_KEY})
  AND (i.order_key IS NOT NULL OR :restoredAt >= :approvedSince))`

/** The latest such row that row `d` looks like; NULL: none. */
export const LOST_LOOKALIKE = likeRow(MAY_BE_LOST)

export interface LookalikeSince {
  readonly accountId: AccountId
  readonly nowMs: number
  /** Of rows under another run key. */
  readonly lookalikeDays: number
}

export function lookalikeSince({ accountId, nowMs, lookalikeDays }: LookalikeSince) {
  const { approvedSinceMs, otherRunKeySinceMs } = lookalikeWindow(nowMs, lookalikeDays)
  return { account: accountId, nowMs, approvedSince: approvedSinceMs, otherRunKeySince: otherRunKeySinceMs }
}

/** What is compared of a single message. */
export interface Arriving extends LookalikeSince {
  readonly reference: string
  readonly runKey: string | null
}

const LIKE_ROW = `
  SELECT i.batch_id AS "batchId", i.row_no AS "rowNo", i.reference,
    i.state || CASE i.money_warning WHEN 1 THEN '; ' || i.warning ELSE '' END AS state
  FROM instruction i WHERE i.id = (SELECT (${likeRow(STILL_COUNTS)}) FROM (
    SELECT :lookalike AS lookalike, :reference AS reference, :runKey AS run_key) d)`

/** The latest row that a single message looks like. */
export function* likeRowOf(arriving: Arriving, lookalike: string): Script<LikeRow | undefined> {
  const { reference, runKey } = arriving
  return yield* one<LikeRow>(LIKE_ROW, { ...lookalikeSince(arriving), lookalike, reference, runKey })
}
