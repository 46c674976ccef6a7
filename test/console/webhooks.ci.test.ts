// Webhooks at their pages: who sees and changes them, the secret on one answer alone, and sending again once.

import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Delivery } from '../../src/domain/webhook.ts'
import { CLERK, listOf } from '../fixtures/ledgers.ts'
import { formsIn, openPages, type PagesServed, type Visiting } from '../fixtures/pages.ts'

const HOSTILE = '<script>alert(1)</script>\u202e'
const URL_OF_SHOP = 'https://shop.example/hooks'
const SECRET = /whsec_[A-Za-z0-9+/=]+/g
const AT = '/webhooks/ep_a'

let served: PagesServed
let ada: Visiting
let olga: Visiting

beforeEach(async () => {
  served = await openPages()
  ada = await served.as('ada', ['admin'])
  olga = await served.as('olga', ['operator'])
})
afterEach(() => served.close())

const acts = async () => (await listOf(served.ledger.log(null))).filter(({ what }) => what.startsWith('webhook-'))
const add = (fields = {}) =>
  ada.send('/webhooks', '/webhooks', { url: URL_OF_SHOP, reason: 'the shop asked', ...fields })

async function endpointThere(url = URL_OF_SHOP): Promise<void> {
  const endpoint = { id: 'ep_a', url, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', types: null, merchant: null }
  await served.ledger.addEndpoint({ ...endpoint, allowsPrivate: false }, CLERK, Date.now())
}

/** One that was given up. */
async function failed(said = 'try later'): Promise<Delivery> {
  const { ledger } = served
  await ledger.pingEndpoint('ep_a', Date.now())
  const [ping] = await ledger.deliveries({ endpointId: 'ep_a' }, 1)
  const result = { eventId: ping?.eventId ?? '', httpStatus: 500, said, askedToWaitMs: null }
  await ledger.settleDeliveries('ep_a', [result], Date.now(), () => 0)
  return ping as Delivery
}

test('an administrator adds one, and its secret is on that answer alone', async () => {
  const [form] = formsIn((await ada.get('/webhooks')).body)
  const fields = { ...form?.fields, url: URL_OF_SHOP, types: 'batch.*, doubt.opened', merchant: '', reason: 'asked' }
  const first = await ada.post('/webhooks', fields)
  expect(first.statusCode).toBe(200)
  expect(first.headers['cache-control']).toBe('no-store')
  const [secret = ''] = first.body.match(SECRET) ?? []
  const [endpoint] = await served.ledger.endpoints()
  expect(endpoint).toMatchObject({ url: URL_OF_SHOP, types: ['batch.*', 'doubt.opened'], allowsPrivate: false })
  expect((await served.ledger.signingEndpoints(Date.now()))[0]?.secrets).toEqual([secret])
  const again = await ada.post('/webhooks', fields)
  expect(again.body).toContain('had its effect then')
  for (const { body } of [again, await ada.get('/webhooks'), await ada.get(`/webhooks/${endpoint?.id}`)])
    expect(body).not.toContain('whsec_')
  expect(await served.ledger.endpoints()).toHaveLength(1)
  expect(await acts()).toMatchObject([{ what: 'webhook-add', reason: 'asked', actor: { kind: 'person', name: 'ada' } }])
  expect(JSON.stringify(await acts())).not.toContain('whsec_')
})

test.each([
  [{ url: 'http://shop.example/' }, 'is not https'],
  [{ url: 'https://127.0.0.1/' }, 'private or reserved network'],
  [{ url: 'https://ann:secret@shop.example/' }, 'user name or password'],
  [{ url: 'https://shop.example/4111111111111111' }, 'no address of a web server'],
  [{ types: 'batches' }, 'batches'],
  [{ merchant: 'nobody' }, 'no merchant'],
  [{ reason: '' }, 'Write why'],
])('%o is refused, and nothing was added', async (fields, says) => {
  const refused = await add(fields)
  expect([refused.statusCode, refused.body]).toEqual([422, expect.stringContaining(says)])
  expect(await served.ledger.endpoints()).toEqual([])
})

test('a new secret is made once, and shown once', async () => {
  await endpointThere()
  const [, rotate] = formsIn((await ada.get(AT)).body)
  expect(rotate?.action).toBe(`${AT}/rotate`)
  const fields = { ...rotate?.fields, reason: 'it leaked' }
  const [secret] = (await ada.post(`${AT}/rotate`, fields)).body.match(SECRET) ?? []
  const [signing] = await served.ledger.signingEndpoints(Date.now())
  expect(signing?.secrets[0]).toBe(secret)
  expect((await ada.post(`${AT}/rotate`, fields)).body).not.toContain('whsec_')
  expect((await served.ledger.signingEndpoints(Date.now()))[0]?.secrets).toEqual(signing?.secrets)
  expect((await acts()).at(-1)).toMatchObject({ what: 'webhook-rotate', reason: 'it leaked' })
})

test('one is tested, enabled and removed, each with what the ledger says afterwards', async () => {
  await endpointThere()
  expect((await ada.send(AT, '/ping')).headers.location).toBe(AT)
  const [ping] = await served.ledger.deliveries({}, 10)
  expect(ping).toMatchObject({ type: 'ping', state: 'pending' })
  await served.ledger.takeDeliveries('ep_a', [{ id: 'x', type: 'batch.started' }], { move: 0, event: 0 }, Date.now())
  const gone = { eventId: 'x', httpStatus: 410, said: 'gone', askedToWaitMs: null }
  await served.ledger.settleDeliveries('ep_a', [gone], Date.now(), () => 0)
  expect((await olga.get('/webhooks')).body).toContain('<strong>disabled</strong>')
  const waiting = (await olga.get(`${AT}/deliveries/x`)).body
  expect(waiting).toContain('when an administrator enables it')
  expect(formsIn(waiting)).toEqual([])
  await ada.send(AT, '/enable', { reason: 'it is back' })
  expect((await served.ledger.endpoints())[0]).toMatchObject({ disabledAtMs: null })
  expect((await ada.send(AT, '/remove', { reason: 'the shop closed' })).headers.location).toBe('/webhooks')
  expect(await served.ledger.endpoints()).toEqual([])
  expect((await ada.get(AT)).statusCode).toBe(404)
  expect((await acts()).map(({ reason }) => reason)).toEqual([null, 'it is back', 'the shop closed'])
})

test('an operator sends one event again, once for each form, and sees the answer as text', async () => {
  await endpointThere()
  const { eventId } = await failed(HOSTILE)
  const at = `${AT}/deliveries/${eventId}`
  expect((await olga.get(`${AT}?state=dead`)).body).toContain(at)
  expect((await olga.get(`${AT}?state=delivered`)).body).not.toContain(at)
  const { body } = await olga.get(at)
  expect(body).toContain('&lt;script&gt;')
  expect(body).not.toMatch(/<script>alert|\u202e/)
  expect(body).toContain('&quot;specversion&quot;')
  const [form] = formsIn(body)
  const fields = { ...form?.fields, reason: 'they fixed it' }
  expect((await olga.post(`${at}/replay`, fields)).headers.location).toBe(at)
  expect(await served.ledger.deliveries({}, 10)).toMatchObject([{ state: 'pending', isReplay: true }])
  const arrived = { eventId, httpStatus: 200, said: '', askedToWaitMs: null }
  await served.ledger.settleDeliveries('ep_a', [arrived], Date.now(), () => 0)
  expect((await olga.post(`${at}/replay`, fields)).headers.location).toBe(at)
  expect(await served.ledger.deliveries({}, 10)).toMatchObject([{ state: 'delivered' }])
  expect((await acts()).at(-1)).toMatchObject({ what: 'webhook-replay', reason: 'they fixed it' })
})

test('an operator sends again what has not arrived since then, and is told where that is nothing', async () => {
  await endpointThere()
  const since = new Date(Date.now() - 60_000).toISOString()
  const replay = (from: string) => olga.send(AT, '/replay', { since: from, reason: 'they fixed it' })
  expect((await replay(since)).body).toContain('Nothing was changed')
  await failed()
  expect((await replay('yesterday')).statusCode).toBe(422)
  expect((await replay(new Date(Date.now() + 60_000).toISOString())).statusCode).toBe(422)
  expect((await replay(since)).headers.location).toBe(AT)
  expect(await served.ledger.deliveries({}, 10)).toMatchObject([{ state: 'pending' }])
})

test('an auditor sees it all and changes nothing; an administrator reads no body', async () => {
  await endpointThere()
  const { eventId } = await failed()
  const at = `${AT}/deliveries/${eventId}`
  const aud = await served.as('aud', ['auditor'])
  for (const url of ['/webhooks', AT, at]) {
    const { body, statusCode } = await aud.get(url)
    expect([statusCode, formsIn(body)]).toEqual([200, []])
    expect(body).toContain('Your roles do not let you')
  }
  expect((await aud.get(at)).body).toContain('specversion')
  expect((await ada.get(at)).body).not.toContain('specversion')
  expect((await (await served.as('vic', ['viewer'])).get('/webhooks')).statusCode).toBe(403)
})
