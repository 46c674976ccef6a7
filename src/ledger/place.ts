// Whether the files of an open ledger still stand where they were. One that was removed or replaced goes on working for
// this process, and nobody will ever find again what it writes there.

import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../domain/fault.ts'
import { openConnection } from './connection.ts'
import { nextEpoch, readEpoch, stageEpoch } from './epoch-file.ts'
import { inodeOf } from './file-identity.ts'
import { identityIn, remember } from './identity.ts'

/** The log and its index belong to the ledger: what was committed last stands in the log alone. */
const PARTS = ['', '-wal', '-shm']
/** Named in the last words, so that a person can look them up although no ledger may be left to ask. */
const OPEN_ROWS_NAMED = 500

/**
 * Returns what is asked after every commit, before anyone is told of it: throws when the ledger's files are gone, after
 * saving what it held. Costs 5 µs.
 */
export function openPlace(db: DatabaseSync, path: string, ledgerId: string): () => void {
  const inodes = PARTS.map((part) => inodeOf(path + part))
  return () => {
    const missing = PARTS.find((part, i) => inodeOf(path + part) !== inodes[i])
    if (missing !== undefined) throw goneFault(db, path, ledgerId, path + missing)
  }
}

function goneFault(db: DatabaseSync, path: string, ledgerId: string, missing: string): Fault {
  const open = openRows(db)
  const what = inodeOf(missing) === null ? 'was removed' : 'was replaced by another file'
  const doubt =
    open.length === 0
      ? 'No request was open.'
      : `These may have been executed and their answers are not recorded: ${open.join('; ')}.`
  return new Fault(
    'storage',
    `${missing} ${what} while it was in use. Nothing more is sent. ${doubt} ${save(db, path, ledgerId)}`,
  )
}

function openRows(db: DatabaseSync): string[] {
  const rows = db
    .prepare(`
      SELECT i.reference, i.batch_id, i.row_no, i.operation, coalesce(i.order_id, i.vault_id, '') AS target, i.xtl_order_id
      FROM instruction i WHERE i.state = 'SENDING' LIMIT ${OPEN_ROWS_NAMED}`)
    .all()
  return rows.map(
    (row) =>
      `${row.reference} (${[row.operation, row.target, row.xtl_order_id].filter(Boolean).join(' ')}, row ${row.row_no} of batch ${row.batch_id})`,
  )
}

/**
 * SQLite still has the removed files open: what they hold is written to a new one. Only that one knows the new epoch, so
 * that whatever stands in the ledger's place at the next start, older, sends nothing.
 */
function save(db: DatabaseSync, path: string, ledgerId: string): string {
  const before = (identityIn(db)?.epochs ?? []).map((known) => known.epoch)
  const epoch = nextEpoch([...before, readEpoch(path)?.epoch ?? ''])
  const saved = join(dirname(path), `ledger.saved-${process.pid}.db`)
  const mask = process.umask(0o077)
  try {
    db.prepare('VACUUM INTO ?').run(saved)
    const copy = openConnection(saved)
    const noFile = { inode: 'none', bornNs: null, changedNs: null }
    remember(copy, { ledgerFile: noFile, machine: null, epochs: [{ epoch, file: null }], overrules: false })
    copy.close()
    stageEpoch(path, { ledgerId, epoch }).put()
    return `All that it held is saved in ${saved}. End every other tranche process, remove ${path}-wal and ${path}-shm, put ${saved} in the place of ${path}, then: tranche adopt --moved --reason TEXT`
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    try {
      stageEpoch(path, { ledgerId, epoch }).put()
    } catch {
      // The directory has gone as well: a new ledger there will be a new one.
    }
    return `What it held could not be saved (${why}). Put the newest copy in the place of ${path}, then: tranche adopt --restored --reason TEXT`
  } finally {
    process.umask(mask)
  }
}
