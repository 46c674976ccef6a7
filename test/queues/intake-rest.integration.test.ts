// The intake while nothing can be recorded: it takes fewer messages, says so once, and loses none.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { Fault } from '../../src/domain/fault.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { KnownElsewhere } from '../../src/domain/message.ts'
import type { Log } from '../../src/ports/log.ts'
import { openIntakeQueue } from '../../src/queues/intake.ts'
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
    async take() {
      const row = { batchId: 'b' as BatchId, rowNo: 1, state: 'APPROVED' } as const
      if (recordedAtMs !== null) return { kind: 'duplicate', recordedAtMs, ...row }
      recordedAtMs = Date.now()
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
  let knows = false
  const intake = await openIntakeQueue({
    ...{ address: { path: redis.path }, prefix: 'bull', ledgerId: 'L' },
    log: { debug: silent, info: silent, warn: (_, text) => said.push(text), error: (_, text) => said.push(text) },
    owners: { last: async () => null, keep: async () => {} },
    async take() {
      if (!knows) throw new KnownElsewhere('kiosk')
      return { kind: 'accepted', batchId: 'b' as BatchId, rowNo: 1, state: 'READY' }
    },
  })
  onTestFinished(() => intake?.close(1_000))
  await until('both are put back', async () => (await queue.getDelayedCount()) === 2)
  knows = true
  await until('both are taken', async () => (await queue.getCompletedCount()) === 2)
  expect(await queue.getFailedCount()).toBe(0)
  expect(said.at(-1)).toMatch(/^Merchant "kiosk" is in the ledger.*more than 10 minutes: add the merchant/)
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
    take: async () => ({ kind: 'refused', reasons: ['of no matter'], withheld: null }),
  })
  onTestFinished(() => intake?.close(1_000))
  const raw = new Redis({ path: redis.path })
  onTestFinished(() => raw.disconnect())
  await until('the jobs are taken', async () => (await queue.getJobCountByTypes('waiting', 'active')) === 0)
  const events = async () => JSON.stringify(await raw.xrange('bull:tranche-intake:events', '-', '+'))
  await until('no event names it', async () => !(await events()).includes(card))
})
