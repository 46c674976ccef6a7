// The account that a merchant is in this ledger. It never changes.

import { createHash } from 'node:crypto'
import type { AccountId } from '../domain/ids.ts'
import type { Merchant } from '../domain/merchant.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'

/** The account of a merchant in this ledger; made on first use. */
export function accountOf(ledger: Ledger, merchant: Merchant, clock: Clock): Promise<AccountId> {
  return ledger.account(merchant.name, merchant.url, merchant.username, clock.nowMs())
}

/** Never changes, whatever the merchant is called: other ids are derived from it. */
export function accountKeyOf(merchant: Merchant): string {
  return createHash('sha256').update(`${merchant.url}\n${merchant.username}`).digest('hex')
}
