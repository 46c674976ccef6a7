// A person says of a column that its numbers only look like card numbers: who said it is kept, and nothing else passes by it.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { preparationFor, refundRow, toCsv } from '../fixtures/files.ts'
import { partsOf, rowsOf, zip } from '../ingest/sheets.ts'

/** Passes the check of card numbers, as one order id in ten does. */
const ORDER = '4111111111111111'
const PASSED = [{ column: 'request_ref_po_id', numbers: 1, fitting: 1, why: 'said' }]

let office: Office
let input: string
beforeEach(async () => {
  office = await openOffice()
  const rows = [refundRow(1, { request_ref_po_id: ORDER }), refundRow(2)]
  office.sandbox.prepare(preparationFor(rows))
  input = await office.put('in.csv', toCsv(rows))
})
afterEach(() => office.close())

function acts(): unknown[] {
  const db = new DatabaseSync(office.ledgerPath, { readOnly: true })
  const found = db.prepare("SELECT batch_id AS batch, by, reason FROM act WHERE what = 'not-a-card'").all()
  db.close()
  return found
}

test('an order id that looks like a card number is asked about and runs once it is named', async () => {
  const out = office.path('out.csv')
  const asked = await office.tranche('run', input, '--out', out, '--json')
  expect(asked.code, asked.stderr).toBe(7)
  expect(asked.stderr).toContain('--not-a-card "request_ref_po_id"')
  expect(asked.stdout + asked.stderr).not.toContain(ORDER)
  expect(asked.last).toMatchObject({ code: 'card-data', line: 2, column: 'request_ref_po_id' })
  expect(acts()).toEqual([])

  const said = ['--not-a-card', 'request_ref_po_id'] as const
  const checked = await office.tranche('check', input, ...said, '--json')
  expect(checked.code, checked.stderr).toBe(0)
  expect(checked.last.numbers_passed).toEqual(PASSED)
  expect(checked.stderr).toContain('1 of 1 numbers in the column "request_ref_po_id" looks like a card number')
  expect((await office.tranche('check', input, ...said)).stderr).toContain('--not-a-card request_ref_po_id --out')
  expect(acts()).toEqual([])

  const ran = await office.tranche('--as', 'Ada', 'run', input, ...said, '--out', out, '--json')
  expect(ran.code, ran.stderr).toBe(0)
  expect(acts()).toEqual([{ batch: ran.last.batch, by: expect.stringContaining('Ada'), reason: 'request_ref_po_id' }])
  expect(await readFile(out, 'utf8')).toContain(`,${ORDER},`)

  const again = await office.tranche('run', input, ...said, '--out', out, '--json')
  expect(again.code, again.stderr).toBe(0)
  expect(again.last.batch).toBe(ran.last.batch)
  expect(acts()).toHaveLength(1)
})

test('a saved format keeps what was said, and an inbox takes files by it', async () => {
  const saved = await office.tranche('check', input, '--not-a-card', 'request_ref_po_id', '--save-format', 'shop')
  expect(saved.code, saved.stderr).toBe(0)
  const dir = office.path('in')
  mkdirSync(dir)
  writeFileSync(join(dir, 'a.csv'), await readFile(input))
  const sheet = rowsOf([
    ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id'],
    ['X-1', 'REFUND', '1.00', 'EUR', ORDER],
  ])
  writeFileSync(join(dir, 'b.xlsx'), zip(partsOf({ Rows: sheet })))
  const once = (...more: readonly string[]) => office.tranche('inbox', dir, '--once', '--stable-for', '0', ...more)
  const strict = await once()
  expect(strict.code, strict.stderr).toBe(7)
  expect(readdirSync(dir)).toEqual(expect.arrayContaining(['a.csv', 'b.xlsx']))
  const taken = await once('--format', 'shop')
  expect(taken.code, taken.stderr).toBe(0)
  expect(readdirSync(dir)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^[ab]\./)]))
  expect(acts()).toHaveLength(2)
})

test('a column that is not there, and one for card data, cannot be named', async () => {
  for (const [column, wrong] of [
    ['order', 'the file has no column "order"'],
    ['CVV', 'whose name says that it is for card data'],
  ] as const) {
    const file = await office.put('named.csv', (await readFile(input, 'utf8')).replaceAll('note', 'CVV'))
    const refused = await office.tranche('submit', file, '--not-a-card', column)
    expect(refused.code, refused.stderr).toBe(7)
    expect(refused.stderr).toContain(wrong)
  }
})
