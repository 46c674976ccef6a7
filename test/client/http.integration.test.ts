// The client over HTTP, against a server that answers as the contract says, or does not answer.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  type Instruction,
  ListeningError,
  RefusedError,
  RequestError,
  TrancheClient,
  UnsureError,
} from '../../src/client/client.ts'
import { until } from '../fixtures/cli.ts'

const REFUND: Instruction = {
  ...{ transaction_type: 'REFUND', reference: 'R-1', amount: '1.50' },
  ...{ request_currency: 'EUR', request_ref_po_id: '7' },
}
const TAKEN = { status: 'accepted', reference: 'R-1', batch: 'b', row: 1, state: 'PENDING' }

let answer: (request: IncomingMessage, response: ServerResponse, body: string) => void
let requests: { readonly request: IncomingMessage; readonly body: string }[]
let client: TrancheClient
beforeEach(async () => {
  requests = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    requests.push({ request, body })
    answer(request, response, body)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', () => listening()))
  const { port } = server.address() as AddressInfo
  client = new TrancheClient({ url: `http://127.0.0.1:${port}`, key: 'trk_x', withinMs: 1_000 })
  return () => {
    server.closeAllConnections()
    server.close()
  }
})
afterEach(() => client.close())

const answerWith = (status: number, body: unknown) => {
  answer = (_, response) => void response.writeHead(status).end(JSON.stringify(body))
}
const why = (): Promise<unknown> =>
  client
    .submit(REFUND)
    .then(() => 'resolved')
    .catch((error: unknown) => error)

test('an instruction is handed in with its key, and the same one has the same Idempotency-Key', async () => {
  answerWith(201, TAKEN)
  expect(await client.submit(REFUND)).toEqual(TAKEN)
  answerWith(200, { ...TAKEN, status: 'duplicate' })
  expect(await client.submit(REFUND)).toEqual({ ...TAKEN, status: 'duplicate' })
  await client.submit({ ...REFUND, reference: 'R-2' })
  const keys = requests.map(({ request }) => request.headers['idempotency-key'])
  expect([keys[0], keys[2]]).toEqual([keys[1], expect.not.stringContaining(String(keys[0]))])
  const [{ request, body } = { request: null, body: '' }] = requests
  expect([request?.method, request?.url, request?.headers.authorization]).toEqual([
    'POST',
    '/v1/instructions',
    'Bearer trk_x',
  ])
  expect(JSON.parse(body)).toEqual({ schema_version: 1, ...REFUND })
  const { port, protocol } = new URL(`http://${request?.headers.host}`)
  const live = new TrancheClient({ url: `${protocol}//127.0.0.1:${port}`, key: 'trk_x', environment: 'live' })
  await live.submit(REFUND)
  expect(JSON.parse(requests.at(-1)?.body ?? '')).toEqual({ schema_version: 1, environment: 'live', ...REFUND })
})

test('a refusal has its reasons', async () => {
  answerWith(422, {
    code: 'instruction_refused',
    errors: [
      { field: 'amount', code: 'missing', detail: 'is missing' },
      { code: 'over_refund', detail: 'is too much' },
      { code: 'more', detail: 'and 7 more' },
    ],
  })
  expect(await why()).toMatchObject({
    reasons: ['amount: is missing', 'over_refund: is too much', 'and 7 more'],
    errors: [{ field: 'amount', code: 'missing' }, { field: null, code: 'over_refund' }, { field: null }],
  })
  expect(await why()).toBeInstanceOf(RefusedError)
})

test.each([
  [422, { code: 'idempotency_key_reused' }],
  [400, { code: 'bad_request' }],
  [401, { code: 'unauthorized' }],
  [409, null],
  [429, {}],
  [500, { code: 'instruction_refused' }],
  [503, 'no JSON'],
  [200, {}],
  [200, { status: 'accepted' }],
  [201, 'accepted'],
])('an answer %i %j is neither taken nor refused', async (status, body) => {
  answerWith(status, body)
  expect(await why()).toBeInstanceOf(UnsureError)
})

