// A gateway that misbehaves: what pauses a batch, and what pauses the whole account, until a person has looked.

import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, query, readCsv, recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { orderOf, preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

async function prepared(count: number): Promise<{ input: string; out: string }> {
  const rows = refunds(count)
  office.sandbox.prepare(preparationFor(rows))
  return { input: await office.put('in.csv', toCsv(rows)), out: office.path('out.csv') }
}

test('an approval of another amount pauses the batch each time, and it ends with 3', async () => {
  office = await openOffice({ env: { TRANCHE_IN_FLIGHT: '1' } })
  const { input, out } = await prepared(20)
  office.sandbox.addFault({ kind: 'other-amount', match: { orderId: orderOf(5) } })
  office.sandbox.addFault({ kind: 'other-amount', match: { orderId: orderOf(9) } })
  const paused = await office.tranche('run', input, '--out', out, '--json')
  expect(paused.code, paused.stderr).toBe(6)
  expect(paused.last.reason).toContain('the gateway answered the amount 6.01')
  expect(countsIn(out)).toEqual({ APPROVED: 5, PENDING: 15 })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
  const batch = paused.last.batch as string
  const resumed = async () => {
    expect((await office.tranche('resume', batch, '--reason', 'looked at it')).code).toBe(0)
    return office.tranche('run', input, '--out', out, '--json')
  }
  expect((await resumed()).code).toBe(6)
  expect(countsIn(out)).toEqual({ APPROVED: 9, PENDING: 11 })
  const ran = await resumed()
  expect(ran.code, ran.stderr).toBe(3)
  expect(ran.stderr).toContain('2 approved rows differ from what was asked')
  const written = await office.tranche('results', batch, '--out', out)
  expect(written.stderr).toContain('2 approved rows differ from what was asked')
  expect(countsIn(out)).toEqual({ APPROVED: 20 })
  expect(
    readCsv(out)
      .filter((line) => line.result_warning !== '')
      .map((line) => line.reference),
  ).toEqual(['R-5', 'R-9'])
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('ten doubts pause the account until a person has looked; then the rest goes on', async () => {
  office = await openOffice({ env: { TRANCHE_IN_FLIGHT: '4' } })
  const { input, out } = await prepared(50)
  office.sandbox.addFault({ kind: 'reset-after', match: { any: true }, every: 2, times: 12 })
  const paused = await office.tranche('run', input, '--out', out, '--json')
  expect(paused.code, paused.stderr).toBe(6)
  expect(paused.last.reason).toContain('10 rows came into doubt')
  const inDoubt = recordedIn(office).filter((row) => row.state === 'IN_DOUBT').length
  expect(inDoubt).toBeGreaterThanOrEqual(10) // what was open at the tenth may have added to it
  expect(inDoubt).toBeLessThanOrEqual(12)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])

  // A file that comes later waits as well, whichever process would send it.
  const later = await office.put('later.csv', toCsv(refunds(3, 900)))
  const executed = office.sandbox.log().length
  const untouched = () => query(office, "SELECT id FROM instruction WHERE state = 'READY' AND attempt = 0").length
  expect(untouched()).toBe(50 - office.sandbox.received())
  const held = await office.tranche('run', later, '--out', office.path('later-out.csv'), '--json')
  expect([held.code, held.last.reason], held.stderr).toEqual([6, paused.last.reason])
  expect((await office.spawned('worker', '--until-idle')).code).toBe(6)
  expect((await office.tranche('status', held.last.batch, '--json')).last).toMatchObject({ state: 'paused' })
  expect((await office.tranche('doctor')).stdout).toContain('merchant default is paused (at least 10 rows')
  expect([office.sandbox.log().length, untouched()]).toEqual([executed, 53 - office.sandbox.received()])

  office.sandbox.clearFaults()
  const batch = paused.last.batch as string
  const resumed = await office.tranche('resume', batch, '--reason', 'the gateway is well again')
  expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining('no longer held for its doubts')])
  const ran = await office.tranche('run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(5)
  expect(countsIn(out)).toEqual({ APPROVED: 50 - inDoubt, IN_DOUBT: inDoubt })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})
