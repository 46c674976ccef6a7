// Several workers on one ledger: who is alive, what becomes of the claims of one that is not, and what its answers are worth later.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { createSharedClock, systemClock } from '../../../src/app/clock.ts'
import type { Heartbeat } from '../../../src/domain/worker.ts'
import { LostConnection } from '../../../src/ledger/postgres/errors.ts'
import { createSeen } from '../../../src/ledger/postgres/seen.ts'
import { openSession, type Session } from '../../../src/ledger/postgres/session.ts'
import { createMember } from '../../../src/ledger/postgres/work/member.ts'
import { LEASE_MS } from '../../../src/ledger/rules/trust.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import {
  CLERK,
  claim,
  claimNamed,
  dueIn,
  factsWith,
  NOW,
  refund,
  rowIn,
  settle,
  settlementOf,
  statesIn,
  submit,
} from '../../fixtures/ledgers.ts'
import { query } from '../../fixtures/postgres.ts'
import { openProxy, type TcpProxy } from '../../fixtures/proxy.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../fixtures/use-ledger.ts'

usePostgresLedger()

let proxy: TcpProxy | null = null
afterEach(async () => {
  await proxy?.[Symbol.asyncDispose]()
  proxy = null
})

const batchOf = (...references: string[]) =>
  submit(
    ledger,
    accountId,
    references.map((reference) => refund(reference)),
  )

const at = (desk: string): Ledger => postgres.openAt(postgres.address.url, {}, desk)

/** Past every program. */
function change(text: string): Promise<object[]> {
  const { url, schema } = postgres.address
  return query(url, `SET search_path TO ${schema}; ${text}`)
}

function linesIn(path: string): number {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0
}

/** No word of any worker for longer than a lease. */
const silence = () => change(`UPDATE worker SET lease_until = clock_timestamp() - interval '1 s'`)
/** Nothing can be answered any more of what was claimed. */
const answersOver = () => change(`UPDATE claim SET answer_by = clock_timestamp() - interval '1 s'`)

function heartbeatOf(id: string): Heartbeat {
  return {
    id,
    host: 'there',
    pid: 7,
    command: 'worker',
    sinceMs: NOW,
    batchId: null,
    activity: 'working',
    beatAtMs: NOW,
  }
}

test('what a worker is sending stays its own while its lease lasts, however late its answer is', async () => {
  const batchId = await batchOf('A')
  const row = await claimNamed(ledger, batchId, 'A')
  const other = at('another desk')
  await answersOver()
  expect([await other.sweep(NOW), await other.sweepLost(NOW)]).toEqual([0, 0])
  expect(await other.sweepForgotten(NOW + 3_600_000, new Set())).toBe(0)
  expect(await settle(ledger, row, 'APPROVED')).toMatchObject({ state: 'APPROVED' })
})

test('what a silent worker was sending comes into doubt when no answer can come any more, and not before', async () => {
  const batchId = await batchOf('A', 'B')
  await claimNamed(ledger, batchId, 'A')
  const other = at('another desk')
  await silence()
  expect(await other.sweepLost(NOW)).toBe(0)
  expect(await statesIn(ledger, batchId)).toEqual(['SENDING', 'READY'])
  await answersOver()
  expect(await other.sweepLost(NOW)).toBe(1)
  expect(await statesIn(ledger, batchId)).toEqual(['IN_DOUBT', 'READY'])
  expect(await other.sweepLost(NOW)).toBe(0)
})

test('a worker that was given up claims nothing until it has beaten again', async () => {
  const batchId = await batchOf('A', 'B')
  const [a, b] = await dueIn(ledger, batchId)
  expect(await claim(ledger, a!)).toMatchObject({ kind: 'claimed' })
  await silence()
  await at('another desk').sweepLost(NOW)
  expect(await claim(ledger, b!)).toEqual({ kind: 'not-free' })
  await ledger.beat(heartbeatOf('there:7'))
  expect(await claim(ledger, b!)).toMatchObject({ kind: 'claimed' })
})

test('whoever comes to the place of a dead worker puts in doubt at once what that one was sending, and nothing else', async () => {
  const batchId = await batchOf('A', 'B')
  const other = at('another desk')
  await claimNamed(ledger, batchId, 'A')
  const theirs = await claimNamed(other, batchId, 'B')
  expect(await at('desk').sweep(NOW)).toBe(1)
  expect(await statesIn(ledger, batchId)).toEqual(['IN_DOUBT', 'SENDING'])
  expect(await settle(other, theirs, 'APPROVED')).toMatchObject({ state: 'APPROVED' })
})

test('an answer that comes after the row was given up settles it all the same', async () => {
  const batchId = await batchOf('A')
  const row = await claimNamed(ledger, batchId, 'A')
  await silence()
  await answersOver()
  await at('another desk').sweepLost(NOW)
  expect(await settle(ledger, row, 'APPROVED', { facts: factsWith('51') })).toMatchObject({ state: 'APPROVED' })
  expect((await ledger.batch(batchId))?.counts).toEqual({ APPROVED: 1 })
})

