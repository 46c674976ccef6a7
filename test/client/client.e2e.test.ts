// The client of a service against a worker, a Redis and a ledger.

import { Queue } from 'bullmq'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  type Instruction,
  type OutcomeEvent,
  RefusedError,
  TrancheClient,
  UnsureError,
} from '../../src/client/client.ts'
import { recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { orderOf } from '../fixtures/files.ts'
import { openRedisServer, type RedisServer } from '../fixtures/redis.ts'

let office: Office
let redis: RedisServer
let client: TrancheClient
beforeEach(async () => {
  office = await openOffice()
  redis = await openRedisServer(office.path('r.sock'))
  client = new TrancheClient({ redis: { path: redis.path } })
  const orders = [1, 2, 3].map(orderOf)
  office.sandbox.prepare({
    orders: orders.map((orderId) => ({ orderId, state: 'settled', amount: '5000.00', currency: 'EUR' })),
  })
})
afterEach(async () => {
  await client.close()
  await redis[Symbol.asyncDispose]()
  await office.close()
})

function refund(n: number, over: object = {}): Instruction {
  return {
    ...{ transaction_type: 'REFUND', reference: `R-${n}`, amount: `${n}.50`, request_currency: 'EUR' },
    ...{ request_ref_po_id: orderOf(n) },
    ...over,
  } as Instruction
}
const work = () => office.worker({ TRANCHE_REDIS_URL: redis.path })
const why = (asked: Promise<unknown>): Promise<unknown> => asked.then(() => 'resolved').catch((error: unknown) => error)

test('an instruction is told as accepted, then as a duplicate, once the ledger has it', async () => {
  await work()
  const accepted = await client.submit(refund(1))
  expect(accepted).toMatchObject({ status: 'accepted', reference: 'R-1', row: 1 })
  expect(recordedIn(office)).toHaveLength(1)
  await until('it is executed', () => recordedIn(office)[0]?.state === 'APPROVED')
  expect(await client.submit(refund(1))).toMatchObject({ ...accepted, status: 'duplicate', state: 'APPROVED' })
  expect(office.sandbox.received()).toBe(1)
})

test('the outside words are used: what waits is PENDING, and what holds it is called as its event', async () => {
  await work()
  const later = new Date(Date.now() + 86_400_000).toISOString()
  const taken = await client.submit(refund(1, { execute_at: later }))
  expect(taken.state).toBe('PENDING')
  expect(taken).not.toHaveProperty('held')
  await office.tranche('pause', taken.batch, '--reason', 'a look')
  const held = { by: 'batch.paused', reason: 'a look' }
  expect(await client.submit(refund(1, { execute_at: later }))).toMatchObject({ state: 'PENDING', held })
})

test('an instruction that was not sent yet is cancelled by its reference', async () => {
  await work()
  const later = new Date(Date.now() + 86_400_000).toISOString()
  await client.submit(refund(1, { execute_at: later }))
  await client.cancel('R-1', 'the customer left')
  expect(recordedIn(office)[0]).toMatchObject({ state: 'CANCELLED' })
  expect(await why(client.cancel('R-2', 'the customer left'))).toBeInstanceOf(RefusedError)
  // A cancellation has no outcome of its own: a client that wants those of its instructions cancels like any other.
  const other = new TrancheClient({ redis: { path: redis.path }, outcomes: 'shop' })
  await other.submit(refund(3, { execute_at: later }))
  await other.cancel('R-3', 'the customer left')
  await other.close()
  expect(recordedIn(office)[1]).toMatchObject({ state: 'CANCELLED' })
})

test('a refusal has its reasons one by one, and is never unsure', async () => {
  await work()
  const refused = await why(client.submit(refund(1, { amount: '1,50', request_currency: 'euro' })))
  expect(refused).toBeInstanceOf(RefusedError)
  expect((refused as RefusedError).reasons).toEqual([
    expect.stringMatching(/^amount: /),
    expect.stringMatching(/^request_currency: /),
  ])
  expect(refused).toMatchObject({ errors: [{ field: 'amount', code: 'invalid' }, { field: 'request_currency' }] })
  expect(recordedIn(office)).toEqual([])
})

test('a refusal names the instruction that it may repeat', async () => {
  await work()
  const later = new Date(Date.now() + 86_400_000).toISOString()
  const { batch, row } = await client.submit(refund(1, { execute_at: later }))
  const again = await why(client.submit(refund(1, { reference: 'again', execute_at: later })))
  const { reference } = refund(1)
  expect(again).toMatchObject({ looksLike: { reference, batch, row, state: 'PENDING', final: false } })
  expect(again).toMatchObject({ errors: [{ field: null, code: 'lookalike' }] })
})

test('a batch is taken whole, or refused with a reason for each instruction', async () => {
  await work()
  const batch = (...numbers: [number, ...number[]]) => {
    const [first, ...rest] = numbers.map((n) => refund(n))
    return client.submitBatch({ batch: 'b', instructions: [first as Instruction, ...rest] })
  }
  const accepted = await batch(1, 2)
  expect(accepted).toMatchObject({ status: 'accepted', rows: 2 })
  expect(await batch(1, 2)).toMatchObject({ ...accepted, status: 'duplicate' })
  expect(await why(batch(3))).toBeInstanceOf(RefusedError)
  const like = { batch: 'like', instructions: [refund(1, { reference: 'again' }) as Instruction] as const }
  expect(await why(client.submitBatch(like))).toMatchObject({
    questions: [{ code: 'lookalike', instruction: 0, looks_like: { reference: refund(1).reference, row: 1 } }],
  })
  expect(recordedIn(office)).toHaveLength(2)
  const { first_at } = await batch(1, 2)
  const later = await client.submitBatch({ batch: 'later', instructions: [refund(1), refund(2)] })
  expect([accepted.duplicates, later]).toEqual([
    0,
    { status: 'accepted', batch: expect.any(String), rows: 2, duplicates: 2, first_at },
  ])
})

test('without an answer it is unsure, whether no worker runs or Redis is gone; again it is one instruction', async () => {
  const hasty = new TrancheClient({ redis: { path: redis.path }, withinMs: 500 })
  const silent = await why(hasty.submit(refund(1)))
  expect(silent).toBeInstanceOf(UnsureError)
  expect((silent as Error).message).toMatch(/hand the same reference in again/)
  await work()
  expect(await client.submit(refund(1))).toMatchObject({ reference: 'R-1', row: 1 })
  await redis.kill()
  expect(await why(hasty.submit(refund(2)))).toBeInstanceOf(UnsureError)
  await redis.start()
  await hasty.close()
  await until('it is taken again', async () => (await client.submit(refund(2))).reference === 'R-2')
  expect(recordedIn(office).map(({ reference }) => reference)).toEqual(['R-1', 'R-2'])
})

test('an outcome comes again until its handler has dealt with it', async () => {
  const service = new TrancheClient({ redis: { path: redis.path }, outcomes: 'billing' })
  const outcomes = new Queue('tranche-outcome-billing', { connection: { path: redis.path } })
  const eventOf = (id: string) => ({
    specversion: '1.0',
    id,
    type: 'row.settled',
    data: { final: true, reference: id },
  })
  for (const id of ['e-1', 'e-2']) await outcomes.add('row.settled', eventOf(id), { jobId: `x${id}` })
  const heard: string[] = []
  const listening = service.onOutcome(async (event: OutcomeEvent) => {
    heard.push(event.id)
    if (heard.length === 1) throw new Error('not now')
  })
  await until(
    'both are dealt with',
    async () => (await outcomes.getJobCountByTypes('waiting', 'delayed', 'active')) === 0,
  )
  expect(heard).toEqual(['e-1', 'e-2', 'e-1'])
  expect(await outcomes.getFailedCount()).toBe(0)
  await listening.close()
  await service.close()
  await outcomes.close()
  expect(() => client.onOutcome(() => {})).toThrow(/name this service/)
})