test.each([
  [400, 'json_invalid'],
  [401, 'key_unknown'],
  [403, 'scope_missing'],
  [413, 'body_too_large'],
  [415, 'media_type_unsupported'],
  [421, 'host_refused'],
  [422, 'idempotency_key_reused'],
])('a problem %i of the server itself says that nothing was recorded, and why', async (status, code) => {
  const problem = { code, detail: 'Mend it.', errors: [{ field: 'scope', code: 'missing', detail: 'is missing' }] }
  answerWith(status, { type: `urn:tranche:problem:${code}`, ...problem })
  const cancelled = client.cancel('R-1', 'the customer left').catch((error: unknown) => error)
  for (const told of [await why(), await cancelled]) {
    expect(told).toBeInstanceOf(RequestError)
    expect(told).toMatchObject({
      status,
      ...problem,
      retryAfter: null,
      message: expect.stringMatching(/^Nothing was recorded .*Mend it/),
    })
  }
  answerWith(status, { type: 'about:blank', ...problem }) // of a proxy, which may have passed the request on
  expect(await why()).toBeInstanceOf(UnsureError)
})

test.each(['idempotency_in_progress', 'ledger_stopped'])('a conflict (%s) says nothing for certain', async (code) => {
  answerWith(409, { type: `urn:tranche:problem:${code}`, code, detail: 'Ask again.' })
  expect(await why()).toBeInstanceOf(UnsureError)
})

test('too many requests are no doubt: nothing was recorded, and it says when to come again', async () => {
  answer = (_, response) =>
    void response
      .writeHead(429, { 'retry-after': '7', 'content-type': 'application/problem+json' })
      .end('{"type":"urn:tranche:problem:rate_limited","code":"rate_limited","detail":"Nothing was changed."}')
  const told = await why()
  expect(told).toBeInstanceOf(RequestError)
  expect(told).toMatchObject({ status: 429, code: 'rate_limited', retryAfter: 7 })
})

test('no answer, half an answer and another address are unsure', async () => {
  answer = () => {}
  expect(await why()).toBeInstanceOf(UnsureError)
  answer = (_, response) => void response.writeHead(201).write('{"status":"accep', () => response.destroy())
  expect(await why()).toBeInstanceOf(UnsureError)
  answer = (_, response) => void response.writeHead(307, { location: '/elsewhere' }).end()
  expect(await why()).toBeInstanceOf(UnsureError)
  expect(requests.map(({ request }) => request.url)).toEqual(Array(3).fill('/v1/instructions'))
})

test('events come page by page, each again until its handler has dealt with it, and none is passed over', async () => {
  const ids = Array.from({ length: 150 }, (_, n) => `e${n}`)
  answer = (request, response) => {
    const { searchParams } = new URL(request.url as string, 'http://x')
    const from = ids.indexOf(searchParams.get('after') ?? '') + 1
    const data = ids.slice(from, from + Number(searchParams.get('limit'))).map((id) => ({ id, type: 'ping', data: {} }))
    response.writeHead(200).end(JSON.stringify({ data, next_after: data.at(-1)?.id ?? null }))
  }
  const heard: string[] = []
  let isTold = false
  const listening = client.onOutcome(({ id }) => {
    heard.push(id)
    if (id !== 'e120' || isTold) return
    isTold = true
    throw new Error('not now')
  })
  await until('all are heard', () => heard.at(-1) === 'e149')
  await listening.close()
  expect(heard).toEqual([...ids.slice(0, 121), ...ids.slice(120)])
})

test.each([
  [400, 'bad_request', 'after: no such event'],
  [401, 'unauthenticated', 'the key is not known'],
  [403, 'forbidden', 'the key may not read events'],
  [409, 'cursor_lost', 'begin again from the first event'],
])('listening ends with what will not pass (%i)', async (status, code, detail) => {
  answerWith(status, { code, detail })
  const listening = client.onOutcome(() => {})
  const error = await listening.ended.catch((raised: unknown) => raised)
  expect(error).toBeInstanceOf(ListeningError)
  expect(error).toMatchObject({
    status,
    code,
    message: `no events come: the events were answered with ${status}: ${detail}`,
  })
  await listening.close()
})

test('listening waits out what passes', async () => {
  const answers = [503, 429]
  answer = (_, response) => {
    const status = answers.shift()
    const page = { data: [{ id: 'e-1' }] }
    void response.writeHead(status ?? 200).end(status === undefined ? JSON.stringify(page) : '{}')
  }
  const heard: string[] = []
  const listening = client.onOutcome(({ id }) => void heard.push(id))
  await until('the event came', () => heard.length > 0)
  expect(answers).toEqual([])
  await listening.close()
  await listening.ended
})

test('a batch is not handed in over HTTP', async () => {
  const batch = client.submitBatch({ batch: 'b', instructions: [REFUND] })
  await expect(batch).rejects.toThrow(/through the queue.*Nothing was sent/)
  expect(requests).toEqual([])
})
