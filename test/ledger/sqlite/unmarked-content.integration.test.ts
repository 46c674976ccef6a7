// Rows of the vault that were recorded before their contents had a mark of the customer.

import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { VaultOperation } from '../../../src/domain/instruction.ts'
import { headerOf, refund, reviewOnly, submit } from '../../fixtures/ledgers.ts'
import { accountId, ledger, sqlite, useSqliteLedger } from '../../fixtures/use-ledger.ts'

useSqliteLedger()

const CARD = { bin: '411111', lastFour: '1111', expiry: { month: '12', year: '2030' } }
const row = (operation: VaultOperation, year = '2030') =>
  refund(operation, {
    ...{ operation, money: null, orderId: null, xtlOrderId: null, details: { first_name: 'Ada' } },
    ...{ vaultId: operation === 'VAULT_CREATE' ? null : '9', card: { ...CARD, expiry: { month: '12', year } } },
  })

test.each(['VAULT_CREATE', 'VAULT_UPDATE'] as const)(
  '%s: the same row again is that row, and no other',
  async (operation) => {
    await submit(ledger, accountId, [row(operation)])
    const db = new DatabaseSync(sqlite.path)
    db.exec('UPDATE instruction SET content = substr(content, 1, length(content) - 9)')
    db.close()
    const again = await reviewOnly(ledger, headerOf(accountId), [row(operation)])
    expect(again.review).toMatchObject({ duplicate: 1, invalid: 0 })
    const other = await reviewOnly(ledger, headerOf(accountId), [row(operation, '2031')])
    expect(other.review).toMatchObject({ duplicate: 0, invalid: 1 })
  },
)
