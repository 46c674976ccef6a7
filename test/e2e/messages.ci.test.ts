// Instructions that other services put into the queue with plain BullMQ.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Job, Queue, QueueEvents } from 'bullmq'
import { Redis } from 'ioredis'
import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, query, recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { orderOf } from '../fixtures/files.ts'
import { openRedisServer, type RedisServer } from '../fixtures/redis.ts'

let office: Office
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
  await office.close()
})

/** As another service would: a connection to the Redis that the worker names, and the name of the queue. */
function openQueue(connection: { path: string }): Queue {
  const queue = new Queue('tranche-intake', { connection })
  queue.on('error', () => {})
  closing.push(() => queue.close())
  return queue
}

function message(n: number, over: object = {}) {
  return {
    schema_version: 1,
    reference: `msg-${n}`,
    transaction_type: 'REFUND',
    amount: `${n}.50`,
    request_currency: 'EUR',
    request_ref_po_id: orderOf(n),
    ...over,
  }
}

function prepareOrders(count: number): void {
  const orders = Array.from({ length: count }, (_, i) => orderOf(i + 1))
  office.sandbox.prepare({
    orders: orders.map((orderId) => ({ orderId, state: 'settled', amount: '5000.00', currency: 'EUR' })),
  })
}

async function over(queue: Queue, job: Job): Promise<Job> {
  await until('the job is over', async () => ['completed', 'failed'].includes(await job.getState()))
  return (await queue.getJob(job.id as string)) as Job
}

test('a message is executed and reported; again it is a duplicate; changed or wrong it fails', async () => {
  office = await openOffice()
  prepareOrders(3)
  const worker = await office.worker()
  const queue = openQueue({ path: office.redisSocket })
  const send = async (data: object) => over(queue, await queue.add('instruction', data))

  const taken = await send(message(1))
  expect(taken.failedReason).toBeUndefined()
  expect(taken.returnvalue).toMatchObject({ status: 'accepted', row: 1 })
  const { batch } = taken.returnvalue as { batch: string }
  await until('it is executed', () => recordedIn(office)[0]?.state === 'APPROVED', worker)

  expect((await send(message(1))).returnvalue).toMatchObject({ status: 'duplicate', batch, row: 1, state: 'APPROVED' })
  expect((await send(message(1, { amount: '2.50' }))).failedReason).toMatch(/^refused: .*other content/)
  expect((await send(message(2, { amount: 2.5 }))).failedReason).toMatch(/^refused: .*amount/)
  expect((await over(queue, await queue.add('instructions', message(3)))).failedReason).toContain('is not known here')
  expect(await queue.getJobCountByTypes('waiting', 'active', 'delayed')).toBe(0)

  expect(office.sandbox.log()).toMatchObject([{ orderId: orderOf(1), amountMinor: '150', status: 'APPROVED' }])
  expect((await office.tranche('status', batch, '--json')).last).toMatchObject({
    source: 'messages',
    counts: { APPROVED: 1 },
  })
  const out = office.path('out.csv')
  await office.tranche('results', batch, '--out', out)
  expect(countsIn(out)).toEqual({ APPROVED: 1 })
  expect(compareBooks(booksOf(office, { input: null, out }))).toEqual([])
  expect(query(office, 'SELECT * FROM refusal')).toHaveLength(3)
})

test('a message with a card number fails, and neither Redis nor the ledger keeps the number', async () => {
  office = await openOffice()
  const worker = await office.worker()
  const queue = openQueue({ path: office.redisSocket })
  const card = '4111111111111111'
  const failed = await over(queue, await queue.add('instruction', message(1, { bill_addr: `card ${card}` })))
  expect(failed.failedReason).toMatch(/^refused: holds card data/)
  expect(failed.data).toEqual({ withheld: 'the message was overwritten: it held card data' })
  const held = await allOfRedis()
  expect(held).toContain('withheld')
  expect(held).not.toContain(card)
  expect(JSON.stringify(query(office, 'SELECT * FROM refusal'))).toContain('withheld')
  expect(JSON.stringify(query(office, 'SELECT * FROM refusal'))).not.toContain(card)
  worker.kill('SIGTERM')
  expect((await worker.ended).stderr).not.toContain(card)
  expect(recordedIn(office)).toEqual([])
  expect(office.sandbox.received()).toBe(0)
})

