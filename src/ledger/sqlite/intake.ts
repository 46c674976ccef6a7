// Accounts, submits one at a time, and messages of other services.

import type { DatabaseSync } from 'node:sqlite'
import type { DraftHeader } from '../../domain/draft.ts'
import { Fault } from '../../domain/fault.ts'
import type { AccountId, BatchId } from '../../domain/ids.ts'
import { MESSAGE_FIELDS } from '../../domain/instruction.ts'
import type { IntakeAnswer } from '../../domain/message.ts'
import type { Brake, UnfinishedBatch } from '../../domain/submission.ts'
import type { IntakeLedger, IntakeMessage } from '../../ports/ledger/intake.ts'
import { type Account, identifyAccount } from '../rules/accounts.ts'
import { answerForKnown, beyondCounting, dayOf, type RecordedRow } from '../rules/arriving.ts'
import { type LikeRow, likenessText } from '../rules/lookalikes.ts'
import type { Refund } from '../rules/refunding.ts'
import { accountsLike } from './accounts.ts'
import { openActs } from './acts.ts'
import { isCanaryOf } from './canary.ts'
import type { Committer } from './commit.ts'
import { openAccepting } from './copies/identity.ts'
import { openDraftOn } from './draft.ts'
import { deleteDrafts } from './draft-recording.ts'
import { findRow } from './found.ts'
import { lookalikeSince, RECORDED_LOOKALIKE } from './lookalikes.ts'
import { prepareNamed } from './named.ts'
import { openOddReferences } from './odd-references.ts'
import { openDigests, openRecorded } from './recorded.ts'
import { openRefundCheck } from './refunds.ts'
import { INSTRUCTION_COLUMNS, INSTRUCTION_PARAMETERS, type InstructionColumns, toColumns } from './rows.ts'
import type { Tally } from './tally.ts'
import { openXtlCheck } from './xtl-order-ids.ts'

export interface IntakeParts {
  readonly newBatchId: (nowMs: number) => BatchId
  /** The kernel lock that lets one submit at a time into the ledger; resolves to what frees it. */
  readonly lockSubmit: () => Promise<() => void>
}

export function openIntake(db: DatabaseSync, committer: Committer, tally: Tally, parts: IntakeParts): IntakeLedger {
  const recording = openRecording(db, tally, parts)
  const act = openActs(db)
  const refuse = db.prepare('INSERT INTO refusal VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING')

  return {
    account: (name, url, username, nowMs) =>
      committer
        .write(() => accountOf(db, { name, url, username }, nowMs), { kind: 'faulting' })
        .then((found) => {
          if (found instanceof Fault) throw found
          return found
        }),

    async openDraft(header) {
      if (header.lookOnly === true)
        return openDraftOn(db, committer, header, { newBatchId: parts.newBatchId, release: () => {} })
      const release = await parts.lockSubmit()
      try {
        await deleteDrafts(db, committer)
        return openDraftOn(db, committer, header, { newBatchId: parts.newBatchId, release })
      } catch (error) {
        release()
        throw error
      }
    },

    findUnfinished: async (header) => findUnfinished(db, header),
    otherBrakes: async (batchId, asked) => otherBrakes(db, batchId, asked),

    async recordMessage(message) {
      for (;;) {
        const answer = await committer.write(() => recording(message), { kind: 'faulting' })
        if (answer !== 'held-by-draft') return answer
        // Neither free nor taken: wait for the submit to end. A draft that is still there then belongs to a dead one.
        const release = await parts.lockSubmit()
        await deleteDrafts(db, committer).finally(release)
      }
    },

    async recordRefusal({ sourceId, accountName, reasons, text, cards, nowMs }) {
      const details = { source: 'message', message: sourceId, merchant: accountName }
      const keep = () => {
        const isNew = refuse.run(sourceId, accountName, JSON.stringify(reasons), text, nowMs).changes > 0
        if (isNew && cards !== null) act({ what: 'card-refused', atMs: nowMs, actor: null, reason: cards, details })
      }
      await committer.write(keep, { kind: 'faulting' })
    },
  }
}

