// Every problem that the API has a code for, met once.

import { beforeEach, expect, test } from 'vitest'
import { Fault } from '../../src/domain/fault.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { invalidRequest, PROBLEMS, type ProblemCode } from '../../src/server/problems.ts'
import { NotTaken } from '../../src/spool/room.ts'
import { putCheck } from '../fixtures/checks.ts'
import { claimNamed, refund, settle, submit } from '../fixtures/ledgers.ts'
import { type Answer, type Asking, openServed, type Served, served, useServed } from '../fixtures/served.ts'

useServed()

let key: string
let batch: BatchId
beforeEach(async () => {
  key = (await served.key()).key
  batch = await submit(served.ledger, served.accounts.shop, [refund('A'), refund('B')])
})

const INSTRUCTION = {
  ...{ schema_version: 1, merchant: 'shop', reference: 'N', transaction_type: 'REFUND', amount: '1.50' },
  ...{ request_currency: 'EUR', request_ref_po_id: '77' },
}
let asked = 0
const get = (path: string, asking: Asking = {}) => served.ask('GET', path, { key, ...asking })
function post(path: string, body: unknown, { headers = {}, ...asking }: Asking = {}) {
  asked += 1
  return served.ask('POST', path, { key, body, headers: { 'idempotency-key': `k${asked}`, ...headers }, ...asking })
}
const pause = (over: Asking = {}) => post(`/v1/batches/${batch}/pause`, { reason: 'look' }, over)

/** The ledger answers so from now on. */
function failing(name: keyof typeof served.ledger, how: () => never): void {
  Object.assign(served.ledger, { [name]: async () => how() })
}
function fault(code: Fault['code']): never {
  throw new Fault(code, 'The disk is full. Nothing was recorded.')
}

/** As the body itself. */
async function upload(body: string, { at = '', headers = {} }: Asking & { readonly at?: string } = {}) {
  return served.ask('POST', `/v1/files${at}`, { key, body, headers: { 'content-type': 'text/csv', ...headers } })
}

async function checkIn(state: 'reading' | 'done'): Promise<string> {
  const { said } = await upload('reference')
  return putCheck(served.spool, said, { state, merchant: 'shop' })
}

async function besides(over: Parameters<typeof openServed>[0], ask: (other: Served, key: string) => Promise<Answer>) {
  const other = await openServed(over)
  return ask(other, (await other.key()).key).finally(other.close)
}

const MET: Readonly<Record<ProblemCode, () => Promise<Answer>>> = {
  check_unfinished: async () => get(`/v1/checks/${await checkIn('reading')}/rows`),
  file_cut: () => upload('reference', { at: `?sha256=${'0'.repeat(64)}` }),
  file_empty: () => upload(''),
  file_refused: async () => {
    const asked = { check: await checkIn('done'), expect: { count: 2, totals: {} }, run_key: 'other' }
    return post('/v1/batches', asked)
  },
  file_too_large: () => upload('reference', { headers: { 'content-length': '999999999999' } }),
  form_invalid: () =>
    upload('--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--b--\r\n', {
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    }),
  spool_full: () => {
    Object.assign(served.spool, { receive: () => Promise.reject(new NotTaken('no-room')) })
    return upload('reference')
  },
  uploads_busy: () => {
    Object.assign(served.spool, { receive: () => Promise.reject(new NotTaken('busy')) })
    return upload('reference')
  },
  body_too_large: () => post('/v1/instructions', { ...INSTRUCTION, reference: 'x'.repeat(300_000) }),
  cursor_invalid: () => get('/v1/batches?cursor=abc.def'),
  doubt_too_early: async () => {
    const row = await claimNamed(served.ledger, batch, 'A', Date.now())
    await settle(served.ledger, row, 'IN_DOUBT', { atMs: Date.now(), sentAtMs: Date.now() })
    const [doubt] = await served.ledger.doubts()
    const found = { found: 'not-executed', attempt: 1, reason: 'not in the portal' }
    return post(`/v1/doubts/${doubt?.rowId}/resolution`, found)
  },
  host_refused: () => get('/livez', { headers: { host: 'evil.example' } }),
  idempotency_in_progress: async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => pause({ headers: { 'idempotency-key': 'one' } })))
    return answers.find(({ statusCode }) => statusCode !== 200) as Answer
  },
  idempotency_key_invalid: () => pause({ headers: { 'idempotency-key': 'x'.repeat(256) } }),
  idempotency_key_missing: () => served.ask('POST', `/v1/batches/${batch}/pause`, { key, body: { reason: 'look' } }),
  idempotency_key_reused: async () => {
    await pause({ headers: { 'idempotency-key': 'one' } })
    return post(`/v1/batches/${batch}/pause`, { reason: 'other' }, { headers: { 'idempotency-key': 'one' } })
  },
  instruction_refused: () => post('/v1/instructions', { ...INSTRUCTION, amount: 'much' }),
  internal: () => {
    failing('accounts', () => {
      throw new Error('secret words of a stack at /work')
    })
    return get('/v1/merchants')
  },
  json_invalid: () => post('/v1/instructions', '{"reference"'),
  environment_refused: async () => {
    for (const merchant of served.app.config.merchants.values()) Object.assign(merchant, { environment: 'live' })
    return get('/v1/batches', { key: (await served.key({ environment: 'test' })).key })
  },
  key_expired: async () => get('/v1/batches', { key: (await served.key({ livesMs: 0 })).key }),
  key_missing: () => served.ask('GET', '/v1/batches'),
  key_revoked: async () => {
    const { id, key: revoked } = await served.key()
    await served.ledger.revokeKey(id, 'lost', { kind: 'person', id: 'p', name: 'p', address: null }, Date.now())
    return get('/v1/batches', { key: revoked })
  },
  key_unknown: () => get('/v1/batches', { key: `${key.slice(0, -1)}?` }),
  ledger_stopped: () => {
    Object.assign(served.ledger, { alarm: async () => ({ kind: 'older', noticed: 'it lacks a batch' }) })
    return post('/v1/instructions', INSTRUCTION)
  },
  ledger_unavailable: () => {
    failing('accounts', () => fault('full'))
    return get('/v1/merchants')
  },
  media_type_unsupported: () => pause({ headers: { 'content-type': 'text/plain' } }),
  network_refused: async () => get('/v1/batches', { key: (await served.key({ networks: ['10.0.0.0/8'] })).key }),
  not_found: () => get('/v1/nothing'),
  rate_limited: () =>
    besides({ requestsPerMinute: 1 }, async (other, its) => {
      await other.ask('GET', '/v1/batches', { key: its })
      return other.ask('GET', '/v1/batches', { key: its })
    }),
  refused: async () => {
    await post(`/v1/batches/${batch}/cancel`, { reason: 'wrong' })
    return post(`/v1/batches/${batch}/cancel`, { reason: 'wrong again' })
  },
  request_invalid: () => get('/v1/batches?limit=0'),
  scope_missing: async () => get('/v1/batches', { key: (await served.key({ scopes: ['audit:read'] })).key }),
  starting_or_stopping: () => {
    failing('accounts', () => fault('interrupted'))
    return get('/v1/merchants')
  },
}

