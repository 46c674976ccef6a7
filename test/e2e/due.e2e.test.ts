// Rows with a time of their own, and the rate at which rows leave.

import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { preparationFor, refundRow, refunds, saleRow, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

test('a row leaves at its time; a run waits for it, but not for what is due in an hour', async () => {
  office = await openOffice()
  const soonMs = Date.now() + 3_000
  const rows = [
    saleRow(1),
    saleRow(2, { execute_at: new Date(soonMs).toISOString() }),
    saleRow(3, { execute_at: new Date(soonMs + 3_600_000).toISOString() }),
  ]
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const out = office.path('out.csv')
  const ran = await office.tranche('run', input, '--out', out, '--json')
  expect(ran.code, ran.stderr).toBe(0)
  expect(ran.last).toMatchObject({ ending: 'later', counts: { APPROVED: 2, PENDING: 1 } })
  expect(ran.stderr).toContain('1 row is due later')
  const sent = new Map(office.sandbox.log().map(({ xtlOrderId, atMs }) => [xtlOrderId, atMs]))
  expect([...sent.keys()].toSorted()).toEqual(['X1', 'X2'])
  expect(sent.get('X2')).toBeGreaterThanOrEqual(soonMs)
  expect(countsIn(out)).toEqual({ APPROVED: 2, PENDING: 1 })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('what came due without a worker is sent by the next one', async () => {
  office = await openOffice()
  const dueMs = Date.now() + 2_000
  const rows = [refundRow(1, { execute_at: new Date(dueMs).toISOString() })]
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const { batch } = (await office.tranche('submit', input, '--json')).last
  expect(recordedIn(office)).toMatchObject([{ state: 'READY' }])
  await until('its time has passed', () => Date.now() > dueMs)
  const worked = await office.tranche('worker', '--until-idle')
  expect(worked.code, worked.stderr).toBe(0)
  const out = office.path('out.csv')
  await office.tranche('results', batch as string, '--out', out)
  expect(countsIn(out)).toEqual({ APPROVED: 1 })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('what waits for the clock ends a worker and is sent once a person says that the clock is right, not before', async () => {
  office = await openOffice()
  const dueMs = Date.now() + 2_000
  const rows = [refundRow(1, { execute_at: new Date(dueMs).toISOString() })]
  office.sandbox.prepare(preparationFor(rows))
  await office.tranche('submit', await office.put('in.csv', toCsv(rows)))
  const ledger = new DatabaseSync(office.ledgerPath)
  ledger.exec('UPDATE account SET clock_ahead = 3600000, clock_ahead_at = 1')
  ledger.close()
  await until('its time has passed', () => Date.now() > dueMs)
  const resume = (...also: string[]) => office.tranche('resume', '--reason', 'looked', ...also)
  expect((await resume('--merchant', 'default')).stderr).toContain('60 min ahead of the gateway')
  const worked = await office.tranche('worker', '--until-idle')
  expect([worked.code, worked.stderr]).toEqual([6, expect.stringContaining('--clock-is-right')])
  expect((await resume('--clock-is-right')).code).toBe(2)
  expect((await resume('--merchant', 'default', '--clock-is-right')).stderr).toContain('go on by the clock')
  expect([recordedIn(office)[0]?.state, (await office.tranche('worker', '--until-idle')).code]).toEqual(['READY', 0])
  expect(recordedIn(office)).toMatchObject([{ state: 'APPROVED' }])
})

test('no second holds more requests than the rate allows', async () => {
  const rate = 20
  office = await openOffice({ env: { TRANCHE_RATE: String(rate) } })
  const rows = refunds(60)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const out = office.path('out.csv')
  const ran = await office.tranche('run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(0)
  const left = recordedIn(office).map((row) => row.sent_at as number)
  expect(fullestSecond(left)).toBeLessThanOrEqual(rate)
  // Where they arrive, whatever stalls this process for a moment bunches them: two intervals are allowed for that.
  expect(fullestSecond(office.sandbox.log().map((entry) => entry.atMs))).toBeLessThanOrEqual(rate + 2)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

/** The most moments that any window of one second holds; every such window begins at one of them. */
function fullestSecond(departuresMs: readonly number[]): number {
  return Math.max(...departuresMs.map((from) => departuresMs.filter((at) => at >= from && at < from + 1_000).length))
}