function findUnfinished(
  db: DatabaseSync,
  { accountId, fileSha256, runKey }: Pick<DraftHeader, 'accountId' | 'fileSha256' | 'runKey'>,
): UnfinishedBatch | null {
  const isOpen = `EXISTS (
    SELECT 1 FROM tally t WHERE t.batch_id = b.id AND t.count > 0 AND t.state IN ('READY', 'SENDING', 'IN_DOUBT'))`
  const found = db
    .prepare(`
      SELECT id, reading, hold = 'cancelled' AND NOT ${isOpen} AS givenUp FROM batch b
      WHERE file_sha256 = ? AND account_id = ? AND run_key IS ? AND stage = 'open'
        AND (results_path IS NULL OR ${isOpen})
      ORDER BY created_at DESC, rowid DESC LIMIT 1`)
    .get(fileSha256, Number(accountId), runKey) as { id: string; reading: string; givenUp: number } | undefined
  if (found === undefined) return null
  return { batchId: found.id as BatchId, fingerprint: found.reading, givenUp: found.givenUp === 1 }
}

function otherBrakes(
  db: DatabaseSync,
  batchId: BatchId,
  { canaryRows, maxDeclinedPercent }: Pick<DraftHeader, 'canaryRows' | 'maxDeclinedPercent'>,
): readonly Brake[] {
  const { limit } = db.prepare('SELECT max_declined AS "limit" FROM batch WHERE id = ?').get(batchId) as {
    limit: number | null
  }
  const canary = canaryRows !== null && !isCanaryOf(db, batchId, canaryRows)
  const declines = maxDeclinedPercent !== null && maxDeclinedPercent !== limit
  return [...(canary ? (['canary'] as const) : []), ...(declines ? (['max-declined'] as const) : [])]
}

function accountOf(db: DatabaseSync, asked: Account, nowMs: number): AccountId | Fault {
  const found = identifyAccount(asked, accountsLike(db, asked))
  if (found !== 'new') return found
  const insert = db.prepare('INSERT INTO account (name, url, username, created_at) VALUES (?, ?, ?, ?)')
  return Number(insert.run(asked.name, asked.url, asked.username, nowMs).lastInsertRowid) as AccountId
}

