// The one way to open an SQLite file. What stands in a file must not decide what this program does.

import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite'

/** Its schema may call no function that could do harm, and no statement may write to the schema or the file's structure. */
export function openConnection(path: string, options: Omit<DatabaseSyncOptions, 'open'> = {}): DatabaseSync {
  const db = new DatabaseSync(path, options)
  db.enableDefensive(true)
  db.exec('PRAGMA trusted_schema = OFF')
  return db
}
