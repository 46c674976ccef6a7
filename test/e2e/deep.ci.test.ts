// A record that somebody changed by other means than this program: doctor --deep says what no longer fits, and what it means.

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Ended, type Office, openOffice } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

async function ran(): Promise<string> {
  office = await openOffice()
  const rows = refunds(4)
  office.sandbox.prepare(preparationFor(rows))
  const said = await office.tranche(
    'run',
    await office.put('in.csv', toCsv(rows)),
    '--out',
    office.path('o.csv'),
    '--json',
  )
  expect(said.code, said.stderr).toBe(0)
  return said.last.batch as string
}

function tamper(...sql: readonly string[]): void {
  const db = new DatabaseSync(office.ledgerPath)
  db.exec('PRAGMA foreign_keys = OFF')
  for (const one of sql) db.exec(one)
  db.close()
}

const deep = (...args: readonly string[]) => office.tranche('doctor', '--deep', '--json', ...args)

/** What it says is wrong with the record. */
function wrongIn(said: Ended): readonly string[] {
  const { findings } = said.objects.find((one) => 'findings' in one) as {
    findings: { ok: boolean; what: string; says: string }[]
  }
  return findings.filter(({ ok, what }) => !ok && what.startsWith('record')).map(({ says }) => says)
}

test('a record that only this program wrote agrees with itself, and its head is shown', async () => {
  await ran()
  const said = await deep()
  expect(wrongIn(said)).toEqual([])
  expect(said.code, said.stdout).toBe(0)
  expect(said.last.head).toMatch(/^\d+:[0-9a-f]{64}$/)
  expect((await deep('--head', said.last.head)).code).toBe(0)
})

/** An approved refund that would be sent once more, with every trace of it taken away. */
const SET_BACK = [
  "DELETE FROM move WHERE row_id = (SELECT id FROM instruction WHERE reference = 'R-2')",
  "UPDATE instruction SET state = 'READY', attempt = 0, transaction_id = NULL, completed_at = NULL, sent_at = NULL WHERE reference = 'R-2'",
  "UPDATE instruction SET answered_order_id = NULL, answered_record_id = NULL, answered_amount = NULL, answered_currency = NULL WHERE reference = 'R-2'",
  "UPDATE tally SET count = 3, amount_minor = amount_minor - 201 WHERE state = 'APPROVED'",
  "INSERT INTO tally SELECT batch_id, operation, currency, 'READY', 1, 201 FROM tally LIMIT 1 ON CONFLICT DO UPDATE SET count = 1, amount_minor = 201",
]

test('an approved refund that was set back, its moves deleted and its sums adjusted, is found', async () => {
  await ran()
  const { head } = (await deep()).last
  tamper(...SET_BACK)
  const said = await deep()
  expect(said.code).not.toBe(0)
  const [removed, ...changed] = wrongIn(said)
  expect(removed).toMatch(/^move \d+: .*removed.*sent again/)
  expect(changed).not.toEqual([])
  for (const says of changed) expect(says).toMatch(/^chain \d+: .*changed/)
  // Whoever makes the ids and hashes fit as well cannot change what was written down elsewhere.
  tamper(
    'DELETE FROM chain WHERE id > 1',
    'UPDATE chain SET last_move = (SELECT max(id) FROM move), last_act = (SELECT max(id) FROM act)',
  )
  const begunLater = wrongIn(await deep('--head', head))
  expect(begunLater).toContainEqual(expect.stringMatching(/^chain 1: moves 1 to \d+ .*changed/))
  expect(begunLater).toContainEqual(expect.stringMatching(/^head .*: the record is not the one/))
})

