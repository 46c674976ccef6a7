// Outcomes as other programs hear them: webhooks, queues, and the events on stdout, from real processes.

import { type ChildProcess, spawn } from 'node:child_process'
import { Webhook } from 'standardwebhooks'
import { afterEach, expect, test } from 'vitest'
import { TrancheClient } from '../../src/client/client.ts'
import type { OutcomeEvent } from '../../src/client/event.ts'
import { eventFaults } from '../../src/events/schema.ts'
import { type Office, openOffice, type Said, until } from '../fixtures/cli.ts'
import { orderOf, preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { openReceiver, type Receiver } from '../fixtures/receivers.ts'
import { openRedisServer } from '../fixtures/redis.ts'

let office: Office
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
  await office.close()
})

async function receiver(...[answer]: Parameters<typeof openReceiver>): Promise<Receiver> {
  const opened = await openReceiver(answer)
  closing.push(opened.close)
  return opened
}

async function endpoint(url: string, ...options: readonly string[]): Promise<{ id: string; secret: string }> {
  const { code, stderr, last } = await office.tranche('webhooks', 'add', url, '--allow-private', '--json', ...options)
  expect([code, stderr]).toEqual([0, expect.any(String)])
  return last as { id: string; secret: string }
}

/** A Redis that services reach, and what one of them hears there. */
async function service(outcomes: string) {
  const redis = await openRedisServer(office.path('r.sock'))
  closing.push(async () => redis[Symbol.asyncDispose]())
  const client = new TrancheClient({ redis: { path: redis.path }, outcomes })
  closing.push(() => client.close())
  const heard: OutcomeEvent[] = []
  const listening = client.onOutcome((event) => void heard.push(event))
  closing.push(() => listening.close())
  return { env: { TRANCHE_REDIS_URL: redis.path }, client, heard }
}

function refund(n: number, amount = '1.00') {
  const of = { reference: `R-${n}`, amount, request_currency: 'EUR', request_ref_po_id: orderOf(n) } as const
  return { transaction_type: 'REFUND', ...of } as const
}

const WITHOUT_OWN = {
  TRANCHE_GATEWAY_URL: undefined,
  TRANCHE_GATEWAY_USERNAME: undefined,
  TRANCHE_GATEWAY_PASSWORD: undefined,
}

const typesIn = ({ received }: Receiver) => received.map(({ body }) => (JSON.parse(body) as Said).type)

test('a batch is told to a webhook, signed, and the events of the record are the same', async () => {
  office = await openOffice()
  const hooks = await receiver()
  const { id, secret } = await endpoint(hooks.url, '--events', 'row.*,batch.*')
  expect([id, secret]).toEqual([expect.stringMatching(/^ep_/), expect.stringMatching(/^whsec_/)])
  office.sandbox.prepare(preparationFor(refunds(3)))
  await office.tranche('submit', await office.put('refunds.csv', toCsv(refunds(3))))
  await office.tranche('worker', '--until-idle')
  expect(typesIn(hooks).toSorted()).toEqual([
    ...['batch.accepted', 'batch.finished', 'batch.started', 'row.settled', 'row.settled', 'row.settled'],
  ])
  const webhook = new Webhook(secret)
  for (const { body, headers } of hooks.received) {
    expect(eventFaults(webhook.verify(body, headers as Record<string, string>))).toEqual([])
    expect(() => webhook.verify(`${body} `, headers as Record<string, string>)).toThrow(/signature/)
    expect(JSON.stringify(headers) + body).not.toContain(secret)
  }
  const { objects } = await office.tranche('events')
  const sent = new Map(hooks.received.map(({ id: eventId, body }) => [eventId, JSON.parse(body)]))
  expect(Object.fromEntries(sent)).toEqual(Object.fromEntries(objects.map((event) => [event.id, event])))
  const rest = await office.tranche('events', '--after', objects[3]?.id, '--types', 'batch.*')
  expect(rest.objects).toEqual(objects.slice(4).filter(({ type }) => type.startsWith('batch')))
  expect((await office.tranche('events', '--after', 'm99-0123456789ab')).code).toBe(2)
  const { last } = await office.tranche('webhooks', 'deliveries', '--json')
  expect(last.deliveries).toHaveLength(6)
  expect(last.deliveries[0]).toMatchObject({ endpoint: id, state: 'delivered', attempts: 1, http_status: 204 })
})

