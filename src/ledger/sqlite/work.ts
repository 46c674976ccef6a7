// Working off: which rows are due, claiming one, settling one.

import type { DatabaseSync } from 'node:sqlite'
import type { Actor } from '../../domain/actor.ts'
import { assert } from '../../domain/fault.ts'
import type { AccountId, BatchId, RowId } from '../../domain/ids.ts'
import type {
  Claim,
  ClaimAnswer,
  DueRow,
  Settled,
  Settlement,
  WorkableBatch,
  WorkLedger,
} from '../../ports/ledger/work.ts'
import { cancelledReason, warningWhenCancelled } from '../rules/unanswered.ts'
import { prepareActs } from './acts.ts'
import type { Committer, Timing } from './commit.ts'
import { findRow, findRows } from './found.ts'
import { type OpenRow, type RecordMove, ROWS_PER_STEP, type SettlingRow, stepwise } from './moves.ts'
import {
  formatHealth,
  fromColumns,
  INSTRUCTION_COLUMNS,
  type InstructionColumns,
  ORDER_IS_FREE,
  WITHIN_CANARY,
} from './rows.ts'
import { prepareSettling } from './settle.ts'
import type { Counted, Tally } from './tally.ts'

type ClaimedRow = Counted & { readonly id: number }

type LedgerPart = Pick<
  WorkLedger,
  'recordHealth' | 'keepDoubtRest' | 'finishCancelling' | 'workable' | 'dueRows' | 'claim' | 'settle' | 'stopAccount'
>

export interface WorkParts {
  readonly record: RecordMove
  readonly timing: Timing
}

export function prepareWork(
  db: DatabaseSync,
  committer: Committer,
  tally: Tally,
  { record, timing }: WorkParts,
): LedgerPart {
  const settling = prepareSettling(db, tally, record)
  const rowById = db.prepare(`
    SELECT i.id, i.batch_id, i.account_id, i.state, i.attempt, i.operation, i.currency, i.amount_minor, i.warning, b.hold, i.row_no,
      i.transaction_id AS transactionId, b.canary_rows AS canary, b.max_declined,
      CASE i.state WHEN 'SENDING' THEN 0 ELSE 'resolve' IS (SELECT m.cause FROM move m WHERE m.row_id = i.id ORDER BY m.id DESC LIMIT 1) END AS wasFound
    FROM instruction i JOIN batch b ON b.id = i.batch_id WHERE i.id = ?`)

  return {
    claim: prepareClaiming(db, committer, record, timing),
    ...prepareDueRows(db),
    ...prepareAccountKeeping(db, committer),

    settle(settlement: Settlement): Promise<Settled> {
      return committer.write(
        () => {
          const row = findRow<SettlingRow>(rowById, settlement.rowId)
          assert(row !== undefined, `settling row ${settlement.rowId}, which is not in the ledger`)
          return settling(row, settlement)
        },
        { kind: 'kept' },
      )
    },

    async finishCancelling(nowMs) {
      const next = db.prepare(
        "SELECT id FROM batch WHERE hold = 'cancelled' AND id IN (SELECT batch_id FROM tally WHERE state = 'READY' AND count > 0)",
      )
      let total = 0
      for (const { id } of next.all() as Array<{ id: string }>) {
        total += await cancelRows(db, committer, record, { batchId: id as BatchId, actor: null, nowMs })
      }
      return total
    },
  }
}

function prepareClaiming(
  db: DatabaseSync,
  committer: Committer,
  record: RecordMove,
  timing: Timing,
): (claim: Claim) => Promise<ClaimAnswer> {
  const claimRow = db.prepare(`
    UPDATE instruction AS i SET state = 'SENDING', attempt = attempt + 1, claimed_at = ?, send_by = ?, answer_by = ?
    WHERE id = ? AND state = 'READY' AND attempt = ? AND due_at <= ?
      AND EXISTS (
        SELECT 1 FROM batch b JOIN account a ON a.id = b.account_id
        WHERE b.id = i.batch_id AND b.stage = 'open' AND b.hold = 'none' AND a.stopped_reason IS NULL
          AND a.held_reason IS NULL AND ${WITHIN_CANARY})
      AND ${ORDER_IS_FREE}
    RETURNING id, batch_id, operation, currency, amount_minor`)
  return ({ rowId, attempt, nowMs, sendByMs, answerByMs }) =>
    committer.write<ClaimAnswer>(
      () => {
        const row = claimRow.get(nowMs, sendByMs, answerByMs, rowId, attempt, nowMs, nowMs) as ClaimedRow | undefined
        if (row === undefined) return { kind: 'not-free' }
        record({ ...row, state: 'READY' }, 'SENDING', 'claim', { attempt: attempt + 1, atMs: nowMs })
        return { kind: 'claimed', attempt: attempt + 1 }
      },
      {
        kind: 'refusable',
        refused: (why) => ({ kind: 'not-written', why }),
        giveUp: () => timing.nowMs() > sendByMs,
      },
    )
}

