// A row that waits and no longer fits what is recorded of its order: since it was handed in, another row of the order came to count.

import type { AccountId } from '../../../domain/ids.ts'
import type { Operation } from '../../../domain/instruction.ts'
import type { Misfit } from '../../../ports/ledger/work.ts'
import { misfitReason } from '../../rules/order-book.ts'
import { type Engine, KEPT } from '../engine.ts'
import type { Book } from '../record/book.ts'
import { executedVerdictOn } from '../review/order-book.ts'
import { change, one, oneExact, type Script } from '../script.ts'
import { OPEN_ROW, type OpenRow, type SettlingRow } from './open-rows.ts'
import { endCanary } from './pausing.ts'

type WaitingRow = OpenRow & Pick<SettlingRow, 'canary'> & { readonly account_id: AccountId }

const WAITING = `
    SELECT ${OPEN_ROW}, b.canary_rows AS canary FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.id = :rowId AND i.state = 'READY' AND i.attempt = :attempt`

const ASKED = 'SELECT order_key AS "orderKey", amount_minor AS "amountMinor" FROM instruction WHERE id = :rowId'

const CANCEL = `
    UPDATE instruction SET state = 'CANCELLED', completed_at = :nowMs, reason = :reason WHERE id = :id AND state = 'READY'`

/** Most rows fit, and looking takes no lock. */
export async function cancelMisfit(engine: Engine, misfit: Misfit): Promise<boolean> {
  if ((await engine.read(() => whyMisfit(misfit))) === null) return false
  return await engine.write((book) => cancel(book, misfit), KEPT)
}

function* cancel(book: Book, misfit: Misfit): Script<boolean> {
  const found = yield* whyMisfit(misfit)
  if (found === null) return false
  const { row, reason } = found
  yield* change(CANCEL, { nowMs: misfit.nowMs, reason, id: row.id })
  yield* book.move(row, 'CANCELLED', 'order', { attempt: row.attempt, atMs: misfit.nowMs, reason })
  yield* endCanary(row, misfit.nowMs)
  return true
}

/** null: it fits, or waits no more. */
function* whyMisfit({ rowId, attempt, captureTolerance }: Misfit): Script<{ row: WaitingRow; reason: string } | null> {
  const row = yield* one<WaitingRow>(WAITING, { rowId, attempt })
  if (row === undefined) return null
  const { orderKey, amountMinor } = (yield* oneExact<{ orderKey: string; amountMinor: bigint | null }>(ASKED, {
    rowId,
  }))!
  const asked = { operation: row.operation as Operation, orderKey, amountMinor, currency: row.currency }
  const verdict = yield* executedVerdictOn(row.account_id, asked, { captureTolerance })
  return verdict === 'fits' || verdict.kind === 'asked' ? null : { row, reason: misfitReason(verdict) }
}

/** Whether another row `o` of the order of row `i` was executed or may be. */
export const SHARES_ORDER = `CASE WHEN i.order_key IS NOT NULL AND EXISTS (
  SELECT 1 FROM instruction o WHERE o.account_id = i.account_id AND o.order_key = i.order_key AND o.order_key IS NOT NULL
    AND o.id <> i.id AND (o.state IN ('SENDING', 'IN_DOUBT', 'APPROVED') OR o.money_warning = 1)) THEN 1 ELSE 0 END`
