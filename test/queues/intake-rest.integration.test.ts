// The intake while nothing can be recorded: it takes fewer messages, says so once, and loses none.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FlowProducer, Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { Fault } from '../../src/domain/fault.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { troublesOfIntake } from '../../src/domain/intake-queue.ts'
import { KnownElsewhere } from '../../src/domain/message.ts'
import type { State } from '../../src/domain/states.ts'
import type { Log } from '../../src/ports/log.ts'
import { attentionText } from '../../src/present/attention.ts'
import { openIntakeQueue } from '../../src/queues/intake.ts'
import { lookAtIntake } from '../../src/queues/intake-look.ts'
import { until } from '../fixtures/cli.ts'
import { openRedisServer } from '../fixtures/redis.ts'

const MESSAGES = 300
const AT_ONCE = 64

test('trouble of the ledger makes the intake rest, and every message is taken once it is over', async ({
  onTestFinished,
}) => {
  const dir = mkdtempSync(join(tmpdir(), 'tr-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  await using redis = await openRedisServer(join(dir, 's'))
  const queue = new Queue('tranche-intake', { connection: { path: redis.path } })
  await queue.addBulk(Array.from({ length: MESSAGES }, (_, n) => ({ name: 'instruction', data: { n } })))
  const said: string[] = []
  const silent = () => {}
  const log: Log = {
    ...{ debug: silent, warn: silent },
    info: (_, text) => void said.push(text),
    error: (_, text) => void said.push(text),
  }
  const disk: { isFull: boolean } = { isFull: true }
  let tried = 0
  const recorded = new Set<unknown>()
  const intake = await openIntakeQueue({
    ...{ address: { path: redis.path }, prefix: 'bull', ledgerId: 'L', log },
    owners: { last: async () => null, keep: async () => {} },
    stateOf: async () => null,
    async take({ payload }) {
      tried += 1
      if (disk.isFull) throw new Fault('full', 'The disk is full.')
      recorded.add((payload as { n: number }).n)
      return { kind: 'accepted', batchId: 'b' as BatchId, rowNo: 1, state: 'READY' }
    },
  })
  onTestFinished(() => intake?.close(1_000))
  onTestFinished(() => queue.close())
  await until('nothing is in hand any more', async () => tried > 0 && (await queue.getActiveCount()) === 0)
  expect(tried).toBeLessThanOrEqual(AT_ONCE)
  expect(said).toEqual([expect.stringMatching(/^messages cannot be recorded: they stay in the queue/)])
  expect(await queue.getFailedCount()).toBe(0)
  disk.isFull = false
  await until('all are taken', async () => (await queue.getCompletedCount()) === MESSAGES)
  expect(recorded.size).toBe(MESSAGES)
  expect(said).toEqual([expect.anything(), 'messages are recorded again'])
})

test('a job without a name and one that a bug meets make nobody else wait', async ({ onTestFinished }) => {
  const dir = mkdtempSync(join(tmpdir(), 'tr-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  await using redis = await openRedisServer(join(dir, 's'))
  const queue = new Queue('tranche-intake', { connection: { path: redis.path } })
  const [nameless] = await queue.addBulk(Array.from({ length: 9 }, (_, n) => ({ name: 'instruction', data: { n } })))
  const raw = new Redis({ path: redis.path })
  await raw.hdel(`bull:tranche-intake:${nameless?.id}`, 'name')
  raw.disconnect()
  const said: string[] = []
  const silent = () => {}
  const intake = await openIntakeQueue({
    ...{ address: { path: redis.path }, prefix: 'bull', ledgerId: 'L' },
    log: { debug: silent, info: silent, warn: silent, error: (_, text) => void said.push(text) },
    owners: { last: async () => null, keep: async () => {} },
    stateOf: async () => null,
    async take({ jobName, payload }) {
      if ((payload as { n: number }).n === 1) throw new TypeError('a bug')
      if (jobName === 'undefined') return { kind: 'refused', reasons: ['no name'], withheld: null }
      return { kind: 'accepted', batchId: 'b' as BatchId, rowNo: 1, state: 'READY' }
    },
  })
  onTestFinished(() => intake?.close(1_000))
  onTestFinished(() => queue.close())
  await until('the others are over', async () => (await queue.getCompletedCount()) === 7)
  expect(await queue.getFailedCount()).toBe(1)
  expect(said).toEqual([expect.stringMatching(/^a message met a failure of this program/)])
})

test('a parent runs when its child was executed, which neither holds a lock nor counts as taken again', async ({
  onTestFinished,
}) => {
  const dir = mkdtempSync(join(tmpdir(), 'tr-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  await using redis = await openRedisServer(join(dir, 's'))
  const connection = { path: redis.path }
  const [queue, parents, flow] = [
    new Queue('tranche-intake', { connection }),
    new Queue('ship', { connection }),
    new FlowProducer({ connection }),
  ]
  const REFERENCES = ['paid', 'not', 'other']
  const states = new Map<string, State>([
    ['paid', 'READY'],
    ['not', 'IN_DOUBT'],
    ['other', 'APPROVED'],
  ])
  const firsts: unknown[] = []
  let looks = 0
  let again = 0
  const silent = () => {}
  const intake = await openIntakeQueue({
    ...{ address: connection, prefix: 'bull', ledgerId: 'L' },
    log: { debug: silent, info: silent, warn: silent, error: silent },
    owners: { last: async () => null, keep: async () => {} },
    async stateOf(_, row) {
      looks += 1
      return states.get(REFERENCES[row - 1] ?? '') ?? null
    },
    async take({ payload, isAwaited }) {
      const { reference } = payload as { reference: string }
      if (isAwaited === true) again += 1
      else firsts.push(reference)
      return {
        // One of them was recorded by another job before.
        kind: isAwaited === true || reference === 'not' ? 'duplicate' : 'accepted',
        ...{ recordedAtMs: 0, batchId: 'b' as BatchId, rowNo: REFERENCES.indexOf(reference) + 1 },
        ...(reference === 'other' && { moneyWarning: 'another amount' }),
        state: states.get(reference) as State,
      }
    },
  })
  onTestFinished(() => intake?.close(1_000))
  onTestFinished(async () => void (await Promise.all([queue.close(), parents.close(), flow.close()])))
  const child = (reference: string) => ({
    ...{ name: 'instruction', queueName: 'tranche-intake', data: { reference, complete_with: 'outcome' } },
  })
  await flow.addBulk(
    REFERENCES.map((reference) => ({ name: reference, queueName: 'ship', children: [child(reference)] })),
  )
  await until('both wait', async () => firsts.length === 3 && (await queue.getDelayedCount()) === 2)
  expect(await parents.getWaitingCount()).toBe(0)
  await until('both are looked at', () => looks + again > 3)
  // What writes is asked again only when there is an outcome.
  expect(again).toBe(0)
  states.set('paid', 'APPROVED').set('not', 'DECLINED')
  await until('both are over', async () => (await queue.getDelayedCount()) + (await queue.getActiveCount()) === 0)
  expect((await parents.getWaiting()).map(({ name }) => name)).toEqual(['paid'])
  const [paid] = await queue.getCompleted()
  expect(paid?.returnvalue).toEqual({ status: 'accepted', batch: 'b', row: 1, state: 'APPROVED' })
  const failed = (await queue.getFailed())
    .map(({ failedReason }) => failedReason)
    .toSorted((one, other) => (String(one) < String(other) ? -1 : 1))
  expect(failed).toEqual([
    expect.stringMatching(/^not approved as asked: another amount; .*"state":"APPROVED"/),
    expect.stringMatching(/^not approved: .*"duplicate".*"state":"DECLINED"/),
  ])
  expect(firsts).toHaveLength(3)
})

test('a job scheduler that hands in one reference again and again fails from its second job on', async ({
  onTestFinished,
}) => {
  const dir = mkdtempSync(join(tmpdir(), 'tr-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  await using redis = await openRedisServer(join(dir, 's'))
  const queue = new Queue('tranche-intake', { connection: { path: redis.path } })
  let recordedAtMs: number | null = null
  const silent = () => {}
  const intake = await openIntakeQueue({
    ...{ address: { path: redis.path }, prefix: 'bull', ledgerId: 'L' },
    log: { debug: silent, info: silent, warn: silent, error: silent },
    owners: { last: async () => null, keep: async () => {} },
    stateOf: async () => null,
    async take() {
      const row = { batchId: 'b' as BatchId, rowNo: 1, state: 'APPROVED' } as const
      if (recordedAtMs !== null) return { kind: 'duplicate', recordedAtMs, ...row }
      recordedAtMs = Date.now() - 60_000 // before the second job was due, however late this one came
      return { kind: 'accepted', ...row }
    },
  })
  onTestFinished(() => intake?.close(1_000))
  onTestFinished(() => queue.close())
  await queue.upsertJobScheduler('monthly', { every: 50 }, { name: 'instruction', data: { reference: 'SUB-71' } })
  await until('the second job is over', async () => (await queue.getFailedCount()) > 0)
  await queue.removeJobScheduler('monthly')
  expect(await queue.getCompletedCount()).toBe(1)
  const [failed] = await queue.getFailed()
  expect(failed?.failedReason).toMatch(/^duplicate: it was recorded at .* \(batch b\), and is not done again/)
})

test('a message of a merchant that is configured elsewhere waits for the worker that knows it', async ({
  onTestFinished,
}) => {
  const dir = mkdtempSync(join(tmpdir(), 'tr-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  await using redis = await openRedisServer(join(dir, 's'))
  const queue = new Queue('tranche-intake', { connection: { path: redis.path } })
  onTestFinished(() => queue.close())
  await queue.add('instruction', {})
  await queue.add('batch', {}, { timestamp: Date.now() - 3_600_000 })
  const said: string[] = []
  const silent = () => {}
  const config: { knows: boolean } = { knows: false }
  const intake = await openIntakeQueue({
    ...{ address: { path: redis.path }, prefix: 'bull', ledgerId: 'L' },
    log: { debug: silent, info: silent, warn: (_, text) => said.push(text), error: (_, text) => said.push(text) },
    owners: { last: async () => null, keep: async () => {} },
    stateOf: async () => null,
    async take() {
      if (!config.knows) throw new KnownElsewhere('kiosk')
      return { kind: 'accepted', batchId: 'b' as BatchId, rowNo: 1, state: 'READY' }
    },
  })
  onTestFinished(() => intake?.close(1_000))
  await until('both are put back', async () => (await queue.getDelayedCount()) === 2)
  config.knows = true
  await until('both are taken', async () => (await queue.getCompletedCount()) === 2)
  expect(await queue.getFailedCount()).toBe(0)
  expect(said.at(-1)).toMatch(/^Merchant "kiosk" is in the ledger.*more than 10 minutes: add the merchant/)
})

test('what a monitor is told of the queue: whose it is, whether anybody takes from it, and what waits elsewhere', async ({
  onTestFinished,
}) => {
  const dir = mkdtempSync(join(tmpdir(), 'tr-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  await using redis = await openRedisServer(join(dir, 's'))
  const address = { path: redis.path }
  const openQueue = (prefix: string) => {
    const queue = new Queue('tranche-intake', { connection: address, prefix })
    onTestFinished(() => queue.close())
    return queue
  }
  const [queue, other, owned] = [openQueue('bull'), openQueue('prod'), openQueue('shop')]
  const raw = new Redis(address)
  onTestFinished(() => raw.disconnect())
  const nowMs = Date.now()
  const timestamp = nowMs - 400_000
  const told = async () => {
    const seen = await lookAtIntake(address, 'bull')
    if (seen === null) throw new Error('Redis did not answer')
    return troublesOfIntake(seen, 'L', nowMs).map((trouble) => attentionText({ code: 'intake', trouble }, 'p').says)
  }
  await raw.set('bull:tranche-intake:ledger', 'L')
  await queue.add('instruction', {}, { timestamp: nowMs })
  await queue.add('instruction', {}, { timestamp, delay: 900_000 }) // as its producer wants it
  expect(await told()).toEqual([])

  await raw.set('shop:tranche-intake:ledger', 'M')
  await owned.add('instruction', {}, { timestamp })
  await other.add('instruction', {}, { timestamp })
  await queue.addBulk([3, 0].map((priority) => ({ name: 'instruction', data: {}, opts: { timestamp, priority } })))
  await queue.add('instruction', {}, { timestamp, delay: 5_000 })
  await queue.setGlobalConcurrency(0)
  const queued = 'the queue tranche-intake under the prefix bull'
  const waits = [
    expect.stringMatching(`^2 messages wait in ${queued} \\(waiting\\), one of them for 7 min`),
    expect.stringMatching(`^1 message waits in ${queued} \\(prioritized\\)`),
    expect.stringMatching(`^2 messages wait in ${queued} \\(delayed\\), .* A worker put them back`),
  ]
  const elsewhere = expect.stringMatching(/^1 message waits in tranche-intake under the prefix prod, where no ledger/)
  expect(await told()).toEqual([expect.stringContaining('a global concurrency of 0'), ...waits, elsewhere])
  await queue.removeGlobalConcurrency()
  await queue.pause()
  expect(await told()).toEqual([expect.stringMatching(`^${queued} is paused`), ...waits, elsewhere])
  await raw.set('bull:tranche-intake:ledger', 'M')
  expect(await told()).toEqual([expect.stringMatching(`^${queued} belongs to another ledger \\(M\\)`), elsewhere])
  redis.freeze()
  expect(await lookAtIntake(address, 'bull', 100)).toBeNull()
  redis.thaw()
})

test('no event of a job names a card number that is the id or the name of the job', async ({ onTestFinished }) => {
  const dir = mkdtempSync(join(tmpdir(), 'tr-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  await using redis = await openRedisServer(join(dir, 's'))
  const queue = new Queue('tranche-intake', { connection: { path: redis.path } })
  onTestFinished(() => queue.close())
  const card = '4111111111111111'
  await queue.add('instruction', {}, { jobId: `inv-${card}` })
  await queue.add(`pay ${card}`, {})
  const silent = () => {}
  const intake = await openIntakeQueue({
    ...{ address: { path: redis.path }, prefix: 'bull', ledgerId: 'L' },
    log: { debug: silent, info: silent, warn: silent, error: silent },
    owners: { last: async () => null, keep: async () => {} },
    stateOf: async () => null,
    take: async () => ({ kind: 'refused', reasons: ['of no matter'], withheld: null }),
  })
  onTestFinished(() => intake?.close(1_000))
  const raw = new Redis({ path: redis.path })
  onTestFinished(() => raw.disconnect())
  await until('the jobs are taken', async () => (await queue.getJobCountByTypes('waiting', 'active')) === 0)
  const events = async () => JSON.stringify(await raw.xrange('bull:tranche-intake:events', '-', '+'))
  await until('no event names it', async () => !(await events()).includes(card))
})
