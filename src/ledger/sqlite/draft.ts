// The tables of a draft in SQLite: temporary ones of the one connection.

import type { DatabaseSync } from 'node:sqlite'
import type { DraftHeader, DraftRow } from '../../domain/draft.ts'
import { Fault } from '../../domain/fault.ts'
import type { Engine } from '../texts/engine.ts'
import { INSTRUCTION_COLUMNS, NO_COLUMNS, toColumns } from '../texts/instruction-columns.ts'
import type { DraftEngine } from '../texts/intake/draft.ts'
import { DRAFT_FAULT } from '../texts/review/draft-rows.ts'
import { dropDraftTables, indexDraftTables, makeDraftTables } from './draft-tables.ts'
import { whyNotWritten } from './transaction.ts'

export function draftEngineOn(db: DatabaseSync, engine: Engine, header: DraftHeader): DraftEngine {
  makeDraftTables(db)
  const adding = prepareAdding(db, header)
  return {
    write: engine.write,
    read: (script) => engine.read(script).catch(throwAsDraftFault),
    async add(rows) {
      // Only temporary tables are written: this transaction takes no lock that anyone else could feel.
      db.exec('BEGIN')
      try {
        for (const row of rows) adding(row)
        db.exec('COMMIT')
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK')
        throwAsDraftFault(error)
      }
    },
    async index() {
      try {
        indexDraftTables(db)
      } catch (error) {
        throwAsDraftFault(error)
      }
    },
    close: () => dropDraftTables(db),
  }
}

/** Temporary tables live in the temporary directory, which may be another disk than the ledger's. */
function throwAsDraftFault(error: unknown): never {
  if (whyNotWritten(error) !== 'full') throw error
  throw new Fault(
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
