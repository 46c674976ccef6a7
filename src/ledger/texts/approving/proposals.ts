// That a row in doubt be sent once more, where one person alone may not say so: proposed by one, confirmed or refused by another.

import type { Actor } from '../../../domain/actor.ts'
import { identityOf } from '../../../domain/actor.ts'
import { type ApprovalPolicy, asksForTwo, unfitToApprove } from '../../../domain/approval.ts'
import {
  PROPOSAL_LIVES_MS,
  type Proposal,
  type ProposalRefusal,
  type Resolution,
  type Resolved,
} from '../../../domain/doubt.ts'
import { Fault } from '../../../domain/fault.ts'
import type { BatchId } from '../../../domain/ids.ts'
import type { Operation } from '../../../domain/instruction.ts'
import { decidedMeanwhile, otherProposal, unfitToConfirm, wouldBeSent } from '../../rules/proposing.ts'
import type { Refusal } from '../../rules/resolving.ts'
import { actorIdOf, byOf, recordAct, toActor } from '../record/acts.ts'
import { all, one, type Script } from '../script.ts'
import { unfitBeside } from './approvals.ts'
import { lapseBefore } from './lapsing.ts'
import { policyInForce } from './policy.ts'
import { keysOf } from './sheet.ts'

/** A row that a person orders to be sent once more, which it may be. */
export interface Resent {
  readonly id: number
  readonly batchId: BatchId
  readonly rowNo: number
  readonly account_id: number
  readonly merchant: string
  readonly operation: Operation
  readonly attempt: number
  /** Of its batch: what was handed in under approvals stays under them. */
  readonly approvalsNeeded: number
  /** Of who submitted its batch; null: services did. */
  readonly submitterParts: string | null
}

type Kind = Pick<Resent, 'merchant' | 'operation' | 'approvalsNeeded'>

/** One person's word does not send it. */
export function takesTwo(policy: ApprovalPolicy | null, { merchant, operation, approvalsNeeded }: Kind): boolean {
  return approvalsNeeded > 0 || asksForTwo(policy, { merchant, operation })
}

interface Standing extends Omit<Proposal, 'untilMs'> {
  readonly parts: string
}

const STANDING = `
    SELECT p.by, p.reason, p.at AS "atMs", a.parts FROM proposal p JOIN actor a ON a.id = p.actor_id
    WHERE p.row_id = :id AND p.batch_id = :batchId AND p.attempt = :attempt AND p.at > :since`

const PROPOSE = `
    INSERT INTO proposal (row_id, batch_id, attempt, identity, actor_id, by, reason, at)
    VALUES (:id, :batchId, :attempt, :identity, :actorId, :by, :reason, :nowMs) ON CONFLICT DO NOTHING RETURNING row_id`

/** Of two who decide at once, one finds it. */
const DECIDED = 'DELETE FROM proposal WHERE row_id = :id AND attempt = :attempt AND at = :atMs RETURNING row_id'

type Order = Pick<Resolution, 'reference' | 'reason' | 'proposedAtMs' | 'onlyProposes'>

/** Two people's word sends it. */
export interface Confirmed {
  readonly kind: 'confirmed'
  readonly proposedBy: string
  readonly proposedAtMs: number
}

/** What this word comes to. null: one person's is enough. `propose`: nobody has proposed it yet. Changes nothing. */
export function* judgeWord(
  row: Resent,
  order: Order,
  actor: Actor,
  nowMs: number,
): Script<Resolved | Confirmed | 'propose' | null> {
  const name = nameOf(row, order)
  const { id, attempt } = row
  if (!takesTwo(yield* policyInForce(), row))
    return order.onlyProposes === true ? wouldBeSent(name) : otherProposal(name, order.proposedAtMs ?? undefined, null)
  const standing = yield* one<Standing>(STANDING, {
    ...{ id, batchId: row.batchId, attempt, since: nowMs - PROPOSAL_LIVES_MS },
  })
  if (standing !== undefined && isBy(standing, actor)) return proposed(row, standing)
  const other = otherProposal(name, order.proposedAtMs, standing ?? null)
  if (other !== null) return other
  if (standing === undefined) return 'propose'
  const unfit = yield* whyNotConfirmed(row, name, standing, actor, nowMs)
  return unfit ?? { kind: 'confirmed', proposedBy: standing.by, proposedAtMs: standing.atMs }
}

/** Takes a proposal up, or makes it. null: one person's word is enough. */
export function* askSecondPerson(
  row: Resent,
  order: Order,
  actor: Actor,
  nowMs: number,
): Script<Resolved | Confirmed | null> {
  const word = yield* judgeWord(row, order, actor, nowMs)
  if (word === 'propose') return yield* propose(row, order, actor, nowMs)
  if (word === null || word.kind !== 'confirmed') return word
  const decided = yield* all(DECIDED, { id: row.id, attempt: row.attempt, atMs: word.proposedAtMs })
  return decided.length === 1 ? word : decidedMeanwhile(nameOf(row, order))
}

function nameOf({ rowNo, batchId }: Resent, { reference }: Order): string {
  return `${reference} (row ${rowNo} of batch ${batchId})`
}

