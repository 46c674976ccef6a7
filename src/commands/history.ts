// tranche history REFERENCE: every move of an instruction, with who, when and what the gateway said.

import { openLedger } from '../app/ledger.ts'
import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import { toIdentifier } from '../domain/identifier.ts'
import { EXIT } from '../present/exit-codes.ts'
import { moveLines, rowText, toJsonMove } from '../present/history.ts'
import type { Terminal } from './terminal.ts'

export async function history(app: App, reference: string, terminal: Terminal): Promise<number> {
  const ledger = await openLedger(app, 'looks')
  try {
    const moves = await ledger.history(toIdentifier(reference))
    if (moves.length === 0) {
      throw new Fault(
        'usage',
        `This ledger has no instruction with the reference "${reference}". If it was sent under a run key, write the key first: 2026-12/${reference}.`,
      )
    }
    terminal.object({
      reference,
      moves: moves.map(toJsonMove),
    })
    let row = ''
    for (const move of moves) {
      const here = rowText(move)
      if (here !== row) terminal.title(here)
      row = here
      terminal.data(...moveLines(move))
    }
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}
