// Rows that may have been executed: the worklist, and what a person found out about one of them.

import type { DatabaseSync } from 'node:sqlite'
import type { Actor } from '../../domain/actor.ts'
import type { Hold } from '../../domain/batch.ts'
import type { DoubtRow, Resolution, Resolved } from '../../domain/doubt.ts'
import type { AccountId, BatchId } from '../../domain/ids.ts'
import { backsOff, stateOfFinding } from '../../domain/resolution.ts'
import { resultStatusOf, type State } from '../../domain/states.ts'
import type { DoubtLedger } from '../../ports/ledger/doubts.ts'
import { isSameTransaction, NO_FACTS } from '../rules/settling.ts'
import { byOf, LAST_RESTORED_AT } from './acts.ts'
import type { Committer } from './commit.ts'
import type { RecordMove } from './moves.ts'
import { openOddReferences } from './odd-references.ts'
import { answeredBy } from './recorded.ts'
import { fromColumns, type InstructionColumns, sameTransactionIn } from './rows.ts'
import type { Counted } from './tally.ts'

/**
 * When the request of row `i` may have left at the latest. Of one whose process died nobody saw the first byte: it left
 * before its send-by, or before the row was found. Of one that was in doubt already when an older state of the ledger was
 * put back, nobody knows whether a person had it sent again in what was lost.
 */
const LEFT_BY = `max(
  coalesce(i.sent_at, min(i.send_by, i.completed_at), i.completed_at, 0),
  coalesce(${LAST_RESTORED_AT}, 0))`

export function openDoubts(db: DatabaseSync, committer: Committer, record: RecordMove): DoubtLedger {
  const resolve = openResolving(db, record)
  return {
    doubts: async () => doubtsIn(db),
    resolve: (resolution, actor, nowMs) =>
      committer.write(() => resolve(resolution, actor, nowMs), { kind: 'faulting' }),
  }
}

function doubtsIn(db: DatabaseSync): DoubtRow[] {
  const rows = db
    .prepare(`
      SELECT i.batch_id AS batchId, i.row_no AS rowNo, a.name AS merchant, i.attempt, i.sent_at AS sentAtMs,
        i.claimed_at AS claimedAtMs, ${LEFT_BY} AS leftByMs, a.doubt_rest AS restMs, i.reason, i.reference, i.operation, i.amount_minor, i.currency,
        i.order_id, i.order_key, i.vault_id, i.xtl_order_id, i.save_card, i.details, i.execute_at, i.content, i.lookalike,
        (SELECT count(*) FROM instruction w WHERE w.account_id = i.account_id AND w.order_key = i.order_key
          AND w.order_key IS NOT NULL AND w.state = 'READY') AS holdsUp
      FROM instruction i JOIN account a ON a.id = i.account_id
      WHERE i.state = 'IN_DOUBT' ORDER BY i.id`)
    .all() as unknown as Array<Omit<DoubtRow, 'instruction'> & InstructionColumns>
  return rows.map((row) => ({
    batchId: row.batchId,
    rowNo: row.rowNo,
    merchant: row.merchant,
    attempt: row.attempt,
    sentAtMs: row.sentAtMs,
    claimedAtMs: row.claimedAtMs,
    leftByMs: row.leftByMs,
    restMs: row.restMs,
    holdsUp: row.holdsUp,
    reason: row.reason,
    instruction: fromColumns(row),
  }))
}

interface FoundRow extends Counted {
  readonly id: number
  readonly account_id: AccountId
  readonly merchant: string
  readonly row_no: number
  readonly state: State
  readonly attempt: number
  readonly leftByMs: number
  /** As the worker that sent it said. */
  readonly restMs: number
  readonly hold: Hold
  readonly transaction_id: string | null
  readonly execute_at: number | null
}

type Refusal = Extract<Resolved, { kind: 'refused' }>

