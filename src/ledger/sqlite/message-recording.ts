// A message on its way into the record: known already, refused, or a row of the batch of its day.

import type { DatabaseSync } from 'node:sqlite'
import type { AccountId, BatchId } from '../../domain/ids.ts'
import { MESSAGE_FIELDS } from '../../domain/instruction.ts'
import type { IntakeAnswer } from '../../domain/message.ts'
import type { IntakeMessage } from '../../ports/ledger/intake.ts'
import { answerForKnown, beyondCounting, dayOf, type RecordedRow } from '../rules/arriving.ts'
import { likenessText } from '../rules/lookalikes.ts'
import type { Refund } from '../rules/refunding.ts'
import { namedBy } from '../texts/given-references.ts'
import { type Arriving, likeRowOf } from '../texts/lookalikes.ts'
import { refundBeyondSale, refundsBefore } from '../texts/refunds.ts'
import { xtlTaken } from '../texts/xtl-order-ids.ts'
import { prepareAccepting } from './copies/identity.ts'
import { findRow } from './found.ts'
import { prepareNamed } from './named.ts'
import { prepareOddReferences } from './odd-references.ts'
import { prepareDigests, prepareRecorded } from './recorded.ts'
import { INSTRUCTION_COLUMNS, INSTRUCTION_PARAMETERS, type InstructionColumns, toColumns } from './rows.ts'
import { prepareRunning } from './run-script.ts'
import type { Tally } from './tally.ts'

export function prepareMessageRecording(
  db: DatabaseSync,
  tally: Tally,
  newBatchId: (nowMs: number) => BatchId,
): (message: IntakeMessage) => IntakeAnswer | 'held-by-draft' {
  const recordedUnder = prepareReferences(db)
  const objectionTo = prepareObjections(db)
  const accept = prepareAccepting(db)
  const sumOf = db.prepare('SELECT total(amount_minor) AS sum FROM tally WHERE batch_id = ?')
  const nextRow = db.prepare('UPDATE batch SET rows = rows + 1 WHERE id = ? RETURNING rows')
  const insertRow = prepareNamed(
    db,
    `INSERT INTO instruction (batch_id, account_id, row_no, line, cells, state, holds_reference, run_key, due_at, arrived_at, ${INSTRUCTION_COLUMNS})
    VALUES (:batchId, :accountId, :rowNo, :rowNo, :cells, 'READY', 1, :runKey, :dueAtMs, :arrivedAtMs, ${INSTRUCTION_PARAMETERS})`,
  )
  const digests = prepareDigests(db)
  const keepDigest = prepareRecorded(db)

  /** A row, or as row 0 the batch itself. */
  function bind(batchId: BatchId, rowNo: number): void {
    keepDigest({ batch_id: batchId, first_row: rowNo, last_row: rowNo, digest: digests.of(batchId, rowNo, rowNo) })
  }

  const batchOfDay = prepareDayBatches(db, newBatchId, (batchId) => bind(batchId, 0))

  return (message) => {
    const { accountId, runKey, nowMs } = message
    const row = toColumns(message.instruction)
    const known = recordedUnder(accountId, row.reference)
    if (known !== undefined) return answerForKnown(known, row.content)
    const objection = objectionTo(message, row)
    if (objection !== null) return { kind: 'refused', reason: objection }
    const batchId = batchOfDay(accountId, nowMs)
    const { sum } = sumOf.get(batchId) as { sum: number }
    const uncountable = beyondCounting(batchId, sum, row.amount_minor)
    if (uncountable !== null) return { kind: 'refused', reason: uncountable }
    accept()
    const { rows: rowNo } = nextRow.get(batchId) as { rows: number }
    const cells = JSON.stringify(MESSAGE_FIELDS.map((field) => message.cells[field] ?? ''))
    insertRow({
      ...row,
      batchId,
      accountId,
      rowNo,
      cells,
      runKey,
      dueAtMs: row.execute_at ?? nowMs,
      arrivedAtMs: nowMs,
    })
    bind(batchId, rowNo)
    const { operation, currency, amount_minor } = row
    tally.moved({ batch_id: batchId, operation, currency, amount_minor }, null, 'READY')
    return { kind: 'accepted', batchId, rowNo, state: 'READY' }
  }
}

