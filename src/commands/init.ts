// tranche init: makes the record of this installation. Nothing else does, so that a volume that is not mounted is noticed.

import { ledgerExists } from '../app/data-directory.ts'
import { makeLedger, openLedger } from '../app/ledger.ts'
import { otherLedgers, whyOneLedger } from '../app/other-ledgers.ts'
import { existsOnServer } from '../app/server-ledger.ts'
import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import { words } from '../domain/words.ts'
import { EXIT } from '../present/exit-codes.ts'
import { confirm, mayAsk } from './confirm.ts'
import { note } from './note.ts'
import type { Terminal } from './terminal.ts'

export interface InitArguments {
  readonly yes?: boolean
}

export async function init(app: App, { yes = false }: InitArguments, terminal: Terminal): Promise<number> {
  if (!(await isMade(app))) await askForAnother(app, yes, terminal)
  const { ledgerId, made } = await makeLedger(app)
  if (made) await noteMade(app, terminal)
  // A ledger that is there already may have been made before its accounts were configured: nobody was asked then.
  const isMeant = made || yes || (await otherLedgers(app, ledgerId, { keeps: false })).length === 0
  if (isMeant) await otherLedgers(app, ledgerId, { keeps: true })
  terminal.object({ ledger: app.paths.ledger, ledger_id: ledgerId, made })
  terminal.data(
    made
      ? `The ledger is ${app.paths.ledger}. It keeps every instruction from being sent twice: ${app.config.ledgerServer === null ? 'put it on a disk that lasts, and back it up (tranche backup FILE)' : 'back up its database'}.`
      : `There is a ledger already: ${app.paths.ledger}. Nothing was changed.`,
  )
  return EXIT.approved
}

async function isMade(app: App): Promise<boolean> {
  const { ledgerServer } = app.config
  return ledgerServer === null ? ledgerExists(app) : existsOnServer(ledgerServer)
}

async function askForAnother(app: App, yes: boolean, terminal: Terminal): Promise<void> {
  if (app.config.ledgerServer !== null && ledgerExists(app)) throw besideFileFault(app)
  const others = yes ? [] : await otherLedgers(app, null, { keeps: false })
  if (others.length === 0) return
  const why = whyOneLedger(others)
  if (!mayAsk(terminal))
    throw new Fault(
      'usage',
      `${why} No ledger was made. Use that ledger (TRANCHE_DATA_DIR, TRANCHE_LEDGER_URL), or say that a second one is meant: tranche init --yes`,
    )
  await confirm(terminal, { question: `${why} Make a second one?`, otherwise: 'No ledger was made.', yes })
}

/** A server was set before the ledger was moved there: what the file has sent would be sent again. */
function besideFileFault({ paths }: App): Fault {
  return new Fault(
    'config',
    words`There is a ledger already: ${paths.ledgerFile}. What it has sent, one on the server does not know and would send again. No ledger was made. Move it there: ${{ act: 'migrate' }}; if a second one is really meant, let TRANCHE_DATA_DIR name another directory.`,
  )
}

async function noteMade(app: App, terminal: Terminal): Promise<void> {
  const ledger = await openLedger(app)
  await note(app, ledger, { what: 'init', details: { ledger: app.paths.ledger } }, terminal).finally(() =>
    ledger.close(),
  )
}
