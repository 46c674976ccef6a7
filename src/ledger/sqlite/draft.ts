// A file on its way in: gathered in temporary tables of this connection, reviewed there, then copied into the record.

import type { DatabaseSync } from 'node:sqlite'
import type { Draft, DraftHeader, DraftRow } from '../../domain/draft.ts'
import { assert, Fault } from '../../domain/fault.ts'
import type { BatchId } from '../../domain/ids.ts'
import { DRAFT_FAULT } from '../texts/draft.ts'
import type { SeenUpTo } from '../texts/since-review.ts'
import type { Committer } from './commit.ts'
import { recordDraft } from './draft-recording.ts'
import { dropDraftTables, makeDraftTables } from './draft-tables.ts'
import { createReading, review } from './review.ts'
import { INSTRUCTION_COLUMNS, NO_COLUMNS, toColumns } from './rows.ts'
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
  let seen = NOTHING_SEEN
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
        const reviewed = review(db, header)
        seen = reviewed.seen
        return { ...reviewed.found, amountsUnread }
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

/** Without a review everything that is recorded came after it. */
const NOTHING_SEEN: SeenUpTo = { row: 0, move: 0, act: 0 }

/** Temporary tables live in the temporary directory, which may be another disk than the ledger's. */
function toDraftFault(error: unknown): unknown {
  if (whyNotWritten(error) !== 'full') return error
  return new Fault(
    'full',
    'The disk of temporary files is full (SQLITE_TMPDIR, TMPDIR, /var/tmp or /tmp). Nothing was recorded and nothing was sent. Free some space and run it again.',
    { cause: error },
  )
}

/** In the order in which their values are bound: by name it takes longer, for every row. */
const COLUMNS = `row_no, line, cells, state, made, holds_reference, run_key, due_at, attempt, came_batch, came_row, ${INSTRUCTION_COLUMNS}`

function prepareAdding(db: DatabaseSync, header: DraftHeader): (row: DraftRow) => void {
  const { runKey, nowMs } = header
  const parameters = COLUMNS.replace(/\w+/g, '?')
  const insertRow = db.prepare(`INSERT INTO temp.draft_row (${COLUMNS}) VALUES (${parameters})`)
  const insertFault = db.prepare(`INSERT INTO temp.${DRAFT_FAULT} VALUES (?, ?, ?, ?, ?, ?)`)
  return (row) => {
    const asked = row.instruction === null ? NO_COLUMNS : toColumns(row.instruction)
    const { rowNo, line, reference, made, cells, cameFrom = null, money = null } = row
    const read = money === null || money === 'unread' ? null : money
    const [state, holds] = row.faults.length === 0 ? ['READY', 1] : ['INVALID', 0]
    const amountMinor = asked.amount_minor ?? (read === null ? null : Number(read.amountMinor))
    insertRow.run(
      ...[rowNo, line, JSON.stringify(cells), state, made ? 1 : 0, holds, runKey, asked.execute_at ?? nowMs, 0],
      ...[cameFrom?.batchId ?? null, cameFrom?.rowNo ?? null],
      ...[reference, asked.operation, amountMinor, asked.currency ?? read?.currency ?? null],
      ...[asked.order_id, asked.order_key, asked.vault_id, asked.card, asked.xtl_order_id, asked.save_card],
      ...[asked.details, asked.execute_at, asked.content, asked.lookalike],
    )
    for (const { rowNo, line, column, value, problem, remedy } of row.faults) {
      insertFault.run(rowNo, line, column, value, problem, remedy)
    }
  }
}
