// Processes side by side on one ledger, or one Redis: nothing is done twice, and nobody waits for what never comes.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type Job, Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { afterEach, expect, test } from 'vitest'
import { findRedisServer } from '../../src/queues/private-redis.ts'
import { booksOf, compareBooks, countsIn, query, recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice, type Running, until } from '../fixtures/cli.ts'
import { orderOf, preparationFor, refundRow, refunds, toCsv } from '../fixtures/files.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function open(options: Parameters<typeof openOffice>[0] = {}): Promise<Office> {
  const office = await openOffice(options)
  closing.push(() => office.close())
  return office
}

test('a run whose row waits behind an idle batch ends with 6 and names that batch', async () => {
  const office = await open()
  const [early, late] = [refundRow(1, { amount: '7.77' }), refundRow(1, { reference: 'other', amount: '1.01' })]
  office.sandbox.prepare(preparationFor([early, late]))
  const [a, b] = [await office.put('a.csv', toCsv([early])), await office.put('b.csv', toCsv([late]))]
  const out = office.path('b.results.csv')
  const { batch } = (await office.tranche('submit', a, '--json')).last

  const waiting = await office.tranche('run', b, '--out', out, '--json')
  expect(waiting.code, waiting.stderr).toBe(6)
  expect(waiting.last).toMatchObject({ ending: 'stuck', counts: { PENDING: 1 } })
  expect(waiting.last.reason).toContain(`in batch ${batch}, which this run does not work off`)
  expect(countsIn(out)).toEqual({ PENDING: 1 })
  expect(office.sandbox.received()).toBe(0)

  const worked = await office.tranche('worker', '--until-idle') // the lock is free again
  expect(worked.code, worked.stderr).toBe(0)
  expect(office.sandbox.log().map((entry) => entry.amountMinor)).toEqual(['777', '101'])
  const ran = await office.tranche('run', b, '--out', out, '--json')
  expect([ran.code, ran.last.batch], ran.stderr).toEqual([0, waiting.last.batch])
  expect(countsIn(out)).toEqual({ APPROVED: 1 })
  expect(compareBooks(booksOf(office, { input: b, out }))).toEqual([])
})