describe('what no longer fits is named, with what it means for the money:', () => {
  let shared: Office
  let asItWas: Buffer
  beforeAll(async () => {
    await ran()
    shared = office
    asItWas = readFileSync(office.ledgerPath)
  })
  afterAll(() => shared.close())

  /** Written into the file that is there: another one would be a copy. */
  beforeEach(() => {
    office = { ...shared, close: async () => {} }
    for (const part of ['-wal', '-shm']) rmSync(office.ledgerPath + part, { force: true })
    writeFileSync(office.ledgerPath, asItWas)
  })

  test('nothing, where nothing was changed', async () => {
    const said = await deep()
    expect([said.code, wrongIn(said)], said.stdout).toEqual([0, []])
  })

  test.each<[string, readonly string[], RegExp]>([
    [
      'a state',
      ["UPDATE instruction SET state = 'READY' WHERE reference = 'R-2'"],
      /^R-2 \(row 2 of batch .*\): .*READY.*APPROVED.*sent again/,
    ],
    [
      'a state that says less than was done',
      ["UPDATE instruction SET state = 'FAILED' WHERE reference = 'R-2'"],
      /^R-2 .*FAILED.*APPROVED.*look it up/,
    ],
    [
      'a number of attempts',
      ["UPDATE instruction SET attempt = 0 WHERE reference = 'R-2'"],
      /^R-2 .*attempt 0.*1 claim/,
    ],
    [
      'a row without moves',
      ["DELETE FROM move WHERE row_id = (SELECT id FROM instruction WHERE reference = 'R-2')"],
      /^R-2 .*APPROVED.*no move/,
    ],
    [
      'a move that no program makes',
      ["UPDATE move SET cause = 'resolve' WHERE to_state = 'APPROVED' AND row_id = 2"],
      /^R-2 .*SENDING to APPROVED by resolve/,
    ],
    [
      'a sum',
      ["UPDATE tally SET amount_minor = amount_minor + 1 WHERE state = 'APPROVED'"],
      /^tally of batch .* APPROVED: .*counts/,
    ],
    ['a number of rows', ['UPDATE batch SET rows = rows + 1'], /^batch .*5 rows.*4/],
    ['a row that is gone', ["DELETE FROM instruction WHERE reference = 'R-2'"], /^batch .*4 rows.*3.*lost/],
    [
      'a transaction of two rows',
      ['DROP INDEX instruction_transaction', "UPDATE instruction SET transaction_id = '7' WHERE row_no < 3"],
      /^transaction 7: 2 rows/,
    ],
    ['a transaction', ["UPDATE instruction SET transaction_id = '7' WHERE row_no = 2"], /^R-2 .*transaction id.*"7"/],
    [
      'a transaction, in the move as well',
      [
        "UPDATE instruction SET transaction_id = '7' WHERE row_no = 2",
        "UPDATE move SET answered = json_replace(answered, '$[0]', '7') WHERE row_id = 2 AND answered IS NOT NULL",
      ],
      /^chain \d+: moves .*changed/,
    ],
    [
      'a refund that was put in, its sums adjusted',
      [
        `INSERT INTO instruction (batch_id, account_id, row_no, line, cells, state, reference, holds_reference, operation,
          amount_minor, currency, order_id, order_key, due_at)
          SELECT batch_id, account_id, 5, 6, cells, 'READY', 'R-5', 1, operation, 900, currency, order_id, order_key, 0
          FROM instruction WHERE row_no = 1`,
        'UPDATE batch SET rows = rows + 1',
        "INSERT INTO tally SELECT batch_id, operation, currency, 'READY', 1, 900 FROM tally LIMIT 1 ON CONFLICT DO UPDATE SET count = 1, amount_minor = 900",
      ],
      /^R-5 \(row 5 of batch .*\): it was never submitted.*would be sent/,
    ],
    [
      'a batch that was put in',
      [
        `INSERT INTO batch (id, account_id, source, stage, reading, columns, sandbox, created_at, created_by, rows)
          SELECT 'b', account_id, source, stage, reading, columns, sandbox, created_at, created_by, 0 FROM batch`,
      ],
      /^batch b: it was never submitted/,
    ],
    [
      'an amount, its sums adjusted',
      [
        "UPDATE instruction SET amount_minor = amount_minor + 1 WHERE reference = 'R-2'",
        "UPDATE tally SET amount_minor = amount_minor + 1 WHERE state = 'APPROVED'",
      ],
      /^batch .*: it is not what was submitted/,
    ],
    [
      'an order',
      ["UPDATE instruction SET order_id = '9', order_key = '9' WHERE row_no = 2"],
      /^batch .*: it is not what was submitted/,
    ],
    [
      'who submitted, and which file',
      ["UPDATE batch SET created_by = 'bob', file_name = 'b.csv'"],
      /^batch .*not what was/,
    ],
    ['an act that was changed', ["UPDATE act SET reason = 'x', by = 'bob@host'"], /^chain \d+: .*changed/],
    ['who made a move', ["UPDATE move SET by = 'bob@host' WHERE id = 3"], /^chain \d+: .*changed/],
    ['an index that is missing', ['DROP INDEX instruction_due'], /^index instruction_due: .*missing/],
    ['a foreign table', ['CREATE TABLE notes (x TEXT)'], /^table notes: .*not made by this program/],
    ['a table of another form', ['ALTER TABLE actor ADD COLUMN x TEXT'], /^table actor: .*other form/],
    [
      'a move of no row',
      [
        'INSERT INTO move SELECT id + 100, 99, attempt, from_state, to_state, cause, at, by, http_status, answer, reason, actor_id, answered FROM move WHERE id = 1',
      ],
      /^move \d+: .*no row/,
    ],
  ])('%s', async (_, sql, says) => {
    tamper(...sql)
    const said = await deep()
    expect(said.code).toBe(1)
    expect(wrongIn(said)).toContainEqual(expect.stringMatching(says))
    expect((await office.tranche('log', '--json')).objects.at(-2)).toMatchObject({
      what: 'inspect',
      details: { disagreements: wrongIn(said).length },
    })
  })
})

test('a ledger with a trigger or a view in it is not opened: they would run with every write', async () => {
  await ran()
  tamper('CREATE TRIGGER planted AFTER UPDATE ON instruction BEGIN DELETE FROM move; END')
  const said = await office.tranche('status')
  expect(said.code).toBe(1)
  expect(said.stderr).toMatch(/trigger planted.*Nothing was sent/)
})

test('the log of the worker holds where the record stood at the end of a batch', async () => {
  office = await openOffice()
  const rows = refunds(3)
  office.sandbox.prepare(preparationFor(rows))
  const { batch } = (await office.tranche('submit', await office.put('in.csv', toCsv(rows)), '--json')).last
  const worked = await office.tranche('worker', '--until-idle')
  expect(worked.code, worked.stderr).toBe(0)
  const lines = worked.stderr.split('\n').filter((line) => line.startsWith('{'))
  const ended = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'batch ended')
  expect(ended).toMatchObject([{ batch, counts: { APPROVED: 3 }, head: expect.stringMatching(/^\d+:[0-9a-f]{64}$/) }])
  expect((await deep('--head', ended[0].head)).code).toBe(0)
})
