// The one way to open an SQLite file. What stands in a file must not decide what this program does.

import { closeSync, openSync } from 'node:fs'
import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite'

/** Its schema may call no function that could do harm, and no statement may write to the schema or the file's structure. */
export function openConnection(path: string, options: Omit<DatabaseSyncOptions, 'open'> = {}): DatabaseSync {
  const db = new DatabaseSync(path, options)
  db.enableDefensive(true)
  db.exec('PRAGMA trusted_schema = OFF')
  return db
}

/**
 * Makes a file that SQLite is to fill, for its owner alone: SQLite would leave that to the mask of the process, and a run may share its
 * process. Not to be called where this process may have the file open already. Where it cannot be made, SQLite says why.
 */
export function makeOwnFile(path: string): void {
  try {
    closeSync(openSync(path, 'a', 0o600))
  } catch {}
}
