// The accounts that a ledger knows, as the rules compare them.

import type { DatabaseSync } from 'node:sqlite'
import type { Account, KnownAccount } from '../rules/accounts.ts'
import { findRows } from './found.ts'

/** Those that have the name, or the address and user name. */
export function accountsLike(db: DatabaseSync, { name, url, username }: Account): readonly KnownAccount[] {
  const like = db.prepare('SELECT id, name, url, username FROM account WHERE name = ? OR (url = ? AND username = ?)')
  return findRows<KnownAccount>(like, name, url, username)
}
