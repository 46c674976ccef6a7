// tranche prove: started by `tranche serve` alone, for somebody at a page. It looks as `tranche audit verify` does, and writes nothing:
// the server knows who asked, and writes the act itself. A name that this process took from outside would be whatever a caller said.

import { openLedger } from '../app/ledger.ts'
import type { App } from '../app.ts'
import { EXIT } from '../present/exit-codes.ts'
import { askedByServer } from './asked-by-server.ts'
import { proofOf } from './audit.ts'
import { createTerminal } from './terminal.ts'

export interface ProofAsked {
  /** A head that was written down earlier; null: none. */
  readonly anchor: string | null
}

export async function prove(app: App): Promise<number> {
  const { anchor } = await askedByServer<ProofAsked>(
    app.io,
    'Nothing was verified. To verify the record: tranche audit verify',
  )
  const terminal = createTerminal(true, app.io)
  const ledger = await openLedger(app, 'looks')
  try {
    const { head, disagreements } = await proofOf(ledger, anchor)
    const exit = disagreements.length === 0 ? EXIT.approved : EXIT.failure
    terminal.object({ ok: exit === EXIT.approved, head, disagreements, exit })
    return exit
  } finally {
    await ledger.close()
  }
}
