// A gateway that cuts what is on the wire, and one that stops answering for good: what that may cost, and what it may not.

import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, query, recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { openProxy, type TcpProxy } from '../fixtures/proxy.ts'
import { tell } from './figures.ts'

let office: Office
afterEach(() => office.close())

async function prepared(count: number): Promise<{ input: string; out: string }> {
  const rows = refunds(count)
  office.sandbox.prepare(preparationFor(rows))
  return { input: await office.put('in.csv', toCsv(rows)), out: office.path('out.csv') }
}

test('an outage that cuts what is on the wire and then refuses puts only those rows in doubt', async () => {
  office = await openOffice({ apart: true, latencyMs: 150, env: { TRANCHE_IN_FLIGHT: '6' } })
  await using proxy = await openProxy({ port: office.sandbox.port, host: '127.0.0.1' })
  const { input, out } = await prepared(80)
  const env = { TRANCHE_GATEWAY_URL: `http://127.0.0.1:${proxy.port}` }
  const running = office.startWith(env, 'run', input, '--out', out)
  await until('requests are on the wire', () => office.sandbox.log().length >= 20 && proxy.standing >= 4, running)
  const onTheWire = await cutOff(proxy)
  const unsent = unsentRows()
  await until('a row found nobody there', () => unsentRows() > unsent, running)
  await proxy.open()
  const ran = await running.ended
  const inDoubt = recordedIn(office).filter(({ state }) => state === 'IN_DOUBT').length
  tell(`outage that cuts: ${onTheWire} connections were cut, ${inDoubt} rows are in doubt`)
  expect(inDoubt).toBeGreaterThan(0)
  expect(inDoubt).toBeLessThanOrEqual(onTheWire)
  expect(ran.code, ran.stderr).toBe(5)
  expect(countsIn(out)).toEqual({ APPROVED: 80 - inDoubt, IN_DOUBT: inDoubt })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

async function cutOff(proxy: TcpProxy): Promise<number> {
  const before = proxy.spoilt
  await proxy.shut()
  proxy.treatStanding('reset')
  return proxy.spoilt - before
}

function unsentRows(): number {
  return query<{ n: number }>(office, "SELECT count(*) AS n FROM move WHERE cause = 'unsent'")[0]?.n ?? 0
}

test('a gateway that hangs in mid-batch costs at most ten doubts more, and then all rests', async () => {
  const inFlight = 8
  office = await openOffice({
    apart: true,
    latencyMs: 20,
    env: { TRANCHE_IN_FLIGHT: String(inFlight), TRANCHE_TIMEOUT_MS: '1500' },
  })
  const { input, out } = await prepared(200)
  const { batch: other } = (
    await office.tranche('submit', await office.put('other.csv', toCsv(refunds(5, 500))), '--json')
  ).last
  const running = office.start('run', input, '--out', out, '--json')
  await until('the batch is under way', () => office.sandbox.log().length >= 60, running)
  office.sandbox.addFault({ kind: 'hang-after', match: { any: true }, every: 2 })
  office.sandbox.addFault({ kind: 'hang-before', match: { any: true } })
  const ran = await running.ended

  expect(ran.code, ran.stderr).toBe(6)
  const batch = ran.last.batch as string
  const inDoubt = recordedIn(office).filter(({ state }) => state === 'IN_DOUBT').length
  tell(`a gateway that hangs for good, ${inFlight} in flight: ${inDoubt} rows are in doubt`)
  expect(inDoubt).toBeGreaterThanOrEqual(10)
  expect(inDoubt).toBeLessThanOrEqual(inFlight + 10)
  const sentence = /\d+ rows came into doubt; everything of this account is paused until a person has looked/
  expect(ran.stderr).toMatch(sentence)
  expect(ran.stderr).toContain(`tranche resume ${batch} --reason TEXT`)
  for (const id of [batch, other as string]) {
    const { last } = await office.tranche('status', id, '--json')
    expect(last).toMatchObject({ state: 'paused', reason: expect.stringMatching(sentence) })
  }
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])

  // Nobody has looked: whoever starts it again sends nothing, and what was not sent was not touched.
  const received = office.sandbox.received()
  const untouched = () => query(office, "SELECT id FROM instruction WHERE state = 'READY' AND attempt = 0").length
  expect(untouched()).toBe(205 - received)
  expect((await office.tranche('run', input, '--out', out)).code).toBe(6)
  expect((await office.tranche('worker', '--until-idle')).code).toBe(6)
  expect([office.sandbox.received(), untouched()]).toEqual([received, 205 - received])

  office.sandbox.clearFaults()
  expect((await office.tranche('resume', batch, '--reason', 'the gateway answers again')).code).toBe(0)
  const resumed = await office.tranche('run', input, '--out', out)
  expect(resumed.code, resumed.stderr).toBe(5)
  expect(countsIn(out)).toEqual({ APPROVED: 200 - inDoubt, IN_DOUBT: inDoubt })
  expect(office.sandbox.received()).toBe(200)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})
