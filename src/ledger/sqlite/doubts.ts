// Rows that may have been executed: the worklist, and what a person found out about one of them.

import type { DatabaseSync } from 'node:sqlite'
import type { Actor } from '../../domain/actor.ts'
import type { DoubtRow, Resolution, Resolved } from '../../domain/doubt.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { DoubtLedger } from '../../ports/ledger/doubts.ts'
import {
  movedMeanwhile,
  type Refusal,
  type RowToResolve,
  resolvingStep,
  rowFound,
  rowMeant,
  type SettledRow,
} from '../rules/resolving.ts'
import { NO_FACTS } from '../rules/settling.ts'
import { LAST_RESTORED_AT } from '../texts/conditions.ts'
import { preparePausingAlike } from './alike-waiting.ts'
import type { Committer } from './commit.ts'
import { findRows } from './found.ts'
import type { RecordMove } from './moves.ts'
import { prepareNamed } from './named.ts'
import { prepareOddReferences } from './odd-references.ts'
import { answeredBy } from './recorded.ts'
import { fromColumns, type InstructionColumns, sameTransactionIn } from './rows.ts'
import type { Counted } from './tally.ts'

/**
 * When the request of row `i` may have left at the latest. If its process died, the first byte was not seen: it left
 * before its send-by, or before the row was found. Of one that was in doubt already when an older state of the ledger was
 * put back, it is unknown whether a person had it sent again in what was lost.
 */
const LEFT_BY = `max(
  coalesce(i.sent_at, min(i.send_by, i.completed_at), i.completed_at, 0),
  coalesce(${LAST_RESTORED_AT}, 0))`

/** By how much the wall clock was set forward since that row came into doubt. */
type SetForward = (rowId: number) => number

export function prepareDoubts(
  db: DatabaseSync,
  committer: Committer,
  record: RecordMove,
  setForward: SetForward,
): DoubtLedger {
  const resolve = prepareResolving(db, record, setForward)
  return {
    doubts: async () => doubtsIn(db, setForward),
    resolve: (resolution, actor, nowMs) =>
      committer.write(() => resolve(resolution, actor, nowMs), { kind: 'faulting' }),
  }
}

function doubtsIn(db: DatabaseSync, setForward: SetForward): DoubtRow[] {
  const inDoubt = db.prepare(`
      SELECT i.id, i.batch_id AS batchId, i.row_no AS rowNo, a.name AS merchant, i.attempt, i.sent_at AS sentAtMs,
        i.claimed_at AS claimedAtMs, ${LEFT_BY} AS leftByMs, a.doubt_rest AS restMs, i.reason, i.reference, i.operation, i.amount_minor, i.currency,
        i.order_id, i.order_key, i.vault_id, i.card, i.xtl_order_id, i.save_card, i.details, i.execute_at, i.content, i.lookalike,
        (SELECT count(*) FROM instruction w WHERE w.account_id = i.account_id AND w.order_key = i.order_key
          AND w.order_key IS NOT NULL AND w.state = 'READY') AS holdsUp
      FROM instruction i JOIN account a ON a.id = i.account_id
      WHERE i.state = 'IN_DOUBT' ORDER BY i.id`)
  return findRows<Omit<DoubtRow, 'instruction'> & InstructionColumns & { id: number }>(inDoubt).map((row) => ({
    batchId: row.batchId,
    rowNo: row.rowNo,
    merchant: row.merchant,
    attempt: row.attempt,
    sentAtMs: row.sentAtMs,
    claimedAtMs: row.claimedAtMs,
    leftByMs: row.leftByMs + setForward(row.id),
    restMs: row.restMs,
    holdsUp: row.holdsUp,
    reason: row.reason,
    instruction: fromColumns(row),
  }))
}

/** A row as the move of it needs it, and as the rules do. */
interface FoundRow extends Counted, Omit<RowToResolve, 'lastCauseBefore'> {
  readonly id: number
  readonly account_id: AccountId
  readonly supersedes: number | null
}

const FOUND_ROW = `
    SELECT i.id, i.batch_id, i.batch_id AS batchId, i.account_id, a.name AS merchant, i.row_no AS rowNo, i.state, i.attempt,
      i.claimed_at AS claimedAtMs, ${LAST_RESTORED_AT} AS restoredAtMs, ${LEFT_BY} AS leftByMs, a.doubt_rest AS restMs, b.hold, i.operation, i.currency, i.amount_minor,
      i.transaction_id AS transactionId, i.execute_at AS executeAtMs, i.money_warning AS moneyWarning, i.supersedes,
      ${lastCauseOf('i.id')} AS lastCause,
      EXISTS (SELECT 1 FROM move m WHERE m.row_id = i.id AND m.cause = 'resolve') AS wasJudged
    FROM instruction i JOIN batch b ON b.id = i.batch_id JOIN account a ON a.id = i.account_id`

function lastCauseOf(row: string): string {
  return `(SELECT m.cause FROM move m WHERE m.row_id = ${row} ORDER BY m.id DESC LIMIT 1)`
}

