// Three services at once, an intake that is killed again and again, and a Redis that restarts: what became of each message.
//
// TRANCHE_TEST_MESSAGES: how many; 20,000 where nothing is said.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { findRedisServer } from '../../src/queues/private-redis.ts'
import { booksOf, compareBooks, query, recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'

const MESSAGES = Number(process.env.TRANCHE_TEST_MESSAGES ?? 20_000)
const KILLS = 5
const FIRST_ORDER = 500_000_000
const PRODUCER = fileURLToPath(new URL('../fixtures/child-producer.ts', import.meta.url))

interface Flood {
  readonly office: Office
  /** What the services saw, together. */
  readonly seen: Readonly<Record<'accepted' | 'duplicate' | 'unsure' | 'wrong', number>>
  /** Of the three books; empty: they agree. */
  readonly disagreements: readonly unknown[]
  readonly recorded: number
  readonly references: number
  readonly executed: number
  readonly orders: number
  readonly inDoubt: number
  /** Rows that were not executed and are not in doubt either. A killed worker leaves in doubt what it was sending. */
  readonly lost: number
  readonly refusals: number
  readonly takenMs: number
}

test(`each of ${MESSAGES} messages is one instruction, executed at most once, though the intake is killed five times`, {
  timeout: 900_000,
}, async () => {
  const { office, ...became } = await flood(MESSAGES, KILLS)
  await office.close()
  process.stdout.write(`${JSON.stringify(became)}\n`)
  expect(became).toMatchObject({ recorded: MESSAGES, references: MESSAGES, lost: 0 })
  expect(became.orders).toBe(became.executed) // at most once
  expect(became.executed).toBeGreaterThanOrEqual(MESSAGES - became.inDoubt)
  expect(became.seen.accepted + became.seen.duplicate).toBe(MESSAGES * 1.1)
  expect([became.seen.wrong, became.disagreements]).toEqual([0, []])
  expect(became.refusals).toBeGreaterThan(0)
})

async function flood(messages: number, kills: number): Promise<Flood> {
  const path = `/tmp/tr-flood-${process.pid}.sock`
  const office = await openOffice({ apart: true, env: { TRANCHE_REDIS_URL: path, TRANCHE_IN_FLIGHT: '64' } })
  office.sandbox.prepare({
    orders: Array.from({ length: messages }, (_, n) => ({
      ...{ orderId: String(FIRST_ORDER + n), state: 'settled', amount: '5000.00', currency: 'EUR' },
    })),
  })
  let redis = await startRedis(path, office.path('aof'))
  let worker = await office.worker()
  const atMs = Date.now()
  const share = Math.ceil(messages / 3)
  const producers = [0, 1, 2].map((at) => {
    const range = [at * share, Math.min(messages, (at + 1) * share)].map(String)
    return spawn(process.execPath, [PRODUCER, path, ...range, String(FIRST_ORDER)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  })
  const said = producers.map(({ stdout }) => text(stdout as NonNullable<ChildProcess['stdout']>))
  for (let kill = 1; kill <= kills; kill += 1) {
    const mark = Math.floor((messages * kill) / (kills + 2))
    await until(`${mark} are recorded`, () => recordedCount(office) >= mark)
    worker.kill('SIGKILL')
    await worker.ended
    if (kill === Math.ceil(kills / 2)) {
      redis.kill('SIGKILL')
      await once(redis, 'exit')
      redis = await startRedis(path, office.path('aof'))
    }
    worker = await office.worker()
  }
  const counts = (await Promise.all(said)).map((line) => JSON.parse(line) as Flood['seen'])
  const takenMs = Date.now() - atMs
  await until('nothing is open', () => openCount(office) === 0, worker)
  worker.kill('SIGTERM')
  await worker.ended
  redis.kill('SIGKILL')
  const rows = recordedIn(office)
  const executed = office.sandbox.log()
  const orders = new Set(executed.map(({ orderId }) => orderId))
  const orderIn = (reference: string | null) => String(FIRST_ORDER + Number(reference?.slice('N-'.length)))
  return {
    office,
    seen: counts.reduce((sum, one) => ({
      accepted: sum.accepted + one.accepted,
      duplicate: sum.duplicate + one.duplicate,
      unsure: sum.unsure + one.unsure,
      wrong: sum.wrong + one.wrong,
    })),
    disagreements: compareBooks(booksOf(office)),
    recorded: rows.length,
    references: new Set(rows.map(({ reference }) => reference)).size,
    executed: executed.length,
    orders: orders.size,
    inDoubt: rows.filter(({ state }) => state === 'IN_DOUBT').length,
    lost: rows.filter(({ reference, state }) => state !== 'IN_DOUBT' && !orders.has(orderIn(reference))).length,
    refusals: query<{ n: number }>(office, 'SELECT count(*) AS n FROM refusal')[0]?.n ?? 0,
    takenMs,
  }
}

function recordedCount(office: Office): number {
  return query<{ n: number }>(office, 'SELECT count(*) AS n FROM instruction')[0]?.n ?? 0
}

function openCount(office: Office): number {
  return (
    query<{ n: number }>(office, "SELECT count(*) AS n FROM instruction WHERE state IN ('READY', 'SENDING')")[0]?.n ?? 0
  )
}

/** It keeps what it was told, as a Redis must that other services hand messages in through. */
async function startRedis(path: string, directory: string): Promise<ChildProcess> {
  mkdirSync(directory, { recursive: true })
  const kept = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always', '--dir', directory]
  const child = spawn(findRedisServer(process.env), ['--port', '0', '--unixsocket', path, ...kept], { stdio: 'ignore' })
  await until('Redis answers', async () => {
    const redis = new Redis({ path, lazyConnect: true, retryStrategy: () => null })
    redis.on('error', () => {})
    try {
      await redis.connect()
      return (await redis.ping()) === 'PONG'
    } catch {
      return false
    } finally {
      redis.disconnect()
    }
  })
  return child
}
