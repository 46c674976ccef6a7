// References with characters that nobody sees, recorded before such were refused: whoever writes them without, means them.

import { rename, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, expect, test } from 'vitest'
import type { BatchId } from '../../../src/domain/ids.ts'
import { migrate } from '../../../src/ledger/sqlite/schema.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import {
  CLERK,
  claimNamed,
  findingOn,
  headerOf,
  messageOf,
  NOW,
  refund,
  reviewOnly,
  rowOf,
  settle,
  statesIn,
  submit,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger as earlier, place, sqlite, useSqliteLedger } from '../../fixtures/use-ledger.ts'

/** The last version that recorded them. */
const BEFORE = 3
const ODD = 'R\ufe0f1'
const BLANK = 'Invoice\u00a07'

let ledger: Ledger
let recorded: BatchId
useSqliteLedger()
beforeEach(async () => {
  recorded = await submit(earlier, accountId, [refund(ODD), refund(BLANK), refund('Größe'), refund('R2')])
  await settle(earlier, await claimNamed(earlier, recorded, ODD), 'APPROVED')
  await settle(earlier, await claimNamed(earlier, recorded, BLANK), 'IN_DOUBT')
  await earlier.close()
  await setBack(sqlite.path)
  ledger = place.open()
})

/** The same rows in the tables of an earlier version. */
async function setBack(path: string): Promise<void> {
  const old = new DatabaseSync(`${path}.old`)
  migrate(old, BEFORE)
  old.exec(`ATTACH '${path}' AS present`)
  const tables = old.prepare("SELECT name FROM main.sqlite_master WHERE type = 'table'").all() as { name: string }[]
  for (const { name } of tables) {
    const columns = old.prepare('SELECT name FROM pragma_table_info(?)').all(name) as { name: string }[]
    const list = columns.map((column) => `"${column.name}"`).join(', ')
    old.exec(`INSERT INTO main."${name}" (${list}) SELECT ${list} FROM present."${name}"`)
  }
  old.close()
  for (const suffix of ['', '-wal', '-shm']) await rm(`${path}${suffix}`, { force: true })
  await rename(`${path}.old`, path)
}

const header = () => headerOf(accountId, { fileSha256: 'bb'.repeat(32) })

test('a file that names them without those characters repeats the recorded rows', async () => {
  const again = [
    refund('R1', { orderId: refund(ODD).orderId }),
    refund('Invoice 7', { orderId: refund(BLANK).orderId }),
  ]
  expect((await reviewOnly(ledger, header(), again)).review).toMatchObject({ accepted: 0, duplicate: 2, lookalikes: 0 })
  const batchId = await submit(ledger, accountId, again, header())
  expect(await statesIn(ledger, batchId)).toEqual(['DUPLICATE', 'DUPLICATE'])
})

test('a file that asks for something else under such a reference is refused', async () => {
  const { faults } = await reviewOnly(ledger, header(), [refund('R1', { amountMinor: 999n })])
  expect(faults).toMatchObject([{ problem: expect.stringContaining('is recorded with other content: ') }])
})

test('a message that names one without them is that row', async () => {
  const message = messageOf(accountId, refund('R1', { orderId: refund(ODD).orderId }))
  expect(await ledger.recordMessage(message)).toEqual({
    ...{ kind: 'duplicate', batchId: recorded, rowNo: 1, state: 'APPROVED' },
  })
})

test('a reference that is recorded as it is written is itself', async () => {
  await ledger.recordMessage(messageOf(accountId, refund('R 2')))
  const { review } = await reviewOnly(ledger, header(), [refund('Größe'), refund('R2'), refund('R3')])
  expect(review).toMatchObject({ accepted: 1, duplicate: 2 })
})

test('another account has references of its own', async () => {
  const other = await ledger.account('other', 'https://other.gateway.example', 'merchant', NOW)
  const { review } = await reviewOnly(ledger, headerOf(other), [refund('R1')])
  expect(review).toMatchObject({ accepted: 1, duplicate: 0 })
})

test('results that have them are fed back as they were recorded', async () => {
  await ledger.adopt('moved', 'it lies in another file now', CLERK, NOW)
  await ledger.cancel(recorded, 'test', CLERK, NOW)
  await ledger.finishCancelling(NOW)
  const line = rowOf(1, refund(ODD), { cameFrom: { batchId: recorded, rowNo: 1 } })
  const { review } = await reviewOnly(ledger, headerOf(accountId, { fedBack: true, retry: ['CANCELLED'] }), [line])
  expect(review).toMatchObject({ duplicate: 1, invalid: 0, unidentified: 0 })
})

test('a person finds and resolves one without typing what is not seen', async () => {
  await ledger.adopt('moved', 'it lies in another file now', CLERK, NOW)
  expect((await ledger.history('R1')).map(({ to }) => to)).toEqual(['READY', 'SENDING', 'APPROVED'])
  const resolved = await ledger.resolve(findingOn('Invoice 7', { transactionId: '77' }), CLERK, NOW + 3_600_000)
  expect(resolved).toMatchObject({ kind: 'resolved', rowNo: 2, state: 'APPROVED' })
})
