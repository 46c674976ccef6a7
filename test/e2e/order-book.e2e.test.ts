// Captures, voids and refunds of one order through each door. The gateway would execute all of them: what is refused is refused here.

import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { type FileRow, saleRow, toCsv } from '../fixtures/files.ts'

let office: Office
let orderId: string
let authorizedBy: string
let transactionId: string
beforeEach(async () => {
  office = await openOffice()
  office.sandbox.prepare({ vault: [{ vaultId: '40001' }] })
  const ran = await run('auth.csv', [saleRow(1, { reference: 'AUTH-1', transaction_type: 'AUTH', amount: '10.00' })])
  expect(ran.code, ran.stderr).toBe(0)
  const [row] = parse(readFileSync(office.path('auth.results.csv')), { columns: true }) as Record<string, string>[]
  orderId = row?.result_order_id as string
  transactionId = row?.result_transaction_id as string
  authorizedBy = `authorized 10.00 EUR by row 1 of batch ${row?.result_batch}`
})
afterEach(() => office.close())

async function run(name: string, rows: readonly FileRow[], ...options: readonly string[]) {
  writeFileSync(office.path(name), toCsv(rows))
  return office.tranche(
    'run',
    office.path(name),
    '--out',
    office.path(name.replace('.csv', '.results.csv')),
    ...options,
  )
}

const row = (reference: string, operation: FileRow['transaction_type'], amount?: string): FileRow => ({
  ...{ reference, transaction_type: operation, request_ref_po_id: orderId },
  ...(amount !== undefined && { amount, request_currency: 'EUR' }),
})
const sent = () => recordedIn(office).filter(({ operation }) => operation !== 'AUTH').length

test('a file that captures more than was authorized is refused with the sums, and nothing of it is sent', async () => {
  const refused = await run('captures.csv', [row('C-1', 'CAUTH', '12.00'), row('C-2', 'CAUTH', '10.00')])
  expect(refused.code).toBe(7)
  expect(refused.stderr).toContain(`(order ${orderId}: ${authorizedBy}; this row asks for 12.00 EUR)`)
  expect(refused.stderr).toContain('correct the amount or the order id')
  const twice = await run('twice.csv', [row('C-1', 'CAUTH', '6.00'), row('C-2', 'CAUTH', '5.00')])
  expect([twice.code, sent()]).toEqual([7, 0])
  expect(twice.stderr).toContain(`${authorizedBy}, captures of 6.00 EUR, last by row 1 of this file`)
  expect((await run('once.csv', [row('C-1', 'CAUTH', '6.00')])).code).toBe(0)
  expect((await run('rest.csv', [row('C-2', 'CAUTH', '5.00')])).code).toBe(7)
  // It fits, and goes to the gateway; the sandbox captures an authorization once and declines it.
  expect((await run('right.csv', [row('C-3', 'CAUTH', '4.00')])).code).toBe(3)
  expect(sent()).toBe(2)
})

test('a void and a capture of one order in one file are a question with a number, and after a void nothing is captured', async () => {
  const both = [row('V-1', 'CANCEL'), row('C-1', 'CAUTH', '10.00')]
  const asked = await run('both.csv', both)
  expect(asked.code).toBe(7)
  expect(asked.stderr).toContain('C-1 captures an order that V-1 (row 1 of this file) voids')
  expect(asked.stderr).toContain('--allow-lookalikes 1')
  expect((await run('void.csv', [row('V-1', 'CANCEL')])).code).toBe(0)
  const late = await run('late.csv', [row('C-1', 'CAUTH', '10.00')])
  expect([late.code, sent()]).toEqual([7, 1])
  expect(late.stderr).toContain(`a void of the order is recorded (order ${orderId}: row 1 of batch`)
})

test('a capture that says another customer than the authorization, or has a transaction id for an order id, is bad', async () => {
  const other = await run('other.csv', [{ ...row('C-1', 'CAUTH', '10.00'), customer_vault_id: '40002' }])
  expect([other.code, sent()]).toEqual([7, 0])
  expect(other.stderr).toContain(
    `the order is of another customer (order ${orderId}: vault id 40001, by row 1 of batch`,
  )
  const copied = await run('copied.csv', [{ ...row('C-1', 'CAUTH', '10.00'), request_ref_po_id: transactionId }])
  expect([copied.code, sent()]).toEqual([7, 0])
  expect(copied.stderr).toContain(`Write the order id, ${orderId}.`)
  expect((await run('own.csv', [{ ...row('C-1', 'CAUTH', '10.00'), customer_vault_id: '40001' }])).code).toBe(0)
})

test('a sale for which the customer is authorized is a question with a number', async () => {
  const asked = await run('sale.csv', [saleRow(1, { reference: 'S-1', amount: '10.00' })])
  expect([asked.code, sent()]).toEqual([7, 0])
  expect(asked.stderr).toContain(
    `S-1 is a sale of its own, and order ${orderId} is authorized for the same: is its capture meant (CAUTH)? (AUTH-1, row 1 of batch`,
  )
  expect(asked.stderr).toContain('1 row does not fit what is known of its order or customer')
  const meant = await run('sale.csv', [saleRow(1, { reference: 'S-1', amount: '10.00' })], '--allow-lookalikes', '1')
  expect([meant.code, sent()]).toEqual([0, 1])
  // The number of a script lets pass another row every day.
  const other = saleRow(1, { reference: 'S-2', amount: '10.00', xtl_order_id: 'X9' })
  const constant = await run('more.csv', [other], '--allow-lookalikes', '1')
  expect([constant.code, sent()]).toEqual([3, 2])
  expect(constant.stderr).toContain('line 2: S-2 has the same operation, amount and card as S-1 (row 1 of batch')
  expect(constant.stderr).toContain('1 row was let pass by --allow-lookalikes 1, as one was of batch ')
})

test('in an inbox such a file goes to the rejected ones, with the reason', async () => {
  const inbox = office.path('in')
  await mkdir(inbox)
  writeFileSync(join(inbox, '.new'), toCsv([row('C-1', 'CAUTH', '12.00')]))
  renameSync(join(inbox, '.new'), join(inbox, 'captures.csv'))
  const once = await office.tranche('inbox', inbox, '--once', '--stable-for', '0')
  expect([once.code, sent()]).toEqual([7, 0])
  const [report] = readdirSync(join(inbox, 'rejected')).filter((name) => name.endsWith('.report.txt'))
  expect(readFileSync(join(inbox, 'rejected', report as string), 'utf8')).toContain(authorizedBy)
})