test('a job with a card number in its id or name fails, and the number is kept nowhere', async () => {
  office = await openOffice()
  const worker = await office.worker()
  const queue = openQueue({ path: office.redisSocket })
  const events = new QueueEvents('tranche-intake', { connection: { path: office.redisSocket }, lastEventId: '0' })
  const failed = new Map<string, string>()
  events.on('failed', ({ jobId, failedReason }) => void failed.set(jobId, failedReason))
  await events.waitUntilReady()
  const card = '4111111111111111'
  const jobs = [
    await queue.add('instruction', message(1), { jobId: `inv-${card}` }),
    await queue.add('instruction', message(2, { amount: 1.5 }), { jobId: `wrong-${card}` }),
    await queue.add(`pay ${card}`, message(3)),
  ]
  await until('their producer is told', () => failed.size === 3, worker)
  await events.close()
  expect(jobs.map((job) => failed.get(job.id as string))).toEqual([
    expect.stringMatching(/^refused: the job id holds a card number/),
    expect.stringMatching(/^refused: the job id holds a card number/),
    expect.stringMatching(/^refused: the job "pay 4111110000001111" is not known/),
  ])
  expect(await queue.getJobCountByTypes('failed', 'completed', 'waiting', 'active', 'delayed')).toBe(0)
  for (const job of jobs) expect(await queue.getJob(job.id as string)).toBeUndefined()
  const refusals = query(office, 'SELECT * FROM refusal')
  expect(refusals).toHaveLength(3)
  expect(JSON.stringify(refusals)).not.toContain(card)
  worker.kill('SIGTERM')
  expect((await worker.ended).stderr).not.toContain(card)
  expect(recordedIn(office)).toEqual([])
})

test('a message too deep or large to look through is overwritten and refused', async () => {
  office = await openOffice()
  prepareOrders(2)
  const worker = await office.worker()
  const queue = openQueue({ path: office.redisSocket })
  const card = '4111111111111111'
  const deep = JSON.parse(`${'{"a":'.repeat(3_000)}"${card}"${'}'.repeat(3_000)}`)
  const jobs = await queue.addBulk(
    [message(1), message(2, { deep }), message(3, { bill_addr: `${card} ${'x'.repeat(1_000_000)}` }), message(2)].map(
      (data) => ({ name: 'instruction', data, opts: { attempts: 5 } }),
    ),
  )
  const ended = []
  for (const job of jobs) ended.push(await over(queue, job))
  expect(ended.map((job) => job.failedReason)).toEqual([
    undefined,
    expect.stringMatching(/^refused: is nested deeper than 32 levels/),
    expect.stringMatching(/^refused: has more than 65,536 characters/),
    undefined,
  ])
  const overwritten = { withheld: 'the message was overwritten: it could not be looked through for card data' }
  expect([ended[1]?.data, ended[2]?.data]).toEqual([overwritten, overwritten])
  expect(await allOfRedis()).not.toContain(card)
  const refusals = JSON.stringify(query(office, 'SELECT * FROM refusal'))
  expect(refusals).toContain('is nested deeper')
  expect(refusals).not.toContain(card)
  await until('the others are executed', () => recordedIn(office).every(({ state }) => state === 'APPROVED'), worker)
  expect(recordedIn(office)).toHaveLength(2)
})

test('a job that BullMQ itself cannot read is refused and kept, and holds nobody up', async () => {
  office = await openOffice()
  prepareOrders(3)
  const worker = await office.worker()
  const queue = openQueue({ path: office.redisSocket })
  await queue.pause()
  const card = '4111111111111111'
  const twice = JSON.stringify(message(2)).replace('{', `{"amount":"${card}",`)
  const datas = ['{', `{"cust_fname":"${card}"`, twice, `"${'x'.repeat(5_000_000)}"`, 'null', '']
  const jobs = await queue.addBulk(
    [...datas.map(() => message(1)), message(3)].map((data) => ({ name: 'instruction', data })),
  )
  const redis = new Redis({ path: office.redisSocket })
  for (const [n, data] of datas.entries()) await redis.hset(`bull:tranche-intake:${jobs[n]?.id}`, 'data', data)
  redis.disconnect()
  await queue.resume()
  const wanted = jobs.at(-1) as Job
  expect((await over(queue, wanted)).returnvalue).toMatchObject({ status: 'accepted' })
  const reasons = []
  for (const job of jobs.slice(0, -1)) reasons.push((await over(queue, job)).failedReason)
  expect(reasons).toEqual([
    ...['is not JSON', 'is not JSON', 'names a field twice: write each once'].map((reason) => `refused: ${reason}`),
    expect.stringMatching(/^refused: has more than 4,194,304 characters/),
    ...[expect.stringMatching(/^refused: /), expect.stringMatching(/^refused: /)],
  ])
  expect(query(office, 'SELECT * FROM refusal')).toHaveLength(6)
  expect(JSON.stringify(query(office, 'SELECT * FROM refusal'))).not.toContain(card)
  expect(await allOfRedis()).not.toContain(card)
  await until('the good one is executed', () => recordedIn(office)[0]?.state === 'APPROVED', worker)
  expect(recordedIn(office)).toHaveLength(1)
})

