// tranche run, from a file to its reconciliation, with the gateway's own log as the judge.

import { existsSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, query, readCsv, recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { mixedFile, preparationFor, refundRow, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

test('two thousand mixed rows: gateway, ledger and reconciliation agree row by row', async () => {
  office = await openOffice()
  const file = mixedFile(1_540)
  expect(file.rows.length).toBeGreaterThan(2_000)
  office.sandbox.prepare(file.preparation)
  const input = await office.put('mixed.csv', toCsv(file.rows))
  const out = office.path('mixed.results.csv')

  const ran = await office.tranche('run', input, '--out', out, '--json')

  expect(ran.code, ran.stderr).toBe(3)
  expect(ran.objects.length).toBeGreaterThanOrEqual(2) // each line of stdout is JSON, or this throws
  expect(ran.last).toMatchObject({ event: 'result', rows: file.rows.length, exit: 3, results: out })
  expect(ran.objects[0]).toMatchObject({ event: 'submitted', batch: ran.last.batch })
  expect(readCsv(out).map((line) => line.result_status)).toEqual(file.statuses)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
  expect(office.sandbox.received()).toBe(file.rows.length)
})

test('a file with every row approved ends with 0 and says what became of the money', async () => {
  office = await openOffice()
  const rows = refunds(12)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const out = office.path('out.csv')
  const ran = await office.tranche('run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(0)
  expect(ran.stdout).toMatch(/REFUND\s+APPROVED\s+12\s+78\.12\s+EUR/)
  expect(ran.stdout).toContain(`Results: ${out}`)
  expect(countsIn(out)).toEqual({ APPROVED: 12 })
  const books = booksOf(office, { input, out })
  expect(compareBooks(books)).toEqual([])

  // The judge itself: it must not be able to overlook what it is there for.
  const first = books.log[0]!
  expect(compareBooks({ ...books, log: [...books.log, first] })).not.toEqual([])
  expect(compareBooks({ ...books, log: books.log.slice(1) })).not.toEqual([])
  expect(compareBooks({ ...books, log: [{ ...first, amountMinor: '1' }, ...books.log.slice(1)] })).not.toEqual([])
  expect(compareBooks({ ...books, recorded: books.recorded.slice(1) })).not.toEqual([])
  const [report] = books.reports
  expect(compareBooks({ ...books, reports: [{ ...report!, lines: report!.lines.slice(1) }] })).not.toEqual([])
})

test('a file with bad rows is refused whole: each is named, nothing is recorded or sent', async () => {
  office = await openOffice()
  const rows = [...refunds(5), refundRow(6, { amount: '1,2,3' }), refundRow(7, { request_currency: 'XXQ' })]
  office.sandbox.prepare(preparationFor(refunds(7)))
  const input = await office.put('in.csv', toCsv(rows))
  const out = office.path('out.csv')

  const refused = await office.tranche('run', input, '--out', out)
  expect(refused.code, refused.stderr).toBe(7)
  expect(refused.stdout).toBe('')
  expect(refused.stderr).toMatch(/line 7, amount "1,2,3"/)
  expect(refused.stderr).toMatch(/line 8, request_currency "XXQ"/)
  expect(refused.stderr).toContain('Nothing was recorded and nothing was sent.')
  expect(recordedIn(office)).toEqual([])
  expect(office.sandbox.received()).toBe(0)
  expect(existsSync(out)).toBe(false)
  const asJson = await office.tranche('run', input, '--out', out, '--json')
  expect(asJson.code).toBe(7)
  expect(asJson.last).toMatchObject({
    event: 'result',
    ok: false,
    faults: [
      { row: 6, line: 7 },
      { row: 7, line: 8 },
    ],
  })

  const skipped = await office.tranche('run', input, '--out', out, '--skip-invalid')
  expect(skipped.code, skipped.stderr).toBe(3)
  expect(countsIn(out)).toEqual({ APPROVED: 5, INVALID: 2 })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('results of an unfinished batch say PENDING and become stale when rows move on', async () => {
  office = await openOffice()
  const rows = refunds(8)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const early = office.path('early.csv')
  const submitted = await office.tranche('submit', input, '--json')
  expect(submitted.code, submitted.stderr).toBe(0)
  expect(submitted.last).toMatchObject({ rows: 8, accepted: 8, duplicate: 0, invalid: 0 })
  const batch = submitted.last.batch as string

  const written = await office.tranche('results', batch, '--out', early)
  expect(written.code, written.stderr).toBe(0)
  expect(written.stderr).toContain('8 rows have no outcome yet and are listed as PENDING.')
  expect(countsIn(early)).toEqual({ PENDING: 8 })
  expect(compareBooks(booksOf(office, { input, out: early }))).toEqual([])
  expect((await office.tranche('status', batch, '--json')).last).toMatchObject({
    state: 'waiting',
    results: early,
    results_stale: false,
    counts: { PENDING: 8 },
  })

  expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
  expect((await office.tranche('status', batch)).stdout).toContain(`Rows changed after ${early} was written`)
  expect((await office.tranche('status', batch, '--json')).last).toMatchObject({ state: 'done', results_stale: true })
  expect((await office.tranche('status')).stdout).toContain('results stale')
  await office.tranche('results', batch, '--out', early)
  expect((await office.tranche('status', batch, '--json')).last).toMatchObject({ results_stale: false })
  expect((await office.tranche('status')).stdout).not.toContain('stale')
  expect(compareBooks(booksOf(office, { input, out: early }))).toEqual([])
})

test('a total of more digits than an amount may have is expected to its last digit', async () => {
  office = await openOffice()
  const rows = Array.from({ length: 1_800 }, (_, i) => `R${i},9999999999992.58,EUR,${1_000 + i}`)
  const input = await office.put('in.csv', `reference,amount,request_currency,request_ref_po_id\n${rows.join('\n')}\n`)
  const expecting = (total: string) =>
    office.tranche('check', input, '--operation', 'REFUND', '--expect-total', `EUR=${total}`)
  const right = await expecting('17999999999986644.00')
  expect(right.code, right.stdout + right.stderr).toBe(0)
  const wrong = await expecting('17999999999986644.01')
  expect([wrong.code, wrong.stdout]).toEqual([
    7,
    expect.stringContaining('EUR=17999999999986644.00, EUR=17999999999986644.01 was'),
  ])
  expect((await expecting('1'.repeat(29))).code).toBe(2)
})

test('a check names what a run would do; a rehearsal leaves the real ledger alone', async () => {
  office = await openOffice()
  const rows = refunds(7)
  const input = await office.put('in.csv', toCsv(rows))
  const checked = await office.tranche('check', input, '--expect-count', '7', '--expect-total', 'EUR=28.07', '--json')
  expect(checked.code, checked.stderr).toBe(0)
  expect(checked.last).toMatchObject({
    ok: true,
    rows: 7,
    totals: [{ operation: 'REFUND', currency: 'EUR', amount: '28.07' }],
  })
  const unexpected = await office.tranche('check', input, '--expect-total', 'EUR=28.08')
  expect(unexpected.code).toBe(7)
  expect(unexpected.stdout).toContain('The file adds up to EUR=28.07, EUR=28.08 was expected')

  const rehearsed = await office.tranche('run', input, '--out', office.path('try.csv'), '--sandbox')
  expect(rehearsed.code, rehearsed.stderr).toBe(0)
  const lines = readCsv(office.path('try.SANDBOX.csv'))
  expect(lines.map((line) => line.result_status)).toEqual(rows.map(() => 'APPROVED'))
  expect(lines.every((line) => line.result_batch?.startsWith('SANDBOX-'))).toBe(true)
  expect(query(office, 'SELECT id FROM batch')).toEqual([])
  expect(office.sandbox.received()).toBe(0)
})
