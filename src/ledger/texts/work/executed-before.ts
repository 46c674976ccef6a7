// An instruction that waits to be sent although an earlier attempt is known to be executed: a person had judged that attempt, and
// it was answered APPROVED after all. Sent again, it would move the money twice.

import { executedBeforeReason } from '../../rules/unanswered.ts'
import { EXECUTED } from '../conditions.ts'
import type { Book } from '../record/book.ts'
import { change, one, type Script } from '../script.ts'
import type { OpenRow, SettlingRow } from './open-rows.ts'
import { endCanary } from './pausing.ts'

type WaitingRow = Pick<OpenRow, 'id' | 'state' | 'attempt' | 'operation' | 'currency' | 'amount_minor'> &
  Pick<SettlingRow, 'batch_id' | 'account_id' | 'canary'> & { readonly warning: string }

const WAITING = `
    SELECT i.id, i.batch_id, i.account_id, i.state, i.attempt, i.operation, i.currency, i.amount_minor, b.canary_rows AS canary, e.warning
    FROM instruction r JOIN instruction i ON i.account_id = r.account_id AND i.reference = r.reference AND i.holds_reference = 1
      JOIN instruction e ON ${EXECUTED} JOIN batch b ON b.id = i.batch_id
    WHERE r.id = :rowId AND i.state = 'READY' LIMIT 1`

const DOUBT = `
    UPDATE instruction SET state = 'IN_DOUBT', ever_in_doubt = 1, completed_at = :atMs, reason = :reason
    WHERE id = :id AND state = 'READY'`

/** Brings into doubt whatever waits under the reference of that row, if it was executed before. Answers with its id; null: nothing was stopped. */
export function* stopExecuted(book: Book, rowId: number, atMs: number): Script<number | null> {
  const row = yield* one<WaitingRow>(WAITING, { rowId })
  if (row === undefined) return null
  const { id, attempt } = row
  const reason = executedBeforeReason(row.warning)
  yield* change(DOUBT, { atMs, reason, id })
  yield* book.move(row, 'IN_DOUBT', 'executed', { attempt, atMs, reason })
  yield* endCanary(row, atMs)
  return id
}
