// Ledgers of versions that forgot the reference of a row which they knew by its content.

import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { BACK_TO_22 } from '../../fixtures/earlier.ts'
import { DAY_MS, headerOf, NOW, refund, reviewOnly, statesIn, submit, work } from '../../fixtures/ledgers.ts'
import { accountId, ledger, place, sqlite, useSqliteLedger } from '../../fixtures/use-ledger.ts'

useSqliteLedger()

test('a reference under which they knew a row names it once the ledger is migrated', async () => {
  const rows = (...references: string[]) =>
    references.map((reference, i) => refund(reference, { orderId: String(71 + i) }))
  const first = await submit(ledger, accountId, rows('0123456789abcdef-1', '0123456789abcdef-2'))
  for (const reference of ['0123456789abcdef-1', '0123456789abcdef-2']) await work(ledger, first, reference, 'APPROVED')
  const named = await submit(ledger, accountId, rows('INV-1', 'INV-2'), { onlyNew: true })
  expect(await statesIn(ledger, named)).toEqual(['DUPLICATE', 'DUPLICATE'])
  await ledger.close()
  const db = new DatabaseSync(sqlite.path)
  for (const undo of BACK_TO_22) db.exec(undo)
  db.close()
  const migrated = place.open()
  const later = headerOf(accountId, { nowMs: NOW + 400 * DAY_MS })
  const { review } = await reviewOnly(migrated, later, rows('INV-1', 'INV-2'))
  expect(review).toMatchObject({ accepted: 0, duplicate: 2, lookalikes: 0 })
})
