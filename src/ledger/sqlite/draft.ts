// A file on its way in: gathered in temporary tables of this connection, reviewed there, then copied into the record.

import type { DatabaseSync } from 'node:sqlite'
import type { Draft, DraftHeader, DraftRow } from '../../domain/draft.ts'
import { assert, Fault } from '../../domain/fault.ts'
import type { BatchId } from '../../domain/ids.ts'
import { DRAFT_FAULT } from '../texts/draft.ts'
import type { Committer } from './commit.ts'
import { recordDraft } from './draft-recording.ts'
import { dropDraftTables, makeDraftTables } from './draft-tables.ts'
import { prepareNamed } from './named.ts'
import { createReading, review, type SeenUpTo } from './review.ts'
import { INSTRUCTION_COLUMNS, INSTRUCTION_PARAMETERS, NO_COLUMNS, toColumns } from './rows.ts'
import { whyNotWritten } from './transaction.ts'

export interface DraftEnds {
  /** Makes the id of the new batch. */
  readonly newBatchId: (nowMs: number) => BatchId
  /** Lets the next submit begin. */
  readonly release: () => void
}

export function openDraftOn(db: DatabaseSync, committer: Committer, header: DraftHeader, ends: DraftEnds): Draft {
  makeDraftTables(db)
  const adding = prepareAdding(db, header)
  let amountsUnread = 0
  const seen: SeenUpTo = { id: Number.MAX_SAFE_INTEGER }
  let open = true

  function close(): void {
    if (!open) return
    open = false
    dropDraftTables(db)
    ends.release()
  }

  return {
    async add(rows) {
      assert(open, 'a row was added to a closed draft')
      // Only temporary tables are written: this transaction takes no lock that anyone else could feel.
      db.exec('BEGIN')
      try {
        for (const row of rows) {
          adding(row)
          if (row.money === 'unread') amountsUnread += 1
        }
        db.exec('COMMIT')
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK')
        throw toDraftFault(error)
      }
    },
    async review() {
      try {
        return { ...review(db, header, seen), amountsUnread }
      } catch (error) {
        throw toDraftFault(error)
      }
    },
    ...createReading(db),
    async record(actor, signal) {
      assert(open, 'a closed draft was recorded')
      assert(header.lookOnly !== true, 'a draft that was only to be looked at was recorded')
      try {
        return await recordDraft(db, committer, header, actor, ends.newBatchId(header.nowMs), seen, signal)
      } finally {
        close()
      }
    },
    discard: async () => close(),
  }
}

/** Temporary tables live in the temporary directory, which may be another disk than the ledger's. */
function toDraftFault(error: unknown): unknown {
  if (whyNotWritten(error) !== 'full') return error
  return new Fault(
    'full',
    'The disk of temporary files is full (SQLITE_TMPDIR, TMPDIR, /var/tmp or /tmp). Nothing was recorded and nothing was sent. Free some space and run it again.',
    { cause: error },
  )
}

function prepareAdding(db: DatabaseSync, header: DraftHeader): (row: DraftRow) => void {
  const insertRow = prepareNamed(
    db,
    `INSERT INTO temp.draft_row (row_no, line, cells, state, holds_reference, run_key, due_at, attempt, came_batch, came_row, ${INSTRUCTION_COLUMNS})
    VALUES (:rowNo, :line, :cells, :state, :holds, :runKey, :dueAtMs, 0, :cameBatch, :cameRow, ${INSTRUCTION_PARAMETERS})`,
  )
  const insertFault = db.prepare(`INSERT INTO temp.${DRAFT_FAULT} VALUES (?, ?, ?, ?, ?, ?)`)
  return (row) => {
    const asked = row.instruction === null ? NO_COLUMNS : toColumns(row.instruction)
    const { rowNo, line, reference, cells, cameFrom = null, money = null } = row
    const read = money === null || money === 'unread' ? null : money
    const isSound = row.faults.length === 0
    insertRow({
      ...asked,
      reference,
      amount_minor: asked.amount_minor ?? (read === null ? null : Number(read.amountMinor)),
      currency: asked.currency ?? read?.currency ?? null,
      rowNo,
      line,
      cells: JSON.stringify(cells),
      state: isSound ? 'READY' : 'INVALID',
      holds: isSound ? 1 : 0,
      runKey: header.runKey,
      dueAtMs: asked.execute_at ?? header.nowMs,
      cameBatch: cameFrom?.batchId ?? null,
      cameRow: cameFrom?.rowNo ?? null,
    })
    for (const { rowNo, line, column, value, problem, remedy } of row.faults) {
      insertFault.run(rowNo, line, column, value, problem, remedy)
    }
  }
}
