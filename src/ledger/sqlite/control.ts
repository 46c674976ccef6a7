// Steering batches and accounts: pause, resume, cancel, the rate dial.

import type { DatabaseSync } from 'node:sqlite'
import type { Actor } from '../../domain/actor.ts'
import type { Hold } from '../../domain/batch.ts'
import { Fault } from '../../domain/fault.ts'
import type { BatchId } from '../../domain/ids.ts'
import type { AccountControls, ControlLedger } from '../../ports/ledger/control.ts'
import {
  ACCOUNT_RESTARTED,
  BATCH_RESTARTED,
  type BatchHold,
  holdReasonAfterPause,
  steeringStep,
} from '../rules/pausing.ts'
import { prepareActs } from './acts.ts'
import type { Committer } from './commit.ts'
import { findRow } from './found.ts'
import type { RecordMove } from './moves.ts'
import { prepareNamed } from './named.ts'
import { cancelRows } from './work.ts'

export function createControl(db: DatabaseSync, committer: Committer, record: RecordMove): SteeringLedger {
  const act = prepareActs(db)
  const stateOf = db.prepare('SELECT name, resumes, rate AS ratePerSecond FROM account WHERE id = ?')
  const setRateOverride = db.prepare('UPDATE account SET rate = ? WHERE id = ?')
  const unstop = db.prepare('UPDATE account SET stopped_reason = NULL WHERE id = ?')
  const restart = prepareRestart(db)
  const steer = prepareSteering(db, committer, restart)
  return {
    pause: (batchId, reason, actor, nowMs) => steer(batchId, 'paused', reason, actor, nowMs),
    resume: (batchId, reason, actor, nowMs) => steer(batchId, 'none', reason, actor, nowMs),
    async cancel(batchId, reason, actor, nowMs) {
      await steer(batchId, 'cancelled', reason, actor, nowMs)
      await cancelRows(db, committer, record, { batchId, actor, nowMs })
    },
    async resumeAccount(accountId, reason, actor, nowMs) {
      await committer.write(
        () => {
          unstop.run(Number(accountId))
          restart(Number(accountId))
          act({ what: 'resume-account', atMs: nowMs, actor, accountId, reason })
        },
        { kind: 'faulting' },
      )
    },
    async setRate(accountId, ratePerSecond, actor, nowMs) {
      await committer.write(
        () => {
          setRateOverride.run(ratePerSecond, Number(accountId))
          const to = ratePerSecond === null ? 'configured' : `${ratePerSecond}/s`
          act({ what: 'rate', atMs: nowMs, actor, accountId, reason: to })
        },
        { kind: 'faulting' },
      )
    },
    controls: async (accountId) => findRow<AccountControls>(stateOf, accountId)!,
  }
}

/** A person has looked. */
function prepareRestart(db: DatabaseSync): (accountId: number) => void {
  const restart = prepareNamed(
    db,
    `UPDATE account SET resumes = resumes + 1, new_doubts = :newDoubts, held_reason = :heldReason,
      wait_until = :waitUntilMs WHERE id = :accountId`,
  )
  return (accountId) => void restart({ ...ACCOUNT_RESTARTED, accountId })
}

/** What the machine paused it for stays beside what a person says now. */
function holdReason(batch: BatchHold, to: Hold, reason: string): string | null {
  if (to !== 'paused') return to === 'none' ? null : reason
  const isSaid = batch.reason === reason || batch.reason?.endsWith(`; ${reason}`) === true
  return isSaid ? batch.reason : holdReasonAfterPause(batch, reason)
}

type SteeringLedger = Omit<ControlLedger, 'adoptAccount'>

type Steer = (batchId: BatchId, to: Hold, reason: string, actor: Actor, nowMs: number) => Promise<void>

function prepareSteering(db: DatabaseSync, committer: Committer, restart: (accountId: number) => void): Steer {
  const act = prepareActs(db)
  const hold = db.prepare('UPDATE batch SET hold = ?, hold_reason = ? WHERE id = ?')
  const restartBatch = prepareNamed(
    db,
    `UPDATE batch SET recent_answers = :recentAnswers, late_answers = :lateAnswers, money_warned = :moneyWarned
    WHERE id = :batchId`,
  )
  const holdOf = db.prepare(
    'SELECT id AS batchId, hold, hold_reason AS reason, account_id AS accountId, late_answers AS lateAnswers FROM batch WHERE id = ?',
  )
  return async (batchId, to, reason, actor, nowMs) => {
    const fault = await committer.write(
      () => {
        const batch = findRow<BatchHold & { batchId: BatchId; accountId: number; lateAnswers: number }>(
          holdOf,
          batchId,
        )!
        const step = steeringStep(batch, to)
        if (step instanceof Fault) return step
        if (step.setsHold) hold.run(to, holdReason(batch, to, reason), batchId)
        if (step.restarts) {
          restart(batch.accountId)
          restartBatch({ ...BATCH_RESTARTED, batchId })
        }
        act({ what: step.act, atMs: nowMs, actor, batchId, accountId: batch.accountId, reason })
        return null
      },
      { kind: 'faulting' },
    )
    if (fault !== null) throw fault
  }
}