test('a service hears in its queue what becomes of its message, of its batch, and of a message that is refused', async () => {
  office = await openOffice()
  office.sandbox.prepare(preparationFor(refunds(3)))
  const { env, client, heard } = await service('billing')
  await office.worker(env)
  const { batch } = await client.submit(refund(1))
  await client.submit(refund(2, 'ten')).catch(() => {})
  const { transaction_type, request_currency, ...third } = refund(3)
  await client.submitBatch({ batch: 'b', transaction_type, request_currency, instructions: [third] })
  await until('all are told', () => heard.length >= 3)
  const told = heard.map(({ type, data }) => [type, data.reference, (data as Said).state, data.final].join(' '))
  expect(new Set(told)).toEqual(
    new Set(['row.refused R-2  true', 'row.settled R-1 APPROVED true', 'row.settled R-3 APPROVED true']),
  )
  expect(heard.find(({ data }) => data.reference === 'R-1')?.subject).toBe(`batch/${batch}/row/1`)
  for (const event of heard) expect(eventFaults(event)).toEqual([])
})

test('what a worker without the Redis of the services settles is told to them by the next one that has it', async () => {
  office = await openOffice()
  office.sandbox.prepare(preparationFor(refunds(1)))
  const { env, client, heard } = await service('billing')
  const first = await office.worker(env)
  const later = new Date(Date.now() + 86_400_000).toISOString()
  const { batch } = await client.submit({ ...refund(1), execute_at: later })
  first.kill('SIGTERM')
  await first.ended
  expect((await office.tranche('cancel', batch, '--reason', 'a test')).code).toBe(0)
  expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
  const next = await office.worker(env)
  await until('the cancellation is told', () => heard.some(({ type }) => type === 'row.settled'), next)
})

test('a merchant has a queue that is told of files as well', async () => {
  office = await openOffice()
  const { url } = office.sandbox
  await office.put('password', 's3cret-pass')
  const config = await office.put(
    'tranche.yaml',
    `merchants:\n  default:\n    url: ${url}\n    username: shop\n    password_file: password\n    outcomes: ledger\n`,
  )
  const { env: ofRedis, heard } = await service('ledger')
  const env = { TRANCHE_CONFIG: config, ...WITHOUT_OWN, ...ofRedis }
  office.sandbox.prepare(preparationFor(refunds(2)))
  const submitted = await office.trancheWith(env, 'submit', await office.put('refunds.csv', toCsv(refunds(2))))
  expect(submitted.code).toBe(0)
  await office.worker(env)
  await until('both rows are told', () => heard.length >= 2)
  expect(heard.map(({ type }) => type)).toEqual(['row.settled', 'row.settled'])
})

test('the example of a receiver verifies what comes, and reacts once', async () => {
  office = await openOffice()
  const url = 'http://127.0.0.1'
  const placeholder = await endpoint(`${url}:9/hooks`, '--events', 'row.settled')
  const { port, stop, said } = await example(placeholder.secret)
  await office.tranche('webhooks', 'remove', placeholder.id)
  const { id, secret } = await endpoint(`${url}:${port}/hooks`, '--events', 'row.settled')
  await stop()
  const again = await example(secret, port)
  expect(said()).toHaveLength(1)
  office.sandbox.prepare(preparationFor(refunds(1)))
  await office.tranche('submit', await office.put('refunds.csv', toCsv(refunds(1))))
  await office.tranche('worker', '--until-idle')
  const replayed = await office.tranche(
    'webhooks',
    'replay',
    '--since',
    '2020-01-01T00:00:00Z',
    '--delivered',
    '--json',
  )
  expect(replayed.last).toEqual({ replayed: 1 })
  await office.tranche('worker', '--until-idle')
  const { last } = await office.tranche('webhooks', 'deliveries', '--endpoint', id, '--json')
  expect(last.deliveries).toMatchObject([{ state: 'delivered', attempts: 2, http_status: 204 }])
  expect(again.said().slice(1)).toEqual([expect.stringMatching(/^row\.settled: \S+ APPROVED$/)])
})

async function example(secret: string, port = 0) {
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) }
  const child: ChildProcess = spawn(process.execPath, ['examples/receiver.mjs'], { env })
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill()
    await gone
  }
  closing.push(stop)
  const said = () => text.split('\n').slice(0, -1)
  await until('it listens', () => said().length > 0)
  return { port: Number(said()[0]?.split(' ').at(-1)), stop, said }
}