test('however many fields are wrong, an answer names a hundred and how many more there are', async () => {
  const map = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`c${n}`, '?']))
  const { statusCode, said } = await post('/v1/checks', { file: 'x', currency: 'XXQ', map })
  expect([statusCode, said.errors.length, said.errors.at(-1)]).toEqual([
    ...[400, 101],
    { code: 'more', detail: 'and 9902 more' },
  ])
  const { errors } = (await post('/v1/checks', { file: 'x', currency: 'XXQ', sing: 1 })).said
  expect(errors).toMatchObject([
    { pointer: '/file', field: 'file', code: 'invalid' },
    { pointer: '/currency', field: 'currency', code: 'invalid' },
    { pointer: '/sing', field: 'sing', code: 'unknown' },
  ])
})

test('neither the fields that are left out nor the end of a long name are looked at', () => {
  let looks = 0
  const field = {
    detail: 'is not a field here',
    get path() {
      looks += 1
      return ['extra']
    },
  }
  expect(invalidRequest(new Array(1_000).fill(field), true).errors).toHaveLength(101)
  expect(looks).toBe(100)
  const long = `k4111 1111 1111 11${'1'.repeat(100)}`
  const [error] = invalidRequest([{ path: [long], detail: 'is not a field here' }], true).errors
  expect(error?.field).toBe(`k0000 0000 0000 ${'0'.repeat(84)}`)
})

test.each(Object.keys(PROBLEMS) as ProblemCode[])('%s', async (code) => {
  const answer = await MET[code]()
  expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8')
  expect(answer.said).toMatchObject({
    ...{ type: `urn:tranche:problem:${code}`, title: expect.any(String), status: PROBLEMS[code], code },
    ...{ detail: expect.stringMatching(/\.$/), request_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  })
  expect(answer.statusCode).toBe(PROBLEMS[code])
  expect(answer.body).not.toMatch(/stack|\/work|node_modules|\.ts\b/)
  // Whoever reads it has no terminal at this machine.
  expect(answer.body).not.toMatch(/tranche [a-z]|(?:^|[ "(])--[a-z]/)
  const waits = [
    'check_unfinished',
    'uploads_busy',
    'rate_limited',
    'idempotency_in_progress',
    'ledger_unavailable',
    'starting_or_stopping',
  ]
  expect(answer.headers['retry-after'] !== undefined).toBe(waits.includes(code))
  expect(answer.headers['www-authenticate'] !== undefined).toBe(answer.statusCode === 401)
})