test('a batch is taken whole, known by its name, and sent', async () => {
  office = await openOffice()
  prepareOrders(3)
  const worker = await office.worker()
  const queue = openQueue({ path: office.redisSocket })
  const send = async (data: object) => over(queue, await queue.add('batch', data))
  const instructions = [1, 2, 3].map((n) => ({
    ...{ reference: `msg-${n}`, amount: `${n}.50`, request_ref_po_id: orderOf(n) },
  }))
  const batch = { schema_version: 1, batch: 'b-1', transaction_type: 'REFUND', request_currency: 'EUR', instructions }
  const taken = await send(batch)
  expect(taken.returnvalue).toMatchObject({ status: 'accepted', rows: 3 })
  const { batch: id } = taken.returnvalue as { batch: string }
  expect((await send(batch)).returnvalue).toMatchObject({ status: 'duplicate', batch: id, rows: 3 })
  expect((await send({ ...batch, instructions: instructions.slice(1) })).failedReason).toMatch(/^refused: batch: "b-1"/)
  expect((await over(queue, await queue.add('instruction', message(1, { batch: 'b-1' })))).returnvalue).toMatchObject({
    ...{ status: 'duplicate', batch: id },
  })
  await until('all are executed', () => recordedIn(office).every(({ state }) => state === 'APPROVED'), worker)
  expect(recordedIn(office)).toHaveLength(3)
  expect(office.sandbox.received()).toBe(3)
  expect((await office.tranche('messages', 'failed', '--json')).last).toMatchObject({ messages: [{ batch: 'b-1' }] })
})

test('messages that wait in a Redis that was put back with the ledger come into doubt, and none is sent twice', async () => {
  const redis = await openRedis()
  office = await openOffice({ env: { TRANCHE_REDIS_URL: redis.path } })
  prepareOrders(4)
  const queue = openQueue({ path: redis.path })
  const { schema_version, transaction_type, request_currency } = message(1)
  const instructions = [3, 4].map((n) => ({ reference: `msg-${n}`, amount: `${n}.50`, request_ref_po_id: orderOf(n) }))
  const batch = { schema_version, transaction_type, request_currency, batch: 'b-1', instructions }
  for (const n of [1, 2]) await queue.add('instruction', message(n), { jobId: `job-${n}` })
  await queue.add('batch', batch, { jobId: 'job-3' })
  const kept = office.path('kept')
  execFileSync('cp', ['-a', office.dataDir, kept])
  await redis.save()

  const first = await office.worker()
  await until(
    'all are executed',
    () => recordedIn(office).filter(({ state }) => state === 'APPROVED').length === 4,
    first,
  )
  first.kill('SIGTERM')
  await first.ended
  rmSync(office.dataDir, { recursive: true })
  execFileSync('cp', ['-a', kept, office.dataDir])
  await redis.kill()
  await redis.start({ asSaved: true })

  expect((await office.tranche('worker', '--until-idle')).code).toBe(6)
  const adopted = await office.tranche('adopt', '--restored', '--reason', 'disk failed')
  expect(adopted.code, adopted.stderr).toBe(0)
  expect(adopted.stderr).toContain('come into doubt when a worker takes them')
  const second = await office.worker()
  const states = async () => Promise.all([1, 2, 3].map((n) => queue.getJobState(`job-${n}`)))
  await until('all are taken', async () => (await states()).every((state) => state === 'completed'), second)
  expect((await queue.getJob('job-1'))?.returnvalue).toMatchObject({ status: 'accepted', state: 'IN_DOUBT' })
  expect(recordedIn(office).map(({ state }) => state)).toEqual(Array.from({ length: 4 }, () => 'IN_DOUBT'))
  expect(office.sandbox.received()).toBe(4)
  const doubts = await office.tranche('in-doubt', 'list')
  expect(doubts.stdout).toContain('it may have been queued before an older state of the ledger was adopted')
  const [one] = office.sandbox.log()
  const found = ['--found', 'approved', '--transaction', String(one?.transactionId), '--reason', 'seen there']
  const resolved = await office.tranche('in-doubt', 'resolve', 'msg-1', ...found)
  expect(resolved.code, resolved.stderr).toBe(0)
})