test('a worker that was given up, and was not told when it came back, has lost its share all the same', async () => {
  let aheadMs = 0
  const host = {
    ...systemClock,
    nowMs: () => systemClock.nowMs() + aheadMs,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  }
  const clock = createSharedClock(host)
  const way: { losesAnswers: boolean } = { losesAnswers: false }
  let losses = 0
  const connect = async (): Promise<Session> => {
    const session = await openSession(postgres.address)
    onTestFinished(() => session.close())
    return {
      ...session,
      async commit(last) {
        await session.commit(last)
        if (way.losesAnswers) throw new LostConnection(new Error('the answer was lost'))
      },
    }
  }
  const onGivenUp = () => {
    losses += 1
  }
  const member = createMember({
    ...{ connect, place: 'desk', clock, newId: () => 78, failover: 'none', restMs: 0, seen: createSeen(clock) },
    ...{ ensureLooked: () => true, onGivenUp },
  })
  await member.id()
  await change('UPDATE worker SET fenced_at = clock_timestamp()')
  aheadMs = LEASE_MS
  way.losesAnswers = true
  await expect(member.beat(heartbeatOf('x'))).rejects.toThrow('the answer was lost')
  way.losesAnswers = false
  const before = losses
  await member.beat(heartbeatOf('x'))
  expect(losses).toBe(before + 1)
  await member.leave()
})

test('a worker that another has ended may not send, and begins anew', async () => {
  const batchId = await batchOf('A')
  const [a] = await dueIn(ledger, batchId)
  await ledger.beat(heartbeatOf('there:7'))
  expect(ledger.maySend()).toBe(true)
  await change('UPDATE worker SET ended_at = clock_timestamp()')
  expect(await claim(ledger, a!)).toEqual({ kind: 'not-free' })
  await ledger.beat(heartbeatOf('there:7'))
  expect(ledger.maySend()).toBe(false)
  await ledger.beat(heartbeatOf('there:7'))
  expect(ledger.maySend()).toBe(true)
  expect(await claim(ledger, a!)).toMatchObject({ kind: 'claimed' })
})

test('an answer to a claim of a state that was put back does not settle the claim of another worker', async () => {
  const batchId = await batchOf('A')
  const row = await claimNamed(ledger, batchId, 'A')
  await change(
    "DELETE FROM claim; DELETE FROM move WHERE cause = 'claim'; UPDATE instruction SET state = 'READY', attempt = 0; UPDATE tally SET count = CASE state WHEN 'READY' THEN 1 ELSE 0 END",
  )
  const other = at('another desk')
  const again = await claimNamed(other, batchId, 'A')
  expect(again).toEqual(row)
  await settle(ledger, row, 'READY')
  expect(await statesIn(ledger, batchId)).toEqual(['SENDING'])
  await settle(ledger, row, 'APPROVED', { facts: factsWith('51') })
  expect(await rowIn(ledger, batchId, 'A')).toMatchObject({
    ...{ state: 'SENDING', warning: expect.stringContaining('attempt 1 was answered APPROVED (transaction id 51)') },
  })
  expect(await settle(other, again, 'APPROVED', { facts: factsWith('52') })).toMatchObject({ state: 'APPROVED' })
})

test('proof that a claim of a state that was put back was never sent frees no row that another sent since', async () => {
  const batchId = await batchOf('A')
  const row = await claimNamed(ledger, batchId, 'A')
  await change(
    "DELETE FROM claim; DELETE FROM move WHERE cause = 'claim'; UPDATE instruction SET state = 'READY', attempt = 0; UPDATE tally SET count = CASE state WHEN 'READY' THEN 1 ELSE 0 END",
  )
  const other = at('another desk')
  await settle(other, await claimNamed(other, batchId, 'A'), 'IN_DOUBT')
  await settle(ledger, row, 'READY') // of attempt 1 as well
  expect(await statesIn(ledger, batchId)).toEqual(['IN_DOUBT'])
})

test('proof of a claim frees no row that an adoption put in doubt: it may have been claimed again in what was lost', async () => {
  const batchId = await batchOf('A')
  const row = await claimNamed(ledger, batchId, 'A')
  await silence()
  await at('another desk').adopt('restored', 'put back', CLERK, NOW)
  await settle(ledger, row, 'READY')
  expect(await statesIn(ledger, batchId)).toEqual(['IN_DOUBT'])
  await settle(ledger, row, 'APPROVED', { facts: factsWith('51') })
  expect(await rowIn(ledger, batchId, 'A')).toMatchObject({
    ...{ state: 'IN_DOUBT', warning: expect.stringContaining('attempt 1 was answered APPROVED (transaction id 51)') },
  })
})

test('a claim that no worker is known for comes into doubt', async () => {
  const batchId = await batchOf('A')
  await claimNamed(ledger, batchId, 'A')
  await change('DELETE FROM worker')
  await answersOver()
  expect(await at('another desk').sweepLost(NOW)).toBe(1)
})