/** The row that a reference names, also where it is recorded with characters that do not show, or under another reference. */
function prepareReferences(db: DatabaseSync): (accountId: AccountId, reference: string) => RecordedRow | undefined {
  const byReference = db.prepare(`
    SELECT i.batch_id AS batchId, i.row_no AS rowNo, i.state, i.content, b.stage FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.account_id = ? AND i.reference = ? AND i.holds_reference = 1`)
  const oddReference = prepareOddReferences(db)
  const run = prepareRunning(db)
  return (accountId, reference) => {
    const holder = (name: string) => findRow<RecordedRow>(byReference, accountId, name)
    const known = holder(reference)
    if (known !== undefined) return known
    const odd = oddReference(reference, accountId)
    return holder(odd ?? run(namedBy(accountId, reference)))
  }
}

/** What in the record speaks against the message; null: nothing. */
function prepareObjections(db: DatabaseSync): (message: IntakeMessage, row: InstructionColumns) => string | null {
  const run = prepareRunning(db)

  /** Why the message looks like an instruction that is already here; null when it does not. */
  function likeness(message: IntakeMessage, row: InstructionColumns, refund: Refund | null): string | null {
    if (message.allowLookalike || row.lookalike === null) return null
    const found = run(likeRowOf(arrivingOf(message, row), row.lookalike))
    if (found !== undefined) return likenessText(found)
    const before = refund === null ? null : run(refundsBefore(message.accountId, refund))
    return before === null ? null : `${before}. Set allow_lookalike to true if this refund is meant as well`
  }

  return (message, row) => {
    const refund = refundOf(row)
    const beyond = refund === null ? null : run(refundBeyondSale(message.accountId, refund))
    const taken = () => run(xtlTaken(arrivingOf(message, row), row.xtl_order_id, row.operation))
    return beyond ?? taken() ?? likeness(message, row, refund)
  }
}

function arrivingOf(
  { accountId, nowMs, lookalikeDays, runKey }: IntakeMessage,
  { reference }: InstructionColumns,
): Arriving {
  return { accountId, nowMs, lookalikeDays, runKey, reference }
}

function refundOf(row: InstructionColumns): Refund | null {
  const { operation, order_key: orderKey, amount_minor: amountMinor, currency } = row
  if (operation !== 'REFUND' || orderKey === null || amountMinor === null || currency === null) return null
  return { orderKey, amountMinor: BigInt(amountMinor), currency }
}

/** `made`: called with a batch that was not there before. */
function prepareDayBatches(
  db: DatabaseSync,
  newBatchId: (nowMs: number) => BatchId,
  made: (batchId: BatchId) => void,
): (accountId: AccountId, nowMs: number) => BatchId {
  const dayBatch = db.prepare(
    "SELECT id FROM batch WHERE account_id = ? AND source = 'queue' AND source_day = ? AND hold <> 'cancelled'",
  )
  const insertBatch = db.prepare(`
    INSERT INTO batch (id, account_id, source, source_day, stage, reading, columns, sandbox, created_at, created_by, rows)
    VALUES (?, ?, 'queue', ?, 'open', '', ?, 0, ?, 'messages', 0)`)
  return (accountId, nowMs) => {
    const day = dayOf(nowMs)
    const found = findRow<{ id: BatchId }>(dayBatch, accountId, day)
    if (found !== undefined) return found.id
    const batchId = newBatchId(nowMs)
    insertBatch.run(batchId, accountId, day, JSON.stringify(MESSAGE_FIELDS), nowMs)
    made(batchId)
    return batchId
  }
}