function prepareAccountKeeping(
  db: DatabaseSync,
  committer: Committer,
): Pick<WorkLedger, 'keepDoubtRest' | 'recordHealth' | 'stopAccount'> {
  const act = prepareActs(db)
  return {
    async keepDoubtRest(restMs) {
      const keep = db.prepare(`
        UPDATE account AS a SET doubt_rest = max(?, CASE
          WHEN EXISTS (SELECT 1 FROM instruction i WHERE i.state = 'IN_DOUBT' AND i.account_id = a.id) THEN doubt_rest ELSE 0 END)`)
      await committer.write(() => void keep.run(restMs), { kind: 'kept' })
    },

    async recordHealth(accountId, condition) {
      const text = condition === null ? null : formatHealth(condition)
      const say = db.prepare('UPDATE account SET condition = ? WHERE id = ?')
      await committer.write(() => void say.run(text, accountId), { kind: 'faulting' })
    },

    async stopAccount(accountId, reason, nowMs) {
      const stop = db.prepare('UPDATE account SET stopped_reason = ? WHERE id = ? AND stopped_reason IS NULL')
      await committer.write(
        () => {
          if (stop.run(reason, accountId).changes === 0) return
          act({ what: 'stop-account', atMs: nowMs, actor: null, accountId, reason })
        },
        { kind: 'kept' },
      )
    },
  }
}

/** READY rows of a cancelled batch become CANCELLED, a step at a time. `actor`: null where a worker finishes it. */
export function cancelRows(
  db: DatabaseSync,
  committer: Committer,
  record: RecordMove,
  { batchId, actor, nowMs }: { batchId: BatchId; actor: Actor | null; nowMs: number },
): Promise<number> {
  const ready = db.prepare(`
    SELECT i.id, i.batch_id, i.account_id, i.state, i.attempt, i.operation, i.currency, i.amount_minor, i.warning, b.hold, i.row_no,
      i.ever_in_doubt = 1 AS wasInDoubt, b.hold_reason AS why
    FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.batch_id = ? AND i.state = 'READY' AND b.hold = 'cancelled' LIMIT ${ROWS_PER_STEP}`)
  const cancel = db.prepare(`
    UPDATE instruction SET state = 'CANCELLED', completed_at = ?, reason = ?, warning = ? WHERE id = ? AND state = 'READY'`)
  return stepwise(committer, () => {
    const rows = findRows<OpenRow & { wasInDoubt: number; why: string | null }>(ready, batchId)
    for (const row of rows) {
      const reason = cancelledReason(row.why)
      cancel.run(nowMs, reason, warningWhenCancelled(row.warning, row.wasInDoubt === 1), row.id)
      record(row, 'CANCELLED', 'cancel', { attempt: row.attempt, atMs: nowMs, actor, reason })
    }
    return rows.length
  })
}

function prepareDueRows(db: DatabaseSync): Pick<WorkLedger, 'workable' | 'dueRows'> {
  const batches = db.prepare(`
    SELECT b.id AS batchId, b.account_id AS accountId,
      (SELECT count(*) FROM (SELECT 1 FROM instruction i WHERE i.batch_id = b.id AND i.state = 'READY' AND i.due_at <= ?1 LIMIT ?2)) AS due
    FROM batch b JOIN account a ON a.id = b.account_id
    WHERE b.id IN (SELECT batch_id FROM tally WHERE state = 'READY' AND count > 0)
      AND b.stage = 'open' AND b.hold = 'none' AND a.stopped_reason IS NULL AND a.held_reason IS NULL
      AND coalesce(a.wait_until, 0) <= ?1 AND (b.id = ?3 OR (?3 IS NULL AND b.needs_file = 0))
    ORDER BY b.created_at, b.id`)
  // Found by id first: most of what is due is in hand already, and reading those rows whole costs more than all the rest.
  const idsOf = (from: string, also: string) =>
    db.prepare(`
      SELECT i.id FROM ${from}
      WHERE i.batch_id = ? AND i.state = 'READY' AND i.due_at <= ? AND ${ORDER_IS_FREE} ${also}
      ORDER BY i.due_at, i.row_no`)
  const dueIds = idsOf('instruction i', '')
  const dueCanaryIds = idsOf('instruction i JOIN batch b ON b.id = i.batch_id', `AND ${WITHIN_CANARY}`)
  const hasCanary = db.prepare('SELECT 1 FROM batch WHERE id = ? AND canary_rows IS NOT NULL')
  const rowOf = db.prepare(`
    SELECT id, batch_id, account_id, row_no, attempt, ever_in_doubt, forbidden_count, ${INSTRUCTION_COLUMNS}
    FROM instruction WHERE id = ?`)

  return {
    async workable(nowMs, countTo, only) {
      const found = findRows<WorkableBatch>(batches, nowMs, countTo, only ?? null)
      return found.filter((batch) => batch.due > 0)
    },
    async dueRows(batchId, nowMs, limit, except) {
      const ids: RowId[] = []
      const due = hasCanary.get(batchId) === undefined ? dueIds : dueCanaryIds
      for (const { id } of due.iterate(batchId, nowMs, nowMs) as Iterable<unknown> as Iterable<{ id: RowId }>) {
        if (except.has(id)) continue
        ids.push(id)
        if (ids.length === limit) break
      }
      return ids.map((id) => toDueRow(findRow<DueColumns>(rowOf, id)!))
    },
  }
}

interface DueColumns extends InstructionColumns {
  id: number
  batch_id: string
  account_id: number
  row_no: number
  attempt: number
  ever_in_doubt: number
  forbidden_count: number
}

function toDueRow(row: DueColumns): DueRow {
  return {
    rowId: row.id as RowId,
    batchId: row.batch_id as BatchId,
    accountId: row.account_id as AccountId,
    rowNo: row.row_no,
    attempt: row.attempt,
    everInDoubt: row.ever_in_doubt === 1,
    forbiddenCount: row.forbidden_count,
    instruction: fromColumns(row),
  }
}
