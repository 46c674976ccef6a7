// Several workers on one ledger: who is alive, what becomes of the claims of one that is not, and what its answers are worth later.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSharedClock, systemClock } from '../../../src/app/clock.ts'
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
  heartbeatOf,
  NOW,
  openAccount,
  refund,
  rowIn,
  settle,
  settlementOf,
  statesIn,
  submit,
} from '../../fixtures/ledgers.ts'
import { query, queryIn } from '../../fixtures/postgres.ts'
import { placeAt } from '../../fixtures/postgres-places.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../fixtures/use-ledger.ts'

usePostgresLedger()

const batchOf = (...references: string[]) =>
  submit(
    ledger,
    accountId,
    references.map((reference) => refund(reference)),
  )

const kindOf = async (one: Ledger) => (await one.alarm())?.kind ?? null

const at = (desk: string): Ledger => postgres.openAt(postgres.address.url, {}, desk)

/** Past every program. */
const change = (text: string) => queryIn(postgres.address, text)

function linesIn(path: string): number {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0
}

/** No word of any worker for longer than a lease. */
const silence = () => change(`UPDATE worker SET lease_until = clock_timestamp() - interval '1 s'`)
/** Nothing can be answered any more of what was claimed. */
const answersOver = () => change(`UPDATE claim SET answer_by = clock_timestamp() - interval '1 s'`)

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

/** A member beside the worker of the ledger, on a clock that can be set forward. What it writes has the id 78. */
function memberHere() {
  let aheadMs = 0
  const host = {
    ...systemClock,
    nowMs: () => systemClock.nowMs() + aheadMs,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  }
  const clock = createSharedClock(host)
  const told: { losesAnswers: boolean; hasLooked: boolean; losses: number } = {
    losesAnswers: false,
    hasLooked: true,
    losses: 0,
  }
  const sessions: Session[] = []
  const connect = async (): Promise<Session> => {
    const session = await openSession(postgres.address)
    sessions.push(session)
    return {
      ...session,
      async commit(last) {
        await session.commit(last)
        if (told.losesAnswers) throw new LostConnection(new Error('the answer was lost'))
      },
    }
  }
  const member = createMember({
    ...{ connect, place: 'desk', clock, newId: () => 78, failover: 'none', restMs: 0, seen: createSeen(clock) },
    ensureLooked: () => told.hasLooked,
    onGivenUp: () => {
      told.losses += 1
    },
  })
  onTestFinished(async () => {
    await member.leave()
    for (const session of sessions) await session.close()
  })
  const advance = (ms: number) => {
    aheadMs += ms
  }
  return { member, told, advance, beat: () => member.beat(heartbeatOf('x')) }
}

test('a worker that was given up, and was not told when it came back, has lost its accounts all the same', async () => {
  const { member, told, advance, beat } = memberHere()
  await member.id()
  await change('UPDATE worker SET fenced_at = clock_timestamp()')
  advance(LEASE_MS)
  told.losesAnswers = true
  await expect(beat()).rejects.toThrow('the answer was lost')
  told.losesAnswers = false
  const before = told.losses
  await beat()
  expect(told.losses).toBe(before + 1)
})

test('a worker whose server was started again may not send until it has looked', async () => {
  const { member, told, beat } = memberHere()
  await beat()
  expect(member.isTrusted()).toBe(true)
  told.hasLooked = false
  await beat()
  expect(member.isTrusted()).toBe(false)
  told.hasLooked = true
  await beat()
  expect(member.isTrusted()).toBe(true)
})

const beatsAreLost = () => change('UPDATE lane SET last = 0 WHERE id = 78')

test('a worker whose beats the server lacks may not send, and is of the past once a person has taken the ledger over', async () => {
  const { member, beat } = memberHere()
  await beat()
  await beatsAreLost()
  await beat()
  expect([member.isTrusted(), member.isOverruled()]).toEqual([false, false])
  await change("DELETE FROM meta WHERE key = 'unfinished'; INSERT INTO meta (key, value) VALUES ('adopted_at', '7')")
  await beat()
  expect([member.isTrusted(), member.isOverruled()]).toEqual([false, true])
})

test('a worker whose beats the server lacks may not send, even if it does not get through to the others', async () => {
  const { member, told, beat } = memberHere()
  await beat()
  await beatsAreLost()
  told.losesAnswers = true
  await expect(beat()).rejects.toThrow('the answer was lost')
  expect(member.isTrusted()).toBe(false)
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

test('an account is not moved to another address while a worker that knows the address of before may send', async () => {
  const row = await claimNamed(ledger, await batchOf('A'), 'A')
  const other = at('office')
  const move = () => other.adoptAccount('default', 'https://new.example', 'merchant', 'a letter', CLERK, NOW)
  await expect(move()).rejects.toThrow('Stop every worker')
  await settle(ledger, row, 'APPROVED')
  await ledger.close()
  await move()
  expect(
    await openAccount(other).then(
      () => 'sends to the old one',
      (error: Error) => error.message,
    ),
  ).toContain('https://new.example')
})

/** A machine that has seen nothing of this ledger. */
function otherMachine(): Ledger {
  const other = placeAt(postgres.address, ledger.ledgerId)
  onTestFinished(() => other.remove())
  return other.open()
}

describe('no alarm is raised by a transactor that the ledger has forgotten', () => {
  const monthLater = async () => {
    for (const table of ['lane', 'epoch']) await change(`UPDATE ${table} SET at = at - interval '31 days'`)
  }
  const knownTransactors = async () => (await change('SELECT 1 FROM lane')).length

  test('because its machine works once a month, and so does another', async () => {
    await ledger.renewEpoch()
    await claimNamed(ledger, await submit(ledger, accountId, [refund('A')]), 'A')
    await monthLater()
    const before = await knownTransactors()
    const other = otherMachine()
    await other.renewEpoch()
    await other.beat(heartbeatOf('x'))
    expect(await knownTransactors()).toBeLessThan(before)
    expect(await kindOf(postgres.open())).toBe(null)
  })

  test('because its worker has had nothing to do for a month', async () => {
    await ledger.renewEpoch()
    await claimNamed(ledger, await submit(ledger, accountId, [refund('A')]), 'A')
    await monthLater()
    await ledger.renewEpoch()
    await otherMachine().beat(heartbeatOf('x'))
    expect(await kindOf(ledger)).toBe(null)
  })

  test('and none is forgotten before the epochs in which it worked', async () => {
    await ledger.renewEpoch()
    await claimNamed(ledger, await submit(ledger, accountId, [refund('A')]), 'A')
    await monthLater()
    await otherMachine().beat(heartbeatOf('x'))
    expect(await kindOf(ledger)).toBe(null)
  })
})
