// Batches that wait for approvals: what a new policy asks of them, what expires, what an adoption makes void.

import type { AskedSum } from '../../../domain/approval.ts'
import type { BatchId } from '../../../domain/ids.ts'
import { recordAct } from '../record/acts.ts'
import { all, allExact, change, exists, one, type Script } from '../script.ts'
import { lapseOfAccount } from './lapsing.ts'
import { type Asking, neededFor, noteWaiting } from './needed.ts'
import { policyInForce } from './policy.ts'

/** Few, beside all that were ever recorded. */
const IS_AWAITING = "b.stage = 'open' AND b.hold <> 'cancelled' AND b.approvals_needed > b.approvals_given"

interface Waiting {
  readonly id: BatchId
  readonly accountId: number
  readonly submitter: string
  readonly needed: number
  readonly createdAtMs: number
}

const WAITING = `
    SELECT b.id, b.account_id AS "accountId", b.submitter, b.approvals_needed AS needed, b.created_at AS "createdAtMs"
    FROM batch b WHERE ${IS_AWAITING}`

/** Also of batches that needed no approval so far. What is being sent may turn out not to have left. */
const UNSENT = `
    SELECT b.id, b.account_id AS "accountId", b.submitter, b.approvals_needed AS needed, b.created_at AS "createdAtMs"
    FROM batch b WHERE b.stage = 'open' AND b.hold <> 'cancelled'
      AND b.id IN (SELECT batch_id FROM tally WHERE state IN ('READY', 'SENDING') AND count > 0) ORDER BY b.rowid`

const SUMS = `
    SELECT coalesce(i.operation, '') AS operation, coalesce(i.currency, '') AS currency,
      coalesce(sum(i.amount_minor), 0) AS "amountMinor", coalesce(max(i.amount_minor), 0) AS "largestMinor"
    FROM instruction i WHERE i.batch_id = :batchId AND i.state IN ('READY', 'SENDING') GROUP BY 1, 2 ORDER BY 1, 2`

function* sumsToSend(batchId: string): Script<Asking['sums']> {
  return yield* allExact<Asking['sums'][number]>(SUMS, { batchId })
}

const KINDS =
  "SELECT t.operation, t.currency FROM tally t WHERE t.batch_id = :batchId AND t.state = 'READY' AND t.count > 0"

/** What is to be sent beside a message that joins the batch, without sums: those are among the earlier ones. */
export function* kindsBeside(batchId: string): Script<Asking['sums']> {
  const policy = yield* policyInForce()
  // The largest row is found by looking at all of them, so only where it matters.
  const asksForRows = policy?.rules.some(({ rowOver }) => Object.keys(rowOver).length > 0) === true
  if (asksForRows) return (yield* sumsToSend(batchId)).map((sum) => ({ ...sum, amountMinor: 0n }))
  const kinds = yield* all<Pick<AskedSum, 'operation' | 'currency'>>(KINDS, { batchId })
  return kinds.map((kind) => ({ ...kind, amountMinor: 0n, largestMinor: 0n }))
}

/**
 * Of every batch with rows that may still be sent: more by the policy that is in force now, never fewer. What was handed in under four
 * eyes stays under them, and what was handed in without waits.
 */
export function* askAgain(nowMs: number): Script<void> {
  const untilMs = yield* untilWhen(nowMs)
  for (const unsent of yield* all<Waiting>(UNSENT)) {
    const { id: batchId, accountId } = unsent
    const needed = yield* neededNow(unsent)
    if (needed <= unsent.needed) continue
    yield* change(`UPDATE batch SET ${TIME_AGAIN} WHERE id = :batchId`, { batchId, untilMs })
    yield* noteWaiting({ batchId, accountId, needed, nowMs })
  }
}

/** Of a batch, by the policy that is in force now, and never fewer than before. */
function* neededNow({ id: batchId, accountId, submitter, needed: before, createdAtMs }: Waiting): Script<number> {
  const sums = yield* sumsToSend(batchId)
  const asked = yield* neededFor({ batchId, accountId, submitter, sums, nowMs: createdAtMs })
  const needed = Math.max(before, asked.needed)
  if (needed > before)
    yield* change('UPDATE batch SET approvals_needed = :needed WHERE id = :batchId', { needed, batchId })
  return needed
}

const HAS_ROWS_TO_SEND = "b.id IN (SELECT batch_id FROM tally WHERE state = 'READY' AND count > 0)"

const EXPIRED = `
    SELECT b.id, b.account_id AS "accountId" FROM batch b WHERE ${IS_AWAITING} AND b.approval_until <= :nowMs
      AND ${HAS_ROWS_TO_SEND}`

const EXPIRE = "UPDATE batch SET hold = 'cancelled', hold_reason = :reason WHERE id = :id"

export function* isAnyOver(nowMs: number): Script<boolean> {
  return yield* exists(`${EXPIRED} LIMIT 1`, { nowMs })
}

/** Those that nobody decided on in time are cancelled. */
export function* expireApprovals(nowMs: number): Script<void> {
  const found = yield* all<Pick<Waiting, 'id' | 'accountId'>>(EXPIRED, { nowMs })
  for (const { id, accountId } of found) {
    const reason = 'nobody approved it in time'
    yield* change(EXPIRE, { id, reason })
    yield* recordAct({ what: 'expire-approval', atMs: nowMs, actor: null, batchId: id, accountId, reason })
  }
}

/** As much time as a new batch has. */
const TIME_AGAIN = 'approval_until = @greatest(coalesce(approval_until, 0), CAST(:untilMs AS BIGINT))'

function* untilWhen(nowMs: number): Script<number> {
  return nowMs + ((yield* policyInForce())?.expireAfterMs ?? WITHOUT_POLICY_MS)
}

const VOID = `
    UPDATE batch SET approvals_given = 0, ${TIME_AGAIN}
    WHERE approvals_given > 0 AND hold <> 'cancelled' AND account_id = coalesce(:accountId, account_id)
      AND id IN (SELECT batch_id FROM tally WHERE state IN ('READY', 'SENDING', 'IN_DOUBT') AND count > 0) RETURNING id`

/**
 * What was approved was of another state of the ledger, or for another gateway. Batches with rows that wait, or that a person may
 * send again, need it again, and have as much time for it as new ones. What was proposed lapses. `accountId` null: of all accounts.
 */
export function* voidApprovals(accountId: number | null, nowMs: number): Script<void> {
  for (const { id } of yield* all<{ id: BatchId }>(VOID, { accountId, untilMs: yield* untilWhen(nowMs) }))
    yield* change('DELETE FROM approval WHERE batch_id = :id', { id })
  yield* lapseOfAccount(accountId, nowMs)
}

/** Of what waits although no policy is in force any more. */
const WITHOUT_POLICY_MS = 7 * 24 * 3600 * 1000

const ONLY_NOW = `${WAITING} AND b.id = :batchId AND NOT (${HAS_ROWS_TO_SEND})`

/**
 * A row is to be sent again; called before its move is counted. If nothing else of the batch was to be sent, the missing approvals were not
 * asked for meanwhile: they are asked for again, with new time. Otherwise its rows keep their deadline.
 */
export function* reopenApproval(batchId: BatchId, nowMs: number): Script<void> {
  const waiting = yield* one<Waiting>(ONLY_NOW, { batchId })
  if (waiting === undefined) return
  const { accountId } = waiting
  yield* change(`UPDATE batch SET ${TIME_AGAIN} WHERE id = :batchId`, { batchId, untilMs: yield* untilWhen(nowMs) })
  yield* noteWaiting({ batchId, accountId, needed: yield* neededNow(waiting), nowMs })
}
