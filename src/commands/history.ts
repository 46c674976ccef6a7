// tranche history REFERENCE: every move of an instruction, with who, when and what the gateway said.

import { wordsOnSending } from '../app/doubts.ts'
import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import { toIdentifier } from '../domain/identifier.ts'
import type { HistoryMove } from '../domain/reconciliation.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { EXIT } from '../present/exit-codes.ts'
import { moveLines, rowText, toJsonLogEntry, toJsonMove } from '../present/history.ts'
import { sayingLines } from '../present/proposals.ts'
import { openLedgerAloud } from './on-ledger.ts'
import type { Terminal } from './terminal.ts'

export async function history(app: App, reference: string, terminal: Terminal): Promise<number> {
  const ledger = await openLedgerAloud(app, terminal, 'looks')
  try {
    const moves = await ledger.history(toIdentifier(reference))
    if (moves.length === 0) {
      throw new Fault(
        'usage',
        `This ledger has no instruction with the reference "${reference}". If it was sent under a run key, write the key first: 2026-12/${reference}.`,
      )
    }
    const told = await sayingsOn(app, ledger, moves)
    terminal.object({
      reference,
      moves: moves.map(toJsonMove),
      said: told.flatMap(({ words }) => words.map(toJsonLogEntry)),
    })
    for (const { own, lines } of told) {
      terminal.title(rowText(own[0] as HistoryMove))
      terminal.data(...own.flatMap(moveLines), ...lines)
    }
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

/** Row after row: its moves, and what was said to sending it once more. */
async function sayingsOn(app: App, ledger: Ledger, moves: readonly HistoryMove[]) {
  const rows = Map.groupBy(moves, rowText).values()
  const told = await Promise.all(
    [...rows].map(async (own) => ({ own, words: await wordsOnSending(ledger, own[0] as HistoryMove, own) })),
  )
  const doubts = told.every(({ words }) => words.length === 0) ? [] : await ledger.doubts()
  return told.map(({ own, words }) => {
    const [first] = own as [HistoryMove]
    const doubt = doubts.find(({ batchId, rowNo }) => batchId === first.batchId && rowNo === first.rowNo) ?? null
    return { own, words, lines: sayingLines(words, doubt, app.clock.nowMs()) }
  })
}
