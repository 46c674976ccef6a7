// Instructions over HTTP, by the client that services use and by hand.

import { beforeEach, expect, test } from 'vitest'
import { type Instruction, RefusedError, RequestError, TrancheClient } from '../../src/client/client.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { listen } from '../../src/server/server.ts'
import { CLERK, claimNamed, listOf, rowsIn, settle } from '../fixtures/ledgers.ts'
import { openServed, served, useServed } from '../fixtures/served.ts'

useServed()

let key: string
beforeEach(async () => {
  key = (await served.key()).key
})

const refund = (reference: string, over: object = {}) => ({
  ...{ schema_version: 1, merchant: 'shop', reference, transaction_type: 'REFUND', amount: '1.50' },
  ...{ request_currency: 'EUR', request_ref_po_id: `7${reference.length}${reference.charCodeAt(0)}` },
  ...over,
})
const post = (body: unknown, idempotencyKey: string, by = key) =>
  served.ask('POST', '/v1/instructions', { key: by, body, headers: { 'idempotency-key': idempotencyKey } })

test('an instruction is recorded before it is answered, and known again', async () => {
  const taken = await post(refund('A'), 'one')
  expect([taken.statusCode, taken.said]).toEqual([
    201,
    { status: 'accepted', reference: 'A', batch: expect.any(String), row: 1, state: 'PENDING', final: false },
  ])
  expect((await rowsIn(served.ledger, taken.said.batch)).map(({ reference }) => reference)).toEqual(['A'])
  const batch = await served.ask('GET', `/v1/batches/${taken.said.batch}`, { key })
  expect(batch.said).toMatchObject({ source: 'messages' })
  const known = await post(refund('A'), 'two')
  const again = { ...taken.said, status: 'duplicate', first_at: expect.stringMatching(/^20.*Z$/) }
  expect([known.statusCode, known.said]).toEqual([200, again])
  expect((await post(refund('A'), 'two')).said).toEqual(known.said)
})

test('the same request again has its first status, and tells how the row stands now', async () => {
  const taken = await post(refund('A'), 'one')
  expect(taken.headers['idempotent-replayed']).toBeUndefined()
  const row = await claimNamed(served.ledger, taken.said.batch, 'A', Date.now())
  await settle(served.ledger, row, 'IN_DOUBT', { atMs: Date.now(), sentAtMs: Date.now() })
  const again = await post(refund('A'), 'one')
  expect([again.statusCode, again.headers['idempotent-replayed']]).toEqual([201, 'true'])
  expect(again.said).toEqual({
    ...taken.said,
    ...{ state: 'IN_DOUBT', final: false, advice: expect.stringMatching(/do not send it again/) },
  })
  const reordered = Object.fromEntries(Object.entries(refund('A')).toReversed())
  expect((await post(reordered, 'one')).headers['idempotent-replayed']).toBe('true')
})

test('what joins a paused batch says what holds it, until it is resumed', async () => {
  const { batch } = (await post(refund('A'), 'one')).said
  await served.ledger.pause(batch, 'a look', CLERK, Date.now())
  expect((await post(refund('B'), 'two')).said).toMatchObject({ held: { by: 'batch.paused', reason: 'a look' } })
  await served.ledger.resume(batch, 'go', CLERK, Date.now())
  expect((await post(refund('B'), 'two')).said).not.toHaveProperty('held')
})

test('another request under the same Idempotency-Key is refused, but not that of another caller', async () => {
  await post(refund('A'), 'one')
  const other = await post(refund('B'), 'one')
  expect([other.statusCode, other.said.code]).toEqual([422, 'idempotency_key_reused'])
  const { key: second } = await served.key()
  expect((await post(refund('B'), 'one', second)).statusCode).toBe(201)
})

