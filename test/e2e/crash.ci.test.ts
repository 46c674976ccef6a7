// Processes that die in mid-batch: whatever is lost with them, no row is executed twice and none goes missing.

import { existsSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, query, recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { mixedFile, preparationFor, refunds, toCsv } from '../fixtures/files.ts'

const IN_FLIGHT = 8

let office: Office
afterEach(() => office.close())

test('killed three times in mid-batch: only what was being sent is in doubt, nothing is lost', async () => {
  office = await openOffice({ apart: true, latencyMs: 25, env: { TRANCHE_IN_FLIGHT: String(IN_FLIGHT) } })
  const file = mixedFile(160)
  office.sandbox.prepare(file.preparation)
  const input = await office.put('in.csv', toCsv(file.rows))
  const out = office.path('out.csv')
  const { batch } = (await office.tranche('submit', input, '--json')).last
  const sending = new Set<string>()
  const run = ['run', input, '--out', out]
  for (const { command, rows } of [
    { command: run, rows: 1 },
    { command: ['worker'], rows: 15 },
    { command: run, rows: 22 },
  ]) {
    const enough = office.sandbox.received() + rows
    const running = office.start(...command)
    await until('the batch is under way', () => office.sandbox.received() >= enough, running)
    running.kill('SIGKILL')
    expect((await running.ended).code).toBeNull()
    // What the one before left open is in doubt already.
    const open = recordedIn(office).filter((row) => row.state === 'SENDING')
    expect(open.length).toBeLessThanOrEqual(IN_FLIGHT)
    for (const { reference } of open) sending.add(reference)
    expect(compareBooks(booksOf(office))).toEqual([])
  }
  const last = await office.tranche('run', input, '--out', out, '--json')
  expect([5, 6], last.stderr).toContain(last.code) // 6: a row waits behind one of its order that is in doubt
  expect(last.last.batch).toBe(batch)
  const inDoubt = recordedIn(office).filter((row) => row.state === 'IN_DOUBT')
  expect(new Set(inDoubt.map((row) => row.reference))).toEqual(sending)
  expect(sending.size).toBeGreaterThan(0)
  const waiting = recordedIn(office).filter((row) => row.state === 'READY')
  const doubtedOrders = new Set(inDoubt.map((row) => row.order_key))
  expect(waiting.filter((row) => !doubtedOrders.has(row.order_key))).toEqual([])
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('a process that stood still beyond its deadline reads the answers that came meanwhile', async () => {
  office = await openOffice({
    apart: true,
    latencyMs: 100,
    env: { TRANCHE_TIMEOUT_MS: '1000', TRANCHE_IN_FLIGHT: '8' },
  })
  const rows = refunds(60)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const out = office.path('out.csv')
  const running = office.start('run', input, '--out', out)
  await until('requests are open', () => office.sandbox.log().filter((entry) => !entry.answered).length >= 6, running)
  running.kill('SIGSTOP')
  const stoppedMs = Date.now()
  await until('every deadline has passed', () => Date.now() > stoppedMs + 2_000)
  expect(recordedIn(office).filter((row) => row.state === 'SENDING').length).toBeGreaterThan(0)
  running.kill('SIGCONT')
  const ran = await running.ended
  expect(ran.code, ran.stderr).toBe(0)
  expect(countsIn(out)).toEqual({ APPROVED: 60 })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('a submit killed while it records leaves nothing, and the file is recorded afterwards', async () => {
  office = await openOffice({ apart: true })
  const rows = refunds(30_000).map((row, i) => ({ ...row, request_ref_po_id: String(80_000_000 + i) }))
  const input = await office.put('in.csv', toCsv(rows))
  const first = office.start('submit', input)
  await until('rows are being copied', () => isBegun() && countRows('draft') > 0, first)
  first.kill('SIGKILL')
  await first.ended
  expect(countRows('draft')).toBeGreaterThan(0) // it was in the middle
  expect((await office.tranche('status', '--json')).last).toMatchObject({ batches: [] })
  const again = await office.tranche('submit', input, '--json')
  expect(again.code, again.stderr).toBe(0)
  expect(again.last).toMatchObject({ rows: 30_000, accepted: 30_000, duplicate: 0 })
  expect([countRows('draft'), countRows('open')]).toEqual([0, 30_000])
})

function isBegun(): boolean {
  return (
    existsSync(office.ledgerPath) && query(office, "SELECT 1 FROM sqlite_master WHERE name = 'instruction'").length > 0
  )
}

function countRows(stage: 'draft' | 'open'): number {
  const sql = `SELECT count(*) AS n FROM instruction i JOIN batch b ON b.id = i.batch_id WHERE b.stage = '${stage}'`
  return query<{ n: number }>(office, sql)[0]?.n ?? 0
}
