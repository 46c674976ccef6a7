// The tables of a draft in SQLite: temporary ones of the one connection.

import type { DatabaseSync } from 'node:sqlite'
import type { DraftHeader, DraftRow } from '../../domain/draft.ts'
import { Fault } from '../../domain/fault.ts'
import type { Engine } from '../texts/engine.ts'
import type { DraftEngine } from '../texts/intake/draft.ts'
import { dropDraftTables, indexDraftTables, makeDraftTables } from '../texts/review/draft-tables.ts'
import {
  FAULTS_OF_DRAFT,
  faultValues,
  ROWS_OF_DRAFT,
  rowValues,
  VALUES_OF_FAULT,
  VALUES_OF_ROW,
} from '../texts/review/draft-values.ts'
import { runNow } from './run-script.ts'
import { whyNotWritten } from './transaction.ts'

export function draftEngineOn(db: DatabaseSync, engine: Engine, header: DraftHeader): DraftEngine {
  const dropNow = () => runNow(db, dropDraftTables())
  dropNow()
  runNow(db, makeDraftTables())
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
        runNow(db, indexDraftTables())
      } catch (error) {
        throwAsDraftFault(error)
      }
    },
    close: dropNow,
  }
}

/** Temporary tables live in the temporary directory, which may be another disk than the ledger's. */
function throwAsDraftFault(error: unknown): never {
  if (whyNotWritten(error) !== 'full') throw error
  throw new Fault(
    'full',
    'The disk of temporary files is full (SQLITE_TMPDIR, TMPDIR, /var/tmp or /tmp). Nothing was recorded and nothing was sent. Free some space and try again.',
    { cause: error },
  )
}

function prepareAdding(db: DatabaseSync, header: DraftHeader): (row: DraftRow) => void {
  const parameters = (count: number) => Array(count).fill('?').join(', ')
  const insertRow = db.prepare(`INSERT INTO temp.${ROWS_OF_DRAFT} VALUES (${parameters(VALUES_OF_ROW)})`)
  const insertFault = db.prepare(`INSERT INTO temp.${FAULTS_OF_DRAFT} VALUES (${parameters(VALUES_OF_FAULT)})`)
  return (row) => {
    insertRow.run(...rowValues(row, header))
    for (const values of faultValues(row)) insertFault.run(...values)
  }
}
