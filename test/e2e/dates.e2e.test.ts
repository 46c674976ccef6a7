// Moments that files name, through the whole program: what is too late is not sent, and what cannot be meant is asked about.

import { readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { type FileRow, preparationFor, refundRow, refunds, saleRow, toCsv } from '../fixtures/files.ts'

const DAY_MS = 86_400_000
const soon = (ms: number) => new Date(Date.now() + ms).toISOString()

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

async function put(name: string, rows: readonly FileRow[]): Promise<string> {
  office.sandbox.prepare(preparationFor(rows))
  return office.put(name, toCsv(rows))
}

const resultsIn = (path: string) => parse(readFileSync(path), { columns: true }) as Record<string, string>[]

test('dates of another year are a question with a number, and nothing is sent before it is answered', async () => {
  const path = await put('years.csv', [
    ...refunds(1),
    refundRow(2, { execute_at: soon(-330 * DAY_MS) }),
    refundRow(3, { execute_at: '2062-06-01T09:00:00Z' }),
  ])
  const checked = await office.tranche('check', path, '--json')
  expect([checked.code, checked.last.refusals]).toEqual([
    7,
    [expect.objectContaining({ kind: 'execute-at', found: 2, allowed: 0, line: 3 })],
  ])
  const out = office.path('years.results.csv')
  const refused = await office.tranche('run', path, '--out', out)
  expect([refused.code, office.sandbox.log().length]).toEqual([7, 0])
  expect(refused.stderr).toContain('2 rows have an execute_at more than a day ago')
  expect(refused.stderr).toContain('--allow-execute-at 2')
  expect((await office.tranche('run', path, '--out', out, '--allow-execute-at', '1')).code).toBe(7)
  const ran = await office.tranche('run', path, '--out', out, '--allow-execute-at', '2', '--json')
  expect([ran.code, ran.last.counts]).toEqual([0, { APPROVED: 2, PENDING: 1 }])
})

test('a row that expires while its batch is paused is cancelled by whoever works, and results and history say why', async () => {
  const path = await put('in.csv', [refundRow(1, { expires_at: soon(2_500) }), refundRow(2)])
  const { batch } = (await office.tranche('submit', path, '--json')).last
  await office.tranche('pause', batch as string, '--reason', 'lunch')
  await office.worker()
  await until('it has expired', () => recordedIn(office)[0]?.state === 'CANCELLED')
  const { last: status } = await office.tranche('status', batch as string, '--json')
  expect(status).toMatchObject({ state: 'paused', counts: { CANCELLED: 1, PENDING: 1 } })
  const out = office.path('out.csv')
  await office.tranche('results', batch as string, '--out', out)
  const reason = expect.stringMatching(/^expired at 20.*Z: not sent$/)
  expect(resultsIn(out)).toMatchObject([
    { result_status: 'CANCELLED', result_reason: reason },
    { result_status: 'PENDING' },
  ])
  expect((await office.tranche('history', 'R-1')).stdout).toMatch(/CANCELLED.*expired at/s)
  expect(office.sandbox.log()).toEqual([])
})

test('a limit for the whole file cancels what is left, is kept by the batch, and is no other content', async () => {
  const path = await put('in.csv', refunds(1))
  const late = ['--expires-after', '2s'] as const
  const { batch } = (await office.tranche('submit', path, ...late, '--json')).last
  await office.tranche('pause', batch as string, '--reason', 'lunch')
  const another = await office.tranche('submit', path, '--expires-after', '1h')
  expect([another.code, another.stderr]).toEqual([
    2,
    expect.stringContaining('--expires-after 3600s would have no effect'),
  ])
  expect((await office.tranche('submit', path, ...late, '--json')).last).toMatchObject({ batch })
  await office.worker()
  await until('it has expired', () => recordedIn(office)[0]?.state === 'CANCELLED')
  expect(office.sandbox.log()).toEqual([])
})

test('a row that nobody worked off in time ends a worker with 3, and is told until somebody has looked', async () => {
  const atMs = Date.now() + 1_500
  const path = await put('in.csv', [refundRow(1, { expires_at: new Date(atMs).toISOString() })])
  const { batch } = (await office.tranche('submit', path, '--json')).last
  await until('its moment has come', () => Date.now() > atMs)
  expect((await office.tranche('worker', '--until-idle')).code).toBe(3)
  const check = await office.tranche('status', '--check')
  expect([check.code, check.stdout]).toEqual([3, expect.stringContaining('has 1 row that expired')])
  expect((await office.tranche('resume', batch as string, '--reason', 'seen')).code).toBe(0)
  expect((await office.tranche('status', '--check')).code).toBe(0)
  expect(office.sandbox.log()).toEqual([])
})

test('what has expired when it is handed in is a bad row', async () => {
  const path = await put('in.csv', [refundRow(1, { expires_at: soon(-1) })])
  const refused = await office.tranche('check', path)
  expect([refused.code, refused.stdout]).toEqual([7, expect.stringContaining('has already passed')])
})

test('captures after their authorization are told, and sent all the same', async () => {
  const authorization = saleRow(1, { reference: 'AUTH-1', transaction_type: 'AUTH', amount: '10.00' })
  const authorized = office.path('auth.results.csv')
  await office.tranche('run', await put('auth.csv', [authorization]), '--out', authorized)
  const orderId = resultsIn(authorized)[0]?.result_order_id as string
  const of = { request_ref_po_id: orderId, request_currency: 'EUR', amount: '4.00' }
  const path = await put('captures.csv', [
    { ...of, reference: 'C-2', transaction_type: 'CAUTH', amount: '5.00' },
    { ...of, reference: 'C-1', transaction_type: 'CAUTH', execute_at: soon(8 * DAY_MS) },
  ])
  const told = '1 capture would leave after its authorization ended (7 days)'
  const checked = await office.tranche('check', path, '--json')
  expect([checked.code, checked.last.late_captures, checked.last.old_refunds]).toEqual([0, 1, 0])
  expect(checked.stderr).toContain(told)
  const { code, stderr } = await office.tranche('submit', path)
  expect([code, stderr]).toEqual([0, expect.stringContaining(told)])
})
