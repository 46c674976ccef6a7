// Approving and rejecting: a person decides, in one transaction, on exactly what they were shown.

import { type Actor, identitiesOf, identityOf } from '../../../domain/actor.ts'
import { type ApprovalPolicy, type Unfit, unfitToApprove } from '../../../domain/approval.ts'
import type { Hold } from '../../../domain/batch.ts'
import { Fault } from '../../../domain/fault.ts'
import type { BatchId } from '../../../domain/ids.ts'
import { accountWords, approvesFromMs, unfitPerson } from '../../../domain/person.ts'
import { mayBeOne } from '../../../domain/second-person.ts'
import type { ApprovalLedger, Decision, Unfitness } from '../../../ports/ledger/approvals.ts'
import { changedRecordFault, closedFault, otherBatchFault, unfitFault } from '../../rules/approving.ts'
import { allPeople, personById } from '../doors/people.ts'
import { type Engine, FAULTING, KEPT } from '../engine.ts'
import { actorIdOf, byOf, recordAct, toActor } from '../record/acts.ts'
import { all, change, one, type Script } from '../script.ts'
import { cancelRows } from '../work/cancelling.ts'
import type { Looks } from '../work/looks.ts'
import { adoptPolicy, agreeOnPolicy } from './adopting.ts'
import { policyInForce } from './policy.ts'
import { accountsOf, approversOf, isAsRecorded, keysOf, sheetOf, shownOf } from './sheet.ts'
import { expireApprovals, isAnyOver } from './waiting.ts'

/** Of an older state that was put back nobody knows what was sent since: before a decision, the ledger is looked at. */
export function approvalsOn(engine: Engine, ledgerId: string, { assertNewest, whyUnsure }: Looks): ApprovalLedger {
  const decide = async (script: () => Script<Fault | null>) => {
    const fault = await engine.write(script, FAULTING)
    if (fault !== null) throw fault
  }
  return {
    approvalPolicy: () => engine.read(policyInForce),
    agreeOnPolicy: (configured, actor, nowMs) => engine.write(() => agreeOnPolicy(configured, actor, nowMs), FAULTING),
    adoptPolicy: (policy, reason, actor, nowMs) =>
      engine.write(() => adoptPolicy(policy, reason, actor, nowMs), FAULTING),
    approvalSheet: (batchId) => engine.read(() => sheetOf(ledgerId, batchId)),
    unfitness: (who) => engine.read(() => unfitness(who)),
    async approve(decision) {
      await assertNewest()
      if (!(await isAsRecorded(engine, decision.batchId))) throw changedRecordFault(decision.batchId)
      await decide(function* () {
        return (yield* whyUnsure()) ?? (yield* approve(ledgerId, decision))
      })
    },
    async reject(decision) {
      const { batchId, actor, nowMs } = decision
      await assertNewest()
      await decide(function* () {
        return (yield* whyUnsure()) ?? (yield* reject(decision))
      })
      await cancelRows(engine, batchId, actor, nowMs)
    },
    async expireApprovals(nowMs) {
      if (!(await engine.read(() => isAnyOver(nowMs)))) return
      await engine.write(function* () {
        if ((yield* whyUnsure()) === null) yield* expireApprovals(nowMs)
      }, KEPT)
    },
  }
}

interface Undecided {
  readonly accountId: number
  readonly hold: Hold
  readonly ready: number
  readonly needed: number
  readonly given: number
  readonly untilMs: number
  /** Of who submitted it; null: services did. */
  readonly parts: string | null
}

const UNDECIDED = `
    SELECT b.account_id AS "accountId", b.hold, b.approvals_needed AS needed, b.approvals_given AS given,
      coalesce(b.approval_until, 0) AS "untilMs", p.parts,
      (SELECT CAST(coalesce(sum(t.count), 0) AS BIGINT) FROM tally t WHERE t.batch_id = b.id AND t.state = 'READY') AS ready
    FROM batch b LEFT JOIN actor p ON p.id = b.actor_id WHERE b.id = :batchId AND b.stage = 'open'`

const APPROVE = `
    INSERT INTO approval (batch_id, identity, actor_id, by, digest, at)
    VALUES (:batchId, :identity, :actorId, :by, :digest, :nowMs) ON CONFLICT DO NOTHING RETURNING batch_id`

const COUNT = `
    UPDATE batch SET approvals_given = (SELECT count(*) FROM approval a WHERE a.batch_id = batch.id) WHERE id = :batchId`

