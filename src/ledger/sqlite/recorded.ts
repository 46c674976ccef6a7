// What was submitted: a digest over each batch and its rows as they were recorded. It goes into the chain with the commit that
// makes them visible, so that a row that is planted, or one whose amount or target is changed, no longer fits.

import { createHash, type Hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { formatCardMask } from '../../domain/card.ts'
import type { AnswerFacts } from '../../domain/verdict.ts'

export const RECORDED = `
  CREATE TABLE recorded (
    id INTEGER PRIMARY KEY,
    batch_id TEXT NOT NULL,
    first_row INTEGER NOT NULL, -- 0: with the batch's own columns
    last_row INTEGER NOT NULL,
    digest TEXT NOT NULL, -- empty: an earlier version recorded it and kept none
    UNIQUE (batch_id, first_row)
  ) STRICT;
  INSERT INTO recorded (batch_id, first_row, last_row, digest)
    SELECT id, 0, coalesce((SELECT max(row_no) FROM instruction i WHERE i.batch_id = b.id), 0), ''
    FROM batch b WHERE stage = 'open' ORDER BY rowid;
  ALTER TABLE chain ADD COLUMN form INTEGER NOT NULL DEFAULT 1; -- what its hash is over: see chain.ts
  ALTER TABLE chain ADD COLUMN last_recorded INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE move ADD COLUMN answered TEXT; -- JSON: transaction id and what else the row took from the answer
`

/** Not what changes later: a hold, a canary that ended, the rows of a day of messages. */
const BATCH = `
  SELECT b.id, b.account_id, b.source, b.source_day, b.file_name, b.file_sha256, b.run_key, b.reading, b.columns, b.sandbox,
    b.created_at, b.created_by, CASE b.source WHEN 'file' THEN b.rows END AS rows, b.max_declined, b.actor_id, a.parts
  FROM batch b LEFT JOIN actor a ON a.id = b.actor_id WHERE b.id = ?`

/** Not what changes later, nor what a purge takes: cells, and details, which the content stands for. */
const ROWS = `
  SELECT id, account_id, row_no, line, CASE WHEN state IN ('INVALID', 'DUPLICATE') THEN state ELSE 'READY' END AS state,
    reference, run_key, operation, CAST(amount_minor AS TEXT) AS amount, currency, order_id, order_key, vault_id, xtl_order_id,
    save_card, CAST(execute_at AS TEXT) AS execute_at, content, lookalike, duplicate_of, supersedes
  FROM instruction WHERE batch_id = ? AND row_no >= ? AND row_no <= ? ORDER BY row_no`

export interface Digests {
  /** Begins the digest of a batch with its own columns. */
  begin(batchId: string): Hash
  /** Adds rows, with one at a time in memory. */
  add(digest: Hash, batchId: string, firstRow: number, lastRow: number): void
  /** All at once; from row 0 on it has the batch's own columns. */
  of(batchId: string, firstRow: number, lastRow: number): string
}

export function prepareDigests(db: DatabaseSync): Digests {
  const batch = db.prepare(BATCH)
  const rows = db.prepare(ROWS)
  const begin = (batchId: string) => createHash('sha256').update(`${JSON.stringify(batch.get(batchId) ?? null)}\n`)
  function add(digest: Hash, batchId: string, firstRow: number, lastRow: number): void {
    for (const row of rows.iterate(batchId, firstRow, lastRow)) digest.update(`${JSON.stringify(row)}\n`)
  }
  return {
    begin,
    add,
    of(batchId, firstRow, lastRow) {
      const digest = firstRow === 0 ? begin(batchId) : createHash('sha256')
      add(digest, batchId, firstRow, lastRow)
      return digest.digest('hex')
    },
  }
}

export interface Recorded {
  readonly id: number
  readonly batch_id: string
  readonly first_row: number
  readonly last_row: number
  readonly digest: string
}

/** Inside the transaction that makes them visible. */
export function prepareRecorded(db: DatabaseSync): (recorded: Omit<Recorded, 'id'>) => void {
  const insert = db.prepare('INSERT INTO recorded (batch_id, first_row, last_row, digest) VALUES (?, ?, ?, ?)')
  return ({ batch_id, first_row, last_row, digest }) => void insert.run(batch_id, first_row, last_row, digest)
}

/** As the chain takes it. */
export function prepareRecordedText(db: DatabaseSync): (after: number, upTo: number) => string {
  const found = db.prepare(
    'SELECT id, batch_id, first_row, last_row, digest FROM recorded WHERE id > ? AND id <= ? ORDER BY id',
  )
  return (after, upTo) =>
    found
      .all(after, upTo)
      .map((one) => `${JSON.stringify(one)}\n`)
      .join('')
}

/** How many batches were recorded before digests were kept. */
export function countUnbound(db: DatabaseSync): number {
  return (db.prepare("SELECT count(*) AS n FROM recorded WHERE digest = ''").get() as { n: number }).n
}

/** What a row took from an answer; as text, the same for what is written and for what is read again. */
export type Answered = readonly (string | null)[]

/** In the one order in which they are kept. */
export function answeredBy(facts: AnswerFacts): Answered {
  const { transactionId, orderId, recordId, amount, currency, vaultId, xtlOrderId, customerId, card } = facts
  const ofPayment = [transactionId, orderId, recordId, amount, currency, vaultId, xtlOrderId]
  // Only the vault says these: the text of all other rows is that of earlier versions.
  if (customerId === null && card === null) return ofPayment
  return [...ofPayment, customerId, card === null ? null : formatCardMask(card)]
}

export function answeredText(answered: Answered): string {
  return JSON.stringify(answered.map((value) => value?.toWellFormed() ?? null))
}
