// tranche log: what people and the machine did, in order of time, for a person or line by line for a collector of logs.

import type { App } from '../app.ts'
import { isoOf } from '../domain/batch-status.ts'
import { EXIT } from '../present/exit-codes.ts'
import { logLine, toJsonLogEntry } from '../present/history.ts'
import { plural } from '../present/text.ts'
import { openLedgerAloud } from './on-ledger.ts'
import { parseSince } from './since.ts'
import type { Terminal } from './terminal.ts'

export interface LogArguments {
  readonly since?: string
}

export async function log(app: App, { since }: LogArguments, terminal: Terminal): Promise<number> {
  const sinceMs = since === undefined ? null : parseSince('--since', since, 'Nothing was changed.')
  const ledger = await openLedgerAloud(app, terminal, 'looks')
  try {
    let entries = 0
    for await (const page of ledger.log(sinceMs)) {
      for (const entry of page) {
        if (terminal.readerLeft()) break
        entries += 1
        terminal.object(toJsonLogEntry(entry))
        terminal.data(logLine(entry))
        await terminal.drained()
      }
      if (terminal.readerLeft()) break
    }
    const from = sinceMs === null ? null : isoOf(sinceMs)
    const head = await ledger.head()
    terminal.object({ event: 'result', since: from, entries, head, exit: EXIT.approved })
    terminal.say(
      `${plural(entries, 'entry', 'entries')}${from === null ? '' : ` since ${from}`}. Head of the record: ${head}`,
    )
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}
