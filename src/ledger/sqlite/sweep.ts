// Rows that were being sent when their worker was lost: they may have been executed, so they come into doubt.

import type { DatabaseSync } from 'node:sqlite'
import type { RowId } from '../../domain/ids.ts'
import type { WorkLedger } from '../../ports/ledger/work.ts'
import { WORKER_ENDED } from '../rules/pausing.ts'
import { forgottenReason, sweptReason } from '../rules/unanswered.ts'
import type { Committer } from './commit.ts'
import { findRows } from './found.ts'
import { type RecordMove, ROWS_PER_STEP, type SettlingRow, stepwise } from './moves.ts'
import { prepareCanaryEnd, prepareDoubtCount } from './pauses.ts'

interface SendingRow extends Omit<SettlingRow, 'max_declined'> {
  readonly claimedAtMs: number
}

export function prepareSweeping(
  db: DatabaseSync,
  committer: Committer,
  record: RecordMove,
): Pick<WorkLedger, 'sweep' | 'sweepForgotten'> {
  const sending = (where: string) =>
    db.prepare(`
      SELECT i.id, i.batch_id, i.account_id, i.state, i.attempt, i.operation, i.currency, i.amount_minor, i.warning, b.hold, i.row_no,
        b.canary_rows AS canary, i.claimed_at AS claimedAtMs
      FROM instruction i JOIN batch b ON b.id = i.batch_id WHERE i.state = 'SENDING' ${where}`)
  const anySending = sending(`LIMIT ${ROWS_PER_STEP}`)
  const overdue = sending('AND i.answer_by < ?')
  const doubt = db.prepare(`
    UPDATE instruction SET state = 'IN_DOUBT', ever_in_doubt = 1, completed_at = ?, sent_at = NULL, reason = ? WHERE id = ?`)

  const endCanary = prepareCanaryEnd(db)
  const countDoubt = prepareDoubtCount(db)

  function bringIntoDoubt(
    rows: readonly SendingRow[],
    nowMs: number,
    reasonOf: (claimedAtMs: number) => string,
  ): number {
    for (const row of rows) {
      const reason = reasonOf(row.claimedAtMs)
      doubt.run(nowMs, reason, row.id)
      record(row, 'IN_DOUBT', 'sweep', { attempt: row.attempt, atMs: nowMs, reason })
      endCanary(row, nowMs)
    }
    // Once, however many were open: one power cut needs no person, a worker that ends again and again does.
    for (const accountId of new Set(rows.map((row) => row.account_id))) countDoubt(accountId, nowMs, WORKER_ENDED)
    return rows.length
  }

  return {
    sweep: (nowMs) => stepwise(committer, () => bringIntoDoubt(findRows<SendingRow>(anySending), nowMs, sweptReason)),

    async sweepForgotten(nowMs, inFlight) {
      const isForgotten = ({ id }: SendingRow) => !inFlight.has(id as RowId)
      const find = () => findRows<SendingRow>(overdue, nowMs).filter(isForgotten)
      if (find().length === 0) return 0
      return committer.write(() => bringIntoDoubt(find(), nowMs, forgottenReason), { kind: 'kept' })
    },
  }
}