function openResolving(
  db: DatabaseSync,
  record: RecordMove,
): (resolution: Resolution, actor: Actor, nowMs: number) => Resolved {
  const byReference = db.prepare(`
    SELECT i.id, i.batch_id, i.account_id, a.name AS merchant, i.row_no, i.state, i.attempt, ${LEFT_BY} AS leftByMs, a.doubt_rest AS restMs, b.hold,
      i.operation, i.currency, i.amount_minor, i.transaction_id, i.execute_at
    FROM instruction i JOIN batch b ON b.id = i.batch_id JOIN account a ON a.id = i.account_id
    WHERE i.reference = ?1 AND i.state NOT IN ('INVALID', 'DUPLICATE') AND b.stage = 'open' AND (?2 IS NULL OR a.name = ?2)
      AND (i.holds_reference = 1 OR i.state = 'IN_DOUBT')`)
  // What the answer in doubt said stays in the history: beside what a person found it could be of another request.
  const move = db.prepare(`
    UPDATE instruction SET state = ?, reason = ?, transaction_id = ?, completed_at = ?, due_at = ?, answered_order_id = NULL,
      answered_record_id = NULL, answered_amount = NULL, answered_currency = NULL, answered_vault_id = NULL,
      answered_xtl_order_id = NULL
    WHERE id = ? AND state = 'IN_DOUBT' AND attempt = ?`)
  // A person has looked at this one. What is held stays so until they resume it.
  const looked = db.prepare('UPDATE account SET new_doubts = max(0, new_doubts - 1) WHERE id = ?')
  const transactionTaken = sameTransactionIn(db)
  const oddReference = openOddReferences(db)

  /** The one row the person means; or why there is none. */
  function find({ reference, merchant }: Resolution): FoundRow | Refusal {
    const exact = byReference.all(reference, merchant)
    const odd = exact.length === 0 ? oddReference(reference, null) : null
    const all = (odd === null ? exact : byReference.all(odd, merchant)) as unknown as FoundRow[]
    const doubts = all.filter(({ state }) => state === 'IN_DOUBT')
    const rows = doubts.length > 0 ? doubts : all
    const [row, other] = rows
    if (row === undefined) {
      const at = merchant === null ? '' : ` of merchant ${merchant}`
      return refused(
        'unknown',
        `There is no instruction "${reference}"${at} in this ledger. See: tranche in-doubt list`,
      )
    }
    if (other === undefined) return row
    const names = rows.map((one) => one.merchant).join(', ')
    return refused(
      'ambiguous',
      `"${reference}" is an instruction of several merchants (${names}): name one with --merchant`,
    )
  }

  return (resolution, actor, nowMs) => {
    const row = find(resolution)
    if ('kind' in row) return row
    const another = notTheOneShown(row, resolution)
    if (another !== null) return another
    const batchId = row.batch_id as BatchId
    const to = stateOfFinding(resolution.finding)
    const { transactionId } = resolution
    if (row.state !== 'IN_DOUBT') {
      const agrees = transactionId === null || isSameTransaction(row.transaction_id, transactionId)
      if (row.state === to && agrees) return { kind: 'already', batchId, rowNo: row.row_no, state: row.state }
      return refused(
        'not-in-doubt',
        `${nameOf(row, resolution)} is not in doubt: it is ${resultStatusOf(row.state)}. See: tranche history ${resolution.reference}`,
      )
    }
    const refusal = whyNot(row, resolution, nowMs) ?? takenBy(row, transactionId)
    if (refusal !== null) return refusal
    const reason = `${resolution.finding} by ${byOf(actor)}: ${resolution.reason}`
    const due = Math.max(nowMs, row.execute_at ?? 0)
    const changed = move.run(
      to,
      to === 'READY' ? null : reason,
      transactionId,
      to === 'READY' ? null : nowMs,
      due,
      row.id,
      row.attempt,
    )
    if (changed.changes !== 1) return refused('not-in-doubt', `${nameOf(row, resolution)} has just moved on`)
    looked.run(row.account_id)
    const answered = answeredBy({ ...NO_FACTS, transactionId })
    record(row, to, 'resolve', { attempt: row.attempt, atMs: nowMs, actor, reason: resolution.reason, answered })
    return { kind: 'resolved', batchId, rowNo: row.row_no, state: to, hold: row.hold }
  }

  function takenBy(row: FoundRow, transactionId: string | null): Refusal | null {
    const other = transactionId === null ? undefined : transactionTaken(row.account_id, transactionId)
    if (other === undefined || other.id === row.id) return null
    return refused(
      'transaction-taken',
      `Transaction ${transactionId} settled ${other.reference} already (row ${other.row_no} of batch ${other.batch_id}). One transaction is one execution: look for the one of this row`,
    )
  }
}

/** A spreadsheet makes 12 of the reference 0012, and that may be the reference of another row in doubt. */
function notTheOneShown(found: FoundRow, { reference, row: shown }: Resolution): Refusal | null {
  if (shown === null || (shown.batchId === found.batch_id && shown.rowNo === found.row_no)) return null
  return refused(
    'other-row',
    `${nameOf(found, { reference })} is not row ${shown.rowNo} of batch ${shown.batchId}, which was looked up: a spreadsheet may have changed the reference. Name that one as tranche in-doubt list shows it`,
  )
}

function whyNot(row: FoundRow, { attempt, finding, restMs, ...resolution }: Resolution, nowMs: number): Refusal | null {
  const name = nameOf(row, resolution)
  if (attempt !== null && attempt !== row.attempt) {
    return refused(
      'other-attempt',
      `${name} is in doubt about attempt ${row.attempt}, not about ${attempt}: look it up again (tranche in-doubt list)`,
    )
  }
  if (attempt === null && row.attempt > 1 && backsOff(finding)) {
    return refused(
      'other-attempt',
      `${name} is in doubt about attempt ${row.attempt}, and what was found may be of an earlier one: look it up again, for the time that tranche in-doubt list shows, and add --attempt ${row.attempt}`,
    )
  }
  if (finding === 'send-again' && row.hold === 'cancelled') {
    return refused(
      'cancelled',
      `Batch ${row.batch_id} of ${name} was cancelled, so it is not sent again. Resolve it as not-executed; --retry can send it in another batch`,
    )
  }
  const restEndsMs = row.leftByMs + Math.max(restMs, row.restMs)
  if (backsOff(finding) && nowMs < restEndsMs) {
    return refused(
      'too-early',
      `The request of ${name} left at ${isoOf(row.leftByMs)} at the latest and may still be executed: it can be called ${finding} from ${isoOf(restEndsMs)} on. Look again then`,
    )
  }
  return null
}

function refused(why: Refusal['why'], reason: string): Refusal {
  return { kind: 'refused', why, reason }
}

function nameOf(row: FoundRow, { reference }: Pick<Resolution, 'reference'>): string {
  return `${reference} (row ${row.row_no} of batch ${row.batch_id})`
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