/** null: it was approved. */
function* approve(ledgerId: string, { batchId, digest, reason, actor, nowMs }: Decision): Script<Fault | null> {
  const batch = yield* undecidedOf(batchId)
  const closed = closedFault({ batchId, ...batch, nowMs })
  if (closed !== null) return closed
  const policy = yield* policyInForce()
  const unfit = yield* unfitOf(batchId, actor, { ...batch, nowMs }, policy)
  if (unfit !== null) return unfitFault(batchId, unfit, actor)
  const shown = yield* shownOf(ledgerId, batchId)
  if (shown?.digest !== digest) return otherBatchFault(batchId, shown?.source === 'queue' && shown.fileSha256 === null)
  const approved = yield* all(APPROVE, {
    ...{ batchId, identity: identityOf(actor), actorId: yield* actorIdOf(actor) },
    ...{ by: byOf(actor), digest, nowMs },
  })
  if (approved.length !== 1) return unfitFault(batchId, 'an-approver-already', actor)
  yield* change(COUNT, { batchId })
  const first = toActor(batch.parts)
  const accounts = yield* accountsOf([...(first === null ? [] : [identityOf(first)]), identityOf(actor)])
  const behind = accounts.length === 0 ? {} : { accounts: accounts.map(accountWords).join('; ') }
  const details = { digest, approvals: batch.given + 1, needed: batch.needed, ...behind }
  yield* recordAct({ what: 'approve', atMs: nowMs, actor, batchId, accountId: batch.accountId, reason, details })
  return null
}

function* undecidedOf(batchId: BatchId): Script<Undecided> {
  const batch = yield* one<Undecided>(UNDECIDED, { batchId })
  if (batch === undefined)
    throw new Fault('usage', `There is no batch "${batchId}" in this ledger. Nothing was changed.`)
  return batch
}

function* unfitness({
  batchId,
  actor,
  nowMs,
}: Pick<Decision, 'batchId' | 'actor' | 'nowMs'>): Script<Unfitness | null> {
  const unfit = yield* unfitOf(batchId, actor, { ...(yield* undecidedOf(batchId)), nowMs }, yield* policyInForce())
  if (unfit === null) return null
  const person = unfit === 'approver-too-new' && actor.kind === 'person' ? yield* personById(actor.id) : null
  return { why: unfit, untilMs: person === null ? null : approvesFromMs(person) }
}

/** null: nothing about them stands against it. */
function* unfitOf(
  batchId: BatchId,
  actor: Actor,
  { parts, nowMs }: Pick<Undecided, 'parts'> & { readonly nowMs: number },
  policy: ApprovalPolicy | null,
): Script<Unfit | null> {
  const approved = (yield* approversOf(batchId)).map(({ identity }) => identity)
  const makers = (yield* keysOf(batchId)).flatMap((key) => key.makers)
  return yield* unfitBeside(actor, { first: toActor(parts), approved, makers, policy, nowMs })
}

interface Beside {
  /** Who asked for it before: handed it in, or proposed it. null: services did. */
  readonly first: Actor | null
  /** Identities that approved it before. */
  readonly approved: readonly string[]
  /** Of keys by which messages of it came. */
  readonly makers: readonly string[]
  readonly policy: ApprovalPolicy | null
  readonly nowMs: number
}

/** null: the actor may let money move that the first one asked for. */
export function* unfitBeside(actor: Actor, { first, approved, makers, policy, nowMs }: Beside): Script<Unfit | null> {
  const unfit = unfitToApprove(actor, first, approved, policy ?? { osUsers: true }, makers)
  if (unfit !== null || actor.kind !== 'person') return unfit
  const people = yield* allPeople()
  const own = people.find(({ id }) => id === actor.id) ?? null
  const submitters = first === null ? [] : identitiesOf(first)
  const before = [...submitters, ...makers, ...approved]
  const others = people.filter(({ id }) => [...submitters, ...approved].includes(`person:${id}`))
  const isOne = before.some((identity) => mayBeOne(identityOf(actor), identity, people))
  return unfitPerson(own, submitters, others, { nowMs, mayBeOne: isOne })
}

const CANCEL = "UPDATE batch SET hold = 'cancelled', hold_reason = :why WHERE id = :batchId"

/** Whoever submitted it may withdraw it so; nothing was sent. null: it is cancelled now. */
function* reject({ batchId, reason, actor, nowMs }: Omit<Decision, 'digest'>): Script<Fault | null> {
  const batch = yield* undecidedOf(batchId)
  const closed = closedFault({ batchId, ...batch, nowMs })
  if (closed !== null) return closed
  if (actor.kind === 'key') return unfitFault(batchId, 'a-key', actor)
  yield* change(CANCEL, { batchId, why: `rejected: ${reason}` })
  yield* recordAct({ what: 'reject', atMs: nowMs, actor, batchId, accountId: batch.accountId, reason })
  return null
}
