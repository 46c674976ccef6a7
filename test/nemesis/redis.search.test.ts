// Between the worker and Redis: connections that fall silent and never close, and a Redis that takes them and says nothing.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { booksOf, compareBooks, countsIn } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { openProxy, type Treatment } from '../fixtures/proxy.ts'
import { openRedisServer } from '../fixtures/redis.ts'
import { tell } from './figures.ts'

async function prepared(office: Office, count: number): Promise<{ input: string; out: string }> {
  const rows = refunds(count)
  office.sandbox.prepare(preparationFor(rows))
  return { input: await office.put('in.csv', toCsv(rows)), out: office.path('out.csv') }
}

// More rows than are handed out at a time: those behind must come through Redis.
const ROWS = 600

// Mostly waiting, which they can do together.
test.concurrent.for<Treatment>(['lose-replies', 'lose-requests'])(
  'connections to Redis that fall silent (%s) are given up for new ones',
  async (how, { expect, onTestFinished }) => {
    const office = await openOffice({ apart: true, latencyMs: 20, env: { TRANCHE_IN_FLIGHT: '4' } })
    onTestFinished(() => office.close())
    await using redis = await openRedisServer(join(office.dir, 'r.sock'))
    await using proxy = await openProxy({ path: redis.path })
    const { input, out } = await prepared(office, ROWS)
    const env = { TRANCHE_REDIS_URL: `redis://127.0.0.1:${proxy.port}` }
    const running = office.startWith(env, 'run', input, '--out', out)
    await until('the batch is under way', () => office.sandbox.log().length >= 30, running)
    proxy.treatStanding(how)
    const silentMs = Date.now()
    await until('the rest is worked off', () => office.sandbox.log().length === ROWS, running)
    tell(`silent Redis (${how}): all ${ROWS} rows after ${Date.now() - silentMs} ms`)
    const ran = await running.ended
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stderr).toMatch(
      /No work can be handed out \(.+\)\. What was sent is recorded.+Work is handed out again/s,
    )
    expect(countsIn(out)).toEqual({ APPROVED: ROWS })
    expect(office.sandbox.received()).toBe(ROWS)
    expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
  },
)

test.concurrent('a private Redis that freezes holds a run up for 5 s, however long it is frozen', async ({
  expect,
  onTestFinished,
}) => {
  const office = await openOffice({ apart: true, latencyMs: 20, env: { TRANCHE_IN_FLIGHT: '4' } })
  onTestFinished(() => office.close())
  const { input, out } = await prepared(office, ROWS)
  const running = office.start('run', input, '--out', out)
  await until('the batch is under way', () => office.sandbox.log().length >= 30, running)
  process.kill(Number(readFileSync(`${office.dataDir}/redis.pid`, 'utf8')), 'SIGSTOP')
  const ran = await running.ended
  expect(ran.code, ran.stderr).toBe(0)
  expect(ran.stderr).toMatch(/Redis cannot be used \(.+\)\. What was sent is recorded/)
  expect(ran.stderr).not.toContain('No work can be handed out')
  expect(countsIn(out)).toEqual({ APPROVED: ROWS })
  expect(office.sandbox.received()).toBe(ROWS)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test.concurrent('a run says that a Redis answers nothing, does not wait for it, and sends nothing', async ({
  expect,
  onTestFinished,
}) => {
  const office = await openOffice({ apart: true })
  onTestFinished(() => office.close())
  await using redis = await openRedisServer(join(office.dir, 'r.sock'))
  const { input, out } = await prepared(office, 3)
  const env = { TRANCHE_REDIS_URL: redis.path }
  redis.freeze()
  const vain = await office.trancheWith(env, 'run', input, '--out', out)
  expect(vain.code, vain.stderr).toBe(75)
  expect(vain.stderr).toContain(`Redis at ${redis.path} cannot be used (it takes connections, but answered nothing`)
  expect(vain.stderr).toContain('Nothing was sent')
  expect(office.sandbox.received()).toBe(0)
  redis.thaw()
  const ran = await office.trancheWith(env, 'run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(0)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test.concurrent.for([
  { command: 'run', falls: 'behind the first look', nth: 1 },
  { command: 'worker', falls: 'before it says whose the messages are', nth: 4 },
])(
  'a Redis that falls silent $falls ends a $command that has not begun to send',
  async ({ command, nth: silentFrom }, { expect, onTestFinished }) => {
    const office = await openOffice({ apart: true })
    onTestFinished(() => office.close())
    await using redis = await openRedisServer(join(office.dir, 'r.sock'))
    await using proxy = await openProxy({ path: redis.path })
    const { input, out } = await prepared(office, 3)
    const env = { TRANCHE_REDIS_URL: `redis://127.0.0.1:${proxy.port}` }
    proxy.treat((nth) => (nth < silentFrom ? 'pass' : 'hang'))
    const vain = await office.trancheWith(env, ...(command === 'run' ? ['run', input, '--out', out] : ['worker']))
    expect(vain.code, vain.stderr).toBe(75)
    expect(vain.stderr).toContain('Nothing was sent')
    expect(office.sandbox.received()).toBe(0)
  },
)
