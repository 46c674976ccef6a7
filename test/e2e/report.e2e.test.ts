// --report, as a person asks for it.

import { existsSync, readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { orderOf, preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

async function prepared(count: number): Promise<string> {
  office = await openOffice()
  const rows = refunds(count)
  office.sandbox.prepare(preparationFor(rows))
  return office.put('refunds.csv', toCsv(rows))
}

test('run writes it with the results, tells where it is, and keeps that in the log', async () => {
  const file = await prepared(4)
  office.sandbox.addFault({ kind: 'reset-after', match: { orderId: orderOf(2) }, times: 1 })
  const report = office.path('r.html')
  const ran = await office.tranche('--as', 'Ann', 'run', file, '--report', report)
  expect(ran.code, ran.stderr).toBe(5)
  expect(ran.stdout).toContain(`Report: ${report}\n`)
  const page = readFileSync(report, 'utf8')
  expect(page).toContain('1 row is in doubt')
  expect(page).toContain('R-2')
  expect(page).toContain('says &quot;Ann&quot;')
  expect(page).toContain(office.sandbox.url)
  expect(page).not.toContain('s3cret-pass')
  expect((await office.tranche('log', '--json')).stdout).toContain('"kind":"report"')
})

test('results writes it again after the doubt was resolved, and not of an extract', async () => {
  const file = await prepared(3)
  office.sandbox.addFault({ kind: 'reset-after', match: { orderId: orderOf(2) }, times: 1 })
  const report = office.path('r.html')
  const { batch } = (await office.tranche('run', file, '--report', report, '--json')).last
  const id = office.sandbox.log().find((entry) => entry.orderId === orderOf(2))?.transactionId as string
  const found = ['--transaction', id, '--reason', 'in the portal']
  expect((await office.tranche('in-doubt', 'resolve', 'R-2', '--found', 'approved', ...found)).code).toBe(0)
  const out = office.path('refunds.results.csv')
  const again = await office.tranche('results', batch, '--out', out, '--report', report, '--json')
  expect(again.last).toMatchObject({ report })
  expect(readFileSync(report, 'utf8')).not.toContain('in doubt</strong>')
  const extract = await office.tranche(
    'results',
    batch,
    '--out',
    office.path('x.csv'),
    '--only',
    'approved',
    '--report',
    report,
  )
  expect(extract.code).toBe(2)
  expect(extract.stderr).toContain('go with the whole reconciliation')
})

test('a name that cannot be a report is refused before anything is sent', async () => {
  const file = await prepared(2)
  const ran = await office.tranche('run', file, '--report', office.path('r.pdf'))
  expect(ran.code).toBe(2)
  expect(ran.stderr).toContain('Let the name end with .html')
  expect(office.sandbox.received()).toBe(0)
  expect(existsSync(office.path('refunds.results.csv'))).toBe(false)
})