test('two runs of one file at once are one batch with one set of results', async () => {
  const office = await open({ latencyMs: 20 })
  const rows = refunds(40)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const out = office.path('out.csv')
  const running = () => office.tranche('run', input, '--out', out, '--json')
  const both = await Promise.all([running(), running()])
  expect(
    both.map((ran) => ran.code),
    both.map((ran) => ran.stderr).join('\n'),
  ).toEqual([0, 0])
  expect(new Set(both.map((ran) => ran.last.batch)).size).toBe(1)
  expect(countsIn(out)).toEqual({ APPROVED: 40 })

  const third = await running()
  expect([third.code, third.last.batch], third.stderr).toEqual([0, both[0]?.last.batch])
  expect(countsIn(out)).toEqual({ APPROVED: 40 })
  expect([office.sandbox.received(), recordedIn(office).length]).toEqual([40, 40])
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('of two ledgers on one Redis the first one takes the messages, also after Redis was emptied, until a person hands them over', async () => {
  const first = await open()
  const socket = await openRedisServer(first.path('shared.sock'))
  const env = { TRANCHE_REDIS_URL: socket } // the path of a socket will do
  const second = await open()
  const orders = Array.from({ length: 9 }, (_, i) => orderOf(i + 1))
  for (const { sandbox } of [first, second])
    sandbox.prepare({
      orders: orders.map((orderId) => ({ orderId, state: 'settled', amount: '5000.00', currency: 'EUR' })),
    })
  const queue = openQueue(socket)
  const hand = (n: number) => queue.add('instruction', message(n))
  const over = (jobs: readonly Job[], by: Running) =>
    until(
      'the messages are taken',
      async () => !(await Promise.all(jobs.map((job) => job.isCompleted()))).includes(false),
      by,
    )

  const [owner, other] = [await first.worker(env), await second.worker(env)]
  await over(await Promise.all([1, 2, 3].map(hand)), owner)
  await until('all are settled', () => approvedIn(first) === 3, owner)
  other.kill('SIGTERM')
  const told = (await other.ended).stderr
  expect(told).toContain('belongs to another ledger: its messages are left alone')
  expect(told).toContain('; no messages are taken, because the queue tranche-intake on')
  expect(recordedIn(second)).toEqual([])

  // Who comes first now is not who was first before, and would not know the messages that the first one took.
  const redis = new Redis({ path: socket })
  await redis.flushall()
  const successor = await second.worker(env)
  successor.kill('SIGTERM')
  const left = (await successor.ended).stderr
  expect(left).toContain('takes the queue again when its worker starts')
  const jobs = await Promise.all([1, 4, 5].map(hand))
  await over(jobs, owner)
  await until('the new ones are settled', () => approvedIn(first) === 5, owner)
  owner.kill('SIGTERM')
  expect((await owner.ended).code).toBe(0)

  // What the sentence says hands the queue over.
  const [, key, ledgerId] = /redis-cli SET (\S+) (\w+)/.exec(left) as unknown as [string, string, string]
  await redis.set(key, ledgerId)
  redis.disconnect()
  const heir = await second.worker(env)
  await over(await Promise.all([6, 7, 8, 9].map(hand)), heir)
  await until('all are settled', () => approvedIn(second) === 4, heir)

  const executed = [first, second].map(({ sandbox }) => sandbox.log().map((entry) => entry.orderId))
  expect(executed.map((ids) => ids.toSorted())).toEqual([orders.slice(0, 5), orders.slice(5)])
  for (const office of [first, second]) expect(compareBooks(booksOf(office))).toEqual([])
})

test('two installations under one Redis prefix work off their own batches only', async () => {
  const first = await open({ latencyMs: 30, env: { TRANCHE_IN_FLIGHT: '4' } })
  const socket = await openRedisServer(first.path('shared.sock'))
  const env = { TRANCHE_REDIS_URL: socket }
  const second = await open({ latencyMs: 30, env: { TRANCHE_IN_FLIGHT: '4' } })
  // The same rows at both gateways: whoever took the other's work could execute it.
  const rows = refunds(120)
  for (const { sandbox } of [first, second]) sandbox.prepare(preparationFor(rows))
  const [a, b] = [await first.put('a.csv', toCsv(rows.slice(0, 60))), await second.put('b.csv', toCsv(rows.slice(60)))]
  const out = second.path('b.out.csv')

  const working = await first.worker(env)
  const running = second.startWith(env, 'run', b, '--out', out)
  await until('the run is under way', () => second.sandbox.received() > 0, running)
  expect((await first.trancheWith(env, 'submit', a)).code).toBe(0)
  const redis = new Redis({ path: socket })
  closing.push(async () => redis.disconnect())
  const queues = async () => new Set(await redis.keys('bull:tranche-slices-*:meta'))
  const names = [first, second].map(
    (office) =>
      `bull:tranche-slices-${query<{ value: string }>(office, "SELECT value FROM meta WHERE key = 'ledger_id'")[0]?.value}:meta`,
  )
  expect(await queues()).toEqual(new Set(names))
  expect((await running.ended).code).toBe(0)
  await until('all are settled', () => approvedIn(first) === 60, working)

  const executed = [first, second].map(({ sandbox }) => sandbox.log().map((entry) => Number(entry.orderId)))
  const orders = rows.map((row) => Number(row.request_ref_po_id))
  expect(executed.map((ids) => ids.toSorted())).toEqual([orders.slice(0, 60), orders.slice(60)])
  expect(compareBooks(booksOf(first))).toEqual([])
  expect(compareBooks(booksOf(second, { input: b, out }))).toEqual([])
})

test('a worker that starts on a shared Redis leaves the slices of the other installation alone', async () => {
  const first = await open({ latencyMs: 50, env: { TRANCHE_IN_FLIGHT: '1', TRANCHE_RATE: '4' } })
  const socket = await openRedisServer(first.path('shared.sock'))
  const env = { TRANCHE_REDIS_URL: socket }
  const second = await open()
  const rows = refunds(40)
  first.sandbox.prepare(preparationFor(rows))
  expect((await first.tranche('submit', await first.put('a.csv', toCsv(rows)))).code).toBe(0)
  const working = await first.worker(env)
  await until('the first is under way', () => first.sandbox.received() > 1, working)
  const redis = new Redis({ path: socket })
  closing.push(async () => redis.disconnect())
  const slices = async () => (await redis.keys('*')).filter((key) => /:\d{6}-\w+-\d+$/.test(key)).toSorted()
  working.kill('SIGSTOP') // so that it cannot offer again what another would have taken away
  const offered = await slices()
  expect(offered).not.toEqual([])
  const other = await second.worker(env)
  expect(await slices()).toEqual(offered)
  other.kill('SIGTERM')
  expect((await other.ended).code).toBe(0)
  expect(await slices()).toEqual(offered)
  working.kill('SIGCONT')
  await until('it goes on', () => first.sandbox.received() > 4, working)
  expect(second.sandbox.received()).toBe(0)
})

function approvedIn(office: Office): number {
  return recordedIn(office).filter(({ state }) => state === 'APPROVED').length
}

function message(n: number) {
  return {
    ...{ schema_version: 1, reference: `msg-${n}`, transaction_type: 'REFUND' },
    ...{ amount: `${n}.50`, request_currency: 'EUR', request_ref_po_id: orderOf(n) },
  }
}

function openQueue(path: string): Queue {
  const queue = new Queue('tranche-intake', { connection: { path } })
  queue.on('error', () => {})
  closing.push(() => queue.close())
  return queue
}

/** A Redis of somebody else's, on a socket alone. Resolves to its path when it listens. */
async function openRedisServer(path: string): Promise<string> {
  const server: ChildProcess = spawn(
    findRedisServer(process.env),
    ['--port', '0', '--unixsocket', path, '--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'],
    { stdio: 'ignore' },
  )
  const gone = once(server, 'exit')
  closing.push(() => {
    server.kill('SIGKILL')
    return gone
  })
  await until('Redis listens', () => existsSync(path))
  return path
}
