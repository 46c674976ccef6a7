// Batches that wait for approvals: what a new policy asks of them, what expires, what an adoption makes void.

import type { BatchId } from '../../../domain/ids.ts'
import { recordAct } from '../record/acts.ts'
import { all, allExact, change, exists, type Script } from '../script.ts'
import { type Asking, neededFor, noteWaiting } from './needed.ts'

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
    FROM batch b WHERE ${IS_AWAITING} ORDER BY b.rowid`

const SUMS = `
    SELECT coalesce(i.operation, '') AS operation, coalesce(i.currency, '') AS currency,
      coalesce(sum(i.amount_minor), 0) AS "amountMinor", coalesce(max(i.amount_minor), 0) AS "largestMinor"
    FROM instruction i WHERE i.batch_id = :batchId AND i.state = 'READY' GROUP BY 1, 2 ORDER BY 1, 2`

function* sumsToSend(batchId: string): Script<Asking['sums']> {
  return yield* allExact<Asking['sums'][number]>(SUMS, { batchId })
}

/** More by the policy that is in force now, never fewer: what was handed in under four eyes stays under them. */
export function* askAgainOfWaiting(nowMs: number): Script<void> {
  for (const { id: batchId, accountId, submitter, needed: before, createdAtMs } of yield* all<Waiting>(WAITING)) {
    const sums = yield* sumsToSend(batchId)
    const { needed } = yield* neededFor({ batchId, accountId, submitter, sums, nowMs: createdAtMs })
    if (needed <= before) continue
    yield* change('UPDATE batch SET approvals_needed = :needed WHERE id = :batchId', { needed, batchId })
    yield* noteWaiting({ batchId, accountId, needed, nowMs })
  }
}

const EXPIRED = `
    SELECT b.id, b.account_id AS "accountId" FROM batch b WHERE ${IS_AWAITING} AND b.approval_until <= :nowMs`

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

const VOID = `
    UPDATE batch SET approvals_given = 0 WHERE approvals_given > 0 AND hold <> 'cancelled' AND account_id = coalesce(:accountId, account_id)
      AND id IN (SELECT batch_id FROM tally WHERE state = 'READY' AND count > 0) RETURNING id`

/**
 * What was approved was of another state of the ledger, or for another gateway. Batches with rows that wait need it again.
 * `accountId` null: of all accounts.
 */
export function* voidApprovals(accountId: number | null): Script<void> {
  for (const { id } of yield* all<{ id: BatchId }>(VOID, { accountId }))
    yield* change('DELETE FROM approval WHERE batch_id = :id', { id })
}
