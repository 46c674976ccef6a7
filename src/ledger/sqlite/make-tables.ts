// Makes the tables of a ledger in a file. A file with the tables of another version is refused and not touched.

import type { DatabaseSync } from 'node:sqlite'
import { otherProgramFault, otherVersionFault } from '../other-version.ts'
import { SCHEMA, SCHEMA_VERSION } from './schema.ts'

/** Writes nothing. False: there are none. Faults where there are those of another version, or of another program. */
export function hasTables(db: DatabaseSync): boolean {
  if (versionOf(db) === 0 && db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined) return false
  // Read again: another process may have made them since, both in one transaction.
  assertOwn(db, versionOf(db))
  return true
}

function versionOf(db: DatabaseSync): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
}

/** Where there are none. Of several processes one makes them, and the others find them. Returns whether it was this one. */
export function makeTables(db: DatabaseSync): boolean {
  if (hasTables(db)) return false
  db.exec('BEGIN IMMEDIATE')
  try {
    const makes = !hasTables(db)
    if (makes) db.exec(`${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION}`)
    db.exec('COMMIT')
    return makes
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Inside a transaction: another version of the program may have changed the tables since this one opened them. */
export function prepareOwnVersion(db: DatabaseSync): () => void {
  const read = db.prepare('PRAGMA user_version')
  return () => assertOwn(db, (read.get() as { user_version: number }).user_version)
}

function assertOwn(db: DatabaseSync, version: number): void {
  if (version === SCHEMA_VERSION) return
  const name = db.location() ?? 'in memory'
  // Every version has this one.
  const isLedger = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'instruction'").get() !== undefined
  throw isLedger
    ? otherVersionFault(name, version, SCHEMA_VERSION)
    : otherProgramFault(`The file ${name}`, 'TRANCHE_DATA_DIR')
}
