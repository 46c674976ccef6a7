// A ledger in SQLite that moves to a server: held still while it is copied, and sending nothing more when it has arrived.

import type { DatabaseSync } from 'node:sqlite'
import { stoppedBy } from '../../../domain/alarm.ts'
import { openConnection } from '../../../files/sqlite-file.ts'
import type { SharedRegister } from '../../../ports/ledger/copies.ts'
import { generationOf, isUnknownSince, type MovedTo, WORKED_ELSEWHERE } from '../../rules/alarming.ts'
import type { TableStore } from '../../texts/tables.ts'
import { OPEN_WAIT_MS } from '../open-file.ts'
import { nextEpoch } from './epoch-file.ts'
import { identityIn, prepareMovedTo, prepareProgress } from './identity.ts'
import { tablesIn } from './tables.ts'
import { openWitness } from './witness.ts'

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

export interface Disowning {
  readonly ledgerId: string
  readonly token: string
  readonly witnessDirs: readonly string[]
  /** What other hosts see too; null: nothing is shared with any. */
  readonly register: SharedRegister | null
}

/**
 * To be called when it is retired, and before the ledger on the server wakes: a copy that was made before knows nothing of the move, and is
 * known for an older state from here on. Called again it says the same. Faults where a copy worked since it was retired.
 */
export async function disownCopies(path: string, { ledgerId, token, witnessDirs, register }: Disowning): Promise<void> {
  const db = openConnection(path, { readOnly: true, timeout: OPEN_WAIT_MS })
  try {
    const { epochs = [], witnesses } = identityIn(db) ?? {}
    const known = epochs.map(({ epoch }) => epoch)
    const over = nextEpoch(known, token) // not later than the first on the server: in Redis it would speak against that one
    const newest = (await register?.newest()) ?? null
    if (newest !== null && isUnknownSince(newest, [...known, over])) throw stoppedBy(WORKED_ELSEWHERE, path)
    if ((await register?.replace(newest, over)) === false) throw stoppedBy(WORKED_ELSEWHERE, path)
    const witness = openWitness(witnessDirs, ledgerId, path, witnesses)
    witness.testify(over, prepareProgress(db)())
    witness.close()
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
