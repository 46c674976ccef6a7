// Pausing what the rules say must wait for a person, in the transaction of the settlement that tips the scale.

import type { DatabaseSync } from 'node:sqlite'
import type { Hold } from '../../domain/batch.ts'
import { type Answered, noteAnswer, type RecentAnswers } from '../../domain/decline-limit.ts'
import type { Settlement } from '../../ports/ledger/work.ts'
import {
  type AccountDoubts,
  type BatchHold,
  countedAnswer,
  holdForDoubts,
  holdReasonAfterPause,
  pauseAfterCanary,
  pauseForDeclines,
  pauseForMoney,
} from '../rules/pausing.ts'
import type { MakeMove } from '../rules/settling.ts'
import { prepareActs } from './acts.ts'
import { findRow } from './found.ts'
import type { SettlingRow } from './moves.ts'

/** Answers with why this settlement paused something; null where all goes on. */
export type Pausing = (row: SettlingRow, step: MakeMove, settlement: Settlement) => string | null

export function preparePausing(db: DatabaseSync): Pausing {
  const moneyOf = db.prepare('SELECT hold, money_warned AS warned FROM batch WHERE id = ?')
  const noteMoney = db.prepare("UPDATE batch SET money_warned = 1, hold = 'paused', hold_reason = ? WHERE id = ?")
  const pauseBatch = prepareBatchPause(db)
  const endCanary = prepareCanaryEnd(db)
  const recentOf = db.prepare('SELECT recent_answers AS recent FROM batch WHERE id = ?')
  const keepRecent = db.prepare('UPDATE batch SET recent_answers = ? WHERE id = ?')
  const countDoubt = prepareDoubtCount(db)
  const act = prepareActs(db)

  function forMoney(row: SettlingRow, { atMs, warning }: Settlement): string | null {
    const { hold, warned } = moneyOf.get(row.batch_id) as { hold: Hold; warned: number }
    const reason = pauseForMoney({ hold, moneyWarned: warned === 1 }, row.row_no, warning)
    if (reason === null) return null
    noteMoney.run(reason, row.batch_id)
    act({ what: 'pause', atMs, actor: null, batchId: row.batch_id, accountId: row.account_id, reason })
    return reason
  }

  function forDeclines(row: SettlingRow, answered: Answered | null, atMs: number): string | null {
    if (row.max_declined === null || answered === null) return null
    const before = recentOf.get(row.batch_id) as { recent: RecentAnswers }
    const recent = noteAnswer(before.recent, answered)
    keepRecent.run(recent, row.batch_id)
    const reason = pauseForDeclines(row.hold, recent, row.max_declined)
    return reason === null ? null : pauseBatch(row, reason, atMs)
  }

  return (row, step, settlement) => {
    const { atMs } = settlement
    if (step.waitsAgain) return null
    const reasons = [
      step.newDoubt ? countDoubt(row.account_id, atMs, null) : null,
      step.moneyWarning ? forMoney(row, settlement) : null,
      forDeclines(row, countedAnswer(step.to), atMs),
      endCanary(row, atMs),
    ].filter((reason) => reason !== null)
    return reasons.length === 0 ? null : reasons.join('; ')
  }
}

/** Counts a doubt, and holds the account and its batches where the rules say so. Answers with the reason, or null. */
export function prepareDoubtCount(
  db: DatabaseSync,
): (accountId: number, atMs: number, because: string | null) => string | null {
  const count = db.prepare(`
    UPDATE account SET new_doubts = new_doubts + 1 WHERE id = ?
    RETURNING new_doubts AS newDoubts, held_reason AS heldReason`)
  const hold = db.prepare('UPDATE account SET held_reason = ? WHERE id = ?')
  const pauseBatches = db.prepare(
    "UPDATE batch SET hold = 'paused', hold_reason = ? WHERE account_id = ? AND stage = 'open' AND hold = 'none'",
  )
  const act = prepareActs(db)
  return (accountId, atMs, because) => {
    const reason = holdForDoubts(findRow<AccountDoubts>(count, accountId)!, because)
    if (reason === null) return null
    hold.run(reason, accountId)
    pauseBatches.run(reason, accountId)
    act({ what: 'pause', atMs, actor: null, accountId, reason })
    return reason
  }
}

type BatchPause = (row: Pick<SettlingRow, 'batch_id' | 'account_id'>, reason: string, atMs: number) => string | null

/** Answers with the reason, or null where the batch is cancelled. */
export function prepareBatchPause(db: DatabaseSync): BatchPause {
  const holdOf = db.prepare('SELECT hold, hold_reason AS reason FROM batch WHERE id = ?')
  const pause = db.prepare("UPDATE batch SET hold = 'paused', hold_reason = ? WHERE id = ?")
  const act = prepareActs(db)
  return (row, reason, atMs) => {
    const why = holdReasonAfterPause(findRow<BatchHold>(holdOf, row.batch_id)!, reason)
    if (why === null) return null
    pause.run(why, row.batch_id)
    act({ what: 'pause', atMs, actor: null, batchId: row.batch_id, accountId: row.account_id, reason })
    return reason
  }
}

/** Ends the canary of a batch once none of its first rows is to be sent any more. */
export function prepareCanaryEnd(
  db: DatabaseSync,
): (row: Pick<SettlingRow, 'batch_id' | 'account_id' | 'canary'>, atMs: number) => string | null {
  const canaryLeft = db.prepare(`
    SELECT 1 FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.batch_id = ? AND i.row_no <= b.canary_row_no AND coalesce(i.execute_at, 0) <= b.canary_execute_at
      AND i.state IN ('READY', 'SENDING') LIMIT 1`)
  const endCanary = db.prepare('UPDATE batch SET canary_rows = NULL WHERE id = ?')
  const pauseBatch = prepareBatchPause(db)
  return (row, atMs) => {
    if (row.canary === null || canaryLeft.get(row.batch_id) !== undefined) return null
    endCanary.run(row.batch_id)
    return pauseBatch(row, pauseAfterCanary(row.canary), atMs)
  }
}
