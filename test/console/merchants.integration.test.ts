// Merchants at their pages: what holds them, the rate dial, and letting one go on.

import fastify from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ConsoleDoor, Pages } from '../../src/console/door.ts'
import { createSamples, takeSamples } from '../../src/console/samples.ts'
import { headerOf, listOf, refund, submit, work } from '../fixtures/ledgers.ts'
import { formsIn, openPages, type PagesServed, type Visiting } from '../fixtures/pages.ts'

const MINUTE_MS = 60_000
const HOSTILE = '<script>alert(1)</script>\u202e'

let served: PagesServed
let olga: Visiting

beforeEach(async () => {
  served = await openPages()
  olga = await served.as('olga', ['operator'])
})
afterEach(() => served.close())

const at = '/merchants/shop'
const account = async () => (await served.ledger.accounts()).find(({ name }) => name === 'shop')
const set = (per_second: string, by = olga) => by.send(at, '/rate', { per_second, reason: 'night' })

test('the list shows each merchant with its rate and its rows, and the page whose account it is', async () => {
  const { ledger, accounts } = served
  const batch = await submit(ledger, accounts.shop, [refund('A'), refund('B')], headerOf(accounts.shop))
  await work(ledger, batch, 'A', 'IN_DOUBT')
  await ledger.setRate(accounts.shop, 25, served.app.actor, Date.now())
  const list = (await olga.get('/merchants')).body
  for (const shown of ['href="/merchants/shop"', 'href="/merchants/club"', '25/s', 'as configured', 'no worker runs'])
    expect(list).toContain(shown)
  const { body } = await olga.get(at)
  expect(body).toContain('https://shop.gateway.example')
  expect(body).toMatch(/<dt>Rows that wait<\/dt><dd>1<\/dd>/)
  expect(body).toMatch(/<dt>In doubt<\/dt><dd><a href="\/doubts">1<\/a><\/dd>/)
  expect(body).toContain('<dt>User</dt><dd>…</dd>') // its name is half of what authenticates a request
  expect((await olga.get('/merchants/nobody')).statusCode).toBe(404)
})

test('an operator sets the rate and sets it back, and both are kept with the reason', async () => {
  expect((await set(' 2.5/s ')).statusCode).toBe(422)
  expect((await set('0.5')).headers.location).toBe(at)
  expect(await account()).toMatchObject({ ratePerSecond: 0.5 })
  expect((await olga.get(at)).body).toContain('0.5/s')
  await set('')
  expect(await account()).toMatchObject({ ratePerSecond: null })
  const acts = (await listOf(served.ledger.log(null))).filter(({ what }) => what === 'rate')
  expect(acts.map(({ reason }) => reason)).toEqual(['0.5/s: night', 'configured: night'])
  expect(acts[0]).toMatchObject({ merchant: 'shop', actor: { kind: 'person', name: 'olga' } })
})

test.each(['0', '-1', 'fast', '1e3', '2.5', '12345678'])('%s is no rate', async (text) => {
  const refused = await set(text)
  expect([refused.statusCode, refused.body]).toEqual([422, expect.stringContaining('Nothing was changed')])
  expect(await account()).toMatchObject({ ratePerSecond: null })
})

test('a merchant that is stopped shows the words of the gateway, and goes on when an operator says so', async () => {
  await served.ledger.stopAccount(served.accounts.shop, `the gateway refused the password ${HOSTILE}`, Date.now())
  const { body } = await olga.get(at)
  expect(body).toContain('the gateway refused the password &lt;script&gt;')
  expect(body).toContain('The rows that wait were not executed.')
  expect(body).not.toMatch(/<script>alert|\u202e/)
  expect((await olga.send(at, '/resume', { reason: 'corrected it' })).headers.location).toBe(at)
  expect(await account()).toMatchObject({ stopped: null })
  expect((await olga.get(at)).body).toContain('Nothing holds it')
})