function prepareResolving(
  db: DatabaseSync,
  record: RecordMove,
  setForward: SetForward,
): (resolution: Resolution, actor: Actor, nowMs: number) => Resolved {
  const byReference = db.prepare(`${FOUND_ROW}
    WHERE i.reference = ?1 AND i.state NOT IN ('INVALID', 'DUPLICATE') AND b.stage = 'open' AND (?2 IS NULL OR a.name = ?2)
      AND (i.holds_reference = 1 OR i.state = 'IN_DOUBT')`)
  const withRetried = db.prepare(`
    WITH RECURSIVE retried (id) AS (
      SELECT ?1 UNION SELECT r.supersedes FROM retried JOIN instruction r ON r.id = retried.id WHERE r.supersedes IS NOT NULL)
    ${FOUND_ROW} WHERE i.id IN (SELECT id FROM retried) ORDER BY i.id DESC`)
  const handBack = prepareHandingBack(db)
  // What the answer in doubt said stays in the history: beside what a person found it could be of another request.
  const move = prepareNamed(
    db,
    `UPDATE instruction SET state = :to, reason = :reason, transaction_id = :transactionId, completed_at = :completedAtMs,
      due_at = :dueAtMs, answered_order_id = NULL, answered_record_id = NULL, answered_amount = NULL,
      answered_currency = NULL, answered_vault_id = NULL, answered_xtl_order_id = NULL, answered_customer_id = NULL, answered_card = NULL
    WHERE id = :id AND state = :from AND attempt = :attempt`,
  )
  // A person has looked at this one. What is held stays so until they resume it.
  const looked = db.prepare('UPDATE account SET new_doubts = max(0, new_doubts - 1) WHERE id = ?')
  const pauseAlike = preparePausingAlike(db)
  const settledBy = sameTransactionIn(db)
  const oddReference = prepareOddReferences(db)

  function find(resolution: Resolution): FoundRow | Refusal {
    const { reference, merchant } = resolution
    const exact = findRows<FoundRow>(byReference, reference, merchant)
    const odd = exact.length === 0 ? oddReference(reference, null) : null
    return rowMeant(odd === null ? exact : findRows<FoundRow>(byReference, odd, merchant), resolution)
  }

  /** Itself, and then the rows that it was to run again. */
  function retriedBy({ id }: FoundRow): readonly [FoundRow, ...FoundRow[]] {
    return findRows<FoundRow>(withRetried, id) as [FoundRow, ...FoundRow[]]
  }

  function takenBy(row: FoundRow, transactionId: string | null): SettledRow | null {
    const other = transactionId === null ? undefined : settledBy(row.account_id, transactionId)
    return other === undefined || other.id === row.id ? null : other
  }

  return (resolution, actor, nowMs) => {
    const holder = find(resolution)
    if ('kind' in holder) return holder
    const [, ...before] = retriedBy(holder)
    const found = holder.state === 'CANCELLED' ? rowFound([holder, ...before]) : holder
    const lastCauseBefore = lastCauseOfFound(before)
    const row = { ...found, lastCauseBefore, leftByMs: found.leftByMs + setForward(found.id) } // as the clock tells it now
    const { transactionId, reason } = resolution
    const step = resolvingStep(row, resolution, { taken: takenBy(row, transactionId), actor, nowMs })
    if (step.kind !== 'move') return step
    const { id, attempt, batchId, rowNo, hold } = row
    const { kind: _, ...values } = step
    if (move({ ...values, from: row.state, transactionId, id, attempt }).changes !== 1)
      return movedMeanwhile(row, resolution)
    if (row.state === 'IN_DOUBT') looked.run(row.account_id)
    if (id !== holder.id) handBack(holder.id, id)
    const answered = answeredBy({ ...NO_FACTS, transactionId })
    record(row, step.to, 'resolve', { attempt, atMs: nowMs, actor, reason, answered })
    // A row in doubt counted all along: a row like it was asked about when it came.
    const cameToCount = row.state !== 'IN_DOUBT' && step.to === 'APPROVED'
    return { kind: 'resolved', batchId, rowNo, state: step.to, hold, paused: cameToCount ? pauseAlike(row, nowMs) : [] }
  }
}

/** null: there is none. */
function lastCauseOfFound([latest, ...earlier]: readonly FoundRow[]): RowToResolve['lastCauseBefore'] {
  return latest === undefined ? null : rowFound([latest, ...earlier]).lastCause
}

/** A cancelled retry gives the reference back to the row that it was to run again: under it nothing else can be sent. */
function prepareHandingBack(db: DatabaseSync): (from: number, to: number) => void {
  const letGo = db.prepare('UPDATE instruction SET holds_reference = 0 WHERE id = ?')
  const takeBack = db.prepare('UPDATE instruction SET holds_reference = 1 WHERE id = ?')
  return (from, to) => {
    letGo.run(from)
    takeBack.run(to)
  }
}
