// tranche messages failed: the messages of other services that were refused, and why.

import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import { EXIT } from '../present/exit-codes.ts'
import { refusalLine, toJsonRefusal } from '../present/refusals.ts'
import { plural } from '../present/text.ts'
import { openLedgerAloud } from './on-ledger.ts'
import { parseSince } from './since.ts'
import type { Terminal } from './terminal.ts'

export interface MessagesArguments {
  readonly last?: string
  readonly since?: string
  readonly merchant?: string
}

const SHOWN = 100

export async function messagesFailed(app: App, given: MessagesArguments, terminal: Terminal): Promise<number> {
  const asked = {
    sinceMs: given.since === undefined ? null : parseSince('--since', given.since, 'Nothing was looked up.'),
    merchant: given.merchant ?? null,
    most: parseLast(given.last),
  }
  const ledger = await openLedgerAloud(app, terminal, 'looks')
  try {
    const { refusals, count } = await ledger.refusals(asked)
    terminal.object({ messages: refusals.map(toJsonRefusal), count })
    terminal.data(...refusals.map(refusalLine))
    if (count === 0) terminal.say('No such message is in the ledger: none was refused.')
    const older = count - refusals.length
    if (older > 0)
      terminal.say(`${plural(older, 'older message is', 'older messages are')} not shown (--last ${count}).`)
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

function parseLast(text: string | undefined): number {
  if (text === undefined) return SHOWN
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new Fault('usage', `--last ${text}: write how many messages to show, such as 500.`)
  return Number(text)
}
