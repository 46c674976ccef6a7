// Steering batches and accounts: pause, resume, cancel, the rate dial.

import type { DatabaseSync } from 'node:sqlite'
import type { Actor } from '../../domain/actor.ts'
import type { Hold } from '../../domain/batch.ts'
import { Fault } from '../../domain/fault.ts'
import type { BatchId } from '../../domain/ids.ts'
import type { AccountControls, ControlLedger } from '../../ports/ledger/control.ts'
import { openActs } from './acts.ts'
import type { Committer } from './commit.ts'
import type { RecordMove } from './moves.ts'
import { cancelRows } from './work.ts'

export function createControl(db: DatabaseSync, committer: Committer, record: RecordMove): SteeringLedger {
  const act = openActs(db)
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
    controls: async (accountId) => stateOf.get(Number(accountId)) as unknown as AccountControls,
  }
}

/** A person has looked: back-off, hold and new doubts of the account are over. */
function prepareRestart(db: DatabaseSync): (accountId: number) => void {
  const restart = db.prepare(
    'UPDATE account SET resumes = resumes + 1, new_doubts = 0, held_reason = NULL, wait_until = NULL WHERE id = ?',
  )
  return (accountId) => void restart.run(accountId)
}

type SteeringLedger = Omit<ControlLedger, 'moveAccount'>

type Steer = (batchId: BatchId, to: Hold, reason: string, actor: Actor, nowMs: number) => Promise<void>

function prepareSteering(db: DatabaseSync, committer: Committer, restart: (accountId: number) => void): Steer {
  const act = openActs(db)
  const hold = db.prepare('UPDATE batch SET hold = ?, hold_reason = ? WHERE id = ?')
  // A person has looked: what called for that starts over.
  const clear = db.prepare("UPDATE batch SET recent_answers = '', late_answers = 0, money_warned = 0 WHERE id = ?")
  const holdOf = db.prepare('SELECT hold, account_id, late_answers FROM batch WHERE id = ?')
  return async (batchId, to, reason, actor, nowMs) => {
    const fault = await committer.write(
      () => {
        const now = holdOf.get(batchId) as { hold: Hold; account_id: number; late_answers: number }
        // Of a cancelled batch nothing goes on, but a person can have looked at its late answers.
        const looked = now.hold === 'cancelled' && to === 'none' && now.late_answers > 0
        if (now.hold === 'cancelled' && to !== 'cancelled' && !looked) return cancelledFault(batchId)
        if (!looked) hold.run(to, to === 'none' ? null : reason, batchId)
        if (to === 'none') {
          restart(now.account_id)
          clear.run(batchId)
        }
        const what = to === 'none' ? 'resume' : to === 'paused' ? 'pause' : 'cancel'
        act({ what, atMs: nowMs, actor, batchId, accountId: now.account_id, reason })
        return null
      },
      { kind: 'faulting' },
    )
    if (fault !== null) throw fault
  }
}

function cancelledFault(batchId: BatchId): Fault {
  return new Fault(
    'usage',
    `Batch ${batchId} was cancelled; that cannot be undone. Submit its results with --retry cancelled.`,
  )
}
