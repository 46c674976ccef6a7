// The rate dial of each merchant: what it is set to, and whose account it is.

import type { App } from '../app.ts'
import { assert } from '../domain/fault.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { accountOf } from './accounts.ts'

/** What is known of the rate of one merchant. */
export interface Dial {
  readonly merchant: string
  /** null: not turned. */
  readonly perSecond: number | null
  /** By this process's configuration, which may differ from the worker's; undefined where it has no such merchant. */
  readonly configured: number | null | undefined
}

/** The accounts of the ledger, and what is configured here and has no account yet. */
export async function dialsIn(
  { config: { merchants } }: App,
  ledger: Pick<Ledger, 'accounts'>,
): Promise<readonly Dial[]> {
  const turned = new Map((await ledger.accounts()).map(({ name, ratePerSecond }) => [name, ratePerSecond]))
  return Array.from(new Set([...turned.keys(), ...merchants.keys()]), (merchant) => ({
    merchant,
    perSecond: turned.get(merchant) ?? null,
    configured: merchants.get(merchant)?.ratePerSecond,
  }))
}

/** Of a merchant that is known. Where it is configured here, the account is made on first use. */
export async function findAccount(app: App, ledger: Ledger, name: string): Promise<AccountId> {
  const merchant = app.config.merchants.get(name)
  if (merchant !== undefined) return accountOf(ledger, merchant, app.clock)
  const account = (await ledger.accounts()).find((known) => known.name === name)
  assert(account !== undefined, `merchant ${name} was in the ledger a moment ago`)
  return account.accountId
}

/** As a person writes it, such as `25`, `25/s` or `0.5`; null: it is no number. */
export function parseRate(text: string): number | null {
  return /^\d{1,6}(\.\d{1,6})?(\/s)?$/.test(text) ? Number.parseFloat(text) : null
}

/** Why a number above 0 is no rate; null: it is one. */
export function rateProblem(perSecond: number): string | null {
  if (perSecond <= 1 || Number.isInteger(perSecond)) return null
  const whole = Math.floor(perSecond)
  return `No second can hold ${perSecond} requests: above one a second write whole numbers, ${whole}/s or ${whole + 1}/s`
}
