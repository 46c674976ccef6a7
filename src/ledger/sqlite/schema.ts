// Brings the tables of a ledger in a file up to this program's version.

import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../domain/fault.ts'
import { MIGRATIONS } from './migrations.ts'
import { registerAsRead } from './odd-references.ts'

/** A ledger of a newer program is refused, not touched. */
export function migrate(db: DatabaseSync, to = MIGRATIONS.length): void {
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number }
  if (version === to) return
  if (version > to) throw newerFault()
  registerAsRead(db)
  db.exec('BEGIN IMMEDIATE')
  try {
    const { user_version: from } = db.prepare('PRAGMA user_version').get() as { user_version: number }
    for (const sql of MIGRATIONS.slice(from, to)) db.exec(sql)
    db.exec(`PRAGMA user_version = ${to}`)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Inside a transaction: another program may have brought the tables up to its own version since this one opened them. */
export function prepareOwnVersion(db: DatabaseSync): () => void {
  const read = db.prepare('PRAGMA user_version')
  return () => {
    const { user_version: version } = read.get() as { user_version: number }
    if (version > MIGRATIONS.length) throw newerFault()
  }
}

function newerFault(): Fault {
  return new Fault(
    'config',
    'The ledger was written by a newer version of tranche. Nothing was changed. Use that version.',
  )
}
