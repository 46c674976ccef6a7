// Results as they come back from a spreadsheet, fed to the command line: what runs again, what does not, and what is said.

import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { preparationFor, refundRow, saleRow, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

/** 001 approved, 002 declined, 003 and 004 refused by the gateway, 005 bad; references that a spreadsheet takes for numbers. */
async function finished(): Promise<{ input: string; out: string; batch: string }> {
  office = await openOffice({ env: { TRANCHE_IN_FLIGHT: '1' } })
  const rows = [1, 2, 3, 4, 5].map((n) => refundRow(n, { reference: `00${n}`, ...(n === 2 ? { amount: '5.02' } : {}) }))
  office.sandbox.prepare(preparationFor(rows))
  for (const n of [3, 4])
    office.sandbox.addFault({ kind: '400', match: { orderId: rows[n - 1]?.request_ref_po_id as string }, times: 1 })
  const bad = rows.map((row, i) => (i === 4 ? { ...row, amount: '5.019' } : row))
  const input = await office.put('in.csv', toCsv(bad))
  const out = office.path('out.csv')
  const ran = await office.tranche('run', input, '--skip-invalid', '--out', out, '--json')
  expect(ran.code, ran.stderr).toBe(3)
  expect(countsIn(out)).toEqual({ APPROVED: 1, DECLINED: 1, FAILED: 2, INVALID: 1 })
  return { input, out, batch: ran.last.batch as string }
}

/** As a German spreadsheet saves it: semicolons, decimal commas, no zeros in front, its own code page. */
async function saved(out: string, change: (rows: string[][]) => string[][] = (rows) => rows): Promise<string> {
  const [header = [], ...rows] = parse(readFileSync(out)) as string[][]
  const cells = change(rows).map((row) =>
    row.map((cell) =>
      /^\d+\.\d+$/.test(cell) ? String(Number(cell)).replace('.', ',') : cell.replace(/^0+(?=\d+$)/, ''),
    ),
  )
  const path = office.path('saved.csv')
  await writeFile(
    path,
    Buffer.from(stringify([header, ...cells], { delimiter: ';', record_delimiter: '\r\n' }), 'latin1'),
  )
  return path
}

test('a saved results file names what runs again and what does not, and runs exactly that', async () => {
  const { input, out } = await finished()
  const file = await saved(out, (rows) => rows.toReversed())
  const checked = await office.tranche('check', file, '--retry', 'failed')
  expect(checked.code, checked.stdout + checked.stderr).toBe(0)
  expect(checked.stdout).toContain(
    [
      'Recorded before:',
      '  sent again: 2 rows that were failed',
      '  not sent: 1 row approved: executed, and never again',
      '  not sent: 1 row declined: the gateway has answered; a charge of a stored card: --retry declined --category funds,technical asks once more; anything else: a new reference, in a new file',
      '  not sent: 1 row invalid: never sent; to run it: correct its cells in the results file, then --retry invalid',
    ].join('\n'),
  )
  const again = office.path('again.csv')
  const ran = await office.tranche('run', file, '--retry', 'failed', '--out', again)
  expect(ran.code, ran.stderr).toBe(3) // the declined one is still declined
  expect(ran.stderr).toContain('sent again: 2 rows that were failed')
  expect(countsIn(again)).toEqual({ APPROVED: 2, DUPLICATE: 3 })
  expect(office.sandbox.received()).toBe(6)
  expect(compareBooks(booksOf(office, { input, out }, { input: null, out: again }))).toEqual([])

  const nothing = await office.tranche('run', file, '--retry', 'failed', '--out', office.path('nothing.csv'), '--json')
  expect(nothing.code, nothing.stderr).toBe(3)
  expect(nothing.objects.find(({ event }) => event === 'submitted')).toBeDefined()
  expect(office.sandbox.received()).toBe(6)
})

test('a row that was mended in the results runs with --retry invalid, under its reference', async () => {
  const { out } = await finished()
  const mended = await saved(out, (rows) => rows.map((row) => row.map((cell) => (cell === '5.019' ? '5.01' : cell))))
  const again = office.path('again.csv')
  const ran = await office.tranche('run', mended, '--retry', 'invalid', '--out', again)
  expect(ran.code, ran.stderr).toBe(3)
  expect(countsIn(again)).toEqual({ APPROVED: 1, DUPLICATE: 4 })
  expect(office.sandbox.log().at(-1)).toMatchObject({ operation: 'REFUND' })
  expect(office.sandbox.received()).toBe(5)
})

test('a results file with one column sorted alone is refused, with --skip-invalid as well', async () => {
  const { out, batch } = await finished()
  const sorted = await saved(out, (rows) => {
    const header = (parse(readFileSync(out)) as string[][])[0] as string[]
    const at = header.indexOf('result_reference')
    return rows.map((row, i) => row.with(at, `99${i}`))
  })
  const ran = await office.tranche(
    'run',
    sorted,
    '--retry',
    'failed,invalid',
    '--skip-invalid',
    '--out',
    office.path('x.csv'),
  )
  expect(ran.code).toBe(7)
  expect(ran.stderr).toContain(`(row 1 of batch ${batch} has the reference 001)`)
  expect(ran.stderr).toContain('5 lines of this results file cannot be told for a recorded row')
  expect(office.sandbox.received()).toBe(4)
})

test('refunds beyond a sale of the same ledger are refused and name what was left', async () => {
  office = await openOffice()
  const sales = [saleRow(1, { amount: '50.00' })]
  office.sandbox.prepare(preparationFor(sales))
  const sold = await office.tranche(
    'run',
    await office.put('sales.csv', toCsv(sales)),
    '--out',
    office.path('sold.csv'),
  )
  expect(sold.code, sold.stderr).toBe(0)
  const order = (parse(readFileSync(office.path('sold.csv')), { columns: true }) as Record<string, string>[])[0]
    ?.result_order_id as string
  const refund = (n: number, amount: string) => refundRow(n, { amount, request_ref_po_id: order })
  const first = await office.put('first.csv', toCsv([refund(1, '30.00')]))
  expect((await office.tranche('run', first, '--out', office.path('first.out.csv'))).code).toBe(0)
  const tooMuch = await office.put('second.csv', toCsv([refund(2, '20.01')]))
  const refused = await office.tranche('run', tooMuch, '--out', office.path('second.out.csv'))
  expect(refused.code).toBe(7)
  expect(refused.stderr).toMatch(
    /order \d+: paid 50\.00 EUR by row 1 of batch \S+, refunds of 30\.00 EUR, last by row 1 of batch \S+; this row asks for 20\.01 EUR/,
  )
  expect(office.sandbox.received()).toBe(2)
  const rest = await office.put('third.csv', toCsv([refund(3, '20.00')]))
  expect((await office.tranche('run', rest, '--out', office.path('third.out.csv'))).code).toBe(0)
})

test('in one file a refund beyond the one before it, of an order sold elsewhere, looks alike', async () => {
  office = await openOffice()
  const refund = (n: number, amount: string, request_currency = 'EUR') =>
    refundRow(n, { amount, request_currency, request_ref_po_id: '900100' })
  const rows = [refund(1, '10.00'), refund(2, '10.01'), refund(3, '10.00', 'USD')]
  const refused = await office.tranche(
    'run',
    await office.put('rows.csv', toCsv(rows)),
    '--out',
    office.path('out.csv'),
  )
  expect(refused.code).toBe(7)
  expect(refused.stderr).toContain(
    'line 3: R-2 refunds an order with 10.00 EUR already refunded, last by R-1 (row 1 of this file)',
  )
  expect(refused.stderr).toContain('line 4: R-3 refunds an order with 20.01 EUR already refunded, last by R-2')
  expect(refused.stderr).toContain('--allow-lookalikes 2')
  expect(office.sandbox.received()).toBe(0)
})

test('a refund as large as all before it, of an order sold elsewhere, is a look-alike', async () => {
  office = await openOffice()
  const order = '900100'
  const refund = (n: number, amount: string) => refundRow(n, { amount, request_ref_po_id: order })
  office.sandbox.prepare(preparationFor([refund(1, '30.00')]))
  const first = await office.put('first.csv', toCsv([refund(1, '30.00'), refund(2, '20.00')]))
  expect((await office.tranche('run', first, '--out', office.path('first.out.csv'))).code).toBe(0)
  const whole = await office.put('whole.csv', toCsv([refund(3, '50.00')]))
  const checked = await office.tranche('check', whole)
  expect(checked.code).toBe(7)
  expect(checked.stdout).toContain('R-3 refunds an order with 50.00 EUR refunded before, last by R-2')
  expect(checked.stdout).toContain('Only if it is meant, add --allow-lookalikes 1')
  expect(checked.stdout).toContain('would be executed twice')
  expect((await office.tranche('run', whole, '--allow-lookalikes', '1', '--out', office.path('w.csv'))).code).toBe(0)
})