test('a form that is sent twice has its effect once', async () => {
  const { ledger, accounts } = served
  await ledger.stopAccount(accounts.shop, 'refused', Date.now())
  const [form] = formsIn((await olga.get(at)).body)
  const fields = { ...form?.fields, reason: 'corrected it' }
  await olga.post(`${at}/resume`, fields)
  await ledger.stopAccount(accounts.shop, 'refused again', Date.now())
  expect((await olga.post(`${at}/resume`, fields)).headers.location).toBe(at)
  expect(await account()).toMatchObject({ stopped: 'refused again' })
})

test('a viewer sees it all and is told who may change it', async () => {
  const vic = await served.as('vic', ['viewer'])
  const { body } = await vic.get(at)
  expect(body).toContain('that takes an operator')
  expect(formsIn(body)).toEqual([])
})

test('the last hour is drawn from what was looked at each minute, and told in a table as well', async () => {
  expect((await olga.get(at)).body).toContain('Nothing is drawn yet')
  const endMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
  const before = { approved: 100, declined: 3, failed: 0, inDoubt: 0, open: 0 }
  served.samples.keep(endMs - MINUTE_MS, new Map([['shop', before]]))
  served.samples.keep(endMs, new Map([['shop', { ...before, approved: 130, declined: 4, inDoubt: 2, open: 7 }]]))
  const { body } = await olga.get(at)
  expect(body).toContain('aria-label="Approved each minute: last 30, most 30"')
  expect(body).toContain('aria-label="In doubt: last 2, most 2"')
  const [, , last] = body.slice(body.indexOf('The same figures')).split('<tr>')
  expect(last).toMatch(/<td [^>]*>30<\/td><td [^>]*>1<\/td>.*>0<.*>2<.*>7</)
  expect(body).toContain('31 rows came to an outcome, 0.5 a second')
  expect(body).not.toMatch(/style=/)
  expect((await olga.get('/merchants/club')).body).toContain('Approved each minute: last 0, most 0')
})

test('while its gateway fails, the page says how many requests may be open', async () => {
  const { ledger, accounts } = served
  await submit(ledger, accounts.shop, [refund('A')], headerOf(accounts.shop))
  expect((await olga.get(at)).body).not.toContain('<dt>Window</dt>')
  const health = {
    sinceMs: Date.now(),
    why: 'HTTP 503',
    asksToWait: false,
    failures: 4,
    openMost: 1,
    backoffUntilMs: null,
  }
  await ledger.recordHealth(accounts.shop, health)
  expect((await olga.get(at)).body).toContain('<dt>Window</dt><dd>1 request at a time, while the gateway fails</dd>')
})

test('the server looks at the end of each minute; what it cannot read, or reads late, is a gap', async () => {
  const { app, ledger } = served
  const beganMs = Date.UTC(2026, 10, 26, 14, 2, 30)
  let nowMs = beganMs
  let minute = 0
  const enough = Promise.withResolvers<void>()
  const clock = Object.create(app.clock, {
    nowMs: { value: () => nowMs },
    sleep: {
      async value(ms: number, signal: AbortSignal) {
        if (minute === 4) {
          enough.resolve()
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
        }
        minute += 1
        nowMs += ms
      },
    },
  })
  const figures = async () => {
    if (minute === 2) throw new Error('busy')
    if (minute === 3) nowMs += 6_000
    return ledger.figures()
  }
  const samples = createSamples(beganMs)
  const pages = fastify()
  const read = Object.create(ledger, { figures: { value: figures } })
  takeSamples(pages as unknown as Pages, { app: { ...app, clock }, ledger: read } as unknown as ConsoleDoor, samples)
  await pages.ready()
  await enough.promise
  await pages.close()
  const minutes = samples.of('shop', nowMs)
  expect(minutes.map(({ endMs }) => endMs - beganMs)).toEqual([30_000, 90_000, 150_000, 210_000])
  expect(minutes.map(({ open }) => open)).toEqual([0, null, null, 0])
})
