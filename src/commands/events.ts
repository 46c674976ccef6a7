// tranche events: what other programs are told, one JSON object a line, and with --follow as it happens.

import { eventsAfter, parseEventTypes } from '../app/events.ts'
import type { App } from '../app.ts'
import { EXIT } from '../present/exit-codes.ts'
import { openLedgerAloud } from './on-ledger.ts'
import { finishing, openInterruption } from './signals.ts'
import type { Terminal } from './terminal.ts'

export interface EventsArguments {
  readonly follow?: boolean
  readonly after?: string
  readonly types?: string
}

const LOOK_EVERY_MS = 500
const AT_ONCE = 500

/** Data alone on stdout, with --json as without. */
export async function events(app: App, given: EventsArguments, terminal: Terminal): Promise<number> {
  const types = given.types === undefined ? null : parseEventTypes('--types', given.types)
  const ledger = await openLedgerAloud(app, terminal)
  const interruption = openInterruption(terminal, () => finishing('what was read is written'))
  const { signal } = interruption
  try {
    for (let after = given.after ?? null; ; ) {
      const bodies = await eventsAfter(app, ledger, { after, types, limit: AT_ONCE })
      for (const body of bodies) terminal.io.stdout.write(`${JSON.stringify(body)}\n`)
      after = bodies.at(-1)?.id ?? after
      await terminal.drained()
      if (signal.aborted || terminal.readerLeft()) return EXIT.approved
      if (bodies.length === AT_ONCE) continue
      if (given.follow !== true) return EXIT.approved
      await app.clock.sleep(LOOK_EVERY_MS, signal)
    }
  } finally {
    interruption.close()
    await ledger.close()
  }
}
