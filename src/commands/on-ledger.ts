// A command that does one thing on the ledger and is done.

import { openLedger } from '../app/ledger.ts'
import type { App } from '../app.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { EXIT } from '../present/exit-codes.ts'

/** Resolves to the exit code; the ledger is closed, however the work ends. */
export async function onLedger(app: App, work: (ledger: Ledger) => Promise<void>): Promise<number> {
  const ledger = await openLedger(app)
  try {
    await work(ledger)
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}
