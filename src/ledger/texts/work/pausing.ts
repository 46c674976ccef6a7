// Pausing what the rules say must wait for a person, in the transaction of the settlement that tips the scale.

import type { Hold } from '../../../domain/batch.ts'
import {
  type Answered,
  noteAnswer,
  noteShortRefund,
  type RecentAnswers,
  type ShortRefunds,
} from '../../../domain/decline-limit.ts'
import type { BatchId } from '../../../domain/ids.ts'
import type { Settlement } from '../../../ports/ledger/work.ts'
import {
  type AccountDoubts,
  type BatchHold,
  countedAnswer,
  holdForDoubts,
  holdReasonAfterPause,
  pauseAfterCanary,
  pauseForDeclines,
  pauseForMoney,
  pauseForShortRefunds,
} from '../../rules/pausing.ts'
import type { MakeMove } from '../../rules/settling.ts'
import { recordAct } from '../record/acts.ts'
import { change, exists, one, type Script } from '../script.ts'
import type { SettlingRow } from './open-rows.ts'

type BatchRow = Pick<SettlingRow, 'batch_id' | 'account_id'>

/** Answers with why this settlement paused something; null where all goes on. */
export function* pauseAfter(row: SettlingRow, step: MakeMove, settlement: Settlement): Script<string | null> {
  if (step.waitsAgain) return null
  const { atMs } = settlement
  const reasons = [
    step.newDoubt ? yield* countDoubt(row.account_id, atMs, null) : null,
    step.moneyWarning ? yield* pauseForItsMoney(row, settlement) : null,
    yield* pauseForItsDeclines(row, countedAnswer(step.to), atMs),
    settlement.category === 'balance' && row.operation === 'REFUND' && countedAnswer(step.to) === 'declined'
      ? yield* pauseForShortRefund(row, atMs)
      : null,
    yield* endCanary(row, atMs),
  ].filter((reason) => reason !== null)
  return reasons.length === 0 ? null : reasons.join('; ')
}

function* pauseForItsMoney(row: SettlingRow, { atMs, warning }: Settlement): Script<string | null> {
  const { batch_id: batchId, account_id: accountId } = row
  const { hold, warned } = (yield* one<{ hold: Hold; warned: number }>(
    'SELECT hold, money_warned AS warned FROM batch WHERE id = :batchId',
    { batchId },
  ))!
  const reason = pauseForMoney({ hold, moneyWarned: warned === 1 }, row.row_no, warning)
  if (reason === null) return null
  yield* change("UPDATE batch SET money_warned = 1, hold = 'paused', hold_reason = :reason WHERE id = :batchId", {
    ...{ reason, batchId },
  })
  yield* recordAct({ what: 'pause', atMs, actor: null, batchId, accountId, reason })
  return reason
}

function* pauseForItsDeclines(row: SettlingRow, answered: Answered | null, atMs: number): Script<string | null> {
  if (row.max_declined === null || answered === null) return null
  const { batch_id: batchId } = row
  const before = (yield* one<{ recent: RecentAnswers }>(
    'SELECT recent_answers AS recent FROM batch WHERE id = :batchId',
    { batchId },
  ))!
  const recent = noteAnswer(before.recent, answered)
  yield* change('UPDATE batch SET recent_answers = :recent WHERE id = :batchId', { recent, batchId })
  const reason = pauseForDeclines(row.hold, recent, row.max_declined)
  return reason === null ? null : yield* pauseBatch(row, reason, atMs)
}

/** Before this one: sums are written at the end of a transaction, so that others of it may be missing. */
const ANSWERED = `
    SELECT b.short_refunds AS short, (SELECT coalesce(sum(t.count), 0) FROM tally t
      WHERE t.batch_id = b.id AND t.operation = 'REFUND' AND t.state IN ('APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT')) AS answered
    FROM batch b WHERE b.id = :batchId`

export function* refundsAnsweredIn(batchId: BatchId): Script<number> {
  return Number((yield* one<{ answered: number }>(ANSWERED, { batchId }))!.answered)
}

function* pauseForShortRefund(row: SettlingRow, atMs: number): Script<string | null> {
  const { batch_id: batchId, hold } = row
  const found = (yield* one<{ short: string; answered: number }>(ANSWERED, { batchId }))!
  const answered = Number(found.answered) + 1
  const short = noteShortRefund(JSON.parse(found.short) as ShortRefunds, answered)
  yield* change('UPDATE batch SET short_refunds = :short WHERE id = :batchId', {
    short: JSON.stringify(short),
    batchId,
  })
  const reason = pauseForShortRefunds(hold, short, answered)
  return reason === null ? null : yield* pauseBatch(row, reason, atMs)
}

const COUNT_DOUBT = `
    UPDATE account SET new_doubts = new_doubts + 1 WHERE id = :accountId
    RETURNING new_doubts AS "newDoubts", held_reason AS "heldReason"`

const PAUSE_ACCOUNT = `
    UPDATE batch SET hold = 'paused', hold_reason = :reason WHERE account_id = :accountId AND stage = 'open' AND hold = 'none'`

/** Counts a doubt, and holds the account and its batches where the rules say so. Answers with the reason, or null. */
export function* countDoubt(accountId: number, atMs: number, because: string | null): Script<string | null> {
  const counted = (yield* one<AccountDoubts>(COUNT_DOUBT, { accountId }))!
  const reason = holdForDoubts(counted, because)
  if (reason === null) return null
  yield* change('UPDATE account SET held_reason = :reason WHERE id = :accountId', { reason, accountId })
  yield* change(PAUSE_ACCOUNT, { reason, accountId })
  yield* recordAct({ what: 'pause', atMs, actor: null, accountId, reason })
  return reason
}

/** Answers with the reason, or null where the batch is cancelled. */
export function* pauseBatch(row: BatchRow, reason: string, atMs: number): Script<string | null> {
  const { batch_id: batchId, account_id: accountId } = row
  const held = yield* one<BatchHold>('SELECT hold, hold_reason AS reason FROM batch WHERE id = :batchId', { batchId })
  const why = holdReasonAfterPause(held!, reason)
  if (why === null) return null
  yield* change("UPDATE batch SET hold = 'paused', hold_reason = :why WHERE id = :batchId", { why, batchId })
  yield* recordAct({ what: 'pause', atMs, actor: null, batchId, accountId, reason })
  return reason
}

const CANARY_LEFT = `
    SELECT 1 FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.batch_id = :batchId AND i.row_no <= b.canary_row_no AND coalesce(i.execute_at, 0) <= b.canary_execute_at
      AND i.state IN ('READY', 'SENDING') LIMIT 1`

/** Ends the canary of a batch once none of its first rows is to be sent any more. */
export function* endCanary(row: BatchRow & Pick<SettlingRow, 'canary'>, atMs: number): Script<string | null> {
  const { batch_id: batchId, canary } = row
  if (canary === null || (yield* exists(CANARY_LEFT, { batchId }))) return null
  yield* change('UPDATE batch SET canary_rows = NULL WHERE id = :batchId', { batchId })
  return yield* pauseBatch(row, pauseAfterCanary(canary), atMs)
}
