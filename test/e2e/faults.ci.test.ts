// A gateway that misbehaves in every way it can during one run: each row gets the verdict that is due to it.

import { afterEach, expect, test } from 'vitest'
import type { FaultKind } from '../../src/sandbox/fault-kinds.ts'
import { hidingPlaces } from '../fixtures/bodies.ts'
import { booksOf, compareBooks, countsIn, readCsv, recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { approval, httpAnswer, openFaultyGateway } from '../fixtures/faulty-gateway.ts'
import { orderOf, preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { openProxy } from '../fixtures/proxy.ts'

let office: Office
afterEach(() => office.close())

async function prepared(count: number): Promise<{ input: string; out: string }> {
  const rows = refunds(count)
  office.sandbox.prepare(preparationFor(rows))
  return { input: await office.put('in.csv', toCsv(rows)), out: office.path('out.csv') }
}

/** What each fault must end as, and how often the gateway executes the row meanwhile. */
const FAULTS: readonly { kind: FaultKind; becomes: string; executed: 0 | 1 }[] = [
  { kind: 'reset-after', becomes: 'IN_DOUBT', executed: 1 },
  { kind: 'hang-after', becomes: 'IN_DOUBT', executed: 1 },
  { kind: '503-after', becomes: 'IN_DOUBT', executed: 1 },
  { kind: 'cut-body', becomes: 'IN_DOUBT', executed: 1 },
  { kind: 'wrong-echo', becomes: 'IN_DOUBT', executed: 1 },
  { kind: 'html', becomes: 'IN_DOUBT', executed: 1 },
  { kind: 'reset-before', becomes: 'IN_DOUBT', executed: 0 },
  { kind: '503-before', becomes: 'IN_DOUBT', executed: 0 },
  { kind: '400', becomes: 'FAILED', executed: 0 },
  { kind: '403', becomes: 'APPROVED', executed: 1 }, // once; then it passes
  { kind: '429', becomes: 'APPROVED', executed: 1 },
  { kind: 'slow', becomes: 'APPROVED', executed: 1 },
]

test('every fault of a gateway ends as the table of verdicts says, and the books agree', async () => {
  office = await openOffice({ apart: true, env: { TRANCHE_TIMEOUT_MS: '1500' } })
  const { input, out } = await prepared(60)
  const struck = new Map(FAULTS.map((fault, i) => [orderOf(4 + i * 4), fault]))
  for (const [orderId, { kind }] of struck) {
    const once = kind === '403' || kind === '429' ? { times: 1 } : {}
    office.sandbox.addFault({ kind, match: { orderId }, latencyMs: 300, ...once })
  }

  const ran = await office.tranche('run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(5)
  expect(ran.stderr).toContain('8 rows are IN DOUBT')
  for (const line of readCsv(out)) {
    const orderId = line.request_ref_po_id as string
    const { kind = 'none', becomes = 'APPROVED', executed = 1 } = struck.get(orderId) ?? {}
    expect([kind, line.result_status]).toEqual([kind, becomes])
    expect([kind, office.sandbox.log().filter((entry) => entry.orderId === orderId).length]).toEqual([kind, executed])
    expect([kind, line.result_reason === '']).toEqual([kind, becomes === 'APPROVED'])
  }
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
  // Nothing of it is ever sent again by itself.
  office.sandbox.clearFaults()
  const received = office.sandbox.received()
  expect((await office.tranche('run', input, '--out', out)).code).toBe(5)
  expect(office.sandbox.received()).toBe(received)
})

test('what a gateway executes and answers with an unreadable refusal is never sent again', async () => {
  office = await openOffice({ apart: true })
  const answers = [
    [429, 'gzip, and says so'],
    [429, 'cut in the middle'],
    [429, 'a field twice'],
    [429, 'in an array'],
    [400, 'lower-case names'],
    [400, 'in an object'],
    [422, 'gzip, and says nothing'],
    [401, 'gzip, and says so'],
    [403, 'two objects'],
  ] as const
  // A plain approval after each keeps the gateway in use, as one that is mostly well.
  const unread = new Map(answers.map((answer, i) => [orderOf(1 + i * 2), answer]))
  await using gateway = await openFaultyGateway([
    async (visit) => {
      const request = await visit.request()
      visit.execute()
      const orderId = request.get('request_ref_po_id') as string
      const answer = approval(request).replace(/"TRANS_REQUEST_ID":\d+/, `"TRANS_REQUEST_ID":5${orderId}`)
      const [status, title] = unread.get(orderId) ?? [200, '']
      const place = hidingPlaces(answer).find((one) => one.title === title)
      const bytes = place?.bytes ?? Buffer.from(answer)
      visit.write(httpAnswer(status, '', { ...place?.headers, 'content-length': String(bytes.length) }))
      visit.socket.end(bytes)
    },
  ])
  const input = await office.put('in.csv', toCsv(refunds(20)))
  const out = office.path('out.csv')
  const ran = await office.trancheWith({ TRANCHE_GATEWAY_URL: gateway.url }, 'run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(5)
  expect(countsIn(out)).toEqual({ APPROVED: 20 - answers.length, IN_DOUBT: answers.length })
  for (const line of readCsv(out)) {
    const isUnread = unread.has(line.request_ref_po_id as string)
    expect([line.reference, line.result_status]).toEqual([line.reference, isUnread ? 'IN_DOUBT' : 'APPROVED'])
  }
  expect(new Set(gateway.requests.map((request) => request.get('request_ref_po_id'))).size).toBe(20)
  expect(gateway.executed).toBe(20)
})

test('an approval of another amount pauses the batch each time, and it ends with 3', async () => {
  office = await openOffice({ apart: true, env: { TRANCHE_IN_FLIGHT: '1' } })
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
  office = await openOffice({ apart: true, env: { TRANCHE_IN_FLIGHT: '4' } })
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
  const held = await office.tranche('run', later, '--out', office.path('later-out.csv'), '--json')
  expect([held.code, held.last.reason], held.stderr).toEqual([6, paused.last.reason])
  expect((await office.tranche('worker', '--until-idle')).code).toBe(6)
  expect((await office.tranche('status', held.last.batch, '--json')).last).toMatchObject({ state: 'paused' })
  expect((await office.tranche('doctor')).stdout).toContain('merchant default is paused (at least 10 rows')
  expect(office.sandbox.log()).toHaveLength(executed)

  office.sandbox.clearFaults()
  const batch = paused.last.batch as string
  const resumed = await office.tranche('resume', batch, '--reason', 'the gateway is well again')
  expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining('no longer held for its doubts')])
  const ran = await office.tranche('run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(5)
  expect(countsIn(out)).toEqual({ APPROVED: 50 - inDoubt, IN_DOUBT: inDoubt })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('connections that close as soon as they stand put at most their own rows in doubt', async () => {
  office = await openOffice({ apart: true })
  const { input, out } = await prepared(30)
  office.sandbox.addFault({ kind: 'refuse', match: { any: true }, times: 4 })
  const ran = await office.tranche('run', input, '--out', out)
  const inDoubt = recordedIn(office).filter((row) => row.state === 'IN_DOUBT').length
  expect(inDoubt).toBeLessThanOrEqual(4)
  expect(ran.code, ran.stderr).toBe(inDoubt === 0 ? 0 : 5)
  expect(office.sandbox.log()).toHaveLength(30 - inDoubt)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('a run that is to give up leaves the rest PENDING and ends with 6; later it goes on', async () => {
  office = await openOffice({ apart: true })
  const { input, out } = await prepared(4)
  await using door = await openProxy({ port: office.sandbox.port, host: '127.0.0.1' })
  const env = { TRANCHE_GATEWAY_URL: `http://127.0.0.1:${door.port}` }
  await door.shut()
  const given = await office.trancheWith(env, 'run', input, '--out', out, '--give-up-after', '1s', '--json')
  expect(given.code, given.stderr).toBe(6)
  expect(given.last.reason).toContain('--give-up-after')
  expect(countsIn(out)).toEqual({ PENDING: 4 })
  await door.open()
  const ran = await office.trancheWith(env, 'run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(0)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})
