// Steering batches and accounts: pause, resume, cancel, the rate dial.

import type { Actor } from '../../../domain/actor.ts'
import type { Hold } from '../../../domain/batch.ts'
import { Fault } from '../../../domain/fault.ts'
import type { AccountId, BatchId } from '../../../domain/ids.ts'
import type { Environment } from '../../../domain/merchant.ts'
import type { AccountControls, ControlLedger } from '../../../ports/ledger/control.ts'
import { accountToAdopt, addressText, judgeLabel, type KnownLabel, whyNotRelabelled } from '../../rules/accounts.ts'
import {
  ACCOUNT_RESTARTED,
  type BatchHold,
  batchRestarted,
  holdReasonAfterPause,
  steeringStep,
} from '../../rules/pausing.ts'
import { accountsLike } from '../accounts.ts'
import { voidApprovals } from '../approving/waiting.ts'
import { IS_MONEY_UNSEEN } from '../conditions.ts'
import { type Engine, FAULTING } from '../engine.ts'
import { recordAct } from '../record/acts.ts'
import { change, exists, one, type Script } from '../script.ts'
import { cancelRow, cancelRows } from './cancelling.ts'
import type { Looks } from './looks.ts'
import { refundsAnsweredIn } from './pausing.ts'

/** "Cancelled" says that nothing was sent, and of an older state that was put back nobody knows: before it, the ledger is looked at. */
export function controlOn(engine: Engine, { assertNewest, whyUnsure, whyAtWork }: Looks): ControlLedger {
  const steerTo = async (to: Hold, ...[batchId, reason, actor, nowMs]: Parameters<ControlLedger['pause']>) => {
    const fault = await engine.write(function* () {
      const unsure = to === 'cancelled' ? yield* whyUnsure() : null
      return unsure ?? (yield* steer(batchId, to, reason, actor, nowMs))
    }, FAULTING)
    if (fault !== null) throw fault
  }
  const whileNobodyWorks = async (script: () => Script<Fault | null>) => {
    const fault = await engine.write(function* () {
      return (yield* whyAtWork()) ?? (yield* script())
    }, FAULTING)
    if (fault !== null) throw fault
  }
  return {
    pause: (...asked) => steerTo('paused', ...asked),
    resume: (...asked) => steerTo('none', ...asked),
    async cancel(batchId, reason, actor, nowMs) {
      await assertNewest()
      await steerTo('cancelled', batchId, reason, actor, nowMs)
      await cancelRows(engine, batchId, actor, nowMs)
    },
    async cancelRow(at, reason, actor, nowMs) {
      await assertNewest()
      const fault = await engine.write(function* (book) {
        return (yield* whyUnsure()) ?? (yield* cancelRow(book, at, { reason, actor, nowMs }))
      }, FAULTING)
      if (fault !== null) throw fault
    },
    resumeAccount: (accountId, reason, actor, nowMs, clockIsRight = false) =>
      engine.write(function* () {
        yield* change(GO_ON, { accountId })
        if (clockIsRight) yield* change(TRUST_CLOCK, { accountId })
        yield* restartAccount(accountId)
        const told = clockIsRight ? `the clock is right: ${reason}` : reason
        yield* recordAct({ what: 'resume-account', atMs: nowMs, actor, accountId, reason: told })
      }, FAULTING),
    setRate: (accountId, ratePerSecond, actor, nowMs, why) =>
      engine.write(function* () {
        yield* change('UPDATE account SET rate = :ratePerSecond WHERE id = :accountId', { ratePerSecond, accountId })
        const to = ratePerSecond === null ? 'configured' : `${ratePerSecond}/s`
        const reason = why === undefined ? to : `${to}: ${why}`
        yield* recordAct({ what: 'rate', atMs: nowMs, actor, accountId, reason })
      }, FAULTING),
    adoptAccount: (name, url, username, reason, actor, nowMs) =>
      whileNobodyWorks(() => adoptAccount({ name, url, username }, reason, actor, nowMs)),
    async labelAccount(accountId, environment, actor, nowMs) {
      const judged = await engine.write(() => labelAccount(accountId, environment, actor, nowMs), FAULTING)
      if (judged instanceof Fault) throw judged
      return judged
    },
    relabelAccount: (name, environment, reason, actor, nowMs) =>
      whileNobodyWorks(() => relabelAccount(name, environment, reason, actor, nowMs)),
    controls: async (accountId) => (await engine.read(() => one<AccountControls>(CONTROLS, { accountId })))!,
  }
}

const GO_ON = 'UPDATE account SET stopped_reason = NULL, tried_credentials = NULL WHERE id = :accountId'

/** Whoever mends a password has not looked at the clock: this is asked for by a word of its own. */
const TRUST_CLOCK = `
    UPDATE account SET clock_meant = coalesce(clock_ahead, clock_meant), clock_ahead = NULL, clock_ahead_at = NULL WHERE id = :accountId`

const CONTROLS = `
    SELECT name, resumes, rate AS "ratePerSecond", CASE WHEN stopped_reason IS NOT NULL THEN tried_credentials END AS "triedCredentials"
    FROM account WHERE id = :accountId`

