// Proposals to send a row again that lapse undecided: an act says why each is gone, in the transaction that takes it away.

import { PROPOSAL_LIVES_MS } from '../../../domain/doubt.ts'
import type { BatchId } from '../../../domain/ids.ts'
import { recordAct } from '../record/acts.ts'
import { all, change, type Script, type Values } from '../script.ts'

/** Before another is made for the row: it was sent again since, or the earlier one was not confirmed in time. */
export function* lapseBefore(row: { readonly id: number; readonly attempt: number }, nowMs: number): Script<void> {
  const values = { id: row.id, attempt: row.attempt, since: nowMs - PROPOSAL_LIVES_MS }
  const which = 'p.row_id = :id AND (p.attempt <> :attempt OR p.at <= :since)'
  yield* lapse(which, values, 'the row has been sent again since', nowMs)
}

/** Its doubt is over. */
export function* lapseOfRow(id: number, nowMs: number): Script<void> {
  yield* lapse('p.row_id = :id', { id }, 'the row was resolved otherwise', nowMs)
}

/** `identity`: of their proposer. */
export function* lapseOfProposer(identity: string, nowMs: number): Script<void> {
  yield* lapse('p.identity = :identity', { identity }, 'what its proposer may do here was changed', nowMs)
}

/** `accountId` null: of all accounts. */
export function* lapseOfAccount(accountId: number | null, nowMs: number): Script<void> {
  const why =
    accountId === null ? 'an older state of the ledger was adopted' : 'the merchant was moved to another gateway'
  yield* lapse('b.account_id = coalesce(:accountId, b.account_id)', { accountId }, why, nowMs)
}

/** `why`: kept in the log. */
function* lapse(which: string, values: Values, why: string, nowMs: number): Script<void> {
  const found = yield* all<Lapsing>(`${LAPSING} WHERE ${which} ORDER BY p.row_id`, values)
  for (const { id, batchId, accountId, row, attempt, by, atMs } of found) {
    yield* change('DELETE FROM proposal WHERE row_id = :id', { id })
    const reason = atMs <= nowMs - PROPOSAL_LIVES_MS ? 'it was not confirmed in time' : why
    const details = { row, attempt, proposed_by: by }
    yield* recordAct({ what: 'lapse-send-again', atMs: nowMs, actor: null, batchId, accountId, reason, details })
  }
}

const LAPSING = `
    SELECT p.row_id AS id, p.batch_id AS "batchId", b.account_id AS "accountId", i.row_no AS row, p.attempt, p.by, p.at AS "atMs"
    FROM proposal p JOIN instruction i ON i.id = p.row_id JOIN batch b ON b.id = i.batch_id`

interface Lapsing {
  readonly id: number
  readonly batchId: BatchId
  readonly accountId: number
  readonly row: number
  readonly attempt: number
  readonly by: string
  readonly atMs: number
}
