// Proposals to send a row again that nobody decided on: each goes with an act that says why, in the transaction that takes it away.

import { PROPOSAL_LIVES_MS } from '../../../domain/doubt.ts'
import type { BatchId } from '../../../domain/ids.ts'
import { recordAct } from '../record/acts.ts'
import { all, change, type Script, type Values } from '../script.ts'

/** Before another one is made of the row, as it was sent again since or nobody confirmed the earlier one in time. */
export function* fallBefore(row: { readonly id: number; readonly attempt: number }, nowMs: number): Script<void> {
  const values = { id: row.id, attempt: row.attempt, since: nowMs - PROPOSAL_LIVES_MS }
  const which = 'p.row_id = :id AND (p.attempt <> :attempt OR p.at <= :since)'
  yield* fall(which, values, 'the row has been sent again since', nowMs)
}

/** Its doubt is over. */
export function* fallOfRow(id: number, nowMs: number): Script<void> {
  yield* fall('p.row_id = :id', { id }, 'the row was resolved otherwise', nowMs)
}

/** `identity`: of whoever made them. */
export function* fallOfProposer(identity: string, nowMs: number): Script<void> {
  yield* fall('p.identity = :identity', { identity }, 'what its proposer may do here was changed', nowMs)
}

/** `accountId` null: of all accounts. */
export function* fallOfAccount(accountId: number | null, nowMs: number): Script<void> {
  const why =
    accountId === null ? 'an older state of the ledger was adopted' : 'the merchant was moved to another gateway'
  yield* fall('b.account_id = coalesce(:accountId, b.account_id)', { accountId }, why, nowMs)
}

/** Nobody decided on them: the log says why each of them is gone, in the transaction that takes it away. */
function* fall(which: string, values: Values, why: string, nowMs: number): Script<void> {
  const found = yield* all<Falling>(`${FALLING} WHERE ${which} ORDER BY p.row_id`, values)
  for (const { id, batchId, accountId, row, attempt, by, atMs } of found) {
    yield* change('DELETE FROM proposal WHERE row_id = :id', { id })
    const reason = atMs <= nowMs - PROPOSAL_LIVES_MS ? 'nobody confirmed it in time' : why
    const details = { row, attempt, proposed_by: by }
    yield* recordAct({ what: 'fall-send-again', atMs: nowMs, actor: null, batchId, accountId, reason, details })
  }
}

const FALLING = `
    SELECT p.row_id AS id, p.batch_id AS "batchId", b.account_id AS "accountId", i.row_no AS row, p.attempt, p.by, p.at AS "atMs"
    FROM proposal p JOIN instruction i ON i.id = p.row_id JOIN batch b ON b.id = i.batch_id`

interface Falling {
  readonly id: number
  readonly batchId: BatchId
  readonly accountId: number
  readonly row: number
  readonly attempt: number
  readonly by: string
  readonly atMs: number
}
