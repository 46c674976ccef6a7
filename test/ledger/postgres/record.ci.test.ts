// The record on a server, held against itself: what another program changes in the database is found.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { openSession } from '../../../src/ledger/postgres/session.ts'
import {
  auditOf,
  CLERK,
  claim,
  dueIn,
  dueRow,
  factsWith,
  inAttempt,
  NOW,
  openAccount,
  refund,
  settle,
  submit,
} from '../../fixtures/ledgers.ts'
import { query, queryIn } from '../../fixtures/postgres.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../fixtures/use-ledger.ts'

usePostgresLedger()

const inDatabase = (sql: string) => queryIn(postgres.address, sql)
const whereOf = async (head: string | null = null) => (await auditOf(ledger, head)).map(({ where }) => where)

async function settleAll(): Promise<void> {
  const batchId = await submit(ledger, accountId, [refund('A'), refund('B'), refund('C')])
  for (const [n, row] of (await dueIn(ledger, batchId)).entries()) {
    await claim(ledger, row)
    await settle(ledger, inAttempt(row, 1), 'APPROVED', { facts: factsWith(String(70 + n)) })
  }
}

test('claims and settlements of several openings are in one chain, whoever adds to it', async () => {
  const other = postgres.open()
  await settleAll()
  const heads = await Promise.all([ledger.head(), other.head(), ledger.head(), other.head()])
  expect(new Set(heads).size).toBe(1)
  await openAccount(other, 'second')
  await other.recordAct({ what: 'export', actor: CLERK, details: { file: 'x' } }, NOW)
  expect(await other.head()).not.toBe(heads[0])
  expect(await whereOf(heads[0])).toEqual([])
})

/** Somebody else on the server waits for a lock. */
async function somebodyWaits(): Promise<void> {
  for (;;) {
    const [found] = await query<{ n: string }>(
      postgres.address.url,
      "SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
    )
    if (found?.n !== '0') return
  }
}

async function holding<T>(sql: string, meanwhile: () => Promise<T>): Promise<T> {
  const session = await openSession(postgres.address)
  try {
    await session.begin('READ COMMITTED')
    await session.exec(sql)
    const found = await meanwhile()
    await session.commit()
    return found
  } finally {
    await session.close()
  }
}

test('what is committed late is in the chain: a link is made when nothing is being written', async () => {
  const oid = `'${postgres.address.schema}'::regnamespace::oid::int`
  const writing = `SELECT pg_advisory_xact_lock_shared(20817001, ${oid});
    INSERT INTO act (at, by, what) VALUES (1, 'late', 'export')`
  const [sealed] = await holding(writing, async () => {
    const other = postgres.open()
    await inDatabase("INSERT INTO act (at, by, what) VALUES (2, 'early', 'export')")
    const head = other.head()
    await Promise.race([head, somebodyWaits()])
    return [head]
  })
  expect(await sealed).toBe(await ledger.head())
  expect(await whereOf()).toEqual([])
})

test('a copy is of one moment, whatever is committed while it is made', async () => {
  await settleAll()
  const copy = await holding('LOCK TABLE tally', async () => {
    const found = whereOf()
    await somebodyWaits()
    await inDatabase("INSERT INTO act (at, by, what) VALUES (2, 'meanwhile', 'export')")
    await ledger.head()
    return [found]
  })
  expect(await copy[0]).toEqual([])
})

test.each([
  ['an amount', 'UPDATE instruction SET amount_minor = amount_minor + 1 WHERE row_no = 1'],
  ['a state', "UPDATE instruction SET state = 'READY' WHERE row_no = 1"],
  ['a transaction id', "UPDATE instruction SET transaction_id = '1' WHERE row_no = 1"],
  ['a move that is gone', 'DELETE FROM move WHERE id = (SELECT max(id) FROM move)'],
  ['the time of a move', 'UPDATE move SET at = at + 1 WHERE id = (SELECT min(id) FROM move)'],
  ['who acted', "UPDATE act SET by = 'nobody'"],
  ['a sum', "UPDATE tally SET amount_minor = amount_minor + 1 WHERE state = 'APPROVED'"],
  ['a row that is gone', 'DELETE FROM instruction WHERE row_no = 2'],
])('%s that another program changed is found', async (_what, sql) => {
  await settleAll()
  await ledger.recordAct({ what: 'export', actor: CLERK, details: { file: 'x' } }, NOW)
  await ledger.head()
  expect(await whereOf()).toEqual([])
  await inDatabase(sql)
  expect(await whereOf()).not.toEqual([])
})

/** Where the audit disagrees after `sql`. ONE: the batch that is settled; TWO: the one with D, which is READY, and E, which is SENDING. */
async function withSideTables(sql: string): Promise<readonly string[]> {
  await settleAll()
  const batchId = await submit(ledger, accountId, [refund('D'), refund('E')])
  await claim(ledger, await dueRow(ledger, batchId, 'E'))
  expect(await whereOf()).toEqual([])
  await inDatabase(sql)
  return (await whereOf()).map((where) => where.replace(batchId, 'TWO').replace(/batch \d\S+(?=\))/, 'batch ONE'))
}