test('what was refused changed nothing, and is judged anew under the same key', async () => {
  const refused = await post(refund('A', { amount: '1,50', request_currency: 'euro' }), 'one')
  expect(refused.statusCode).toBe(422)
  expect(refused.said).toMatchObject({
    code: 'instruction_refused',
    errors: [
      { field: 'amount', detail: expect.stringContaining('write digits with a point') },
      { field: 'request_currency', detail: expect.stringContaining('write three capital letters') },
    ],
  })
  const all = await post({ ...refund('A'), reference: undefined, amount: '0.00', xtl: '1', execute_at: 'soon' }, 'one')
  expect(all.said.errors).toEqual([
    { pointer: '/reference', field: 'reference', code: 'missing', detail: 'is missing' },
    { pointer: '/xtl', field: 'xtl', code: 'unknown', detail: 'is not a field here' },
    { pointer: '/amount', field: 'amount', code: 'invalid', detail: expect.stringContaining('is zero') },
    { pointer: '/execute_at', field: 'execute_at', code: 'invalid', detail: expect.any(String) },
  ])
  expect(await served.ledger.batches()).toEqual([])
  expect((await post(refund('A'), 'one')).statusCode).toBe(201)
  const { count } = await served.ledger.refusals({ sinceMs: null, merchant: null, most: 9 })
  expect(count).toBe(1)
})

test('what is not for this world, names no merchant or writes its amount otherwise is refused by code and field', async ({
  onTestFinished,
}) => {
  const live = await openServed({}, { TRANCHE_ENVIRONMENT: 'live' })
  onTestFinished(() => live.close())
  const keys = { none: await live.key(), live: await live.key({ environment: 'live' }) }
  const hand = (by: keyof typeof keys, over: object) => {
    const headers = { 'idempotency-key': `${by}${JSON.stringify(over)}` }
    return live.ask('POST', '/v1/instructions', { key: keys[by].key, body: refund('A', over), headers })
  }
  const refusalOf = async (by: keyof typeof keys, over: object) => (await hand(by, over)).said.errors
  const missing = { code: 'environment_missing', pointer: '/environment', field: 'environment' }
  expect(await refusalOf('none', {})).toMatchObject([missing])
  expect(await refusalOf('live', { environment: 'test' })).toMatchObject([{ code: 'other_environment' }])
  expect(await refusalOf('live', { merchant: undefined })).toMatchObject([
    { code: 'merchant_missing', field: 'merchant', detail: expect.stringContaining('shop, club') },
  ])
  expect(await refusalOf('live', { amount: '150' })).toMatchObject([
    { code: 'amount_decimals', field: 'amount', detail: expect.stringContaining('"150.00", or "1.50"') },
  ])
  const { key: ofTest } = await live.key({ environment: 'test' })
  expect((await live.ask('GET', '/v1/batches', { key: ofTest })).said.code).toBe('environment_refused')
  expect(await live.ledger.batches()).toEqual([])
  expect((await hand('live', {})).statusCode).toBe(201)
  expect((await hand('none', { environment: 'live' })).statusCode).toBe(200)
})

test('what contradicts the record has a code, and a look-alike is let through by the name of the other', async () => {
  const alike = (reference: string, over: object = {}) => refund(reference, { request_ref_po_id: '77', ...over })
  expect((await post(alike('A'), 'one')).statusCode).toBe(201)
  const refused = await post(alike('B'), 'two')
  expect(refused.said).toMatchObject({
    code: 'instruction_refused',
    title: 'It may be done already',
    errors: [{ code: 'lookalike', detail: expect.stringContaining('set allow_lookalike_of to "A"') }],
    looks_like: { reference: 'A', batch: expect.any(String), row: 1, state: 'PENDING', final: false },
  })
  expect((await post(alike('B', { allow_lookalike_of: 'A' }), 'three')).statusCode).toBe(201)
  expect((await post(alike('C', { allow_lookalike_of: 'A' }), 'four')).said.errors).toMatchObject([
    { code: 'lookalike', detail: expect.stringContaining('set allow_lookalike_of to "B"') },
  ])
  const other = await post(alike('A', { amount: '2.00' }), 'five')
  expect(other.said).toMatchObject({
    ...{
      title: 'It may be done already',
      errors: [{ field: 'reference', code: 'other_content' }],
      looks_like: { reference: 'A' },
    },
  })
})

test('whatever is wrong with a request, the row that is recorded under its reference is named, and only to those who see it', async () => {
  const { batch } = (await post(refund('A'), 'one')).said
  const wrong = { amount: 1.5, reference: ' A ' }
  const looksLike = { reference: 'A', batch, row: 1, state: 'PENDING', final: false }
  expect((await post(refund('A', wrong), 'two')).said).toMatchObject({
    errors: [{ field: 'amount' }],
    looks_like: looksLike,
  })
  const { key: bound } = await served.key({ merchants: ['club'] })
  expect((await post(refund('A', wrong), 'three', bound)).said).not.toHaveProperty('looks_like')

  const row = await claimNamed(served.ledger, batch, 'A', Date.now())
  await settle(served.ledger, row, 'DECLINED', { atMs: Date.now(), sentAtMs: Date.now() })
  expect((await post(refund('A', wrong), 'four')).said).toMatchObject({
    detail: expect.stringContaining('was not executed, and its reference is used'),
    looks_like: { state: 'DECLINED', final: true },
  })
})

