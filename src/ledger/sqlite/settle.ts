// Settling: what became of an attempt, written once. `rules/settling.ts` says what it does to the row.

import type { DatabaseSync } from 'node:sqlite'
import { formatCardMask } from '../../domain/card.ts'
import type { Settled, Settlement } from '../../ports/ledger/work.ts'
import {
  type KeepLateAnswer,
  type MakeMove,
  settlingStep,
  type Taken,
  transactionIn,
  vaultIdIn,
} from '../rules/settling.ts'
import { prepareActs } from './acts.ts'
import { preparePausingAlike } from './alike-waiting.ts'
import { prepareStopping } from './executed-before.ts'
import type { RecordMove, SettlingRow } from './moves.ts'
import { prepareNamed } from './named.ts'
import { preparePausing } from './pauses.ts'
import { answeredBy } from './recorded.ts'
import { otherCardIn, sameTransactionIn } from './rows.ts'
import type { Tally } from './tally.ts'

export function prepareSettling(
  db: DatabaseSync,
  tally: Tally,
  record: RecordMove,
): (row: SettlingRow, settlement: Settlement) => Settled {
  const writeRow = prepareRowWriter(db)
  const warn = db.prepare(
    'UPDATE instruction SET warning = ?, money_warning = max(money_warning, ?), noted_at = ? WHERE id = ?',
  )
  const sameTransaction = sameTransactionIn(db)
  const otherCard = otherCardIn(db)
  const askToWait = db.prepare('UPDATE account SET wait_until = max(coalesce(wait_until, 0), ?) WHERE id = ?')
  const noteLate = db.prepare('UPDATE batch SET late_answers = late_answers + 1 WHERE id = ?')
  const pausing = preparePausing(db)
  const stopExecuted = prepareStopping(db, record)
  const pauseAlike = preparePausingAlike(db)
  const act = prepareActs(db)

  return (row, settlement) => {
    const step = settlingStep(row, settlement, takenIn(row, settlement))
    switch (step.kind) {
      case 'move':
        return move(row, step, settlement)
      case 'keep-late-answer':
        return keepLateAnswer(row, step, settlement)
      case 'change-nothing':
        return { state: row.state, paused: null }
    }
  }

  function takenIn(row: SettlingRow, settlement: Settlement): Taken | null {
    const vaultId = row.operation === 'VAULT_CREATE' ? vaultIdIn(settlement) : null
    if (vaultId !== null && otherCard(row.account_id, vaultId, row.id)) return 'vault-id'
    const id = transactionIn(settlement)
    const other = id === null ? undefined : sameTransaction(row.account_id, id)
    return other === undefined || other.id === row.id ? null : 'transaction'
  }

  function move(row: SettlingRow, step: MakeMove, settlement: Settlement): Settled {
    const { attempt, atMs, httpStatus, answerText: answer, askedToWaitUntilMs } = settlement
    const { to, cause, reason } = step
    if (askedToWaitUntilMs !== null) askToWait.run(askedToWaitUntilMs, row.account_id)
    writeRow(row, step, settlement)
    record(row, to, cause, { attempt, atMs, httpStatus, answer, reason, answered: answeredBy(step.facts) })
    const stopped = step.waitsAgain && stopExecuted(row.id, atMs) !== null
    return { state: stopped ? 'IN_DOUBT' : to, paused: pausing(row, step, settlement) }
  }

  function keepLateAnswer(row: SettlingRow, { text, warning, moneyWarning }: KeepLateAnswer, { atMs }: Settlement) {
    warn.run(warning, moneyWarning ? 1 : 0, atMs, row.id)
    noteLate.run(row.batch_id)
    const stopped = moneyWarning ? stopExecuted(row.id, atMs) : null
    if (moneyWarning) pauseAlike(row, atMs)
    const where = { batchId: row.batch_id, accountId: row.account_id }
    act({ what: 'late-answer', atMs, actor: null, ...where, reason: text })
    tally.touched(row.batch_id)
    return { state: stopped === row.id ? 'IN_DOUBT' : row.state, paused: null } as const
  }
}

function prepareRowWriter(db: DatabaseSync): (row: SettlingRow, step: MakeMove, settlement: Settlement) => void {
  const write = prepareNamed(
    db,
    `UPDATE instruction SET state = :to, due_at = :dueAtMs, sent_at = coalesce(:sentAtMs, sent_at),
      completed_at = :completedAtMs, reason = :reason, transaction_id = :transactionId, answered_order_id = :orderId,
      answered_record_id = :recordId, answered_amount = :amount, answered_currency = :currency,
      answered_vault_id = :vaultId, answered_xtl_order_id = :xtlOrderId, answered_customer_id = :customerId,
      answered_card = :card, warning = :warning,
      money_warning = max(money_warning, :moneyWarning), ever_in_doubt = max(ever_in_doubt, :newDoubt),
      forbidden_count = forbidden_count + :forbidden
    WHERE id = :id`,
  )
  return ({ id }, step, { dueAtMs, sentAtMs, atMs, forbidden }) => {
    const { facts } = step
    write({
      id,
      to: step.to,
      dueAtMs,
      sentAtMs,
      completedAtMs: step.completed ? atMs : null,
      reason: step.keepsReason ? step.reason : null,
      transactionId: facts.transactionId,
      orderId: facts.orderId,
      recordId: facts.recordId,
      amount: facts.amount,
      currency: facts.currency,
      vaultId: facts.vaultId,
      xtlOrderId: facts.xtlOrderId,
      customerId: facts.customerId,
      card: facts.card === null ? null : formatCardMask(facts.card),
      warning: step.warning,
      moneyWarning: step.moneyWarning ? 1 : 0,
      newDoubt: step.newDoubt ? 1 : 0,
      forbidden: forbidden ? 1 : 0,
    })
  }
}