test('a claim that another program put on a row that is not being sent stops no sweep', async () => {
  const batchId = await batchOf('A', 'B', 'C')
  await claimNamed(ledger, batchId, 'A')
  await settle(ledger, await claimNamed(ledger, batchId, 'B'), 'APPROVED', { facts: factsWith('51') })
  await change(`
    INSERT INTO claim (row_id, account_id, order_key, worker, claim_no, answer_by)
    SELECT id, account_id, order_key || id, 404, 1, clock_timestamp() FROM instruction WHERE state IN ('READY', 'APPROVED')`)
  await silence()
  await answersOver()
  const other = at('another desk')
  expect(await other.sweepLost(NOW)).toBe(1)
  expect(await statesIn(ledger, batchId)).toEqual(['IN_DOUBT', 'APPROVED', 'READY'])
  expect(await other.sweepLost(NOW)).toBe(0)
})

test('workers are told of while they are alive, and the dead while a row of theirs is open', async () => {
  const batchId = await batchOf('A')
  const other = at('another desk')
  await ledger.beat(heartbeatOf('here:1'))
  await other.beat(heartbeatOf('there:2'))
  const told = async () => (await other.heartbeats()).map(({ id }) => id).toSorted()
  expect(await told()).toEqual(['here:1', 'there:2'])
  const row = await claimNamed(ledger, batchId, 'A')
  await change("UPDATE worker SET fenced_at = now() WHERE name = 'here:1'")
  expect(await told()).toEqual(['here:1', 'there:2'])
  await settle(ledger, row, 'APPROVED')
  expect(await told()).toEqual(['there:2'])
  await other.close()
  expect(await ledger.heartbeats()).toEqual([])
})

test('a worker that falls silent in the midst of a beat does not keep the others from taking it for lost', async () => {
  const folder = new URL(postgres.address.url).searchParams.get('host')
  proxy = await openProxy({ path: `${folder}/.s.PGSQL.5432` })
  const url = `postgres://tranche@127.0.0.1:${proxy.port}/postgres`
  const silent = postgres.openAt(url, { answerWithinMs: 60_000 }, 'silent')
  const row = await claimNamed(silent, await batchOf('A'), 'A')
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
  const folder = new URL(postgres.address.url).searchParams.get('host')
  proxy = await openProxy({ path: `${folder}/.s.PGSQL.5432` })
  const cutOff = postgres.openAt(
    `postgres://tranche@127.0.0.1:${proxy.port}/postgres`,
    { answerWithinMs: 500 },
    'cut off',
  )
  const batchId = await batchOf('A', 'B')
  const [a, b] = [await claimNamed(cutOff, batchId, 'A'), await claimNamed(cutOff, batchId, 'B')]
  proxy.treatStanding('reset')
  proxy.treat('reset')
  const settling = [
    settle(cutOff, a, 'APPROVED', { facts: factsWith('51') }),
    settle(cutOff, b, 'DECLINED', { reason: 'no funds' }),
  ]
  const path = postgres.answersAt('cut off')
  await expect.poll(() => linesIn(path), { timeout: 20_000 }).toBe(2)
  const next = at('cut off')
  expect(await next.sweep(NOW)).toBe(0)
  expect(await statesIn(next, batchId)).toEqual(['APPROVED', 'DECLINED'])
  expect(existsSync(path)).toBe(false)
  proxy.treat('pass') // the first one is not dead here
  await Promise.all(settling)
})

test('an answer that is settled but still in its file is not taken for a second one', async () => {
  const batchId = await batchOf('A')
  const row = await claimNamed(ledger, batchId, 'A')
  const settlement = settlementOf(row, 'DECLINED', { reason: 'no funds' })
  await ledger.settle(settlement)
  writeFileSync(postgres.answersAt('desk'), `${JSON.stringify({ settlement, token: null })}\n{"settl`)
  const next = at('desk')
  expect(await next.sweep(NOW)).toBe(0)
  expect(await rowIn(next, batchId, 'A')).toMatchObject({ state: 'DECLINED', warning: null })
})

test('an answer for another ledger, or for a row that is not there any more, settles nothing here', async () => {
  const batchId = await batchOf('A')
  const row = await claimNamed(ledger, batchId, 'A')
  const settlement = settlementOf(row, 'APPROVED', { facts: factsWith('51') })
  const [claimed] = await query<{ worker: string; no: string }>(
    postgres.address.url,
    `SELECT worker, claim_no AS no FROM ${postgres.address.schema}.claim`,
  )
  const token = { worker: Number(claimed?.worker), claimNo: Number(claimed?.no) }
  const own = postgres.answersAt('desk')
  const others = own.slice(0, -ledger.ledgerId.length - 1)
  const gone = { ...settlement, rowId: 9_999, row: { ...settlement.row, reference: 'gone' } }
  writeFileSync(own, `${JSON.stringify({ settlement: gone, token })}\n`)
  writeFileSync(others, `${JSON.stringify({ settlement, token })}\n`)
  const next = at('desk')
  expect(await next.sweep(NOW)).toBe(1)
  expect(await statesIn(next, batchId)).toEqual(['IN_DOUBT'])
  expect([existsSync(own), existsSync(others)]).toEqual([false, true])
  expect(linesIn(`${own}.unknown`)).toBe(1)
})
