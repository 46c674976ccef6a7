// The ledger, as commands open it.

import { openLedger } from '../app/ledger.ts'
import type { App } from '../app.ts'
import { sayAlarm } from '../domain/alarm.ts'
import { spell } from '../domain/words.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { commandLine } from '../present/command-line.ts'
import { EXIT } from '../present/exit-codes.ts'
import type { Terminal } from './terminal.ts'

/** For one thing that is done on it. Resolves to the exit code; the ledger is closed, however the work ends. */
export async function onLedger(app: App, work: (ledger: Ledger) => Promise<void>): Promise<number> {
  const ledger = await openLedger(app)
  try {
    await work(ledger)
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

/** Says so when nothing is sent from it: what is read there may be older than what happened. */
export async function openLedgerAloud(app: App, terminal: Terminal, looks?: 'looks'): Promise<Ledger> {
  const ledger = await openLedger(app, looks)
  await tellAlarm(app, ledger, terminal)
  return ledger
}

export async function tellAlarm(app: App, ledger: Ledger, terminal: Terminal): Promise<void> {
  const alarm = await ledger.alarm()
  if (alarm !== null) terminal.say(spell(sayAlarm(alarm, app.paths.ledger), commandLine))
}
