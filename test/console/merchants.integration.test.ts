// Merchants at their pages: what holds them, the rate dial, and letting one go on.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { headerOf, listOf, refund, submit, work } from '../fixtures/ledgers.ts'
import { formsIn, openPages, type PagesServed, type Visiting } from '../fixtures/pages.ts'

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
