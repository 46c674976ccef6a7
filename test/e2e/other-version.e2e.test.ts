// Tables of another version of Tranche, or of another program: every command refuses it by name, and it stays as it is.

import { execFileSync } from 'node:child_process'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test } from 'vitest'
import { SCHEMA_VERSION as ON_POSTGRES } from '../../src/ledger/postgres/schema.ts'
import { SCHEMA_VERSION as IN_FILE } from '../../src/ledger/sqlite/schema.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { newSchemaName, query, sharedCluster } from '../fixtures/postgres.ts'

let office: Office
afterEach(() => office.close())

/** Some of its rows were sent, and the file is handed in once more. */
async function refusedByEveryCommand(found: number, needed: number, ...more: readonly string[][]): Promise<void> {
  const input = office.path('in.csv')
  const sent = office.sandbox.received()
  for (const args of [
    ['init'],
    ['run', input, '--out', office.path('out.csv')],
    ['worker', '--until-idle'],
    ['status'],
    ['check', input],
    ['adopt', '--restored', '--reason', 'try'],
    ...more,
  ]) {
    const { code, stderr } = await office.tranche(...args)
    expect([code, stderr], args[0]).toEqual([
      2,
      expect.stringMatching(`The ledger .* its tables have version ${found}, and this program needs version ${needed}`),
    ])
    expect(stderr).toMatch(/Nothing in it was changed.*Use the version of Tranche that it belongs to/s)
  }
  expect((await office.tranche('doctor')).stdout).toContain(`its tables have version ${found}`)
  expect(office.sandbox.received()).toBe(sent)
}

async function runRefunds(): Promise<void> {
  const rows = refunds(3)
  office.sandbox.prepare(preparationFor(rows))
  const ran = await office.tranche('run', await office.put('in.csv', toCsv(rows)), '--out', office.path('first.csv'))
  expect(ran.code, ran.stderr).toBe(0)
}

test('in a file', async () => {
  office = await openOffice()
  await runRefunds()
  const db = new DatabaseSync(office.ledgerPath)
  db.exec(`PRAGMA user_version = ${IN_FILE - 1}`)
  db.close()
  const bytes = () => execFileSync('cat', [office.ledgerPath])
  const before = bytes()
  await refusedByEveryCommand(IN_FILE - 1, IN_FILE, ['migrate', '--to', 'postgres://nobody@127.0.0.1:1/none', '--yes'])
  expect(bytes().equals(before)).toBe(true)
})

test('on a server', async () => {
  const { url } = await sharedCluster()
  const schema = newSchemaName()
  office = await openOffice({ made: false, env: { TRANCHE_LEDGER_URL: url, TRANCHE_LEDGER_SCHEMA: schema } })
  expect((await office.tranche('init')).code).toBe(0)
  await runRefunds()
  await query(url, `UPDATE ${schema}.migration SET version = ${ON_POSTGRES - 1}`)
  const state = () => query(url, `SELECT schema_to_xml('${schema}', true, false, '')::text AS state`)
  const before = await state()
  await refusedByEveryCommand(ON_POSTGRES - 1, ON_POSTGRES)
  expect(await state()).toEqual(before)
})

test.each([0, 60])(
  'the file of another program, with version %i, is called that and stays as it is',
  async (version) => {
    office = await openOffice({ made: false })
    const db = new DatabaseSync(office.ledgerPath)
    db.exec(`CREATE TABLE moz_places (id INTEGER PRIMARY KEY); PRAGMA user_version = ${version}`)
    db.close()
    const bytes = () => execFileSync('cat', [office.ledgerPath])
    const before = bytes()
    for (const args of [['init'], ['status'], ['worker', '--until-idle']])
      expect(await office.tranche(...args)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(
          /holds the tables of another program.*Nothing in it was changed.*Check TRANCHE_DATA_DIR/,
        ),
      })
    expect(bytes().equals(before)).toBe(true)
  },
)

test.each(['migration (id INT)', 'migration (version INT)', 'instruction (id INT)', 'person (id INT)'])(
  'init makes no ledger in a schema of another program: %s',
  async (table) => {
    const { url } = await sharedCluster()
    const schema = newSchemaName()
    await query(url, `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.${table}`)
    office = await openOffice({ made: false, env: { TRANCHE_LEDGER_URL: url, TRANCHE_LEDGER_SCHEMA: schema } })
    expect(await office.tranche('init')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /holds the tables of another program.*Nothing in it was changed.*TRANCHE_LEDGER_SCHEMA/,
      ),
    })
    const tables = await query(
      url,
      `SELECT FROM pg_class WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r'`,
    )
    expect(tables).toHaveLength(1)
    expect((await office.tranche('status')).stderr).toContain('There is no ledger at')
  },
)