test('a duplicate of what was approved otherwise than asked says so', async () => {
  const { batch } = (await post(refund('A'), 'one')).said
  const row = await claimNamed(served.ledger, batch, 'A', Date.now())
  const warning = 'the gateway answers 2.50 EUR'
  await settle(served.ledger, row, 'APPROVED', { atMs: Date.now(), sentAtMs: Date.now(), warning, warnsOfMoney: true })
  expect((await post(refund('A'), 'two')).said).toMatchObject({ status: 'duplicate', state: 'APPROVED', warning })
})

test('what only does not fit the record is not said to be done', async () => {
  const ofOrder = (reference: string, over: object = {}) => refund(reference, { request_ref_po_id: '78', ...over })
  expect((await post(ofOrder('R'), 'one')).statusCode).toBe(201)
  expect((await post(ofOrder('V', { amount: '2.00' }), 'two')).said).toMatchObject({
    title: 'It does not fit what is recorded',
    detail: expect.stringContaining('It does not fit what is recorded: look at the row in looks_like'),
    errors: [{ code: 'lookalike' }],
    looks_like: { reference: 'R' },
  })
})

test.each([
  ['an execute_at of another year', { execute_at: '2062-06-01T09:00:00Z' }, 'execute_at', 'more than 400 days ahead'],
  ['an expires_at that is past', { expires_at: '2026-01-01T09:00:00Z' }, 'expires_at', 'has already passed'],
  [
    'an expires_at that is not after execute_at',
    { execute_at: '2026-12-01T09:00:00Z', expires_at: '2026-12-01T09:00:00Z' },
    'expires_at',
    'could never be sent',
  ],
])('%s is refused, by the name of its field', async (_what, moments, field, detail) => {
  const refused = await post(refund('A', moments), 'one')
  expect(refused.said).toMatchObject({
    code: 'instruction_refused',
    errors: [{ pointer: `/${field}`, field, detail: expect.stringContaining(detail) }],
  })
  expect(await served.ledger.batches()).toEqual([])
})

test('an execute_at that is asked about is taken once its producer says that it is meant', async () => {
  const far = { execute_at: '2062-06-01T09:00:00Z' }
  const asked = await post(refund('A', far), 'one')
  expect(asked.said.errors).toMatchObject([{ code: 'execute_at', field: 'execute_at' }])
  const unread = await post(refund('A', { execute_at: 'soon' }), 'two')
  expect(unread.said.errors).toEqual([expect.not.objectContaining({ code: 'execute_at' })])
  const both = await post(refund('A', { ...far, accept: ['execute_at', 'above_limit'] }), 'constant')
  expect(both.said.errors).toMatchObject([
    { field: 'accept', detail: expect.stringContaining('above_limit is not asked') },
  ])
  expect((await post(refund('A', { ...far, accept: ['execute_at'] }), 'three')).statusCode).toBe(201)
})

test('one above the limit of a whole day is refused with its code', async () => {
  const refused = await post(refund('A', { amount: '1000000000.01' }), 'one')
  expect([refused.statusCode, refused.said.code]).toEqual([422, 'instruction_refused'])
  expect(refused.said.errors).toEqual([{ code: 'above_limit', detail: expect.stringContaining('a day for refunds') }])
  expect((await post(refund('A', { amount: '1000000000.00' }), 'one')).statusCode).toBe(201)
})

test('one at a time under a key: the others are told to come again', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(refund('A'), 'one')))
  const codes = answers.map(({ statusCode }) => statusCode)
  expect(codes.filter((code) => code === 201).length).toBeGreaterThan(0)
  expect(codes.every((code) => code === 201 || code === 409)).toBe(true)
  const waiting = answers.find(({ statusCode }) => statusCode === 409)
  if (waiting !== undefined)
    expect([waiting.said.code, waiting.headers['retry-after']]).toEqual(['idempotency_in_progress', '1'])
  const [batch] = await served.ledger.batches()
  expect(batch?.rows).toBe(1)
})

