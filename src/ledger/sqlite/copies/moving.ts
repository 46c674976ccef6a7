// A ledger in SQLite that moves to a server: held still while it is copied, and sending nothing more when it has arrived.

import type { DatabaseSync } from 'node:sqlite'
import { openConnection } from '../../../files/sqlite-file.ts'
import { generationOf, type MovedTo } from '../../rules/alarming.ts'
import type { TableStore } from '../../texts/tables.ts'
import { OPEN_WAIT_MS } from '../open-file.ts'
import { identityIn, prepareMovedTo } from './identity.ts'
import { tablesIn } from './tables.ts'

export interface HeldLedger {
  readonly tables: TableStore
  /** The number of its newest epoch: one on the server must be later. */
  readonly epochNo: number
  /** The highest ids. */
  readonly lastIds: { readonly instruction: number; readonly move: number }
  /** It has arrived: on the disk when this returns. Until a person takes it over again, nothing is sent from this file. */
  retire(to: MovedTo): void
  /** Others may write again. */
  release(): void
}

/** Where it was moved already; null: it is here. */
export function whereMoved(path: string): MovedTo | null {
  const db = openConnection(path, { readOnly: true, timeout: OPEN_WAIT_MS })
  try {
    return prepareMovedTo(db)()
  } finally {
    db.close()
  }
}

/** Nobody else writes until it is released. What is SENDING must have come into doubt before. */
export function holdLedger(path: string): HeldLedger {
  const db = openConnection(path, { timeout: OPEN_WAIT_MS })
  db.exec('PRAGMA synchronous = FULL; BEGIN IMMEDIATE')
  return {
    tables: tablesIn(db),
    lastIds: { instruction: lastIdOf(db, 'instruction'), move: lastIdOf(db, 'move') },
    epochNo: Math.max(0, ...(identityIn(db)?.epochs ?? []).map(({ epoch }) => generationOf(epoch))),
    retire(to) {
      db.prepare("INSERT INTO meta VALUES ('moved_to', ?)").run(JSON.stringify(to))
      db.exec('COMMIT')
    },
    release() {
      if (db.isTransaction) db.exec('ROLLBACK')
      db.close()
    },
  }
}

function lastIdOf(db: DatabaseSync, table: 'instruction' | 'move'): number {
  return (db.prepare(`SELECT coalesce(max(id), 0) AS last FROM ${table}`).get() as { last: number }).last
}
