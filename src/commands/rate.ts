// tranche rate [MERCHANT] [N/s]: shows the rate dial, or turns it while a worker is running. Needs no Redis.

import { type Dial, dialsIn, findAccount, parseRate, rateProblem } from '../app/dials.ts'
import { openLedger } from '../app/ledger.ts'
import { workersNow } from '../app/locks.ts'
import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import type { WorkerView } from '../domain/worker.ts'
import { EXIT } from '../present/exit-codes.ts'
import { rateText, toJsonDial } from '../present/rates.ts'
import { toTable } from '../present/text.ts'
import { workerLines } from '../present/workers.ts'
import { openLedgerAloud } from './on-ledger.ts'
import type { Terminal } from './terminal.ts'

const NONE_KNOWN = 'No merchant is configured here, and the ledger knows none.'

/** `configured`: turned back. */
type Turn = number | 'configured'

export async function rate(
  app: App,
  [first, second]: readonly [string | undefined, string | undefined],
  reason: string | undefined,
  terminal: Terminal,
): Promise<number> {
  const reader = await openLedgerAloud(app, terminal)
  const dials = await dialsIn(app, reader).finally(() => reader.close())
  if (first === undefined) return show(dials, terminal, { rates: dials.map(toJsonDial) })
  const named = dials.find(({ merchant }) => merchant === first)
  if (named === undefined && (second !== undefined || !looksLikeTurn(first))) throw unknownFault(first, dials)
  if (named !== undefined && second === undefined) return show([named], terminal, toJsonDial(named))
  const to = parseTurn(second ?? first)
  return turn(app, named?.merchant ?? onlyConfigured(app, first, dials), { to, reason }, terminal)
}

function onlyConfigured(app: App, rate: string, dials: readonly Dial[]): string {
  const [only, ...others] = app.config.merchants.keys()
  if (only !== undefined && others.length === 0) return only
  if (dials.length === 0) throw new Fault('usage', `${NONE_KNOWN} Nothing was changed.`)
  const name = `Name the merchant (${namesOf(dials)}): tranche rate MERCHANT ${rate}.`
  throw new Fault('usage', `${name} Nothing was changed.`)
}

function show(dials: readonly Dial[], terminal: Terminal, json: object): number {
  terminal.object(json)
  if (dials.length === 0) terminal.say(NONE_KNOWN)
  else {
    const rows = dials.map(({ merchant, perSecond, configured }) => [
      merchant,
      perSecond === null ? 'as configured' : `${perSecond}/s`,
      configured === undefined ? 'not configured' : rateText(configured),
    ])
    for (const line of toTable([['merchant', 'dial', 'configured here'], ...rows])) terminal.data(line)
  }
  return EXIT.approved
}

async function turn(
  app: App,
  merchant: string,
  { to, reason }: { readonly to: Turn; readonly reason: string | undefined },
  terminal: Terminal,
): Promise<number> {
  const ledger = await openLedger(app)
  try {
    const perSecond = to === 'configured' ? null : to
    await ledger.setRate(await findAccount(app, ledger, merchant), perSecond, app.actor, app.clock.nowMs(), reason)
    const configured = app.config.merchants.get(merchant)?.ratePerSecond
    terminal.object(toJsonDial({ merchant, perSecond, configured }))
    const workers = await workersNow(app, ledger)
    const takenUp = takenUpText(workers, merchant)
    const here = configured === undefined ? '' : ` (${rateText(configured)} here)`
    terminal.say(
      perSecond === null
        ? `Merchant ${merchant} goes by its configuration again${here}. ${takenUp}`
        : `Merchant ${merchant} now sends at most ${rateText(perSecond)}, whatever is configured${here}. To undo it: tranche rate ${merchant} configured. ${takenUp}`,
      ...workerLines(workers),
    )
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

/** What those that work make of it. One that is lost sends nothing any more. */
function takenUpText(workers: readonly WorkerView[], merchant: string): string {
  const working = workers.filter(({ isLost }) => !isLost)
  if (working.length === 0) return 'No worker is running; the next one keeps to it.'
  const serving = working.filter(({ merchants }) => merchants?.includes(merchant) ?? true)
  if (serving.length > 1) return `${serving.length} running workers take it up within seconds, and keep to it together.`
  if (serving.length === 1)
    return 'The running worker takes it up at once; its first request at this rate leaves a second later.'
  return working.length === 1
    ? 'The running worker was started without that merchant; the next one that sends for it keeps to it.'
    : 'The running workers were started without that merchant; the next one that sends for it keeps to it.'
}

function unknownFault(name: string, dials: readonly Dial[]): Fault {
  const known = dials.length === 0 ? 'None is configured here' : `Known: ${namesOf(dials)}`
  return new Fault('usage', `There is no merchant "${name}". ${known}. Nothing was changed.`)
}

function namesOf(dials: readonly Dial[]): string {
  return dials.map(({ merchant }) => merchant).join(', ')
}

function looksLikeTurn(text: string): boolean {
  return text === 'configured' || /^[\d.]/.test(text)
}

function parseTurn(text: string): Turn {
  if (text === 'configured') return text
  const perSecond = parseRate(text)
  if (perSecond === null) {
    throw new Fault(
      'usage',
      `"${text}" is not a rate: write requests per second, such as 25/s or 0.5/s, or configured. Nothing was changed.`,
    )
  }
  if (perSecond === 0) {
    throw new Fault(
      'usage',
      '0 is not a rate. To stop sending, pause the batch: tranche pause BATCH --reason TEXT. Nothing was changed.',
    )
  }
  const problem = rateProblem(perSecond)
  if (problem !== null) throw new Fault('usage', `${problem}. Nothing was changed.`)
  return perSecond
}
