// The account that a merchant is, in this ledger and for ever.

import { createHash } from 'node:crypto'
import type { AccountId } from '../domain/ids.ts'
import type { Merchant } from '../domain/merchant.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'

/** The account of a merchant in this ledger; made on first use. */
export function accountOf(ledger: Ledger, merchant: Merchant, clock: Clock): Promise<AccountId> {
  return ledger.account(merchant.name, merchant.url, merchant.username, clock.nowMs())
}

/** The same for ever, whatever the merchant is called: what is derived from it must not change. */
export function accountKeyOf(merchant: Merchant): string {
  return createHash('sha256').update(`${merchant.url}\n${merchant.username}`).digest('hex')
}
