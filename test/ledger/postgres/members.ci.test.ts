// Workers on one ledger that fall silent, or that the server hears no more: what takes seconds by the clock.

import { existsSync, readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { claimNamed, factsWith, heartbeatOf, NOW, refund, settle, statesIn, submit } from '../../fixtures/ledgers.ts'
import { query } from '../../fixtures/postgres.ts'
import { openProxy } from '../../fixtures/proxy.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../fixtures/use-ledger.ts'

usePostgresLedger()

async function proxyToServer() {
  const folder = new URL(postgres.address.url).searchParams.get('host')
  const proxy = await openProxy({ path: `${folder}/.s.PGSQL.5432` })
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  return { proxy, url: `postgres://tranche@127.0.0.1:${proxy.port}/postgres` }
}

test('a worker that falls silent in the midst of a beat does not keep the others from taking it for lost', async () => {
  const { proxy, url } = await proxyToServer()
  const silent = postgres.openAt(url, { answerWithinMs: 60_000 }, 'silent')
  const row = await claimNamed(silent, await submit(ledger, accountId, [refund('A')]), 'A')
  const inBeat = async () =>
    (
      await query(
        postgres.address.url,
        `SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE '%${postgres.address.schema}%'`,
      )
    ).length
  proxy.treatStanding('lose-replies')
  const beaten = silent.beat(heartbeatOf('silent:3')).catch(() => {})
  await expect.poll(inBeat, { timeout: 20_000 }).toBe(1)
  await expect.poll(inBeat, { timeout: 20_000 }).toBe(0)
  proxy.treatStanding('reset')
  await beaten
  expect(row.attempt).toBe(1)
})

test('an answer that the server does not take is kept in a file, and whoever comes next hands it in', async () => {
  const { proxy, url } = await proxyToServer()
  const cutOff = postgres.openAt(url, { answerWithinMs: 500 }, 'cut off')
  const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
  const [a, b] = [await claimNamed(cutOff, batchId, 'A'), await claimNamed(cutOff, batchId, 'B')]
  proxy.treatStanding('reset')
  proxy.treat('reset')
  const settling = [
    settle(cutOff, a, 'APPROVED', { facts: factsWith('51') }),
    settle(cutOff, b, 'DECLINED', { reason: 'no funds' }),
  ]
  const path = postgres.answersAt('cut off')
  const lines = () => (existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [])
  await expect.poll(lines, { timeout: 20_000 }).toHaveLength(2)
  const next = postgres.openAt(postgres.address.url, {}, 'cut off')
  expect(await next.sweep(NOW)).toBe(0)
  expect(await statesIn(next, batchId)).toEqual(['APPROVED', 'DECLINED'])
  expect(existsSync(path)).toBe(false)
  proxy.treat('pass') // the first one is not dead here
  await Promise.all(settling)
})