/** Once it is to be sent. */
export function* noteConfirmed(
  row: Omit<Resent, 'operation'>,
  { proposedBy }: Confirmed,
  { reason }: Order,
  actor: Actor,
  atMs: number,
): Script<void> {
  const details = { row: row.rowNo, attempt: row.attempt, proposed_by: proposedBy }
  yield* recordAct({ what: 'confirm-send-again', atMs, actor, ...placeOf(row), reason, details })
}

/** Whoever may be the one who proposed. */
function isBy({ parts }: Standing, actor: Actor): boolean {
  return unfitToApprove(actor, toActor(parts), [], { osUsers: true }) === 'the-submitter'
}

function placeOf({ batchId, account_id: accountId }: Pick<Resent, 'batchId' | 'account_id'>) {
  return { batchId, accountId }
}

function proposed({ batchId, rowNo }: Resent, { by, reason, atMs }: Omit<Standing, 'parts'>): Resolved {
  return { kind: 'proposed', batchId, rowNo, proposal: { by, reason, atMs, untilMs: atMs + PROPOSAL_LIVES_MS } }
}

function* propose(row: Resent, order: Order, actor: Actor, nowMs: number): Script<Resolved> {
  const { reason } = order
  const { id, batchId, rowNo, attempt } = row
  const by = byOf(actor)
  yield* lapseBefore({ id, attempt }, nowMs)
  const actorId = yield* actorIdOf(actor)
  const made = yield* all(PROPOSE, { id, batchId, attempt, identity: identityOf(actor), actorId, by, reason, nowMs })
  if (made.length !== 1) return decidedMeanwhile(nameOf(row, order))
  const details = { row: rowNo, attempt }
  yield* recordAct({ what: 'propose-send-again', atMs: nowMs, actor, ...placeOf(row), reason, details })
  return proposed(row, { by, reason, atMs: nowMs })
}

/** Held against both: who submitted the batch would be paid by it, and who proposed it has spoken. */
function* whyNotConfirmed(
  { submitterParts, batchId }: Resent,
  name: string,
  { by, parts }: Standing,
  actor: Actor,
  nowMs: number,
): Script<Refusal | null> {
  const policy = yield* policyInForce()
  const ofKeys = (yield* keysOf(batchId)).flatMap((key) => key.makers)
  for (const [beside, first, makers] of [
    ['proposer', toActor(parts), []],
    ['submitter', toActor(submitterParts), ofKeys],
  ] as const) {
    const unfit = yield* unfitBeside(actor, { first, approved: [], makers, policy, nowMs })
    if (unfit !== null) return unfitToConfirm(unfit, { name, by, actor, beside })
  }
  return null
}

const OF_ROW = `
    SELECT p.row_id AS id, p.attempt, p.by, b.account_id AS "accountId"
    FROM proposal p JOIN instruction i ON i.id = p.row_id JOIN batch b ON b.id = i.batch_id
    WHERE i.batch_id = :batchId AND i.row_no = :rowNo AND p.at = :proposedAtMs
      AND i.state = 'IN_DOUBT' AND i.attempt = p.attempt AND p.at > :since`

export function* refuseProposal(refusal: ProposalRefusal, actor: Actor, nowMs: number): Script<boolean> {
  if (actor.kind === 'key') throw new Fault('usage', 'A key decides on no proposal. Nothing was changed.')
  const { batchId, rowNo, proposedAtMs: atMs, reason } = refusal
  const since = nowMs - PROPOSAL_LIVES_MS
  const found = yield* one<{ id: number; attempt: number; by: string; accountId: number }>(OF_ROW, {
    ...{ batchId, rowNo, proposedAtMs: atMs, since },
  })
  if (found === undefined) return false
  const { id, attempt, by, accountId } = found
  if ((yield* all(DECIDED, { id, attempt, atMs })).length !== 1) return false
  const details = { row: rowNo, attempt, proposed_by: by }
  yield* recordAct({ what: 'refuse-send-again', atMs: nowMs, actor, batchId, accountId, reason, details })
  return true
}

const ALL_STANDING = `
    SELECT a.name AS merchant, i.batch_id AS "batchId", i.operation, b.approvals_needed AS "approvalsNeeded"
    FROM proposal p JOIN instruction i ON i.id = p.row_id JOIN account a ON a.id = i.account_id JOIN batch b ON b.id = i.batch_id
    WHERE i.state = 'IN_DOUBT' AND i.attempt = p.attempt AND p.at > :since ORDER BY p.row_id`

export function* standingProposals(nowMs: number): Script<{ merchant: string; batchId: BatchId }[]> {
  const policy = yield* policyInForce()
  const standing = yield* all<Kind & { readonly batchId: BatchId }>(ALL_STANDING, { since: nowMs - PROPOSAL_LIVES_MS })
  // Since the policy asks for less, one person's word may be enough: then nothing waits for another one.
  return standing.filter((kind) => takesTwo(policy, kind)).map(({ merchant, batchId }) => ({ merchant, batchId }))
}
