// tranche adopt: takes over a ledger that was moved or put back, or an account that has another address.

import { openLedger } from '../app/ledger.ts'
import { takeLedgerLock } from '../app/locks.ts'
import type { App } from '../app.ts'
import { type Adoption, type Alarm, mayBeMoved, stoppedBy } from '../domain/alarm.ts'
import { isoOf } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'
import { merchantOf } from '../domain/merchant.ts'
import { shortUsername } from '../domain/username.ts'
import type { Held } from '../files/lock.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { EXIT } from '../present/exit-codes.ts'
import { plural } from '../present/text.ts'
import { confirm } from './confirm.ts'
import { parseSince } from './since.ts'
import type { Terminal } from './terminal.ts'

export interface AdoptArguments {
  readonly moved?: boolean
  readonly restored?: boolean
  /** As written; only with `restored`. */
  readonly dueBefore?: string
  /** Only with `restored`, and needed where the ledger was moved to a server: nothing here can tell whether that one still sends. */
  readonly serverIsLost?: boolean
  readonly merchant?: string
  /** The name of a merchant. */
  readonly environment?: string
  readonly reason: string
  readonly yes?: boolean
}

export async function adopt(app: App, given: AdoptArguments, terminal: Terminal): Promise<number> {
  const what = parseWhat(given)
  const dueBeforeMs = parseDueBefore(given)
  if (given.reason.trim() === '')
    throw new Fault('usage', '--reason: write why; it is kept in the history. Nothing was changed.')
  const ledger = await openLedger(app, 'looks')
  try {
    const lock = await takeLedgerLock(app, ledger, 'adopt')
    if (lock.kind === 'held') throw heldFault(lock)
    try {
      const alarm = what.kind === 'moved' || what.kind === 'restored' ? await ledger.alarm() : null
      assertAdoptable(what.kind, alarm, given.serverIsLost === true, app)
      await confirm(terminal, {
        question: questionOf(what, alarm, app),
        otherwise: 'Nothing was changed.',
        yes: given.yes === true,
      })
      if (what.kind === 'environment') await adoptEnvironment(app, ledger, what.name, given.reason, terminal)
      else if (what.kind === 'merchant') await adoptMerchant(app, ledger, what.name, given.reason, terminal)
      else await adoptLedger(app, ledger, { how: what.kind, alarm, reason: given.reason, dueBeforeMs }, terminal)
      return EXIT.approved
    } finally {
      lock.release()
    }
  } finally {
    await ledger.close()
  }
}

/** A question is answered by `--yes`; that a server is lost is said by name. */
function assertAdoptable(
  kind: ReturnType<typeof parseWhat>['kind'],
  alarm: Alarm | null,
  serverIsLost: boolean,
  { paths }: App,
): void {
  const wasMoved = alarm?.kind === 'moved-away'
  if (serverIsLost && (kind !== 'restored' || !wasMoved))
    throw new Fault(
      'usage',
      '--server-is-lost goes with --restored, for a ledger that was moved to a server. Nothing was changed.',
    )
  if (wasMoved && !serverIsLost) throw stoppedBy(alarm, paths.ledger, 'Nothing was changed.')
  // That it is an older state can be seen elsewhere only: a whole machine was rolled back, or a shared Redis says so.
  if (kind === 'moved' && alarm === null)
    throw new Fault(
      'usage',
      `${paths.ledger} is the ledger it remembers to be: there is nothing to adopt. Nothing was changed.`,
    )
  if (kind === 'moved' && alarm !== null && !mayBeMoved(alarm)) throw olderFault(alarm)
}