test.each([
  ['a claim that is gone', 'DELETE FROM claim', ['E (row 2 of batch TWO)']],
  ['a claim of another order', "UPDATE claim SET order_key = 'x'", ['E (row 2 of batch TWO)']],
  ['a claim of another worker', 'UPDATE claim SET worker = worker + 1', ['E (row 2 of batch TWO)']],
  ['a claim on no row', "INSERT INTO claim VALUES (99, 1, 'x', 1, 1, now())", ['claim on row id 99']],
  ['a reference that is not held', "DELETE FROM held_reference WHERE reference = 'D'", ['D (row 1 of batch TWO)']],
  [
    'a reference that another row holds',
    "UPDATE held_reference SET row_id = 99 WHERE reference = 'D'",
    ['D (row 1 of batch TWO)', 'reference D of default'],
  ],
  [
    'a transaction that does not count as seen',
    "DELETE FROM seen_transaction WHERE transaction_id = '70'",
    ['A (row 1 of batch ONE)'],
  ],
  [
    'a transaction that counts as seen for another row',
    "UPDATE seen_transaction SET row_id = 99 WHERE transaction_id = '70'",
    ['transaction 70 of default'],
  ],
])('%s is found', async (_what, sql, expected) => {
  expect(await withSideTables(sql)).toEqual(expected)
})

test('a trigger and a key of the side tables that are gone are found', async () => {
  onTestFinished(() =>
    inDatabase(`ALTER TABLE instruction_0 ENABLE TRIGGER takes;
      ALTER TABLE claim ADD CONSTRAINT claim_account_id_order_key_key UNIQUE (account_id, order_key)`).then(() => {}),
  )
  const without = `ALTER TABLE instruction_0 DISABLE TRIGGER takes;
    ALTER TABLE claim DROP CONSTRAINT claim_account_id_order_key_key`
  expect(await withSideTables(without)).toEqual([
    'trigger takes of instruction_0',
    'key claim: UNIQUE (account_id, order_key)',
  ])
})

test('two rows that hold one reference are told as what this program never writes', async () => {
  await settleAll()
  await inDatabase('ALTER TABLE instruction DISABLE TRIGGER USER')
  await inDatabase("UPDATE instruction SET reference = 'A' WHERE reference = 'B'")
  await inDatabase('ALTER TABLE instruction ENABLE TRIGGER USER')
  expect(await auditOf(ledger)).toEqual([
    { where: expect.stringContaining('A (row 2'), means: expect.stringContaining('could be recorded once more') },
    { where: 'reference B of default', means: expect.stringContaining('no row holds it') },
    { where: 'tables', means: expect.stringContaining('holds what this program never writes') },
  ])
})

test('what no file takes is told where nothing else was found', async () => {
  await settleAll()
  onTestFinished(() => inDatabase('DELETE FROM tally; ALTER TABLE tally ADD CHECK (count >= 0)').then(() => {}))
  await inDatabase('ALTER TABLE tally DROP CONSTRAINT tally_count_check')
  await inDatabase('UPDATE tally SET count = -1')
  await expect(whereOf()).rejects.toThrow('holds what this program never writes')
})

test('a record that was rewritten as a whole no longer has the head that was written down', async () => {
  await settleAll()
  const head = await ledger.head()
  await inDatabase("DELETE FROM chain WHERE id > 1; UPDATE move SET by = 'nobody'")
  expect(await whereOf()).toEqual([]) // it agrees with itself
  expect(await whereOf(head)).toEqual([`head ${head}`])
})

test('a backup holds every value, is marked as a copy, and leaves nothing behind where it cannot be made', async () => {
  await settleAll()
  await submit(ledger, accountId, [refund('D', { orderId: '777' })])
  const dir = mkdtempSync(join(tmpdir(), 'tranche-copy-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const path = join(dir, 'copy.db')
  expect(await ledger.backup(path, NOW)).toMatchObject({ rows: 4, batches: 2 })
  const copy = new DatabaseSync(path)
  const of = (sql: string) =>
    copy
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }))
  const columns = 'id, batch_id, reference, state, transaction_id, amount_minor, due_at'
  const here = await inDatabase(`SELECT ${columns} FROM instruction ORDER BY id`)
  expect(of(`SELECT ${columns} FROM instruction ORDER BY id`).map((row) => Object.values(row).map(String))).toEqual(
    here.map((row) => Object.values(row).map(String)),
  )
  expect(of("SELECT value FROM meta WHERE key = 'copied_at'")).toEqual([{ value: String(NOW) }])
  copy.close()
  await expect(ledger.backup(path, NOW)).rejects.toThrow('exists already')
  rmSync(path)
  await expect(ledger.backup('/nowhere/copy.db', NOW)).rejects.toThrow('not a directory')
  expect(existsSync(path)).toBe(false)
})
