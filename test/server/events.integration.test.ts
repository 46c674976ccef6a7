// Events, endpoints and deliveries over HTTP.

import { beforeEach, expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import { eventFaults } from '../../src/events/schema.ts'
import { buildServer } from '../../src/server/server.ts'
import { refund, submit, work } from '../fixtures/ledgers.ts'
import { type Asking, served, useServed } from '../fixtures/served.ts'

useServed()

let batch: BatchId
beforeEach(async () => {
  batch = await submit(served.ledger, served.accounts.shop, [refund('A'), refund('B')])
  await work(served.ledger, batch, 'A', 'IN_DOUBT')
  await work(served.ledger, batch, 'B', 'APPROVED')
})

let asked = 0
async function ask(method: 'GET' | 'POST' | 'DELETE', path: string, asking: Asking = {}) {
  const { key } = await served.key()
  asked += 1
  return served.ask(method, path, { key, headers: { 'idempotency-key': `e${asked}` }, ...asking })
}

test('events are read from one to the next, whole, and of the types that are asked for', async () => {
  const { key } = await served.key()
  const all = (await served.ask('GET', '/v1/events', { key })).said.data
  expect(all.map(({ type }: { type: string }) => type)).toEqual([
    ...['row.settled', 'doubt.opened', 'row.settled', 'batch.accepted'],
    ...['access.key_added', 'batch.started', 'batch.needs_attention'],
  ])
  for (const event of all) expect(eventFaults(event)).toEqual([])
  for (let i = 0; i < all.length; i++)
    expect((await served.ask('GET', `/v1/events?limit=2&after=${all[i].id}`, { key })).said.data).toEqual(
      all.slice(i + 1, i + 3),
    )
  const some = await served.ask('GET', `/v1/events?types=batch.*,doubt.opened&after=${all[0].id}`, { key })
  expect(some.said.data).toEqual(all.filter(({ type }: { type: string }) => !/^(row|access)/.test(type)))
  expect((await ask('GET', '/v1/events?after=m9-0123456789ab')).said).toMatchObject({ code: 'refused' })
  expect((await ask('GET', '/v1/events?types=nonsense')).said).toMatchObject({ code: 'request_invalid' })
})

test('events of who may come in are for keys that may read the audit', async () => {
  const { key } = await served.key({ scopes: ['events:read', 'endpoints:write'] })
  const { data } = (await served.ask('GET', '/v1/events', { key })).said
  expect(data.map(({ type }: { type: string }) => type).filter((type: string) => !/^(row|batch)/.test(type))).toEqual([
    'doubt.opened',
  ])
  const subscribe = (events: readonly string[]) => {
    const body = { url: 'https://shop.example/hooks', events }
    return served.ask('POST', '/v1/endpoints', { key, body, headers: { 'idempotency-key': events.join(' ') } })
  }
  for (const types of [['access.*'], ['batch.*', 'access.new_address']]) {
    for (const answer of [await served.ask('GET', `/v1/events?types=${types}`, { key }), await subscribe(types)])
      expect([answer.statusCode, answer.said.code]).toEqual([403, 'scope_missing'])
  }
  expect(await served.ledger.endpoints()).toEqual([])
  expect((await subscribe(['batch.*'])).statusCode).toBe(201)
})

test('a key of another merchant reads none of them', async () => {
  const { key } = await served.key({ merchants: ['club'] })
  expect((await served.ask('GET', '/v1/events', { key })).said).toEqual({ data: [] })
})

test('a sandbox takes webhooks of its own machine, and of no other private address', async () => {
  const { key } = await served.key()
  const server = await buildServer({ ...served.door, isHost: () => true, isSandbox: true })
  const add = (url: string) => {
    const headers = { host: 'x', authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const payload = JSON.stringify({ url })
    const from = { method: 'POST', url: '/v1/endpoints', payload } as const
    return server.inject({ ...from, headers: { ...headers, 'idempotency-key': url } })
  }
  expect((await add('http://127.0.0.1:9/hooks')).json()).toMatchObject({ allow_private: true })
  expect((await add('http://10.0.0.1/hooks')).statusCode).toBe(400)
  const body = { url: 'http://127.0.0.1:9/hooks' }
  const real = await served.ask('POST', '/v1/endpoints', { key, body, headers: { 'idempotency-key': 'a' } })
  expect(real.statusCode).toBe(400)
  await server.close()
})

test('an endpoint is added once, with its secret in the first answer alone, and removed', async () => {
  const { key } = await served.key()
  const body = { url: 'https://shop.example/hooks', events: ['batch.*'] }
  const headers = { 'idempotency-key': 'add' }
  const first = await served.ask('POST', '/v1/endpoints', { key, body, headers })
  const again = await served.ask('POST', '/v1/endpoints', { key, body, headers })
  expect([first.statusCode, again.statusCode]).toEqual([201, 201])
  const { secret, ...shown } = first.said
  expect(secret).toMatch(/^whsec_/)
  expect(again.said).toEqual(shown)
  expect((await ask('GET', '/v1/endpoints')).said.data).toEqual([shown])
  const removed = await ask('DELETE', `/v1/endpoints/${shown.id}`)
  expect(removed.said).toEqual({ id: shown.id, removed: true })
  const typed = { headers: { 'content-type': 'application/json', 'idempotency-key': 'typed' } }
  for (const asking of [{}, typed])
    expect((await ask('DELETE', `/v1/endpoints/${shown.id}`, asking)).statusCode).toBe(404)
  expect((await ask('GET', '/v1/endpoints')).said.data).toEqual([])
})

test.each([
  'http://shop.example/',
  'https://127.0.0.1/',
  'https://me:pass@shop.example/',
  'https://shop.example/4111\n1111\n1111\n1111',
  'https://[::1]/',
  'nonsense',
])('no endpoint is added at %s', async (url) => {
  const { statusCode, said } = await ask('POST', '/v1/endpoints', { body: { url } })
  expect([statusCode, said.code]).toEqual([400, 'request_invalid'])
  expect((await ask('POST', '/v1/endpoints', { body: { url, allow_private: true } })).statusCode).toBe(400)
  expect(await served.ledger.endpoints()).toEqual([])
})

test('an endpoint is kept under the address that is asked, however it was written', async () => {
  const written = 'HTTPS://Shop.example:443/a/../hooks\r\n?x=\u202e'
  const { said } = await ask('POST', '/v1/endpoints', { body: { url: written } })
  expect(said.url).toBe('https://shop.example/hooks?x=%E2%80%AE')
  expect(await served.ledger.endpoints()).toMatchObject([{ url: said.url }])
})

test('a key of one merchant adds no endpoint for others, nor for all', async () => {
  const { key } = await served.key({ merchants: ['shop'] })
  for (const merchant of ['club', undefined]) {
    const body = { url: 'https://shop.example/', ...(merchant !== undefined && { merchant }) }
    const answer = await served.ask('POST', '/v1/endpoints', { key, body, headers: { 'idempotency-key': 'x' } })
    expect(answer.statusCode).toBe(404)
  }
  expect(await served.ledger.endpoints()).toEqual([])
})

test('what was delivered is listed, and sent again when that is asked for, once', async () => {
  const { said } = await ask('POST', '/v1/endpoints', { body: { url: 'https://shop.example/hooks' } })
  const events = [{ id: 'm1-0123456789ab', type: 'row.settled' }]
  await served.ledger.takeDeliveries(said.id, events, { move: 0, event: 0 }, Date.now())
  const result = { eventId: 'm1-0123456789ab', httpStatus: 204, said: '', askedToWaitMs: null }
  await served.ledger.settleDeliveries(said.id, [result], Date.now(), Math.random)
  const listed = await ask('GET', `/v1/deliveries?endpoint=${said.id}&state=delivered`)
  expect(listed.said.data).toMatchObject([{ event: 'm1-0123456789ab', attempts: 1, http_status: 204 }])
  const since = '2020-01-01T00:00:00Z'
  const replay = (body: object) => ask('POST', '/v1/deliveries/replay', { body: { endpoint: said.id, ...body } })
  expect((await replay({ since })).said).toEqual({ replayed: 0 })
  expect((await replay({})).said).toMatchObject({ code: 'request_invalid' })
  expect((await replay({ since, delivered: true })).said).toEqual({ replayed: 1 })
  expect(await served.ledger.dueDeliveries(said.id, Date.now(), 10)).toMatchObject([{ isReplay: true }])
})
