// Ledgers of versions that told by its look whether a reference was made: what is recorded there is told so once, when it is migrated.

import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { DraftRow } from '../../../src/domain/draft.ts'
import { openConnection } from '../../../src/files/sqlite-file.ts'
import { BACK_TO_21 } from '../../fixtures/earlier.ts'
import { faultyRow, headerOf, refund, reviewOnly, rowOf, submit } from '../../fixtures/ledgers.ts'
import { accountId, ledger, place, sqlite, useSqliteLedger } from '../../fixtures/use-ledger.ts'

useSqliteLedger()

const given = (rowNo: number, reference: string) => rowOf(rowNo, refund(reference), { made: false })
const bad = (rowNo: number, reference: string) => faultyRow(rowNo, reference, { made: false })

/** Recorded by the version before, as if all references had been given. */
async function recordedBefore(rows: readonly DraftRow[]): Promise<void> {
  await submit(ledger, accountId, rows)
  await ledger.close()
  const db = new DatabaseSync(sqlite.path)
  for (const undo of BACK_TO_21) db.exec(undo)
  db.close()
}

test('what is recorded already is told by its look', async () => {
  await recordedBefore([
    given(1, '0123456789abcdef-1'),
    given(2, '2026-12/0123456789abcdef-2'),
    given(3, '0123456789abcdef-3~2'),
    given(4, '2026112200000001-4'),
    given(5, '0123456789ABCDEF-5'),
    given(6, 'own'),
    bad(7, '0123456789abcdef-7-unread'),
    bad(8, '0123456789012345-8-unread'),
    bad(9, 'Z-9-unread'),
    given(10, '0123456789012345-10-unread'),
  ])
  await place.open().close()
  const db = openConnection(sqlite.path, { readOnly: true })
  const found = db.prepare('SELECT row_no FROM instruction WHERE made = 1 ORDER BY row_no').all() as {
    row_no: number
  }[]
  db.close()
  expect(found.map(({ row_no: rowNo }) => rowNo)).toEqual([1, 2, 3, 7, 8])
})

test('references that look as if they were made are taken for given ones from then on', async () => {
  const own = (rowNo: number, name: string, orderId: string) =>
    rowOf(rowNo, refund(`86cd799439011a2b-${name}`, { orderId }), { made: false })
  await recordedBefore([own(1, '1', '71'), own(2, '2', '72')])
  const migrated = place.open()
  const rows = [own(1, '3', '73'), own(2, '4', '74')]
  await submit(migrated, accountId, rows)
  const again = [own(1, '5', '73'), own(2, '6', '74')]
  const { review } = await reviewOnly(migrated, headerOf(accountId, { onlyNew: true }), again)
  expect(review).toMatchObject({ accepted: 2, duplicate: 0, lookalikes: 2 })
})
