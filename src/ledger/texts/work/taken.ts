// What an answer says that another row has already: one transaction moves money once, and one card is stored under one vault id.

import type { SettledRow } from '../../rules/resolving.ts'
import { keepsCard, STORED_UNDER } from '../review/reattempts.ts'
import { exists, one, type Script } from '../script.ts'

const SETTLED_BY = `
    SELECT id, batch_id AS "batchId", row_no AS "rowNo", reference FROM instruction
    WHERE account_id = :accountId AND ltrim(transaction_id, '0') = ltrim(:transactionId, '0') AND transaction_id IS NOT NULL LIMIT 1`

/** The row that a transaction id has settled: it can settle one only. Zeros in front, which a person may add, make no other. */
export function* settledBy(
  accountId: number,
  transactionId: string,
): Script<(SettledRow & { readonly id: number }) | undefined> {
  return yield* one(SETTLED_BY, { accountId, transactionId })
}

const OTHER_CARD = `
    SELECT 1 FROM instruction i
    WHERE account_id = :accountId AND ${STORED_UNDER} = ltrim(:vaultId, '0') AND ${keepsCard('')}
      AND operation = 'VAULT_CREATE' AND state = 'APPROVED' AND id <> :rowId
      AND card IS DISTINCT FROM (SELECT card FROM instruction WHERE id = :rowId) LIMIT 1`

/** Whether a card of another mask was stored under that vault id. The same card may get the same id again. */
export function* isOtherCardStored(accountId: number, vaultId: string, rowId: number): Script<boolean> {
  return yield* exists(OTHER_CARD, { accountId, vaultId, rowId })
}
