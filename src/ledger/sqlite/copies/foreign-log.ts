// A backup that was put in place while the log of the ledger before it still stands beside. SQLite would read that log as
// the backup's own and mix the two ledgers, page by page, as soon as it opens them.

import { fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { Fault } from '../../../domain/fault.ts'

/** In the file's header: 1 outside WAL mode, as backups are written; 2 in it. */
const WRITE_VERSION_AT = 18
const OUTSIDE_WAL = 1

/** Before SQLite touches it. The log is looked for first: where there is one of its own, the header says WAL already. */
export function refuseForeignLog(path: string): void {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  if (log === undefined || log.size === 0 || writeVersionOf(path) !== OUTSIDE_WAL) return
  throw new Fault(
    'stopped',
    `${path} is a copy, and ${path}-wal beside it belongs to the ledger that was here before. Opened together they would be mixed. Nothing was changed and nothing was sent. If that ledger is lost, remove ${path}-wal and ${path}-shm; otherwise put it back first, because what it did last is in that log.`,
  )
}

function writeVersionOf(path: string): number | undefined {
  const byte = Buffer.alloc(1)
  return readSync(handleOf(path), byte, 0, 1, WRITE_VERSION_AT) === 1 ? byte[0] : undefined
}

/** By file. They stay open: closing one would drop the locks on that file of every connection that this process has to it. */
const handles = new Map<string, number>()

function handleOf(path: string): number {
  const known = handles.get(fileOf(statSync(path)))
  if (known !== undefined) return known
  const handle = openSync(path, 'r')
  handles.set(fileOf(fstatSync(handle)), handle)
  return handle
}

/** No other file has its number while it is open. */
function fileOf({ dev, ino }: Stats): string {
  return `${dev} ${ino}`
}
