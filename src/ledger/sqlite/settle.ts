// Settling: what became of an attempt, written once. A row that has moved on keeps the answer as a warning.

import type { DatabaseSync } from 'node:sqlite'
import { type Cause, canMove, isFinal, type State } from '../../domain/states.ts'
import type { Settled, Settlement } from '../../ports/ledger/work.ts'
import { openActs } from './acts.ts'
import { openStopping } from './executed-before.ts'
import type { RecordMove, SettlingRow } from './moves.ts'
import { openPausing } from './pauses.ts'
import type { Answered } from './recorded.ts'
import { isSameTransaction, sameTransactionIn } from './rows.ts'
import type { Tally } from './tally.ts'

export function openSettling(
  db: DatabaseSync,
  tally: Tally,
  record: RecordMove,
): (row: SettlingRow, settlement: Settlement) => Settled {
  const move = db.prepare(`
    UPDATE instruction SET state = ?, due_at = ?, sent_at = coalesce(?, sent_at), completed_at = ?, reason = ?,
      transaction_id = ?, answered_order_id = ?, answered_record_id = ?, answered_amount = ?, answered_currency = ?,
      answered_vault_id = ?, answered_xtl_order_id = ?, warning = ?, money_warning = max(money_warning, ?),
      ever_in_doubt = max(ever_in_doubt, ?), forbidden_count = forbidden_count + ?
    WHERE id = ?`)
  const warn = db.prepare(
    'UPDATE instruction SET warning = ?, money_warning = max(money_warning, ?), noted_at = ? WHERE id = ?',
  )
  const sameTransaction = sameTransactionIn(db)
  const askToWait = db.prepare('UPDATE account SET wait_until = max(coalesce(wait_until, 0), ?) WHERE id = ?')
  const noteLate = db.prepare('UPDATE batch SET late_answers = late_answers + 1 WHERE id = ?')
  const pausing = openPausing(db)
  const stopExecuted = openStopping(db, record)
  const act = openActs(db)

  return (row, settlement) => {
    const step = stepFor(row, settlement)
    if (step === null) return keepLateAnswer(row, settlement)
    return apply(row, step, settlement)
  }

  /** Where this settlement moves the row; null when the row has moved on. */
  function stepFor(row: SettlingRow, { to, cause, attempt }: Settlement): { to: State; cause: Cause } | null {
    if (row.attempt !== attempt) return null
    if (row.state === 'SENDING')
      return to === 'READY' && row.hold === 'cancelled' ? { to: 'CANCELLED', cause } : { to, cause }
    const late = to === 'READY' ? 'proof' : 'late-answer'
    return canMove(row.state, to, late) ? { to, cause: late } : null
  }

  /** A transaction id can settle one row only: the second row to see it was given somebody else's answer. */
  function doubtful(row: SettlingRow, { facts }: Settlement): string | null {
    const id = facts?.transactionId ?? null
    if (id === null || /^0*$/.test(id)) return null
    const other = sameTransaction(row.account_id, id)
    return other === undefined || other.id === row.id
      ? null
      : `the answer carries transaction id ${id}, which already settled another row; it may have been executed`
  }

  function apply(row: SettlingRow, step: { to: State; cause: Cause }, settlement: Settlement): Settled {
    const answered = step.to === 'APPROVED' || step.to === 'DECLINED'
    const doubt = answered ? doubtful(row, settlement) : null
    const to = doubt !== null && row.state === 'SENDING' ? 'IN_DOUBT' : step.to
    if (doubt !== null && row.state !== 'SENDING') return keepLateAnswer(row, settlement)
    const cause = to === 'IN_DOUBT' ? 'doubt' : step.cause
    if (settlement.askedToWaitUntilMs !== null) askToWait.run(settlement.askedToWaitUntilMs, row.account_id)
    const reason = doubt ?? settlement.reason
    const taken = answeredIn(to, settlement)
    writeRow(row, to, { reason, taken }, settlement)
    const { attempt, atMs, httpStatus, answerText: answer } = settlement
    record(row, to, cause, { attempt, atMs, httpStatus, answer, reason, answered: taken })
    const stopped = to === 'READY' && stopExecuted(row.id, atMs) !== null
    return { state: stopped ? 'IN_DOUBT' : to, paused: pausing(row, to, settlement) }
  }

  function writeRow(
    row: SettlingRow,
    to: State,
    { reason, taken }: { reason: string | null; taken: Answered },
    settlement: Settlement,
  ): void {
    const { atMs, sentAtMs, warning, warnsOfMoney } = settlement
    const over = isFinal(to) || to === 'IN_DOUBT'
    move.run(
      to,
      settlement.dueAtMs,
      sentAtMs,
      over ? atMs : null,
      to === 'READY' ? null : reason,
      ...taken,
      joined(row.warning, warning), // a late answer of an earlier attempt may have left one
      warnsOfMoney && to === 'APPROVED' ? 1 : 0,
      to === 'IN_DOUBT' ? 1 : 0,
      settlement.forbidden ? 1 : 0,
      row.id,
    )
  }

  /** A true answer after the row was settled otherwise is never thrown away: the row says so from now on. */
  function keepLateAnswer(row: SettlingRow, settlement: Settlement): Settled {
    if (settlement.to !== 'APPROVED' && settlement.to !== 'DECLINED') return { state: row.state, paused: null }
    const transactionId = settlement.facts?.transactionId ?? null
    // It says what the row says already: a person had found the same.
    if (settlement.to === row.state && isSameTransaction(transactionId, row.transaction_id)) {
      return { state: row.state, paused: null }
    }
    const id = transactionId ?? 'none'
    const text = `attempt ${settlement.attempt} was answered ${settlement.to} (transaction id ${id}) after the row had moved on`
    // An approval that the row's own state does not tell of is money that moved beside the record.
    warn.run(joined(row.warning, text), settlement.to === 'APPROVED' ? 1 : 0, settlement.atMs, row.id)
    noteLate.run(row.batch_id)
    const stopped = settlement.to === 'APPROVED' ? stopExecuted(row.id, settlement.atMs) : null
    const where = { batchId: row.batch_id, accountId: row.account_id }
    act({ what: 'late-answer', atMs: settlement.atMs, actor: null, ...where, reason: text })
    tally.touched(row.batch_id)
    return { state: stopped === row.id ? 'IN_DOUBT' : row.state, paused: null }
  }
}

/** In the order of the columns. */
function answeredIn(to: State, { facts }: Settlement): Answered {
  // An answer in doubt keeps its words in the history; its transaction id must stay free for the row it belongs to.
  const id = to === 'APPROVED' || to === 'DECLINED' ? (facts?.transactionId ?? null) : null
  const { orderId, recordId, amount, currency, vaultId, xtlOrderId } = facts ?? NO_FACTS
  return [id !== null && /^0*$/.test(id) ? null : id, orderId, recordId, amount, currency, vaultId, xtlOrderId]
}

const NO_FACTS = { orderId: null, recordId: null, amount: null, currency: null, vaultId: null, xtlOrderId: null }

function joined(earlier: string | null, later: string | null): string | null {
  return earlier === null ? later : later === null ? earlier : `${earlier}; ${later}`
}
