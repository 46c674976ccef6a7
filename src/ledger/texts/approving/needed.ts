// How many approvals a batch needs: asked when it is recorded, in the transaction that makes it visible.

import { type Actor, identityOf } from '../../../domain/actor.ts'
import { type AskedFor, type AskedSum, approvalsNeeded, SUMMED_OVER_MS } from '../../../domain/approval.ts'
import { recordAct } from '../record/acts.ts'
import { allExact, change, one, type Script } from '../script.ts'
import { policyInForce } from './policy.ts'

/** Messages have no person who hands them in: those of an account are summed together. */
export const BY_MESSAGES = 'messages'

export function submitterOf(actor: Actor): string {
  return identityOf(actor)
}

export interface Asking {
  readonly batchId: string
  readonly accountId: number
  readonly submitter: string
  /** Of the rows that are to be sent. */
  readonly sums: AskedFor['sums']
  readonly nowMs: number
}

/** Marks the batch, which nobody sees yet. Resolves to how many approvals it needs. */
export function* askForApproval({ batchId, accountId, submitter, sums, nowMs }: Asking): Script<number> {
  const { needed, untilMs } = yield* neededFor({ batchId, accountId, submitter, sums, nowMs })
  yield* change(
    'UPDATE batch SET submitter = :submitter, approvals_needed = :needed, approval_until = :untilMs WHERE id = :batchId',
    { submitter, needed, untilMs, batchId },
  )
  if (needed > 0) yield* noteWaiting({ batchId, accountId, needed, nowMs })
  return needed
}

export interface Needed {
  readonly needed: number
  /** null: none is needed. */
  readonly untilMs: number | null
}

/** Beside `batchId`, whatever the submitter handed in lately counts. */
export function* neededFor({ batchId, accountId, submitter, sums, nowMs }: Asking): Script<Needed> {
  const policy = yield* policyInForce()
  if (policy === null || sums.length === 0) return { needed: 0, untilMs: null }
  const merchant = (yield* one<{ name: string }>('SELECT name FROM account WHERE id = :accountId', { accountId }))!.name
  const earlier = yield* earlierSums(batchId, submitter, accountId, nowMs)
  const needed = approvalsNeeded(policy, { merchant, sums, earlier })
  return { needed, untilMs: needed === 0 ? null : nowMs + policy.expireAfterMs }
}

export function* noteWaiting({
  batchId,
  accountId,
  needed,
  nowMs,
}: Omit<Asking, 'submitter' | 'sums'> & { readonly needed: number }): Script<void> {
  const details = { needed }
  yield* recordAct({ what: 'await-approval', atMs: nowMs, actor: null, batchId, accountId, details })
}

/** By the order of recording: several that wait for their turn have read the clock in another one. Of what has no batch yet: all. */
const MADE_BEFORE = 'b.rowid < coalesce((SELECT o.rowid FROM batch o WHERE o.id = :batchId), 9223372036854775807)'

/** Messages of one account only; a person's files of all accounts. What was refused or repeated moves no money. */
const EARLIER = `
    SELECT t.operation, t.currency, sum(t.amount_minor) AS "amountMinor" FROM batch b JOIN tally t ON t.batch_id = b.id
    WHERE b.created_at > :sinceMs AND ${MADE_BEFORE} AND b.stage = 'open' AND b.id <> :batchId AND b.submitter = :submitter
      AND (b.submitter <> '${BY_MESSAGES}' OR b.account_id = :accountId)
      AND t.count > 0 AND t.state IN ('READY', 'SENDING', 'IN_DOUBT', 'APPROVED')
    GROUP BY t.operation, t.currency ORDER BY 1, 2`

export function* earlierSums(
  batchId: string,
  submitter: string | null,
  accountId: number,
  nowMs: number,
): Script<AskedSum[]> {
  if (submitter === null) return []
  const sinceMs = nowMs - SUMMED_OVER_MS
  const found = yield* allExact<AskedSum>(EARLIER, { batchId, submitter, accountId, sinceMs })
  return found.map((sum) => ({ ...sum, amountMinor: BigInt(sum.amountMinor) }))
}
