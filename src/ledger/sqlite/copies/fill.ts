// A file filled with a ledger that another engine keeps: a ledger in SQLite from then on.

import { Fault } from '../../../domain/fault.ts'
import { openConnection } from '../../../files/sqlite-file.ts'
import type { Disagreement } from '../../../ports/ledger/audit.ts'
import { copyTables } from '../../copy-tables.ts'
import { addLink, nextLink } from '../../texts/record/chain.ts'
import type { TableStore } from '../../texts/tables.ts'
import { audit, NUMBERS_SKIP } from '../audit.ts'
import { makeTables } from '../make-tables.ts'
import { prepareRunning } from '../run-script.ts'
import { whyNotWritten } from '../transaction.ts'
import { tablesIn } from './tables.ts'

/** `from`: all of one moment. */
export async function fillFile(path: string, from: TableStore): Promise<void> {
  const db = openConnection(path)
  try {
    db.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF') // a crash leaves a file that nobody takes for a ledger
    makeTables(db)
    db.exec('BEGIN; DELETE FROM chain') // its first link is among what is copied
    await copyTables(from, tablesIn(db)).catch(throwAsFault)
    const run = prepareRunning(db)
    for (let next = run(nextLink()); next !== null; next = run(nextLink())) run(addLink(next.link))
    db.exec(`INSERT INTO meta VALUES ('${NUMBERS_SKIP}', '1'); COMMIT`)
  } finally {
    db.close()
  }
}

/** What the tables of this program refuse, it never wrote. */
function throwAsFault(error: unknown): never {
  if (whyNotWritten(error) !== null || !(error instanceof Error && 'errcode' in error)) throw error
  throw new Fault(
    'storage',
    `The ledger cannot be copied: it holds what this program never writes (${error.message}), so another program wrote to it. Nothing was changed. Send nothing from it until it has been compared with a backup.`,
    { cause: error },
  )
}

/** See `AuditLedger.audit`. */
export function* auditFile(path: string, head: string | null): Iterable<Disagreement> {
  const db = openConnection(path, { readOnly: true })
  try {
    yield* audit(db, head)
  } finally {
    db.close()
  }
}