test('a card number is refused and nowhere kept', async () => {
  const refused = await post(refund('A', { cust_fname: '4111111111111111' }), 'one')
  expect([refused.statusCode, refused.said.code]).toEqual([422, 'instruction_refused'])
  expect(refused.body).not.toContain('4111111111111111')
  expect((await post({ reference: '4111111111111111' }, 'two')).body).not.toContain('4111111111111111')
  const { refusals } = await served.ledger.refusals({ sinceMs: null, merchant: null, most: 9 })
  expect(JSON.stringify(refusals)).not.toContain('4111111111111111')
})

test('two values under one name are not read', async () => {
  const twice = JSON.stringify(refund('A')).replace('"amount":"1.50"', '"amount":"1.50","amount":"9.50"')
  const refused = await post(twice, 'one')
  expect([refused.statusCode, refused.said.code]).toEqual([400, 'json_invalid'])
})

test('a merchant that a key does not see is none', async () => {
  const { key: bound } = await served.key({ merchants: ['club'] })
  const other = await post(refund('A'), 'one', bound)
  const none = await post(refund('A', { merchant: 'none' }), 'two', bound)
  expect([other.statusCode, other.said.errors]).toEqual([422, none.said.errors])
  expect((await post(refund('A', { merchant: 'club' }), 'three', bound)).statusCode).toBe(201)
})

test('it is found by each of its ids, by a key that sees it', async () => {
  const { said } = await post(refund('A', { request_ref_po_id: '0077' }), 'one')
  const found = async (query: string, by = key) =>
    (await served.ask('GET', `/v1/instructions?${query}`, { key: by })).said.data.map(
      ({ reference }: { reference: string }) => reference,
    )
  expect(await found('reference=A')).toEqual(['A'])
  expect(await found('order_id=77')).toEqual(['A'])
  expect(await found('transaction_id=77')).toEqual([])
  expect(await found('reference=A', (await served.key({ merchants: ['club'] })).key)).toEqual([])
  const history = await served.ask('GET', '/v1/instructions/A/history', { key })
  expect(history.said.moves).toMatchObject([{ batch: said.batch, row: 1, to: 'PENDING', cause: 'recorded' }])
  const both = await served.ask('GET', '/v1/instructions?reference=A&order_id=77', { key })
  expect([both.statusCode, both.said.code]).toEqual([400, 'request_invalid'])
})

test('references with a run key have their slash in the path', async () => {
  await post(refund('A', { run_key: '2026-12' }), 'one')
  const history = await served.ask('GET', `/v1/instructions/${encodeURIComponent('2026-12/A')}/history`, { key })
  expect(history.said).toMatchObject({ reference: '2026-12/A', moves: [{ row: 1 }] })
  const cancel = { key, body: { reason: 'left' }, headers: { 'idempotency-key': 'bare' } }
  const { statusCode, said } = await served.ask('POST', '/v1/instructions/A/cancel', cancel)
  expect([statusCode, said.detail]).toEqual([409, expect.stringContaining('behind a run key, as 2026-12/A (row 1 of')])
})

test('the client of services: accepted, known, refused, and told of a wrong key', async () => {
  const listening = await listen(served.server, { host: '127.0.0.1', port: 0 })
  const client = new TrancheClient({ url: listening.url, key })
  const asked = refund('A') as unknown as Instruction
  const accepted = await client.submit(asked)
  expect(accepted).toMatchObject({ status: 'accepted', reference: 'A', row: 1, state: 'PENDING' })
  expect(await client.submit(asked)).toMatchObject({ ...accepted, status: 'duplicate' })
  expect(await client.submit({ ...asked, allow_lookalike_of: 'B' } as Instruction)).toMatchObject({
    status: 'duplicate',
  })
  const refused = await client.submit({ ...asked, reference: 'B', amount: 'x' } as Instruction).catch((error) => error)
  expect(refused).toBeInstanceOf(RefusedError)
  expect(refused.reasons).toEqual([expect.stringMatching(/^amount: /)])
  expect(refused.errors).toMatchObject([{ field: 'amount', code: 'invalid' }])
  const keyless = new TrancheClient({ url: listening.url, key: 'trk_none' })
  const wrong = await keyless.submit(asked).catch((error) => error)
  expect(wrong).toBeInstanceOf(RequestError)
  expect(wrong).toMatchObject({ status: 401, code: 'key_unknown' })
  await client.cancel('A', 'the customer left')
  await client.cancel('A', 'again')
  const whyNot = (reference: string) => client.cancel(reference, 'why not').catch((error) => error)
  expect(await whyNot('nobody')).toBeInstanceOf(RefusedError)
  expect(await whyNot('nobody')).toMatchObject({ errors: [{ code: 'not_found' }], state: null, final: null })
  const { batch } = await client.submit({ ...asked, reference: 'C', request_ref_po_id: '9' } as Instruction)
  const row = await claimNamed(served.ledger, batch as BatchId, 'C', Date.now())
  await settle(served.ledger, row, 'IN_DOUBT', { atMs: Date.now(), sentAtMs: Date.now() })
  expect(await whyNot('C')).toMatchObject({ errors: [{ code: 'refused' }], state: 'IN_DOUBT', final: false })
  await settle(served.ledger, row, 'APPROVED', { atMs: Date.now(), sentAtMs: Date.now() })
  expect(await whyNot('C')).toMatchObject({ errors: [{ code: 'refused' }], state: 'APPROVED', final: true })
  await expect(keyless.cancel('A', 'again')).rejects.toThrow(RequestError)
  await Promise.all([client.close(), keyless.close()])
})

