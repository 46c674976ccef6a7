// A row that waits and no longer fits what is recorded: since it was handed in, another row of its order came to count, or its card was
// declined.

import type { AccountId } from '../../../domain/ids.ts'
import type { Operation } from '../../../domain/instruction.ts'
import { type CardEvent, whyForbidden } from '../../../domain/reattempt.ts'
import type { Claim } from '../../../ports/ledger/work.ts'
import { ORDER_MOVED_IN, SALES } from '../../rules/order-book.ts'
import { warningWhenCancelled } from '../../rules/unanswered.ts'
import { listOf } from '../conditions.ts'
import type { Book } from '../record/book.ts'
import { executedVerdictOn } from '../review/order-book.ts'
import { CARD_EVENTS, IS_CARD_EVENT } from '../review/reattempts.ts'
import { all, change, one, oneExact, type Script } from '../script.ts'
import { OPEN_ROW, type OpenRow, type SettlingRow } from './open-rows.ts'
import { endCanary } from './pausing.ts'

type Waiting = Pick<Claim, 'rowId' | 'attempt' | 'reasonRules' | 'nowMs'>

type WaitingRow = OpenRow &
  Pick<SettlingRow, 'canary'> & {
    readonly account_id: AccountId
    readonly captureTolerance: number
    readonly wasInDoubt: number
  }

const WAITING = `
    SELECT ${OPEN_ROW}, i.ever_in_doubt AS "wasInDoubt", b.canary_rows AS canary, b.capture_tolerance AS "captureTolerance"
    FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.id = :rowId AND i.state = 'READY' AND i.attempt = :attempt`

const ASKED = `
    SELECT order_key AS "orderKey", amount_minor AS "amountMinor", coalesce(ltrim(vault_id, '0'), '') AS "vaultId"
    FROM instruction WHERE id = :rowId`

interface Asked {
  readonly orderKey: string | null
  readonly amountMinor: bigint | null
  readonly vaultId: string
}

const CANCEL = `
    UPDATE instruction SET state = 'CANCELLED', completed_at = :nowMs, reason = :reason, warning = :warning WHERE id = :id AND state = 'READY'`

/** Cancels the row where it no longer fits. Returns whether it did. */
export function* cancelMisfit(book: Book, waiting: Waiting): Script<boolean> {
  const misfit = yield* findMisfit(waiting)
  if (misfit === null) return false
  const { row, reason } = misfit
  const warning = warningWhenCancelled(row.warning, row.wasInDoubt === 1)
  yield* change(CANCEL, { nowMs: waiting.nowMs, reason, warning, id: row.id })
  yield* book.move(row, 'CANCELLED', 'order', { attempt: row.attempt, atMs: waiting.nowMs, reason })
  yield* endCanary(row, waiting.nowMs)
  return true
}

const NO_LONGER_FITS = 'not sent, because it does not fit what is recorded of its order by now'

/** By the tolerance with which it was handed in. null: it fits, or waits no more. */
export function* findMisfit({
  rowId,
  attempt,
  reasonRules,
  nowMs,
}: Waiting): Script<{ row: WaitingRow; reason: string } | null> {
  const row = yield* one<WaitingRow>(WAITING, { rowId, attempt })
  if (row === undefined) return null
  const { orderKey, amountMinor, vaultId } = (yield* oneExact<Asked>(ASKED, { rowId }))!
  if (orderKey === null) {
    const events = yield* all<CardEvent>(CARD_EVENTS, { account: row.account_id, vaultId })
    const reason = whyForbidden(events, reasonRules, nowMs)
    return reason === null ? null : { row, reason }
  }
  const asked = { operation: row.operation as Operation, orderKey, amountMinor, currency: row.currency }
  const verdict = yield* executedVerdictOn(row.account_id, asked, row)
  return verdict === 'fits' || verdict.kind === 'asked'
    ? null
    : { row, reason: `${NO_LONGER_FITS}: ${verdict.problem}` }
}

/** The affinity of a bare column would keep SQLite from its index. */
const ANSWERED_AS = `FROM instruction o WHERE o.account_id = i.account_id AND ltrim(o.answered_order_id, '0') = (i.order_key || '')
    AND o.answered_order_id IS NOT NULL`

/** Whether row `i` charges a card that was declined before: how often, and why, is judged before it is claimed. */
const WAS_DECLINED = `(i.order_key IS NULL AND i.vault_id IS NOT NULL AND i.operation IN ('CAPTURE', 'AUTH') AND EXISTS (
  SELECT 1 FROM instruction c WHERE c.account_id = i.account_id AND ltrim(c.vault_id, '0') = ltrim(i.vault_id, '0')
    AND ${IS_CARD_EVENT} AND c.state = 'DECLINED'))`

/** Whether another row `o` of the order of row `i` was executed or may be, its sale and authorization included: then it is judged before it is claimed. */
const SHARES_ORDER = `(i.order_key IS NOT NULL AND (
  EXISTS (SELECT 1 FROM instruction o WHERE o.account_id = i.account_id AND o.order_key = i.order_key AND o.order_key IS NOT NULL
    AND o.id <> i.id AND (o.state IN (${listOf(ORDER_MOVED_IN)}) OR o.money_warning = 1))
  OR EXISTS (SELECT 1 ${ANSWERED_AS} AND o.operation IN (${listOf(SALES)}) AND o.state = 'APPROVED')
  OR EXISTS (SELECT 1 ${ANSWERED_AS} AND o.operation = 'AUTH' AND o.state = 'APPROVED')))`

/** What must be held against the record once more before it is claimed. */
export const IS_JUDGED_FIRST = `(${SHARES_ORDER} OR ${WAS_DECLINED})`
