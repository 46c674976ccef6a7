// Working off: which rows are due, claiming one, settling one. Every move goes through here and is checked against MOVES.

import type { DatabaseSync } from 'node:sqlite'
import { assert } from '../domain/fault.ts'
import type {
  AccountId,
  BatchId,
  Claim,
  ClaimAnswer,
  DueRow,
  RowId,
  Settled,
  Settlement,
  WorkableBatch,
  WorkLedger,
} from '../domain/ports.ts'
import { type Cause, canMove, isFinal, type State } from '../domain/states.ts'
import type { Committer, Timing } from './commit.ts'
import { fromColumns, type InstructionColumns, ORDER_IS_FREE } from './rows.ts'
import type { Counted, Tally } from './tally.ts'

/** Ten new doubts since the start of the worker or the last resume pause the account: something is wrong beyond one row. */
const DOUBTS_BEFORE_PAUSE = 10
/** Rows moved in one transaction by a sweep or a cancel. */
const ROWS_PER_STEP = 500

const MACHINE = 'worker'

interface OpenRow extends Counted {
  readonly id: number
  readonly account_id: number
  readonly state: State
  readonly attempt: number
  readonly hold: string
  readonly warning: string | null
  readonly row_no: number
}

type ClaimedRow = Counted & { readonly id: number }

type LedgerPart = Pick<
  WorkLedger,
  'sweep' | 'forgetDoubts' | 'finishCancelling' | 'workable' | 'dueRows' | 'claim' | 'settle' | 'stopAccount'
>

