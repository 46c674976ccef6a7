// The account that a merchant is in this ledger. It never changes.

import { createHash } from 'node:crypto'
import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import type { AccountId } from '../domain/ids.ts'
import { type Merchant, whyOtherEnvironment } from '../domain/merchant.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { assertNoOtherLedger } from './other-ledgers.ts'

/** The account of a merchant in this ledger; made on first use. */
export function accountOf(ledger: Ledger, merchant: Merchant, clock: Clock): Promise<AccountId> {
  return ledger.account(merchant.name, merchant.url, merchant.username, clock.nowMs(), merchant.ownAccount)
}

/** Without making it. null: the ledger does not know it yet. Faults where nothing may be sent for it as it is configured. */
export async function knownAccountOf(ledger: Ledger, merchant: Merchant, clock: Clock): Promise<AccountId | null> {
  const accounts = await ledger.accounts()
  const known = accounts.find(
    ({ name, url, username }) =>
      name === merchant.name || (username === merchant.username && (url === merchant.url || !merchant.ownAccount)),
  )
  const why = known === undefined ? null : whyOtherEnvironment(merchant, known.environment)
  if (why !== null) throw new Fault('config', why)
  // A known name or user name goes through the one check there is, which then writes nothing.
  return known === undefined ? null : accountOf(ledger, merchant, clock)
}

/**
 * The account of a merchant that is to be sent for. It takes the merchant's label where it has none yet, which `tell` is told, and faults where
 * it has the other one.
 */
export async function sendingAccountOf(
  app: App,
  ledger: Ledger,
  merchant: Merchant,
  tell: (text: string) => void,
): Promise<AccountId> {
  const { clock, actor } = app
  await assertNoOtherLedger(app, ledger, merchant)
  const accountId = await accountOf(ledger, merchant, clock)
  const { name, environment } = merchant
  if (environment === null) return accountId
  if ((await ledger.labelAccount(accountId, environment, actor, clock.nowMs())) === 'taken')
    tell(`From now on the account of merchant ${name} is ${environment}: this ledger refuses it as anything else.`)
  return accountId
}

/** Never changes, whatever the merchant is called: other ids are derived from it. */
export function accountKeyOf(merchant: Merchant): string {
  return createHash('sha256').update(`${merchant.url}\n${merchant.username}`).digest('hex')
}