/** A person has looked. */
function* restartAccount(accountId: number): Script<void> {
  yield* change(
    `UPDATE account SET resumes = resumes + 1, new_doubts = :newDoubts, held_reason = :heldReason,
      wait_until = :waitUntilMs WHERE id = :accountId`,
    { ...ACCOUNT_RESTARTED, accountId },
  )
}

/** What the machine paused it for stays beside what a person says now. */
function holdReason(batch: BatchHold, to: Hold, reason: string): string | null {
  if (to !== 'paused') return to === 'none' ? null : reason
  const isSaid = batch.reason === reason || batch.reason?.endsWith(`; ${reason}`) === true
  return isSaid ? batch.reason : holdReasonAfterPause(batch, reason)
}

type HeldBatch = BatchHold & { readonly batchId: BatchId; readonly accountId: number; readonly toLookAt: number }

const HELD = `
    SELECT id AS "batchId", hold, hold_reason AS reason, account_id AS "accountId",
      late_answers + (SELECT count(*) FROM instruction i WHERE i.batch_id = batch.id AND ${IS_MONEY_UNSEEN}) AS "toLookAt"
    FROM batch WHERE id = :batchId`

const RESTART_BATCH = `
    UPDATE batch SET recent_answers = :recentAnswers, short_refunds = :shortRefunds, late_answers = :lateAnswers, money_warned = :moneyWarned
    WHERE id = :batchId`

function* steer(batchId: BatchId, to: Hold, reason: string, actor: Actor, nowMs: number): Script<Fault | null> {
  const batch = (yield* one<HeldBatch>(HELD, { batchId }))!
  const { accountId } = batch
  const step = steeringStep(batch, to)
  if (step instanceof Fault) return step
  if (step.setsHold)
    yield* change('UPDATE batch SET hold = :to, hold_reason = :why WHERE id = :batchId', {
      ...{ to, why: holdReason(batch, to, reason), batchId },
    })
  if (step.restarts) {
    yield* restartAccount(accountId)
    yield* change(RESTART_BATCH, { ...batchRestarted(yield* refundsAnsweredIn(batchId)), batchId })
  }
  yield* recordAct({ what: step.act, atMs: nowMs, actor, batchId, accountId, reason })
  return null
}

function* adoptAccount(
  to: { readonly name: string; readonly url: string; readonly username: string },
  reason: string,
  actor: Actor,
  nowMs: number,
): Script<Fault | null> {
  const moved = accountToAdopt(to, yield* accountsLike(to))
  if (moved instanceof Fault) return moved
  const { url, username } = to
  yield* change('UPDATE account SET url = :url, username = :username WHERE id = :id', { url, username, id: moved.id })
  const told = `${addressText(moved)} → ${addressText(to)}: ${reason}`
  yield* voidApprovals(moved.id, nowMs)
  yield* recordAct({ what: 'adopt-account', atMs: nowMs, actor, accountId: moved.id, reason: told })
  return null
}

type FoundLabel = KnownLabel & { readonly id: AccountId }

const LABEL = 'SELECT id, name, environment FROM account WHERE id = :accountId'
const LABEL_OF = 'SELECT id, name, environment FROM account WHERE name = :name'
const SET_LABEL = 'UPDATE account SET environment = :environment WHERE id = :id'

function* labelAccount(
  accountId: AccountId,
  environment: Environment,
  actor: Actor,
  nowMs: number,
): Script<'taken' | 'same' | Fault> {
  const known = (yield* one<FoundLabel>(LABEL, { accountId }))!
  const judged = judgeLabel(environment, known)
  if (judged !== 'taken') return judged
  yield* change(SET_LABEL, { environment, id: accountId })
  yield* recordAct({ what: 'environment', atMs: nowMs, actor, accountId, reason: environment })
  return judged
}

/** What was refused for the credentials, as where they are of the other world, is PENDING again and nothing more. */
const HAS_SENT = `
    SELECT 1 FROM batch b JOIN tally t ON t.batch_id = b.id
    WHERE b.account_id = :id AND t.count > 0 AND t.state NOT IN ('READY', 'CANCELLED', 'INVALID', 'DUPLICATE')
    UNION ALL
    SELECT 1 FROM move m JOIN instruction i ON i.id = m.row_id
    WHERE m.cause = 'resolve' AND m.at > 0 AND m.to_state = 'READY' AND i.account_id = :id LIMIT 1`

function* relabelAccount(
  name: string,
  environment: Environment,
  reason: string,
  actor: Actor,
  nowMs: number,
): Script<Fault | null> {
  const known = yield* one<FoundLabel>(LABEL_OF, { name })
  if (known === undefined)
    return new Fault(
      'usage',
      `This ledger knows no merchant "${name}": there is nothing to adopt. Nothing was changed.`,
    )
  const { id } = known
  const fault = whyNotRelabelled(environment, known, yield* exists(HAS_SENT, { id }))
  if (fault !== null) return fault
  yield* change(SET_LABEL, { environment, id })
  const told = `${known.environment ?? 'no label'} → ${environment}: ${reason}`
  yield* voidApprovals(id, nowMs)
  yield* recordAct({ what: 'environment', atMs: nowMs, actor, accountId: id, reason: told })
  return null
}
