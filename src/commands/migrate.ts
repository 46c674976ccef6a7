// tranche migrate: moves the ledger from its file to a PostgreSQL server.

import { type Ahead, inItsFile, lookAhead, moveLedger, serverOf, wakeMoved } from '../app/migration.ts'
import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import { EXIT } from '../present/exit-codes.ts'
import { plural } from '../present/text.ts'
import { confirm } from './confirm.ts'
import type { Terminal } from './terminal.ts'

export interface MigrateArguments {
  readonly to?: string
  readonly check?: boolean
  readonly yes?: boolean
}

export async function migrate(app: App, given: MigrateArguments, terminal: Terminal): Promise<number> {
  const server = serverOf(app, given.to)
  const here = inItsFile(app)
  const ahead = await lookAhead(here, server)
  if (ahead.moved === null) {
    refuseTaken(ahead, server)
    sayAhead(here, server, ahead, terminal)
    if (given.check === true) return checked(ahead, server, terminal)
    await confirm(terminal, {
      question: `${server.name} will send from then on, and ${here.paths.ledger} never again. Move the ledger?`,
      otherwise: 'Nothing was moved.',
      yes: given.yes === true,
    })
    const { inDoubt } = await moveLedger(here, server, (step) => terminal.redraw(STEPS[step] ?? `copying: ${step}`))
    terminal.redraw(null)
    if (inDoubt > 0)
      terminal.say(
        `${plural(inDoubt, 'request was', 'requests were')} open when the worker ended, and ${inDoubt === 1 ? 'is' : 'are'} in doubt now: tranche in-doubt list`,
      )
  } else if (given.check === true || ahead.target === 'arrived') {
    terminal.say(
      `It was moved to ${ahead.moved.name} already${ahead.target === 'arrived' ? '' : ', but not finished: run it again without --check'}.`,
    )
    return checked(ahead, server, terminal)
  }
  await wakeMoved(here, server)
  terminal.object({ moved: server.name, from: here.paths.ledger, rows: ahead.rows, batches: ahead.batches })
  terminal.say(
    `The ledger is at ${server.name}: ${plural(ahead.rows, 'row', 'rows')} in ${plural(ahead.batches, 'batch', 'batches')}, each value compared with the file.`,
    `Now set TRANCHE_LEDGER_URL (or TRANCHE_LEDGER_URL_FILE) wherever tranche runs, then start the worker. ${here.paths.ledger} sends nothing any more; keep it until the server has been backed up.`,
  )
  return EXIT.approved
}

/** What the server needs of the size of the file: 1,000,000 rows of 527 MiB took 965 MiB there. */
const ROOM = 2

const STEPS: Readonly<Record<string, string>> = {
  instruction: 'copying: instructions',
  move: 'copying: what became of them',
  retired: 'waking the ledger on the server',
}

function refuseTaken({ target }: Ahead, server: { readonly name: string }): void {
  if (target !== 'another' && target !== 'arrived') return
  throw new Fault(
    'usage',
    `There is a ledger at ${server.name} already. Nothing was moved. Name another schema (TRANCHE_LEDGER_SCHEMA) or database.`,
  )
}

function sayAhead(here: App, server: { readonly name: string }, ahead: Ahead, terminal: Terminal): void {
  const { rows, batches, bytes, sending, target } = ahead
  terminal.say(
    `${here.paths.ledger}: ${plural(rows, 'row', 'rows')} in ${plural(batches, 'batch', 'batches')}, ${(bytes / 1024 ** 2).toFixed(0)} MiB. The server needs about ${((bytes * ROOM) / 1024 ** 2).toFixed(0)} MiB.`,
    target === 'arriving'
      ? `${server.name} holds a copy whose move was broken off; it is thrown away and made anew.`
      : `${server.name} is fit and holds no ledger.`,
  )
  if (sending > 0)
    terminal.say(
      `${plural(sending, 'request is', 'requests are')} open. If a worker runs, stop it (SIGTERM) first; if it died, ${sending === 1 ? 'it comes' : 'they come'} into doubt.`,
    )
}

function checked(
  { rows, batches, sending, moved, target }: Ahead,
  server: { readonly name: string },
  terminal: Terminal,
): number {
  terminal.object({ to: server.name, rows, batches, sending, moved: moved !== null, target })
  if (moved === null) terminal.say('It can be moved. Nothing was changed.')
  return EXIT.approved
}