function questionOf(what: ReturnType<typeof parseWhat>, alarm: Alarm | null, app: App): string {
  switch (what.kind) {
    case 'merchant':
      return `What waits for merchant ${what.name} will be sent to the address that is configured now. Is it the same gateway account?`
    case 'environment': {
      const { environment } = merchantOf(app.config, what.name)
      return `Merchant ${what.name} will be ${environment ?? 'without a label'} in this ledger, as it is configured now. Is that the world its account belongs to?`
    }
    case 'moved':
      return `${app.paths.ledger} will send from now on. If another copy of it sends as well, money moves twice. Is every other copy dead?`
    case 'restored':
      return alarm?.kind === 'moved-away'
        ? `${app.paths.ledger} will send again, and every row of it that is not settled comes into doubt: ${alarm.noticed}. If the ledger there sends as well, money moves twice. Is it lost for good?`
        : `Every row of ${app.paths.ledger} that is not settled comes into doubt. Take it over as an older state?`
  }
}

function heldFault({ heldBy }: Held): Fault {
  const who =
    heldBy === null ? 'Another process' : `Process ${heldBy.pid} on ${heldBy.host} (tranche ${heldBy.command})`
  return new Fault('stopped', `${who} works off this ledger. Nothing was changed. Stop it (SIGTERM), then adopt.`)
}

function parseWhat({
  moved,
  restored,
  merchant,
  environment,
}: AdoptArguments): { kind: Adoption } | { kind: 'merchant' | 'environment'; name: string } {
  const named = [moved === true, restored === true, merchant !== undefined, environment !== undefined].filter(
    Boolean,
  ).length
  if (named !== 1) {
    throw new Fault(
      'usage',
      'Say which it is: --moved (this is the newest state and every other copy is dead), --restored (an older state was put back), --merchant NAME (the same account at a new address) or --environment NAME (the label of that merchant was wrong). Nothing was changed.',
    )
  }
  if (merchant !== undefined) return { kind: 'merchant', name: merchant }
  if (environment !== undefined) return { kind: 'environment', name: environment }
  return { kind: moved === true ? 'moved' : 'restored' }
}

/** Nothing was sent of what is lost from then on; null: not said. */
function parseDueBefore({ dueBefore, restored }: AdoptArguments): number | null {
  if (dueBefore === undefined) return null
  if (restored === true) return parseSince('--due-before', dueBefore, 'Nothing was changed.')
  throw new Fault('usage', '--due-before goes with --restored. Nothing was changed.')
}

interface HowToAdopt {
  readonly how: Adoption
  readonly alarm: Alarm | null
  readonly reason: string
  readonly dueBeforeMs: number | null
}

async function adoptLedger(
  app: App,
  ledger: Ledger,
  { how, alarm, reason, dueBeforeMs }: HowToAdopt,
  terminal: Terminal,
): Promise<void> {
  const lastAtMs = await ledger.lastSentAtMs()
  const earliestMs = Math.max(app.clock.nowMs(), lastAtMs ?? 0)
  if (dueBeforeMs !== null && dueBeforeMs <= earliestMs) throw tooEarlyFault(dueBeforeMs, earliestMs)
  const inDoubt = await ledger.adopt(how, reason, app.actor, app.clock.nowMs(), dueBeforeMs)
  const last = lastAtMs === null ? null : isoOf(lastAtMs)
  const now = isoOf(app.clock.nowMs())
  const lost = how === 'restored' ? { lost_until: now } : {}
  terminal.object({ adopted: how, was: alarm?.kind ?? null, in_doubt: inDoubt, last_sent_at: last, ...lost })
  const because = alarm === null ? '' : ` Sending was blocked because: ${alarm.noticed}.`
  terminal.say(`${app.paths.ledger} is adopted now.${because}`)
  if (how === 'moved') terminal.say('It goes on where it stopped. No other copy of it may ever send again.')
  else {
    sayRestored({ inDoubt, last, now, mayRunAgain: await holdsRetryable(ledger) }, terminal)
    if (dueBeforeMs !== null) sayLater(dueBeforeMs, terminal)
  }
}

/** When the lost ledger sent last, nobody knows for sure: not of a primary that was cut off and went on. */
function tooEarlyFault(dueBeforeMs: number, earliestMs: number): Fault {
  return new Fault(
    'usage',
    `--due-before ${isoOf(dueBeforeMs)} is not after ${isoOf(earliestMs)}: rows that were due until then may have been sent by what is lost. Name a moment that is still to come. Nothing was changed.`,
  )
}

