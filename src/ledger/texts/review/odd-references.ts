// References with invisible characters, recorded before such were refused. Written without them they look the same to a
// person and would be new: what was sent under the one would be sent again under the other. So both are one reference.

import { asRead } from '../../../domain/identifier.ts'
import type { AccountId } from '../../../domain/ids.ts'
import { change, exists, one, type Script } from '../script.ts'

/** Before references are compared with anything. */
export function* nameAsRecorded(account: AccountId): Script<void> {
  const isAnyOdd = yield* exists('SELECT 1 FROM odd_reference WHERE account_id = :account LIMIT 1', { account })
  if (!isAnyOdd) return
  yield* change(
    `
    UPDATE draft_row AS d SET reference = o.reference
    FROM (SELECT as_read, min(reference) AS reference FROM odd_reference WHERE account_id = :account GROUP BY as_read) AS o
    WHERE o.as_read = replace(d.reference, ' ', '')
      AND NOT EXISTS (SELECT 1 FROM instruction i WHERE i.account_id = :account AND i.reference = d.reference AND i.holds_reference = 1)`,
    { account },
  )
}

/** The recorded reference that reads like this one, to be asked for where this one itself is not recorded; null: there is none. */
export function* recordedOddly(reference: string, accountId: AccountId | null): Script<string | null> {
  const found = yield* one<{ reference: string | null }>(
    `SELECT min(o.reference) AS reference FROM odd_reference o
    WHERE o.as_read = :asRead AND o.account_id IN (SELECT id FROM account WHERE CAST(:account AS BIGINT) IS NULL OR id = :account)`,
    { asRead: asRead(reference), account: accountId },
  )
  return found!.reference
}
