// An instruction that waits to be sent although an earlier attempt is known to be executed: a person had judged that attempt, and
// it was answered APPROVED after all. Sent again, it would move the money twice.

import type { DatabaseSync } from 'node:sqlite'
import { executedBeforeReason } from '../rules/unanswered.ts'
import { EXECUTED } from '../texts/conditions.ts'
import { findRow } from './found.ts'
import type { OpenRow, RecordMove, SettlingRow } from './moves.ts'
import { prepareCanaryEnd } from './pauses.ts'

type WaitingRow = Pick<OpenRow, 'id' | 'state' | 'attempt' | 'operation' | 'currency' | 'amount_minor'> &
  Pick<SettlingRow, 'batch_id' | 'account_id' | 'canary'> & { readonly warning: string }

/** Brings into doubt whatever waits under the reference of that row, if it was executed before. Answers with its id; null: nothing was stopped. */
export function prepareStopping(db: DatabaseSync, record: RecordMove): (rowId: number, atMs: number) => number | null {
  const waiting = db.prepare(`
    SELECT i.id, i.batch_id, i.account_id, i.state, i.attempt, i.operation, i.currency, i.amount_minor, b.canary_rows AS canary, e.warning
    FROM instruction r JOIN instruction i ON i.account_id = r.account_id AND i.reference = r.reference AND i.holds_reference = 1
      JOIN instruction e ON ${EXECUTED} JOIN batch b ON b.id = i.batch_id
    WHERE r.id = ? AND i.state = 'READY' LIMIT 1`)
  const doubt = db.prepare(
    "UPDATE instruction SET state = 'IN_DOUBT', ever_in_doubt = 1, completed_at = ?, reason = ? WHERE id = ? AND state = 'READY'",
  )
  const endCanary = prepareCanaryEnd(db)
  return (rowId, atMs) => {
    const row = findRow<WaitingRow>(waiting, rowId)
    if (row === undefined) return null
    const reason = executedBeforeReason(row.warning)
    doubt.run(atMs, reason, row.id)
    record(row, 'IN_DOUBT', 'executed', { attempt: row.attempt, atMs, reason })
    endCanary(row, atMs)
    return row.id
  }
}
