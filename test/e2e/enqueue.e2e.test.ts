// A service that hands in messages as the example shows, and what it asks about those that were refused.

import { spawnSync } from 'node:child_process'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { openRedisServer } from '../fixtures/redis.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

/** By whatever Node the machine has: it need not be ours. */
function enqueue(redis: string, ...args: readonly string[]) {
  return spawnSync('node', ['examples/enqueue.mjs', ...args], {
    encoding: 'utf8',
    env: { PATH: `/usr/local/bin:/usr/bin:/bin:${process.env.PATH}`, TRANCHE_REDIS_URL: redis },
  })
}

test('the example hands its message in, and a refused one is listed with reason and time', async () => {
  await using redis = await openRedisServer(office.path('r.sock'))
  const env = { TRANCHE_REDIS_URL: redis.path }
  await office.worker(env)
  const taken = enqueue(redis.path, 'CAP-1')
  expect(taken.stdout, taken.stderr).toMatch(/status: 'accepted'/)
  const none = await office.tranche('messages', 'failed')
  expect([none.code, none.stdout, none.stderr]).toEqual([
    0,
    '',
    'No such message is in the ledger: none was refused.\n',
  ])

  const raw = new Redis(redis.path)
  await raw.hset('bull:tranche-intake:meta', 'paused', '1')
  for (const args of [['status', '--check'], ['doctor']]) {
    const told = await office.trancheWith(env, ...args)
    expect([told.code, told.stdout]).toEqual([6, expect.stringMatching(/ATTENTION .*tranche-intake.* is paused/)])
  }

  await raw.hdel('bull:tranche-intake:meta', 'paused')
  raw.disconnect()

  const beforeMs = Date.now()
  const refused = enqueue(redis.path, '=CAP 2')
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('refused: ')])
  await redis[Symbol.asyncDispose]() // the ledger is asked, not the queue
  const failed = await office.tranche('messages', 'failed', '--json')
  expect(failed.last).toMatchObject({
    count: 1,
    messages: [{ reference: '=CAP 2', merchant: 'default', reasons: [expect.stringMatching(/^reference: /)] }],
  })
  const { at } = failed.last.messages[0]
  expect(Date.parse(at)).toBeGreaterThanOrEqual(beforeMs)
  expect(Date.parse(at)).toBeLessThanOrEqual(Date.now())
  expect((await office.tranche('messages', 'failed', '--since', at)).stdout).toMatch(
    /^\d{4}-\S+Z {2}=CAP 2 {2}reference: /,
  )
  expect((await office.tranche('messages', 'failed', '--merchant', 'other')).stdout).toBe('')
  expect((await office.tranche('messages', 'failed', '--since', 'noon')).code).toBe(2)
})
