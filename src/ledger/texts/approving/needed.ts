// How many approvals a batch needs: asked when it is recorded, in the transaction that makes it visible.

import { type AskedFor, type AskedSum, approvalsNeeded, SUMMED_OVER_MS } from '../../../domain/approval.ts'
import { arrivedSince, hourBefore } from '../../rules/arrivals.ts'
import { recordAct } from '../record/acts.ts'
import { all, change, one, type Script } from '../script.ts'
import { policyInForce } from './policy.ts'

/** Messages have no person who hands them in. */
export const BY_MESSAGES = 'messages'

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
  // It is not visible yet, and whatever is counts, also what began later and was recorded sooner.
  const { needed, untilMs } = yield* neededFor({ batchId: '', accountId, submitter, sums, nowMs })
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

/**
 * What a person or a key handed in, to any account; and with a service, which is no person, all that services handed in to this account:
 * another key is no way round.
 */
const OF_SUBMITTER = `b.stage = 'open' AND b.id <> :batchId AND (
      (b.submitter = :submitter AND b.submitter <> '${BY_MESSAGES}')
      OR (CAST(:isService AS BIGINT) = 1 AND b.account_id = :accountId AND (b.submitter = '${BY_MESSAGES}' OR b.submitter LIKE 'key:%')))`

const isService = (submitter: string) => submitter === BY_MESSAGES || submitter.startsWith('key:')

/** What was refused or repeated moves no money. */
const MOVES_MONEY = "t.count > 0 AND t.state IN ('READY', 'SENDING', 'IN_DOUBT', 'APPROVED')"

/** Many batches may add up to more than 64 bits hold. As a double a sum is exact up to 2^53, and far beyond any limit above that. */
const SUM = 'sum(CAST(t.amount_minor AS DOUBLE PRECISION)) AS "amountMinor"'

type FoundSum = Pick<AskedSum, 'operation' | 'currency'> & { readonly amountMinor: number }

const EARLIER = `
    SELECT t.operation, t.currency, ${SUM} FROM batch b JOIN tally t ON t.batch_id = b.id
    WHERE b.created_at > :sinceMs AND ${MADE_BEFORE} AND ${OF_SUBMITTER} AND ${MOVES_MONEY}
    GROUP BY t.operation, t.currency ORDER BY 1, 2`

const MADE_LONG_AGO = `
    SELECT b.id AS "batchId", b.arrivals FROM batch b
    WHERE b.account_id = :accountId AND b.arrived_hour >= :sinceHour AND b.created_at <= :sinceMs AND ${MADE_BEFORE} AND ${OF_SUBMITTER}`

const SUMS_OF_BATCH = `
    SELECT t.operation, t.currency, ${SUM} FROM tally t WHERE t.batch_id = :batchId AND ${MOVES_MONEY} GROUP BY t.operation, t.currency`

export function* earlierSums(batchId: string, submitter: string, accountId: number, nowMs: number): Script<AskedSum[]> {
  const sinceMs = nowMs - SUMMED_OVER_MS
  const whose = { submitter, isService: isService(submitter) ? 1 : 0, accountId }
  const asked = { batchId, ...whose, sinceMs, sinceHour: hourBefore(sinceMs) }
  const sums = (yield* all<FoundSum>(EARLIER, asked)).map(whole)
  const older = yield* all<{ batchId: string; arrivals: string | null }>(MADE_LONG_AGO, asked)
  for (const { batchId: olderId, arrivals } of older) {
    const inAll = (yield* all<FoundSum>(SUMS_OF_BATCH, { batchId: olderId })).map(whole)
    sums.push(...inAll.map((sum) => lesser(sum, arrivedSince(arrivals, sinceMs))))
  }
  return addedUp(sums)
}

function whole({ amountMinor, ...kind }: FoundSum): AskedSum {
  return { ...kind, amountMinor: BigInt(amountMinor) }
}

/** What came lately, but for what moved no money. */
function lesser(inAll: AskedSum, lately: readonly AskedSum[]): AskedSum {
  const came = lately.filter((one) => isLike(one, inAll)).reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
  return { ...inAll, amountMinor: came < inAll.amountMinor ? came : inAll.amountMinor }
}

function addedUp(sums: readonly AskedSum[]): AskedSum[] {
  const added: AskedSum[] = []
  for (const sum of sums) {
    const at = added.findIndex((one) => isLike(one, sum))
    const before = added[at]
    if (before === undefined) added.push(sum)
    else added[at] = { ...before, amountMinor: before.amountMinor + sum.amountMinor }
  }
  return added
}

function isLike(one: AskedSum, other: AskedSum): boolean {
  return one.operation === other.operation && one.currency === other.currency
}
