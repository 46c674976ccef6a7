// tranche backup FILE: the only supported copy of a ledger. Needs no Redis, and no worker has to stop for it.

import type { App } from '../app.ts'
import { isoOf } from '../domain/batch-status.ts'
import { maskCardData } from '../domain/card-secrets.ts'
import { EXIT } from '../present/exit-codes.ts'
import { plural } from '../present/text.ts'
import { note } from './note.ts'
import { openLedgerAloud } from './on-ledger.ts'
import type { Terminal } from './terminal.ts'

export async function backup(app: App, path: string, terminal: Terminal): Promise<number> {
  const ledger = await openLedgerAloud(app, terminal, 'looks')
  try {
    const head = await ledger.head() // asked before: the copy holds everything up to there
    const made = await ledger.backup(path, app.clock.nowMs())
    const { rows, batches, bytes } = made
    const details = { file: maskCardData(made.path), rows: made.rows, batches: made.batches, bytes: made.bytes }
    await note(app, ledger, { what: 'backup', details }, terminal)
    terminal.data(made.path)
    terminal.object({ backup: made.path, at: isoOf(made.atMs), rows, batches, bytes, head })
    terminal.say(
      `${plural(rows, 'row', 'rows')} in ${plural(batches, 'batch', 'batches')}, ${bytes} bytes, as they were at ${isoOf(made.atMs)}; checked. The copy sends nothing until it is put in the place of a ledger and taken over with tranche adopt.`,
      `The copy holds the record up to ${head}: kept elsewhere, that proves later that neither was changed (tranche audit verify --anchor).`,
    )
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}
