// What was submitted: a digest over each batch and its rows as they were recorded. It goes into the chain with the commit that
// makes them visible, so that a row that is planted, or one whose amount or target is changed, no longer fits.

import { createHash, type Hash } from 'node:crypto'
import { formatCardMask } from '../../../domain/card.ts'
import type { AnswerFacts } from '../../../domain/verdict.ts'
import { all, change, one, type Script } from '../script.ts'

/** Not what changes later: a hold, a canary that ended, the rows of a day of messages. */
const BATCH = `
  SELECT b.id, b.account_id, b.source, b.source_day, b.file_name, b.file_sha256, b.run_key, b.reading, b.columns, b.sandbox,
    b.created_at, b.created_by, CASE b.source WHEN 'file' THEN b.rows END AS rows, b.expires_after, b.max_declined, b.actor_id, a.parts
  FROM batch b LEFT JOIN actor a ON a.id = b.actor_id WHERE b.id = :batchId`

/** So many are in memory. */
const ROWS_AT_ONCE = 500

/** Not what changes later, nor what a purge takes: cells, and details, which the content stands for. */
const ROWS = `
  SELECT id, account_id, row_no, line, CASE WHEN state IN ('INVALID', 'DUPLICATE') THEN state ELSE 'READY' END AS state,
    reference, run_key, operation, CAST(amount_minor AS TEXT) AS amount, currency, order_id, order_key, vault_id, xtl_order_id,
    save_card, CAST(execute_at AS TEXT) AS execute_at, CAST(expires_at AS TEXT) AS expires_at, content, lookalike, duplicate_of, supersedes
  FROM instruction WHERE batch_id = :batchId AND row_no >= :firstRow AND row_no <= :lastRow ORDER BY row_no LIMIT ${ROWS_AT_ONCE}`

/** Begins the digest of a batch with its own columns. */
export function* beginDigest(batchId: string): Script<Hash> {
  const batch = yield* one<object>(BATCH, { batchId })
  return createHash('sha256').update(`${JSON.stringify(batch ?? null)}\n`)
}

export function* addToDigest(digest: Hash, batchId: string, firstRow: number, lastRow: number): Script<void> {
  for (let from = firstRow; from <= lastRow; ) {
    const rows: readonly { readonly row_no: number }[] = yield* all(ROWS, { batchId, firstRow: from, lastRow })
    for (const row of rows) digest.update(`${JSON.stringify(row)}\n`)
    if (rows.length < ROWS_AT_ONCE) return
    from = rows.at(-1)!.row_no + 1
  }
}

/** All at once; from row 0 on it has the batch's own columns. */
export function* digestOf(batchId: string, firstRow: number, lastRow: number): Script<string> {
  const digest = firstRow === 0 ? yield* beginDigest(batchId) : createHash('sha256')
  yield* addToDigest(digest, batchId, firstRow, lastRow)
  return digest.digest('hex')
}

export interface Recorded {
  readonly id: number
  readonly batch_id: string
  readonly first_row: number
  readonly last_row: number
  readonly digest: string
}

/** Inside the transaction that makes them visible. */
export function* keepDigest({ batch_id, first_row, last_row, digest }: Omit<Recorded, 'id'>): Script<void> {
  yield* change(
    `INSERT INTO recorded (batch_id, first_row, last_row, digest) VALUES (:batch_id, :first_row, :last_row, :digest)`,
    { batch_id, first_row, last_row, digest },
  )
}

/** As the chain takes it. */
export function* recordedText(after: number, upTo: number): Script<string> {
  const found = yield* all(
    'SELECT id, batch_id, first_row, last_row, digest FROM recorded WHERE id > :after AND id <= :upTo ORDER BY id',
    { after, upTo },
  )
  return found.map((one) => `${JSON.stringify(one)}\n`).join('')
}

/** What a row took from an answer; as text, the same for what is written and for what is read again. */
export type Answered = readonly (string | null)[]

/** In the one order in which they are kept. */
export function answeredBy(facts: AnswerFacts): Answered {
  const { transactionId, orderId, recordId, amount, currency, vaultId, xtlOrderId, customerId, card } = facts
  const ofPayment = [transactionId, orderId, recordId, amount, currency, vaultId, xtlOrderId]
  return [...ofPayment, customerId, card === null ? null : formatCardMask(card)]
}

export function answeredText(answered: Answered): string {
  return JSON.stringify(answered.map((value) => value?.toWellFormed() ?? null))
}