function olderFault(alarm: Alarm): Fault {
  return new Fault(
    'stopped',
    `It cannot be the newest state: ${alarm.noticed}. Taken over as it is, it would send again what was sent since. Nothing was changed. Put the newest ledger back, or: tranche adopt --restored --reason TEXT`,
  )
}

function sayLater(dueBeforeMs: number, terminal: Terminal): void {
  terminal.say(
    `Rows to be executed at ${isoOf(dueBeforeMs)} or later stay PENDING and will be sent. If a batch of them was cancelled in the time that is lost, cancel it again now.`,
  )
}

async function holdsRetryable(ledger: Ledger): Promise<boolean> {
  return (await ledger.batches()).some(({ counts }) => counts.FAILED || counts.CANCELLED || counts.INVALID)
}

interface Restored {
  readonly inDoubt: number
  /** When it sent last, as far as it knows; null: never. */
  readonly last: string | null
  readonly now: string
  /** It holds rows that `--retry` takes. */
  readonly mayRunAgain: boolean
}

function sayRestored({ inDoubt, last, now, mayRunAgain }: Restored, terminal: Terminal): void {
  terminal.say(
    inDoubt === 0
      ? 'Every row in it was already settled.'
      : `${plural(inDoubt, 'row that was', 'rows that were')} not settled in it may have been sent since and ${inDoubt === 1 ? 'is' : 'are'} in doubt now: tranche in-doubt list`,
  )
  if (mayRunAgain) {
    terminal.say(
      'Rows that were FAILED, CANCELLED or INVALID in it may have run again since. Look each one up at the gateway before you retry it or hand it in again: --retry, and for 30 days a file with rows like them, is refused until you add --allow-lookalikes.',
    )
  }
  terminal.say(
    last === null
      ? 'It knows of nothing that was ever sent. Check anything handed in before at the gateway before you hand it in again: this ledger would send it.'
      : `It knows of nothing sent after ${last}: the time from then until ${now} is lost. Check anything handed in since then at the gateway before you hand it in again, files of a schedule or an inbox too: this ledger would send it.`,
    'Messages that were queued before this adoption may have been sent already. Those that still wait in tranche-intake come into doubt when a worker takes them.',
  )
}

async function adoptMerchant(
  app: App,
  ledger: Ledger,
  name: string,
  reason: string,
  terminal: Terminal,
): Promise<void> {
  const { url, username } = merchantOf(app.config, name)
  const before = (await ledger.accounts()).find((account) => account.name === name)
  await ledger.adoptAccount(name, url, username, reason, app.actor, app.clock.nowMs())
  terminal.object({
    adopted: 'merchant',
    merchant: name,
    url,
    username: shortUsername(username),
    was: { url: before?.url, username: before === undefined ? undefined : shortUsername(before.username) },
  })
  terminal.say(
    `Merchant ${name} is ${shortUsername(username)} at ${url} from now on; it was ${shortUsername(before?.username ?? '')} at ${before?.url}. What is PENDING goes there, and all that was recorded still counts as sent to it.`,
  )
}

/** Puts right under which label an account is used, while nothing was sent for it. */
async function adoptEnvironment(
  app: App,
  ledger: Ledger,
  name: string,
  reason: string,
  terminal: Terminal,
): Promise<void> {
  const { environment } = merchantOf(app.config, name)
  if (environment === null)
    throw new Fault(
      'usage',
      `Merchant "${name}" has no environment in the configuration: write live or test there first. Nothing was changed.`,
    )
  await ledger.relabelAccount(name, environment, reason, app.actor, app.clock.nowMs())
  terminal.object({ adopted: 'environment', merchant: name, environment })
  terminal.say(`The account of merchant ${name} is ${environment} from now on.`)
}