test('a job that was refused stays refused when it is delivered again, whatever became of what it looked like', async () => {
  office = await openOffice()
  prepareOrders(1)
  const worker = await office.worker()
  const queue = openQueue({ path: office.redisSocket })
  const later = new Date(Date.now() + 7 * 86_400_000).toISOString()
  const first = await over(queue, await queue.add('instruction', message(1, { execute_at: later })))
  const { batch } = first.returnvalue as { batch: string }
  const { schema_version, ...second } = message(1, { reference: 'msg-2' })
  const refused = [
    await over(queue, await queue.add('instruction', { schema_version, ...second })),
    await over(queue, await queue.add('batch', { schema_version, batch: 'b-1', instructions: [second] })),
  ]
  const reasons = [/^refused: lookalike: it looks like msg-1/, /^refused: instructions\.0: msg-2 looks like msg-1/]
  for (const [n, job] of refused.entries()) expect(job.failedReason).toMatch(reasons[n] as RegExp)
  await office.tranche('cancel', batch, '--reason', 'wrong')
  for (const [n, job] of refused.entries()) {
    const tried = Number(job.attemptsStarted)
    await job.retry()
    await until('it was delivered again', async () => {
      const { attemptsStarted, finishedOn } = (await queue.getJob(job.id as string)) as Job
      return attemptsStarted > tried && finishedOn !== undefined
    })
    expect((await over(queue, job)).failedReason).toMatch(reasons[n] as RegExp)
  }
  expect(recordedIn(office).map(({ reference, state }) => [reference, state])).toEqual([['msg-1', 'CANCELLED']])
  expect(query(office, 'SELECT * FROM refusal')).toHaveLength(2)
  worker.kill('SIGTERM')
  await worker.ended
  expect(office.sandbox.received()).toBe(0)
})

test('messages that come while workers end and begin are neither lost nor doubled', async () => {
  const { path } = await openRedis()
  office = await openOffice({ latencyMs: 20, env: { TRANCHE_REDIS_URL: path } })
  prepareOrders(60)
  const queue = openQueue({ path })
  const first = await office.worker()
  const jobs: Job[] = []
  const sendUpTo = async (last: number) => {
    while (jobs.length < last) jobs.push(await queue.add('instruction', message(jobs.length + 1)))
  }
  await sendUpTo(30)
  await until('some are executed', () => office.sandbox.log().length >= 5, first)
  first.kill('SIGTERM')
  await sendUpTo(45) // as the worker goes, and after it has gone
  expect((await first.ended).code).toBe(0)
  const second = await office.worker()
  await sendUpTo(60)
  await until(
    'all are settled',
    () => recordedIn(office).filter(({ state }) => state === 'APPROVED').length === 60,
    second,
  )
  for (const job of jobs) expect(await (await over(queue, job)).isCompleted()).toBe(true)
  expect(new Set(office.sandbox.log().map((entry) => entry.orderId)).size).toBe(60)
  expect(office.sandbox.received()).toBe(60)
  expect(compareBooks(booksOf(office))).toEqual([])
})

test('messages that were being taken when the worker was killed are taken once', async () => {
  const { path } = await openRedis()
  office = await openOffice({ env: { TRANCHE_REDIS_URL: path } })
  prepareOrders(200)
  const queue = openQueue({ path })
  const jobs = await queue.addBulk(
    Array.from({ length: 200 }, (_, i) => ({ name: 'instruction', data: message(i + 1) })),
  )
  const first = await office.worker()
  await until('some are recorded', () => recordedIn(office).length >= 20, first)
  first.kill('SIGKILL')
  await first.ended
  expect(await queue.getActiveCount()).toBeGreaterThan(0)
  const second = await office.worker()
  // BullMQ gives up on a dead taker after half a minute to a minute.
  for (const job of jobs) await until('the job is over', () => job.isCompleted(), second)
  await until(
    'nothing is open',
    () => recordedIn(office).every(({ state }) => !['READY', 'SENDING'].includes(state)),
    second,
  )
  expect(recordedIn(office)).toHaveLength(200)
  expect(new Set(recordedIn(office).map((row) => row.reference)).size).toBe(200)
  expect(compareBooks(booksOf(office))).toEqual([])
})

/** Every value of every hash, which is where BullMQ keeps what a job carries, and every other key's dump. */
async function allOfRedis(): Promise<string> {
  const redis = new Redis({ path: office.redisSocket })
  try {
    const keys = await redis.keys('*')
    const held = keys.map(async (key) =>
      (await redis.type(key)) === 'hash' ? JSON.stringify(await redis.hgetall(key)) : String(await redis.dump(key)),
    )
    return (await Promise.all(held)).join('\n')
  } finally {
    redis.disconnect()
  }
}

/** A Redis that outlives the workers. */
async function openRedis(): Promise<RedisServer> {
  const dir = mkdtempSync(join(tmpdir(), 'tr-'))
  const redis = await openRedisServer(join(dir, 's'))
  closing.push(async () => {
    await redis.kill()
    rmSync(dir, { recursive: true })
  })
  return redis
}
