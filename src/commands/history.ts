// tranche history REFERENCE: every move of an instruction, with who, when and what the gateway said.

import { openRecord } from '../app/ledger.ts'
import type { App } from '../app.ts'
import { toJsonActor } from '../domain/actor.ts'
import { isoOf } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'
import { toIdentifier } from '../domain/identifier.ts'
import { EXIT, type Terminal } from './terminal.ts'

export async function history(app: App, reference: string, terminal: Terminal): Promise<number> {
  const ledger = await openRecord(app)
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
      moves: moves.map((move) => ({
        batch: move.batchId,
        row: move.rowNo,
        at: isoOf(move.atMs),
        attempt: move.attempt,
        from: move.from,
        to: move.to,
        cause: move.cause,
        by: move.by,
        actor: move.actor === null ? null : toJsonActor(move.actor),
        http_status: move.httpStatus,
        answer: move.answerText,
        reason: move.reason,
      })),
    })
    let row = ''
    for (const move of moves) {
      const here = `Row ${move.rowNo} of batch ${move.batchId}`
      if (here !== row) terminal.title(here)
      row = here
      const attempt = move.attempt === 0 ? '' : `, attempt ${move.attempt}`
      const http = move.httpStatus === null ? '' : ` HTTP ${move.httpStatus}`
      terminal.data(
        `  ${isoOf(move.atMs)}  ${move.from === null ? '' : `${move.from} → `}${move.to}  (${move.cause}${attempt}${http}, by ${move.by})`,
      )
      if (move.reason !== null) terminal.data(`    ${move.reason}`)
      if (move.answerText !== null) terminal.data(`    ${move.answerText}`)
    }
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}