test('one instruction is cancelled by its reference, once, and the others of its batch go on', async () => {
  const { batch } = (await post(refund('A'), 'one')).said
  await post(refund('BB'), 'two')
  const cancel = (reference: string, idempotencyKey: string, over: object = {}) =>
    served.ask('POST', `/v1/instructions/${reference}/cancel`, {
      ...{ key, body: { reason: 'the customer left', ...over }, headers: { 'idempotency-key': idempotencyKey } },
    })
  expect((await cancel('A', 'other', { merchant: 'club' })).statusCode).toBe(404)
  await post(refund('CCC'), 'of-shop')
  expect((await post(refund('CCC', { merchant: 'club', request_ref_po_id: '79' }), 'of-club')).statusCode).toBe(201)
  expect((await cancel('CCC', 'which')).said.detail).toContain('Name one: "merchant": "shop".')
  expect((await cancel('CCC', 'of-club', { merchant: 'club' })).said).toMatchObject({ merchant: 'club' })
  // Whichever waits, and whichever was sent or cancelled: the one may be meant as well as the other.
  expect((await cancel('CCC', 'the-other')).said.detail).toContain('Name one: "merchant": "shop".')
  const other = await cancel('CCC', 'of-shop', { merchant: 'shop' })
  expect(other.said).toMatchObject({ merchant: 'shop', status: 'CANCELLED' })
  expect((await cancel('CCC', 'both-cancelled')).statusCode).toBe(409)
  const cancelled = await cancel('A', 'three')
  expect([cancelled.statusCode, cancelled.said]).toMatchObject([200, { reference: 'A', batch, status: 'CANCELLED' }])
  expect((await cancel('A', 'three')).headers['idempotent-replayed']).toBe('true')
  expect(await cancel('A', 'four')).toMatchObject({ statusCode: 200, said: { reference: 'A', status: 'CANCELLED' } })
  await claimNamed(served.ledger, batch, 'BB', Date.now())
  expect((await cancel('BB', 'five')).said.detail).toMatch(/is SENDING: only what was not sent yet can be cancelled/)
  expect((await rowsIn(served.ledger, batch)).map(({ state }) => state)).toEqual(['CANCELLED', 'SENDING', 'CANCELLED'])
  const acts = (await listOf(served.ledger.log(null))).filter(({ what }) => what === 'cancel-row')
  expect(acts).toHaveLength(3)
  expect(acts.filter(({ batchId, details }) => batchId === batch && details?.row === 1)).toMatchObject([
    { batchId: batch, details: { row: 1 }, reason: 'the customer left', actor: { name: 'test' } },
  ])
})

test('who acted stands in the record by the id and name of the key', async () => {
  const { said } = await post(refund('A'), 'one')
  const answer = await served.ask('POST', `/v1/batches/${said.batch}/pause`, {
    ...{ key, body: { reason: 'look' }, headers: { 'idempotency-key': 'p' } },
  })
  expect([answer.statusCode, answer.said.state]).toEqual([200, 'paused'])
  const acts = (await listOf(served.ledger.log(null))).filter(({ what }) => what === 'pause')
  expect(acts).toMatchObject([{ actor: { kind: 'key', name: 'test', address: '127.0.0.1' }, reason: 'look' }])
})