function openRecording(
  db: DatabaseSync,
  tally: Tally,
  parts: IntakeParts,
): (message: IntakeMessage) => IntakeAnswer | 'held-by-draft' {
  const byReference = db.prepare(`
    SELECT i.batch_id AS batchId, i.row_no AS rowNo, i.state, i.content, b.stage FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.account_id = ? AND i.reference = ? AND i.holds_reference = 1`)
  const likeRow = db.prepare(`
    SELECT i.batch_id AS batchId, i.row_no AS rowNo, i.reference, i.state || CASE i.money_warning WHEN 1 THEN '; ' || i.warning ELSE '' END AS state
    FROM instruction i WHERE i.id = (SELECT (${RECORDED_LOOKALIKE}) FROM (
      SELECT $lookalike AS lookalike, $reference AS reference, $runKey AS run_key) d)`)
  const refunds = openRefundCheck(db)
  const xtlTaken = openXtlCheck(db)
  const oddReference = openOddReferences(db)
  const accept = openAccepting(db)
  const dayBatch = db.prepare(
    "SELECT id FROM batch WHERE account_id = ? AND source = 'queue' AND source_day = ? AND hold <> 'cancelled'",
  )
  const insertBatch = db.prepare(`
    INSERT INTO batch (id, account_id, source, source_day, stage, reading, columns, sandbox, created_at, created_by, rows)
    VALUES (?, ?, 'queue', ?, 'open', '', ?, 0, ?, 'messages', 0)`)
  const sumOf = db.prepare('SELECT total(amount_minor) AS sum FROM tally WHERE batch_id = ?')
  const nextRow = db.prepare('UPDATE batch SET rows = rows + 1 WHERE id = ? RETURNING rows')
  const insertRow = prepareNamed(
    db,
    `INSERT INTO instruction (batch_id, account_id, row_no, line, cells, state, holds_reference, run_key, due_at, ${INSTRUCTION_COLUMNS})
    VALUES (:batchId, :accountId, :rowNo, :rowNo, :cells, 'READY', 1, :runKey, :dueAtMs, ${INSTRUCTION_PARAMETERS})`,
  )

  const digests = openDigests(db)
  const keepDigest = openRecorded(db)

  /** A row, or as row 0 the batch itself. */
  function bind(batchId: BatchId, rowNo: number): void {
    keepDigest({ batch_id: batchId, first_row: rowNo, last_row: rowNo, digest: digests.of(batchId, rowNo, rowNo) })
  }

  function batchOfDay(accountId: AccountId, nowMs: number): BatchId {
    const day = dayOf(nowMs)
    const found = dayBatch.get(Number(accountId), day) as { id: string } | undefined
    if (found !== undefined) return found.id as BatchId
    const batchId = parts.newBatchId(nowMs)
    insertBatch.run(batchId, Number(accountId), day, JSON.stringify(MESSAGE_FIELDS), nowMs)
    bind(batchId, 0)
    return batchId
  }

  /** Why the message looks like an instruction that is already here; null when it does not. */
  function likeness(message: IntakeMessage, row: InstructionColumns): string | null {
    if (message.allowLookalike || row.lookalike === null) return null
    const { lookalike, reference } = row
    const found = findRow<LikeRow>(likeRow, {
      ...lookalikeSince(message),
      lookalike,
      reference,
      runKey: message.runKey,
    })
    return found === undefined ? refundedBefore(message, row) : likenessText(found)
  }

  function refundedBefore({ accountId }: IntakeMessage, row: InstructionColumns): string | null {
    const refund = refundOf(row)
    const before = refund === null ? null : refunds.refundedBefore(accountId, refund)
    return before === null ? null : `${before}. Set allow_lookalike to true if this refund is meant as well`
  }

  function recordedUnder(accountId: AccountId, reference: string): RecordedRow | undefined {
    const known = findRow<RecordedRow>(byReference, accountId, reference)
    const odd = known === undefined ? oddReference(reference, accountId) : null
    return odd === null ? known : findRow<RecordedRow>(byReference, accountId, odd)
  }

  return (message) => {
    const row = toColumns(message.instruction)
    const known = recordedUnder(message.accountId, row.reference)
    if (known !== undefined) return answerForKnown(known, row.content)
    const refund = refundOf(row)
    const beyond = refund === null ? null : refunds.beyondSale(message.accountId, refund)
    if (beyond !== null) return { kind: 'refused', reason: beyond }
    const taken = xtlTaken(message, row)
    if (taken !== null) return { kind: 'refused', reason: taken }
    const like = likeness(message, row)
    if (like !== null) return { kind: 'refused', reason: like }
    const batchId = batchOfDay(message.accountId, message.nowMs)
    const { sum } = sumOf.get(batchId) as { sum: number }
    const uncountable = beyondCounting(batchId, sum, row.amount_minor)
    if (uncountable !== null) return { kind: 'refused', reason: uncountable }
    accept()
    const { rows: rowNo } = nextRow.get(batchId) as { rows: number }
    const cells = JSON.stringify(MESSAGE_FIELDS.map((field) => message.cells[field] ?? ''))
    const { accountId, runKey, nowMs } = message
    insertRow({ ...row, batchId, accountId, rowNo, cells, runKey, dueAtMs: row.execute_at ?? nowMs })
    bind(batchId, rowNo)
    tally.moved(
      { batch_id: batchId, operation: row.operation, currency: row.currency, amount_minor: row.amount_minor },
      null,
      'READY',
    )
    return { kind: 'accepted', batchId, rowNo, state: 'READY' }
  }
}

function refundOf(row: InstructionColumns): Refund | null {
  const { operation, order_key: orderKey, amount_minor: amountMinor, currency } = row
  if (operation !== 'REFUND' || orderKey === null || amountMinor === null || currency === null) return null
  return { orderKey, amountMinor: BigInt(amountMinor), currency }
}
