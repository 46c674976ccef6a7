// The accounts that a ledger knows, as the rules compare them.

import type { Account, KnownAccount } from '../rules/accounts.ts'
import { all, type Script } from './script.ts'

/** Those that have the name or the user name. */
export function* accountsLike({ name, username }: Pick<Account, 'name' | 'username'>): Script<readonly KnownAccount[]> {
  return yield* all<KnownAccount>(
    'SELECT id, name, url, username FROM account WHERE name = :name OR username = :username ORDER BY id',
    { name, username },
  )
}