export function openWork(db: DatabaseSync, committer: Committer, tally: Tally, timing: Timing): LedgerPart {
  const record = openMoves(db, tally)

  const claimRow = db.prepare(`
    UPDATE instruction AS i SET state = 'SENDING', attempt = attempt + 1, claimed_at = ?, send_by = ?, answer_by = ?
    WHERE id = ? AND state = 'READY' AND attempt = ? AND due_at <= ?
      AND EXISTS (
        SELECT 1 FROM batch b JOIN account a ON a.id = b.account_id
        WHERE b.id = i.batch_id AND b.stage = 'open' AND b.hold = 'none' AND a.stopped_reason IS NULL)
      AND ${ORDER_IS_FREE}
    RETURNING id, batch_id, operation, currency, amount_minor`)

  const rowById = db.prepare(`
    SELECT i.id, i.batch_id, i.account_id, i.state, i.attempt, i.operation, i.currency, i.amount_minor, i.warning, b.hold, i.row_no
    FROM instruction i JOIN batch b ON b.id = i.batch_id WHERE i.id = ?`)

  const settling = openSettling(db, tally, record)

  return {
    claim(claim: Claim): Promise<ClaimAnswer> {
      const { rowId, attempt, nowMs, sendByMs, answerByMs } = claim
      return committer.write<ClaimAnswer>(
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
    },

    settle(settlement: Settlement): Promise<Settled> {
      return committer.write(
        () => {
          const row = rowById.get(settlement.rowId) as unknown as OpenRow | undefined
          assert(row !== undefined, `settling row ${settlement.rowId}, which is not in the ledger`)
          return settling(row, settlement)
        },
        { kind: 'kept' },
      )
    },

    async sweep(nowMs) {
      const sending = db.prepare(`
        SELECT i.id, i.batch_id, i.account_id, i.state, i.attempt, i.operation, i.currency, i.amount_minor, i.warning, b.hold, i.row_no
        FROM instruction i JOIN batch b ON b.id = i.batch_id WHERE i.state = 'SENDING' LIMIT ${ROWS_PER_STEP}`)
      const doubt = db.prepare(`
        UPDATE instruction SET state = 'IN_DOUBT', ever_in_doubt = 1, completed_at = ?, sent_at = NULL,
          reason = ? || strftime('%Y-%m-%dT%H:%M:%fZ', claimed_at / 1000.0, 'unixepoch') || ?
        WHERE id = ? RETURNING reason`)
      // Whether and when a first byte left is what nobody knows: the claim is all there is.
      const before = 'the process that claimed it at '
      const after = ' ended before the answer was recorded; it may have been executed'
      return stepwise(committer, () => {
        const rows = sending.all() as unknown as OpenRow[]
        for (const row of rows) {
          const { reason } = doubt.get(nowMs, before, after, row.id) as { reason: string }
          record(row, 'IN_DOUBT', 'sweep', { attempt: row.attempt, atMs: nowMs, reason })
        }
        return rows.length
      })
    },

    async forgetDoubts() {
      const forget = db.prepare('UPDATE account SET new_doubts = 0')
      await committer.write(() => void forget.run(), { kind: 'kept' })
    },

    async finishCancelling(nowMs) {
      const next = db.prepare(
        "SELECT id FROM batch WHERE hold = 'cancelled' AND id IN (SELECT batch_id FROM tally WHERE state = 'READY' AND count > 0)",
      )
      let total = 0
      for (const { id } of next.all() as Array<{ id: string }>) {
        total += await cancelRows(db, committer, record, id as BatchId, nowMs)
      }
      return total
    },

    ...openDueRows(db),

    async stopAccount(accountId, reason, nowMs) {
      const stop = db.prepare('UPDATE account SET stopped_reason = ? WHERE id = ? AND stopped_reason IS NULL')
      const act = db.prepare('INSERT INTO act (at, by, what, account_id, reason) VALUES (?, ?, ?, ?, ?)')
      await committer.write(
        () => {
          if (stop.run(reason, accountId).changes > 0) act.run(nowMs, MACHINE, 'stop-account', accountId, reason)
        },
        { kind: 'kept' },
      )
    },
  }
}

/** READY rows of a cancelled batch become CANCELLED, a step at a time. */
export function cancelRows(
  db: DatabaseSync,
  committer: Committer,
  record: RecordMove,
  batchId: BatchId,
  nowMs: number,
): Promise<number> {
  const ready = db.prepare(`
    SELECT i.id, i.batch_id, i.account_id, i.state, i.attempt, i.operation, i.currency, i.amount_minor, i.warning, b.hold, i.row_no, b.hold_reason AS why
    FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.batch_id = ? AND i.state = 'READY' AND b.hold = 'cancelled' LIMIT ${ROWS_PER_STEP}`)
  const cancel = db.prepare(
    "UPDATE instruction SET state = 'CANCELLED', completed_at = ?, reason = ? WHERE id = ? AND state = 'READY'",
  )
  return stepwise(committer, () => {
    const rows = ready.all(batchId) as unknown as Array<OpenRow & { why: string | null }>
    for (const row of rows) {
      const reason = `cancelled: ${row.why ?? 'no reason kept'}`
      cancel.run(nowMs, reason, row.id)
      record(row, 'CANCELLED', 'cancel', { attempt: row.attempt, atMs: nowMs, reason })
    }
    return rows.length
  })
}

async function stepwise(committer: Committer, step: () => number): Promise<number> {
  let total = 0
  for (;;) {
    const moved = await committer.write(step, { kind: 'kept' })
    total += moved
    if (moved < ROWS_PER_STEP) return total
  }
}

export type RecordMove = (
  row: Counted & { readonly id: number; readonly state: State },
  to: State,
  cause: Cause,
  details: {
    readonly attempt: number
    readonly atMs: number
    readonly by?: string
    readonly httpStatus?: number | null
    readonly answer?: string | null
    readonly reason?: string | null
  },
) => void

/** Writes the history and the tally of a move, and refuses one that the table of moves does not have. */
export function openMoves(db: DatabaseSync, tally: Tally): RecordMove {
  const insert = db.prepare(`
    INSERT INTO move (row_id, attempt, from_state, to_state, cause, at, by, http_status, answer, reason)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  return (row, to, cause, { attempt, atMs, by = MACHINE, httpStatus = null, answer = null, reason = null }) => {
    assert(canMove(row.state, to, cause), `no move from ${row.state} to ${to} by ${cause}`)
    insert.run(row.id, attempt, row.state, to, cause, atMs, by, httpStatus, answer, reason)
    tally.moved(row, row.state, to)
  }
}

function openSettling(
  db: DatabaseSync,
  tally: Tally,
  record: RecordMove,
): (row: OpenRow, settlement: Settlement) => Settled {
  const move = db.prepare(`
    UPDATE instruction SET state = ?, due_at = ?, sent_at = coalesce(?, sent_at), completed_at = ?, reason = ?,
      transaction_id = ?, answered_order_id = ?, answered_record_id = ?, answered_amount = ?, answered_currency = ?,
      answered_vault_id = ?, answered_xtl_order_id = ?, warning = ?, money_warning = max(money_warning, ?),
      ever_in_doubt = max(ever_in_doubt, ?), forbidden_count = forbidden_count + ?
    WHERE id = ?`)
  const warn = db.prepare('UPDATE instruction SET warning = ?, money_warning = max(money_warning, ?) WHERE id = ?')
  const sameTransaction = db.prepare('SELECT id FROM instruction WHERE account_id = ? AND transaction_id = ?')
  const askToWait = db.prepare('UPDATE account SET wait_until = max(coalesce(wait_until, 0), ?) WHERE id = ?')
  const countDoubt = db.prepare('UPDATE account SET new_doubts = new_doubts + 1 WHERE id = ? RETURNING new_doubts')
  const pauseAccount = db.prepare(
    "UPDATE batch SET hold = 'paused', hold_reason = ? WHERE account_id = ? AND stage = 'open' AND hold = 'none'",
  )
  const pauseBatch = db.prepare(
    "UPDATE batch SET money_warned = 1, hold = 'paused', hold_reason = ? WHERE id = ? AND hold = 'none' AND money_warned = 0",
  )
  const act = db.prepare('INSERT INTO act (at, by, what, batch_id, account_id, reason) VALUES (?, ?, ?, ?, ?, ?)')

  return (row, settlement) => {
    const step = stepFor(row, settlement)
    if (step === null) return keepLateAnswer(row, settlement)
    return apply(row, step, settlement)
  }

  /** Where this settlement moves the row; null when the row has moved on. */
  function stepFor(row: OpenRow, { to, cause, attempt }: Settlement): { to: State; cause: Cause } | null {
    if (row.attempt !== attempt) return null
    if (row.state === 'SENDING')
      return to === 'READY' && row.hold === 'cancelled' ? { to: 'CANCELLED', cause } : { to, cause }
    const late = to === 'READY' ? 'proof' : 'late-answer'
    return canMove(row.state, to, late) ? { to, cause: late } : null
  }

  /** A transaction id can settle one row only: the second row to see it was given somebody else's answer. */
  function doubtful(row: OpenRow, { facts }: Settlement): string | null {
    const id = facts?.transactionId ?? null
    if (id === null || /^0*$/.test(id)) return null
    const other = sameTransaction.get(row.account_id, id) as { id: number } | undefined
    return other === undefined || other.id === row.id
      ? null
      : `the answer carries transaction id ${id}, which already settled another row; it may have been executed`
  }

  function apply(row: OpenRow, step: { to: State; cause: Cause }, settlement: Settlement): Settled {
    const answered = step.to === 'APPROVED' || step.to === 'DECLINED'
    const doubt = answered ? doubtful(row, settlement) : null
    const to = doubt !== null && row.state === 'SENDING' ? 'IN_DOUBT' : step.to
    if (doubt !== null && row.state !== 'SENDING') return keepLateAnswer(row, settlement)
    const cause = to === 'IN_DOUBT' ? 'doubt' : step.cause
    if (settlement.askedToWaitUntilMs !== null) askToWait.run(settlement.askedToWaitUntilMs, row.account_id)
    const reason = doubt ?? settlement.reason
    writeRow(row, to, reason, settlement)
    const { attempt, atMs, httpStatus, answerText: answer } = settlement
    record(row, to, cause, { attempt, atMs, httpStatus, answer, reason })
    return { state: to, paused: pauses(row, to, settlement) }
  }

  function writeRow(row: OpenRow, to: State, reason: string | null, settlement: Settlement): void {
    const { facts, atMs, sentAtMs, warning, warnsOfMoney } = settlement
    const over = isFinal(to) || to === 'IN_DOUBT'
    // An answer in doubt keeps its words in the history; its transaction id must stay free for the row it belongs to.
    const id = to === 'APPROVED' || to === 'DECLINED' ? (facts?.transactionId ?? null) : null
    move.run(
      to,
      settlement.dueAtMs,
      sentAtMs,
      over ? atMs : null,
      to === 'READY' ? null : reason,
      id !== null && /^0*$/.test(id) ? null : id,
      facts?.orderId ?? null,
      facts?.recordId ?? null,
      facts?.amount ?? null,
      facts?.currency ?? null,
      facts?.vaultId ?? null,
      facts?.xtlOrderId ?? null,
      joined(row.warning, warning), // a late answer of an earlier attempt may have left one
      warnsOfMoney && to === 'APPROVED' ? 1 : 0,
      to === 'IN_DOUBT' ? 1 : 0,
      settlement.forbidden ? 1 : 0,
      row.id,
    )
  }

  function pauses(row: OpenRow, to: State, { atMs, warnsOfMoney, warning }: Settlement): string | null {
    if (to === 'IN_DOUBT') {
      const { new_doubts: doubts } = countDoubt.get(row.account_id) as { new_doubts: number }
      if (doubts < DOUBTS_BEFORE_PAUSE) return null
      const reason = `${doubts} rows came into doubt; everything of this account is paused until a person has looked`
      if (pauseAccount.run(reason, row.account_id).changes === 0) return null
      act.run(atMs, MACHINE, 'pause', null, row.account_id, reason)
      return reason
    }
    if (to !== 'APPROVED' || !warnsOfMoney) return null
    const reason = `row ${row.row_no}: ${warning ?? 'the answer differs from what was asked'}; the file may be wrong about every row like it`
    if (pauseBatch.run(reason, row.batch_id).changes === 0) return null
    act.run(atMs, MACHINE, 'pause', row.batch_id, row.account_id, reason)
    return reason
  }

  /** A true answer after the row was settled otherwise is never thrown away: the row says so from now on. */
  function keepLateAnswer(row: OpenRow, settlement: Settlement): Settled {
    if (settlement.to !== 'APPROVED' && settlement.to !== 'DECLINED') return { state: row.state, paused: null }
    const id = settlement.facts?.transactionId ?? 'none'
    const text = `attempt ${settlement.attempt} was answered ${settlement.to} (transaction id ${id}) after the row had moved on`
    // An approval that the row's own state does not tell of is money that moved beside the record.
    warn.run(joined(row.warning, text), settlement.to === 'APPROVED' ? 1 : 0, row.id)
    act.run(settlement.atMs, MACHINE, 'late-answer', row.batch_id, row.account_id, text)
    tally.touched(row.batch_id)
    return { state: row.state, paused: null }
  }
}

function joined(earlier: string | null, later: string | null): string | null {
  return earlier === null ? later : later === null ? earlier : `${earlier}; ${later}`
}

function openDueRows(db: DatabaseSync): Pick<WorkLedger, 'workable' | 'dueRows'> {
  const batches = db.prepare(`
    SELECT b.id AS batchId, b.account_id AS accountId,
      (SELECT count(*) FROM (SELECT 1 FROM instruction i WHERE i.batch_id = b.id AND i.state = 'READY' AND i.due_at <= ?1 LIMIT ?2)) AS due
    FROM batch b JOIN account a ON a.id = b.account_id
    WHERE b.id IN (SELECT batch_id FROM tally WHERE state = 'READY' AND count > 0)
      AND b.stage = 'open' AND b.hold = 'none' AND a.stopped_reason IS NULL
      AND coalesce(a.wait_until, 0) <= ?1 AND (?3 IS NULL OR b.id = ?3)
    ORDER BY b.created_at, b.id`)
  // Found by id first: most of what is due is in hand already, and reading those rows whole costs more than all the rest.
  const dueIds = db.prepare(`
    SELECT i.id FROM instruction i
    WHERE i.batch_id = ? AND i.state = 'READY' AND i.due_at <= ? AND ${ORDER_IS_FREE}
    ORDER BY i.due_at, i.row_no`)
  const rowOf = db.prepare(`
    SELECT id, batch_id, account_id, row_no, attempt, ever_in_doubt, forbidden_count, reference, operation,
      amount_minor, currency, order_id, order_key, vault_id, xtl_order_id, save_card, details, execute_at
    FROM instruction WHERE id = ?`)

  return {
    async workable(nowMs, countTo, only) {
      const found = batches.all(nowMs, countTo, only ?? null) as unknown as WorkableBatch[]
      return found.filter((batch) => batch.due > 0)
    },
    async dueRows(batchId, nowMs, limit, except) {
      const ids: RowId[] = []
      for (const { id } of dueIds.iterate(batchId, nowMs, nowMs) as Iterable<unknown> as Iterable<{ id: RowId }>) {
        if (except.has(id)) continue
        ids.push(id)
        if (ids.length === limit) break
      }
      return ids.map((id) => toDueRow(rowOf.get(id) as unknown as DueColumns))
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
