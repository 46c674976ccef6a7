// tranche init: makes the record of this installation. Nothing else does, so that a volume that is not mounted is noticed.

import { makeLedger, openLedger } from '../app/ledger.ts'
import type { App } from '../app.ts'
import { EXIT } from '../present/exit-codes.ts'
import { note } from './note.ts'
import type { Terminal } from './terminal.ts'

export async function init(app: App, terminal: Terminal): Promise<number> {
  const { ledgerId, made } = await makeLedger(app)
  if (made) await noteMade(app, terminal)
  terminal.object({ ledger: app.paths.ledger, ledger_id: ledgerId, made })
  terminal.data(
    made
      ? `The ledger is ${app.paths.ledger}. It keeps every instruction from being sent twice: ${app.config.ledgerServer === null ? 'put it on a disk that lasts, and back it up (tranche backup FILE)' : 'back up its database'}.`
      : `There is a ledger already: ${app.paths.ledger}. Nothing was changed.`,
  )
  return EXIT.approved
}

async function noteMade(app: App, terminal: Terminal): Promise<void> {
  const ledger = await openLedger(app)
  await note(app, ledger, { what: 'init', details: { ledger: app.paths.ledger } }, terminal).finally(() =>
    ledger.close(),
  )
}
