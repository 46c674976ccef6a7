// Rows of one order go one at a time, and the first rows of a batch may go alone. Whether a row may be sent for that.

/** Whether anything of batch `b` of account `a` may be sent now. */
export const MAY_SEND = `(b.stage = 'open' AND b.hold = 'none' AND b.approvals_needed <= b.approvals_given
  AND a.stopped_reason IS NULL AND a.held_reason IS NULL)`

/** Whether the clock of account `a` is not to be believed. A clock that was set back since, by more than a minute, is another one. */
export const clockIsOff = (a: string, nowMs = ':nowMs') =>
  `(${a}.clock_ahead IS NOT NULL AND ${a}.clock_ahead_at - 60000 <= ${nowMs})`

/** Whether the clock may be believed that row `i` of account `a` is due. */
export const clockAgrees = (nowMs = ':nowMs') => `(i.execute_at IS NULL OR NOT ${clockIsOff('a', nowMs)})`
export const CLOCK_AGREES = clockAgrees()

/** Rows `e` of the order of row `i`, by the index of open orders. */
const OF_ITS_ORDER = `FROM instruction e WHERE e.account_id = i.account_id AND e.order_key = i.order_key AND e.id <> i.id
    AND e.order_key IS NOT NULL AND e.state IN ('READY', 'SENDING', 'IN_DOUBT')`

/**
 * Whether the order of row `i` is free; the one parameter is `:nowMs`. An earlier row that waits stands in the way, unless it
 * waits for its own `execute_at`, is of a draft and not there yet, or waits itself for the canary that row `i` belongs to.
 * A row that is under way or in doubt always does: a later one may have started before the earlier one became due or
 * visible.
 */
export const ORDER_IS_FREE = `(i.order_key IS NULL OR (
  NOT EXISTS (SELECT 1 ${OF_ITS_ORDER} AND e.state IN ('SENDING', 'IN_DOUBT'))
  AND NOT EXISTS (SELECT 1 ${OF_ITS_ORDER} AND e.state = 'READY' AND e.id < i.id AND coalesce(e.execute_at, 0) <= :nowMs
    AND EXISTS (SELECT 1 FROM batch eb WHERE eb.id = e.batch_id AND eb.stage = 'open'
      AND (e.batch_id <> i.batch_id OR ${withinCanary('e', 'eb')})))))`

/** Whether row `i` of batch `b` may be claimed before a person has looked at the first few. */
export const WITHIN_CANARY = withinCanary('i', 'b')

/** Nothing of batch `eb` moves before a person has done something. */
const IS_HELD = `eb.hold = 'paused' OR eb.needs_file = 1 OR eb.approvals_needed > eb.approvals_given`

/** Orders with a row in doubt. */
export const ORDERS_IN_DOUBT = `SELECT account_id, order_key FROM instruction WHERE state = 'IN_DOUBT' AND order_key IS NOT NULL`

/** Batches `eb` that may hold up rows of batch `:batchId`, whose account is `:accountId`. */
export const HOLDING_UP = `eb.account_id = :accountId AND eb.id <> :batchId AND eb.stage = 'open'
      AND (${IS_HELD} OR eb.canary_rows IS NOT NULL)`

/** Orders with a row that waits in such a batch. */
export const ORDERS_HELD = `SELECT e.account_id, e.order_key FROM batch eb JOIN instruction e ON e.batch_id = eb.id
      WHERE ${HOLDING_UP} AND e.state = 'READY' AND e.order_key IS NOT NULL`

/**
 * Whether row `i` stands behind a row of its order that no machine will move: one in doubt, one of another batch that is
 * paused, needs approvals or its file, one that a canary keeps back until a person has looked, or one that waits for the next day.
 */
export const IS_BLOCKED = `(i.order_key IS NOT NULL AND (
  EXISTS (SELECT 1 ${OF_ITS_ORDER} AND e.state = 'IN_DOUBT')
  OR EXISTS (SELECT 1 ${OF_ITS_ORDER} AND e.state = 'READY' AND e.id < i.id AND e.due_at > @clock_ms + 60000
    AND coalesce(e.execute_at, 0) <= @clock_ms)
  OR EXISTS (SELECT 1 ${OF_ITS_ORDER} AND e.state = 'READY' AND e.id < i.id AND e.batch_id <> i.batch_id
    AND coalesce(e.execute_at, 0) <= @clock_ms
    AND EXISTS (SELECT 1 FROM batch eb WHERE eb.id = e.batch_id AND eb.stage = 'open'
      AND (${IS_HELD} OR NOT ${withinCanary('e', 'eb')})))))`

/** Whether row `i` has a time of its own, or stands behind a row of its order that has one: it waits for the clock. */
export const WAITS_FOR_CLOCK = `(i.execute_at IS NOT NULL OR (i.order_key IS NOT NULL AND EXISTS (
  SELECT 1 ${OF_ITS_ORDER} AND e.state = 'READY' AND e.id < i.id AND e.execute_at <= @clock_ms
    AND EXISTS (SELECT 1 FROM batch eb WHERE eb.id = e.batch_id AND eb.stage = 'open'))))`

function withinCanary(row: 'i' | 'e', batch: 'b' | 'eb'): string {
  return `(${batch}.canary_rows IS NULL
    OR (${row}.row_no <= ${batch}.canary_row_no AND coalesce(${row}.execute_at, 0) <= ${batch}.canary_execute_at))`
}

/** What row `i` waits for because it is in doubt and names the same order, in words; NULL: nothing. */
export const DOUBT_BEFORE = `CASE WHEN i.state = 'READY' AND i.order_key IS NOT NULL THEN (
  SELECT 'waits for ' || e.reference || ' (row ' || e.row_no || ' of batch ' || e.batch_id || '), which names the same order and is in doubt'
  ${OF_ITS_ORDER} AND e.state = 'IN_DOUBT' LIMIT 1) END`
