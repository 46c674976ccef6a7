// tranche find ID: the instructions that have it, as reference, order id, transaction id, merchant order id or vault id.

import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import { FOUND_MOST } from '../domain/found.ts'
import { toIdentifier } from '../domain/identifier.ts'
import { EXIT } from '../present/exit-codes.ts'
import { foundLines, toJsonFound } from '../present/found.ts'
import { openLedgerAloud } from './on-ledger.ts'
import type { Terminal } from './terminal.ts'

export async function find(app: App, id: string, terminal: Terminal): Promise<number> {
  const ledger = await openLedgerAloud(app, terminal, 'looks')
  try {
    const found = await ledger.find(toIdentifier(id))
    terminal.object({ instructions: found.map(toJsonFound) })
    if (found.length === 0) {
      if (terminal.json) return EXIT.approved
      throw new Fault(
        'usage',
        `No instruction of this ledger has "${id}" as its reference, order id, transaction id, merchant order id or vault id. Record ids (result_record_id) and order ids of sales in doubt are not searched.`,
      )
    }
    terminal.data(...found.flatMap(foundLines))
    if (found.length === FOUND_MOST) terminal.say(`These are the first ${FOUND_MOST}; there may be more.`)
    else if (found.length === 1) terminal.say(`Every move of it: tranche history ${found[0]?.reference}`)
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}
