// A backup that was put in place while the log of the ledger before it still stands beside. SQLite would read that log as
// the backup's own and mix the two ledgers, page by page, as soon as it opens them.

import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { Fault } from '../../../domain/fault.ts'

/** Opened in this process before: reading such a file here would drop SQLite's locks on it. */
const opened = new Set<string>()

/** In the file's header: 1 outside WAL mode, as backups are written; 2 in it. */
const WRITE_VERSION_AT = 18
const OUTSIDE_WAL = 1

/** Before SQLite touches it. The log is looked for first: where there is one of its own, the header says WAL already. */
export function refuseForeignLog(path: string): void {
  if (opened.has(path)) return
  opened.add(path)
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  if (log === undefined || log.size === 0 || writeVersionOf(path) !== OUTSIDE_WAL) return
  opened.delete(path)
  throw new Fault(
    'stopped',
    `${path} is a copy, and ${path}-wal beside it belongs to the ledger that was here before. Opened together they would be mixed. Nothing was changed and nothing was sent. If that ledger is lost, remove ${path}-wal and ${path}-shm; otherwise put it back first, because what it did last is in that log.`,
  )
}

function writeVersionOf(path: string): number | undefined {
  const file = openSync(path, 'r')
  try {
    const byte = Buffer.alloc(1)
    return readSync(file, byte, 0, 1, WRITE_VERSION_AT) === 1 ? byte[0] : undefined
  } finally {
    closeSync(file)
  }
}
