// Settling: what became of an attempt, written once. `rules/settling.ts` says what it does to the row.

import { formatCardMask } from '../../../domain/card.ts'
import { assert } from '../../../domain/fault.ts'
import type { AccountId } from '../../../domain/ids.ts'
import type { Operation } from '../../../domain/instruction.ts'
import type { Settled, Settlement } from '../../../ports/ledger/work.ts'
import { countsTowardsLimit } from '../../rules/daily-limit.ts'
import { isShortageUnexplained } from '../../rules/order-book.ts'
import {
  type KeepLateAnswer,
  type MakeMove,
  refusalOf,
  settlingStep,
  transactionIn,
  type Unproven,
  vaultIdIn,
} from '../../rules/settling.ts'
import { recordAct } from '../record/acts.ts'
import type { Book } from '../record/book.ts'
import { answeredBy } from '../record/recorded.ts'
import { orderWithout } from '../review/order-book.ts'
import { change, one, oneExact, type Script } from '../script.ts'
import { pauseAlike } from './alike-waiting.ts'
import { forgetSums, giveBack } from './daily-limit.ts'
import { stopExecuted } from './executed-before.ts'
import { OPEN_ROW, type SettlingRow } from './open-rows.ts'
import { pauseAfter } from './pausing.ts'
import { isOtherCardStored, settledBy } from './taken.ts'

const ROW = `
    SELECT ${OPEN_ROW}, i.transaction_id AS "transactionId", b.canary_rows AS canary, b.max_declined,
      CASE WHEN i.state <> 'SENDING' AND 'resolve' = (SELECT m.cause FROM move m WHERE m.row_id = i.id ORDER BY m.id DESC LIMIT 1)
        THEN 1 ELSE 0 END AS "wasFound"
    FROM instruction i JOIN batch b ON b.id = i.batch_id WHERE i.id = :rowId`

/** `isAnothers`: the row is being sent by the claim of another, whatever its attempt says. */
export function* settle(book: Book, settlement: Settlement, isAnothers = false): Script<Settled> {
  const { rowId } = settlement
  const found = yield* one<SettlingRow>(ROW, { rowId })
  assert(found !== undefined, `settling row ${rowId}, which is not in the ledger`)
  const row = { ...found, isAnothers }
  const step = settlingStep(row, settlement, (yield* takenIn(row, settlement)) ?? (yield* doneBefore(row, settlement)))
  switch (step.kind) {
    case 'move':
      return yield* makeMove(book, row, step, settlement)
    case 'keep-late-answer':
      return yield* keepLateAnswer(book, row, step, settlement)
    case 'change-nothing':
      return { state: row.state, paused: null }
  }
}

function* takenIn(row: SettlingRow, settlement: Settlement): Script<Unproven | null> {
  const vaultId = row.operation === 'VAULT_CREATE' ? vaultIdIn(settlement) : null
  if (vaultId !== null && (yield* isOtherCardStored(row.account_id, vaultId, row.id))) return 'vault-id'
  const id = transactionIn(settlement)
  const other = id === null ? undefined : yield* settledBy(row.account_id, id)
  return other === undefined || other.id === row.id ? null : 'transaction'
}

const ASKED = 'SELECT order_key AS key, amount_minor AS "amountMinor" FROM instruction WHERE id = :id'

/** Whether the refusal may be the second answer to a request that was executed. */
function* doneBefore(
  { id, account_id, operation, currency }: SettlingRow,
  settlement: Settlement,
): Script<Unproven | null> {
  const refusal = refusalOf(operation as Operation, settlement)
  if (refusal !== 'balance') return refusal
  const { key, amountMinor } = (yield* oneExact<{ key: string | null; amountMinor: bigint | null }>(ASKED, { id }))!
  if (key === null) return null
  const order = yield* orderWithout(account_id as AccountId, key, id)
  const asked = { operation: operation as Operation, amountMinor, currency }
  return isShortageUnexplained(order, asked, settlement.reason ?? '') ? 'balance' : null
}

const ASK_TO_WAIT = `
    UPDATE account SET wait_until = @greatest(coalesce(wait_until, 0), CAST(:untilMs AS BIGINT)) WHERE id = :accountId`

function* makeMove(book: Book, row: SettlingRow, step: MakeMove, settlement: Settlement): Script<Settled> {
  const { attempt, atMs, httpStatus, answerText: answer, askedToWaitUntilMs: untilMs } = settlement
  const { to, cause, reason } = step
  if (untilMs !== null) yield* change(ASK_TO_WAIT, { untilMs, accountId: row.account_id })
  yield* writeRow(row, step, settlement)
  if (settlement.limited && row.state === 'SENDING' && !countsTowardsLimit(to)) yield* giveBack(row.id)
  yield* book.move(row, to, cause, { attempt, atMs, httpStatus, answer, reason, answered: answeredBy(step.facts) })
  const stopped = step.waitsAgain && (yield* stopExecuted(book, row.id, atMs)) !== null
  return { state: stopped ? 'IN_DOUBT' : to, paused: yield* pauseAfter(row, step, settlement) }
}

const WRITE_ROW = `
    UPDATE instruction SET state = :to, due_at = :dueAtMs, sent_at = coalesce(:sentAtMs, sent_at),
      completed_at = :completedAtMs, reason = :reason, transaction_id = :transactionId, answered_order_id = :orderId,
      answered_record_id = :recordId, answered_amount = :amount, answered_currency = :currency,
      answered_vault_id = :vaultId, answered_xtl_order_id = :xtlOrderId, answered_customer_id = :customerId,
      answered_card = :card, warning = :warning,
      money_warning = @greatest(money_warning, :moneyWarning), ever_in_doubt = @greatest(ever_in_doubt, :newDoubt),
      forbidden_count = forbidden_count + :forbidden
    WHERE id = :id`

function* writeRow({ id }: SettlingRow, step: MakeMove, settlement: Settlement): Script<void> {
  const { dueAtMs, sentAtMs, atMs, forbidden } = settlement
  const { facts } = step
  yield* change(WRITE_ROW, {
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

const WARN = `
    UPDATE instruction SET warning = :warning, money_warning = @greatest(money_warning, :moneyWarning), noted_at = :atMs
    WHERE id = :id`

function* keepLateAnswer(
  book: Book,
  row: SettlingRow,
  { text, warning, moneyWarning }: KeepLateAnswer,
  { atMs }: Settlement,
): Script<Settled> {
  const { id, batch_id: batchId, account_id: accountId } = row
  yield* change(WARN, { warning, moneyWarning: moneyWarning ? 1 : 0, atMs, id })
  yield* change('UPDATE batch SET late_answers = late_answers + 1 WHERE id = :batchId', { batchId })
  const stopped = moneyWarning ? yield* stopExecuted(book, id, atMs) : null
  if (moneyWarning) yield* forgetSums(batchId)
  if (moneyWarning) yield* pauseAlike(row, atMs)
  yield* recordAct({ what: 'late-answer', atMs, actor: null, batchId, accountId, reason: text })
  book.touched(batchId)
  return { state: stopped === id ? 'IN_DOUBT' : row.state, paused: null }
}
