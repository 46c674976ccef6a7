// A server that was put back, or replaced by its standby: nothing is sent from it until a person has taken the ledger over.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { LOCK_ADOPTING, REST_MS, startOfServer } from '../../../src/ledger/postgres/copies/identity.ts'
import { openSession } from '../../../src/ledger/postgres/session.ts'
import type { Token } from '../../../src/ledger/postgres/work/kept-answers.ts'
import { LEASE_MS, MARGIN_MS } from '../../../src/ledger/rules/trust.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import {
  CLERK,
  type Claimed,
  claim,
  claimNamed,
  DAY_MS,
  dueIn,
  dueRow,
  factsWith,
  findingOn,
  heartbeatOf,
  inAttempt,
  messageOf,
  NOW,
  openAccount,
  refund,
  settle,
  settlementOf,
  statesIn,
  submit,
} from '../../fixtures/ledgers.ts'
import { type Cluster, openCluster, query, queryIn } from '../../fixtures/postgres.ts'
import { type PostgresPlace, placeAt, postgresPlaceOn } from '../../fixtures/postgres-places.ts'
import { openProxy } from '../../fixtures/proxy.ts'
import { createMemoryRegister } from '../../fixtures/shared-register.ts'
import { copyOf, promote, putBack } from '../../nemesis/servers.ts'

let cluster: Cluster
let place: PostgresPlace
let ledger: Ledger

beforeEach(async () => {
  cluster = openCluster()
  onTestFinished(() => cluster.remove())
  place = await postgresPlaceOn(cluster.url)
  onTestFinished(() => place.remove())
  ledger = place.open()
})

const kindOf = async (one: Ledger) => (await one.alarm())?.kind ?? null

test('a server that was put back to an older state is known by the machine that worked since, and sends nothing', async () => {
  await ledger.renewEpoch()
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A'), refund('B')])
  const copy = copyOf(cluster)
  const row = await claimNamed(ledger, batchId, 'A')
  await settle(ledger, row, 'APPROVED', { facts: factsWith('51') })
  expect([await kindOf(ledger), await ledger.lastSentAtMs()]).toEqual([null, NOW])
  putBack(cluster, copy)
  const next = place.open()
  expect([await kindOf(next), await next.lastSentAtMs()]).toEqual(['older', null])
  await expect(next.cancel(batchId, 'no', CLERK, NOW)).rejects.toThrow('may not be the one that sent last')
  await expect(next.renewEpoch()).rejects.toThrow('may not be the one that sent last')
  await expect(next.adopt('restored', 'put back', CLERK, NOW)).resolves.toBe(2)
  expect(await statesIn(next, batchId)).toEqual(['IN_DOUBT', 'IN_DOUBT'])
  expect(await kindOf(next)).toBe(null)
  await next.renewEpoch()
})

test('no finding about a server that was put back is recorded before it is taken over', async () => {
  await ledger.renewEpoch()
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
  await settle(ledger, await claimNamed(ledger, batchId, 'A'), 'IN_DOUBT')
  const copy = copyOf(cluster)
  await beatUntilHeard(ledger)
  await ledger.resolve(findingOn('A', { finding: 'send-again', attempt: 1 }), CLERK, NOW + DAY_MS)
  await claimNamed(ledger, batchId, 'A', NOW + DAY_MS)
  putBack(cluster, copy)
  const next = place.open()
  const yesterdays = findingOn('A', { finding: 'not-executed', attempt: 1 })
  await expect(next.resolve(yesterdays, CLERK, NOW + DAY_MS)).rejects.toThrow('Nothing was recorded: what you found')
  expect(await statesIn(next, batchId)).toEqual(['IN_DOUBT'])
})

test('a server that was put back under workers that live hands nothing out: whoever saw more says so to all', async () => {
  const [seeing, other] = [ledger, place.openAt(cluster.url, {}, 'another desk')]
  const batchId = await submit(seeing, await openAccount(seeing), [refund('A'), refund('B'), refund('C')])
  await claimNamed(other, batchId, 'C')
  await claimNamed(seeing, batchId, 'B')
  const copy = copyOf(cluster)
  await settle(seeing, await claimNamed(seeing, batchId, 'A'), 'APPROVED', { facts: factsWith('51') })
  putBack(cluster, copy)
  const [a] = await dueIn(other, batchId)
  await expect(claim(seeing, a!)).rejects.toThrow('its server lacks what was committed from here')
  await seeing.beat(heartbeatOf('x:1'))
  expect(seeing.maySend()).toBe(false)
  expect(await claim(other, a!)).toEqual({ kind: 'not-free' })
  expect(await other.alarm()).toMatchObject({
    kind: 'older',
    noticed: expect.stringContaining('a worker saw something'),
  })
})

/** The ledger is put back to before what it saw last. `take` takes the lock that another connection keeps then, until it is let go. */
async function putBackUnder(take: string): Promise<() => Promise<unknown>> {
  await submit(ledger, await openAccount(ledger), [refund('A')])
  await beatUntilHeard(ledger)
  const copy = copyOf(cluster)
  await beatUntilHeard(ledger)
  putBack(cluster, copy)
  const keeper = await openSession({ ...place.address, url: cluster.url })
  await keeper.begin('READ COMMITTED', take)
  return () => keeper.close()
}

const takeTurn = () =>
  `SELECT pg_advisory_xact_lock(20817001, CAST(CAST(CAST('${place.address.schema}' AS regnamespace) AS oid) AS integer))`

test('who finds the server put back tells the others without a turn, whoever keeps it', async () => {
  const letGo = await putBackUnder(takeTurn())
  await beatUntilHeard(ledger)
  expect(await kindOf(place.openAt(cluster.url, {}, 'another desk'))).toBe('older')
  await letGo()
})

test('who finds the server put back sends nothing more, also where it cannot tell the others', async () => {
  const letGo = await putBackUnder(LOCK_ADOPTING)
  const told = () => ledger.beat(heartbeatOf('x:1')).catch(({ message }) => message)
  await expect.poll(told, { timeout: 20_000 }).toContain('lock timeout')
  expect(ledger.maySend()).toBe(false)
  await letGo()
})

test('a server put back to before what only a dead worker sent is known by each that has beaten since', async () => {
  const [dead, living] = [place.openAt(cluster.url, {}, 'another desk'), ledger]
  const batchId = await submit(living, await openAccount(living), [refund('A')])
  await beatUntilHeard(living)
  const copy = copyOf(cluster)
  await claimNamed(dead, batchId, 'A')
  await dead.close()
  await beatUntilHeard(living)
  putBack(cluster, copy)
  await beatUntilHeard(living)
  expect(living.maySend()).toBe(false)
  expect(await kindOf(place.openAt(cluster.url, {}, 'fourth desk'))).toBe('older')
  const next = await adoptRestored()
  await beatUntilHeard(living)
  await expect(living.renewEpoch()).rejects.toThrow('was put back and taken over while this worker stood still')
  expect(await kindOf(next)).toBe(null)
})

test('a worker whose first claim came after the copy misses it, and does not cover that up by another claim', async () => {
  const [seeing, other] = [ledger, place.openAt(cluster.url, {}, 'another desk')]
  const batchId = await submit(seeing, await openAccount(seeing), [refund('A'), refund('B')])
  const copy = copyOf(cluster)
  await settle(seeing, await claimNamed(seeing, batchId, 'A'), 'APPROVED', { facts: factsWith('51') })
  putBack(cluster, copy)
  const [a, b] = await dueIn(other, batchId)
  await expect(claim(seeing, b!)).rejects.toThrow('its server lacks what was committed from here')
  await seeing.beat(heartbeatOf('x:1'))
  expect(await claim(other, a!)).toEqual({ kind: 'not-free' })
  expect(await other.alarm()).toMatchObject({ kind: 'older' })
})

test('a worker that stood still while its server was put back and taken over stops itself, and nobody else', async () => {
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
  const copy = copyOf(cluster)
  await settle(ledger, await claimNamed(ledger, batchId, 'A'), 'APPROVED', { facts: factsWith('51') })
  putBack(cluster, copy)
  const next = await adoptRestored()
  await ledger.beat(heartbeatOf('x:1'))
  expect(ledger.maySend()).toBe(false)
  expect(await kindOf(next)).toBe(null)
  await expect(ledger.renewEpoch()).rejects.toThrow('was put back and taken over while this worker stood still')
  await next.renewEpoch()
})

test('a worker that looks while its server is being taken over stops itself, and nobody else', async () => {
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
  const copy = copyOf(cluster)
  await settle(ledger, await claimNamed(ledger, batchId, 'A'), 'APPROVED', { facts: factsWith('51') })
  putBack(cluster, copy)
  await inDatabase(`
    CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(777777); RETURN NEW; END $$;
    CREATE TRIGGER waits_for_test BEFORE INSERT ON epoch FOR EACH ROW EXECUTE FUNCTION wait_for_test()`)
  const gate = await openSession(place.address)
  await gate.exec('SELECT pg_advisory_lock(777777)')
  const waiting = () => inDatabase("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
  const adopting = adoptRestored()
  await expect.poll(waiting).toHaveLength(1)
  const looking = ledger.beat(heartbeatOf('x:1'))
  await expect.poll(waiting).toHaveLength(2)
  await gate.close()
  await looking
  expect(await kindOf(await adopting)).toBe(null)
  await expect(ledger.renewEpoch()).rejects.toThrow('was put back and taken over while this worker stood still')
})

test('a server that has started a moment ago hands nothing out until all that live have looked', async () => {
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A'), refund('B')])
  const slow = place.openAt(cluster.url, {}, 'another desk', { restMs: 5_000 })
  await expect
    .poll(async () => (await claim(slow, await dueRow(slow, batchId, 'A'))).kind, { timeout: 20_000 })
    .toBe('claimed')
  cluster.kill()
  cluster.start()
  const b = await dueRow(slow, batchId, 'B')
  expect(await claim(slow, b)).toEqual({ kind: 'not-free' })
  await expect.poll(async () => (await claim(slow, b)).kind, { timeout: 20_000 }).toBe('claimed')
})

test('a standby that took over is noticed in every claim and at every beat, and goes on when a person has adopted it', async () => {
  await ledger.renewEpoch()
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A'), refund('B')])
  const [a, b] = await dueIn(ledger, batchId)
  expect(await claim(ledger, a!)).toMatchObject({ kind: 'claimed' })
  expect(ledger.maySend()).toBe(true)
  await promote(cluster)
  expect(await claim(ledger, b!)).toEqual({ kind: 'not-free' })
  await ledger.beat(heartbeatOf('x:1'))
  expect(ledger.maySend()).toBe(false)
  expect(await kindOf(ledger)).toBe('failed-over')
  expect(await settle(ledger, inAttempt(a!, 1), 'APPROVED')).toMatchObject({ state: 'APPROVED' })
  await expect(ledger.adopt('moved', 'it took over', CLERK, NOW)).rejects.toThrow('did less than 15 s ago')
  await ledger.close()
  const next = place.open()
  expect(await next.adopt('moved', 'it took over', CLERK, NOW)).toBe(0)
  expect(await kindOf(next)).toBe(null)
  expect(await claim(next, b!)).toMatchObject({ kind: 'claimed' })
})

test('nothing is taken in or called cancelled while the server waits for no standby that it should wait for', async () => {
  const accountId = await openAccount(ledger)
  const batchId = await submit(ledger, accountId, [refund('A')])
  const careful = place.openAt(cluster.url, {}, 'third desk', { failover: 'synchronous' })
  await expect(careful.recordMessage(messageOf(accountId, refund('M')))).rejects.toMatchObject({ code: 'unavailable' })
  await expect(careful.cancel(batchId, 'test', CLERK, NOW)).rejects.toThrow(
    'or it waits for no standby. Nothing was changed',
  )
})

test('a copy in another database of the same server sends nothing until it is adopted, and the ledger goes on', async () => {
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A'), refund('B')])
  await ledger.close()
  const inDatabase = (name: string) => cluster.url.replace('/postgres?', `/${name}?`)
  await query(inDatabase('template1'), 'CREATE DATABASE trial TEMPLATE postgres')
  const trial = placeAt({ ...place.address, url: inDatabase('trial') }, ledger.ledgerId)
  onTestFinished(() => trial.remove())
  for (const failover of ['none', 'storage'] as const) {
    const copy = trial.openAt(inDatabase('trial'), {}, failover, { failover })
    expect(await kindOf(copy)).toBe(failover === 'none' ? 'elsewhere' : 'failed-over')
    expect(await claim(copy, await dueRow(copy, batchId, 'A'))).toMatchObject({ kind: 'not-free' })
    await copy.close()
  }
  const again = place.open()
  expect(await kindOf(again)).toBe(null)
  expect(await claim(again, await dueRow(again, batchId, 'A'))).toMatchObject({ kind: 'claimed' })
})

test('in another database, a ledger whose disks are replicated is known as a copy as well', async () => {
  const { url, schema } = place.address
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
  await query(url, `DELETE FROM ${schema}.meta WHERE key IN ('system_id', 'timeline')`)
  const onStorage = place.openAt(url, {}, 'storage', { failover: 'storage' })
  expect(await kindOf(onStorage)).toBe(null)
  await query(url, `UPDATE ${schema}.meta SET value = '1.1' WHERE key = 'database'`)
  expect(await kindOf(onStorage)).toBe('elsewhere')
  expect(await claim(onStorage, await dueRow(onStorage, batchId, 'A'))).toMatchObject({ kind: 'not-free' })
})

test('once a person has taken the ledger over, what other machines saw before says nothing any more', async () => {
  const other = place.openAt(cluster.url, {}, 'another desk')
  await ledger.renewEpoch()
  const copy = copyOf(cluster)
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
  await claimNamed(other, batchId, 'A')
  await other.renewEpoch()
  await other.close()
  const theirs = readFileSync(place.witnessAt('another desk'), 'utf8')
  putBack(cluster, copy)
  rmSync(place.witnessAt('another desk'))
  const next = place.open()
  await next.adopt('restored', 'put back', CLERK, NOW)
  writeFileSync(place.witnessAt('another desk'), theirs)
  expect(await kindOf(next)).toBe(null)
})

test('what another machine saw committed stands against a person who says that nothing is lost', async () => {
  await ledger.renewEpoch()
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
  const copy = copyOf(cluster)
  await settle(ledger, await claimNamed(ledger, batchId, 'A'), 'APPROVED', { facts: factsWith('51') })
  await ledger.close()
  putBack(cluster, copy)
  await promote(cluster)
  const office = placeAt(place.address, ledger.ledgerId)
  onTestFinished(() => office.remove())
  const adopting = office.open()
  expect(await kindOf(adopting)).toBe('failed-over')
  await adopting.adopt('moved', 'it had everything', CLERK, NOW)
  expect(await kindOf(adopting)).toBe(null)
  const next = place.open()
  expect(await kindOf(next)).toBe('older')
  await expect(next.renewEpoch()).rejects.toThrow('may not be the one that sent last')
  await expect(next.adopt('moved', 'it had everything', CLERK, NOW)).rejects.toThrow(
    'may not be the one that sent last',
  )
  expect(await next.adopt('restored', 'it lacked the last of it', CLERK, NOW)).toBe(1)
  expect(await kindOf(next)).toBe(null)
})

test('while an older state is being taken over, nothing is claimed; broken off, it says so and is done again', async () => {
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
  const [a] = await dueIn(ledger, batchId)
  const { schema } = place.address
  await query(cluster.url, `INSERT INTO ${schema}.meta (key, value) VALUES ('unfinished', 'adopting')`)
  expect(await claim(ledger, a!)).toEqual({ kind: 'not-free' })
  expect(await ledger.alarm()).toMatchObject({ kind: 'older', noticed: expect.stringContaining('was broken off') })
  await ledger.close()
  const next = place.open()
  expect(await next.adopt('restored', 'again', CLERK, NOW)).toBe(1)
  expect(await kindOf(next)).toBe(null)
})

test('from its first step on, an adoption of an older state keeps every claim out', async () => {
  const account = await openAccount(ledger)
  const batchId = await submit(
    ledger,
    account,
    Array.from({ length: 700 }, (_, i) => refund(`R-${i}`)),
  ) // two steps
  const due = await dueIn(ledger, batchId)
  await ledger.close()
  const adopting = place.open().adopt('restored', 'put back', CLERK, NOW)
  const late = place.openAt(cluster.url, {}, 'another desk')
  const moved = () =>
    query<{ n: string }>(cluster.url, `SELECT count(*) AS n FROM ${place.address.schema}.move WHERE cause = 'restore'`)
  await expect.poll(async () => Number((await moved())[0]!.n), { timeout: 20_000 }).toBeGreaterThan(0)
  expect(await claim(late, due.at(-1)!)).toEqual({ kind: 'not-free' })
  expect(await adopting).toBe(700)
})

test('a worker of before the adoption claims nothing after it, however its lease stands', async () => {
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
  const [a] = await dueIn(ledger, batchId)
  await ledger.beat(heartbeatOf('x:1'))
  const { schema } = place.address
  await query(cluster.url, `UPDATE ${schema}.worker SET lease_until = now() - interval '1 s'`)
  await place.openAt(cluster.url, {}, 'another desk').adopt('moved', 'no doubt', CLERK, NOW)
  expect(await claim(ledger, a!)).toEqual({ kind: 'not-free' })
})

test('a row that was to be executed after the time that is lost stays READY where a person says until when', async () => {
  await ledger.renewEpoch()
  const rows = [refund('A'), refund('B', { executeAtMs: NOW + 1_000 }), refund('C', { executeAtMs: NOW + 5_000 })]
  const batchId = await submit(ledger, await openAccount(ledger), rows)
  await inDatabase("UPDATE worker SET lease_until = clock_timestamp() - interval '1 s'")
  const next = place.openAt(cluster.url, {}, 'third desk')
  expect(await next.adopt('restored', 'put back', CLERK, NOW, NOW + 5_000)).toBe(2)
  expect(await statesIn(next, batchId)).toEqual(['IN_DOUBT', 'IN_DOUBT', 'READY'])
})

/** What a machine kept that was away meanwhile: its answer to a claim of before. */
async function handIn(row: Claimed, to: 'READY' | 'DECLINED', token: Token): Promise<void> {
  const kept = { settlement: settlementOf(row, to), token }
  writeFileSync(place.answersAt('desk'), `${JSON.stringify(kept)}\n`)
  await place.openAt(cluster.url, {}, 'desk').sweep(NOW)
}

const inDatabase = (sql: string) => queryIn<{ worker: string; claim_no: string }>(place.address, sql)

async function tokenOfClaim(): Promise<Token> {
  const [found] = await inDatabase('SELECT worker, claim_no FROM claim')
  return { worker: Number(found?.worker), claimNo: Number(found?.claim_no) }
}

/** All leases are over meanwhile, also that of the desk, which lives on in this process and renews its own. */
async function withoutLeases<T>(act: () => Promise<T>): Promise<T> {
  await inDatabase(`
    CREATE FUNCTION end_lease() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.lease_until := clock_timestamp() - interval '1 s'; RETURN NEW; END $$;
    CREATE TRIGGER ends_lease BEFORE INSERT OR UPDATE ON worker FOR EACH ROW EXECUTE FUNCTION end_lease();
    UPDATE worker SET lease_until = lease_until`)
  try {
    return await act()
  } finally {
    await inDatabase('DROP FUNCTION end_lease CASCADE')
  }
}

async function adoptRestored(): Promise<Ledger> {
  const next = place.openAt(cluster.url, {}, 'third desk')
  await withoutLeases(() => next.adopt('restored', 'put back', CLERK, NOW))
  return next
}

test('a proof that nothing was sent frees no row that was claimed once more in what is lost', async () => {
  await ledger.renewEpoch()
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
  const row = await claimNamed(ledger, batchId, 'A')
  const token = await tokenOfClaim()
  const copy = copyOf(cluster)
  await settle(ledger, row, 'READY')
  expect((await claimNamed(place.openAt(cluster.url, {}, 'another desk'), batchId, 'A')).attempt).toBe(2)
  putBack(cluster, copy)
  const next = await adoptRestored()
  await handIn(row, 'READY', token)
  expect(await statesIn(next, batchId)).toEqual(['IN_DOUBT'])
})

test('nor one that was in doubt already when the older state was taken over', async () => {
  await ledger.renewEpoch()
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
  const row = await claimNamed(ledger, batchId, 'A')
  const token = await tokenOfClaim()
  await settle(ledger, row, 'IN_DOUBT')
  const next = await adoptRestored() // a person has resolved it in what is lost, and another worker has sent it
  await handIn(row, 'READY', token)
  expect(await statesIn(next, batchId)).toEqual(['IN_DOUBT'])
})

test('nor one whose adoption is still under way', async () => {
  await ledger.renewEpoch()
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
  const row = await claimNamed(ledger, batchId, 'A')
  const token = await tokenOfClaim()
  await settle(ledger, row, 'IN_DOUBT')
  await inDatabase(`
    CREATE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'broken off'; END $$;
    CREATE TRIGGER breaks BEFORE INSERT ON act FOR EACH ROW WHEN (NEW.what = 'adopt') EXECUTE FUNCTION break_off()`)
  const next = place.openAt(cluster.url, {}, 'third desk')
  await expect(withoutLeases(() => next.adopt('restored', 'put back', CLERK, NOW))).rejects.toThrow('broken off')
  await handIn(row, 'READY', token)
  expect(await statesIn(next, batchId)).toEqual(['IN_DOUBT'])
})

test.each(['READY', 'DECLINED'] as const)(
  '%s of a claim that is lost does not end the doubt of another claim',
  async (to) => {
    await ledger.renewEpoch()
    const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
    const copy = copyOf(cluster)
    const row = await claimNamed(ledger, batchId, 'A')
    const token = await tokenOfClaim()
    putBack(cluster, copy)
    const next = await adoptRestored()
    await inDatabase("UPDATE instruction SET state = 'READY'") // as a person found, after the rest
    await inDatabase("UPDATE tally SET count = CASE state WHEN 'READY' THEN 1 ELSE 0 END")
    await inDatabase('UPDATE account SET held_reason = NULL')
    const theirs = await claimNamed(next, batchId, 'A')
    expect(theirs).toEqual(row)
    await settle(next, theirs, 'IN_DOUBT')
    await handIn(row, to, token)
    expect(await statesIn(next, batchId)).toEqual(['IN_DOUBT'])
  },
)

test('an epoch that another machine wrote in the Redis that they share is known', async () => {
  const register = createMemoryRegister()
  register.held = '900-there'
  await expect(ledger.renewEpoch(register)).rejects.toThrow('Redis records later work')
  register.held = null
  await ledger.renewEpoch(register)
  expect(register.held).toMatch(/^2-[0-9a-f]{24}$/)
})

/** A process that would end, and why. */
function dying() {
  const faults: unknown[] = []
  const die = (error: unknown): never => {
    faults.push(error)
    throw error
  }
  return { faults, die }
}

const urlOf = ({ port }: { readonly port: number }) => `postgres://tranche@127.0.0.1:${port}/postgres`

async function startIn(timeZone: string): Promise<string> {
  const session = await openSession({ ...place.address, url: cluster.url })
  await session.begin('READ COMMITTED', `SET LOCAL timezone TO '${timeZone}'; SELECT 1`)
  const start = await session.run(startOfServer())
  await session.close()
  return start
}

/** A machine that has seen nothing of this ledger. */
function otherMachine(): PostgresPlace {
  const other = placeAt({ ...place.address, url: cluster.url }, ledger.ledgerId)
  onTestFinished(() => other.remove())
  return other
}

describe('what a machine saw is known by those that share a Redis with it', () => {
  test('when it is dead, and its server was put back while no other worked', async () => {
    const register = createMemoryRegister()
    await ledger.renewEpoch(register)
    const batchId = await submit(ledger, await openAccount(ledger), [refund('A'), refund('B')])
    const copy = copyOf(cluster)
    await claimNamed(ledger, batchId, 'A')
    putBack(cluster, copy)
    const other = otherMachine()
    const openOther = () => other.openAt(cluster.url, {}, 'another desk')
    const noticed = 'Redis records later work by this ledger, so its server was put back'
    await expect(openOther().renewEpoch(register)).rejects.toThrow(noticed)
    await adoptRestored()
    await openOther().renewEpoch(register)
    expect([...(await register.testimonies()).keys()]).toEqual(['another desk'])
  })

  test('by a worker that stood still since before the copy, as soon as it is heard again', async () => {
    const register = createMemoryRegister()
    const { faults, die } = dying()
    const standing = otherMachine().openAt(cluster.url, {}, 'desk', { die })
    await standing.renewEpoch(register)
    await standing.beat(heartbeatOf('x:1'))
    expect(standing.maySend()).toBe(true)
    await ledger.renewEpoch(register)
    const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
    const copy = copyOf(cluster)
    await claimNamed(ledger, batchId, 'A')
    putBack(cluster, copy)
    await beatUntilHeard(standing)
    expect(standing.maySend()).toBe(false)
    await expect.poll(() => String(faults[0]), { timeout: 20_000 }).toContain('Redis records later work')
    await beatUntilHeard(standing)
    expect(standing.maySend()).toBe(false)
  })

  test('and a worker whose server was only started again goes on when it has looked', async () => {
    const register = createMemoryRegister()
    await ledger.renewEpoch(register)
    await beatUntilHeard(ledger)
    cluster.kill()
    cluster.start()
    await beatUntilHeard(ledger)
    await expect.poll(() => beatUntilHeard(ledger).then(ledger.maySend), { timeout: 20_000 }).toBe(true)
    expect(register.looks).toBe(2)
  })

  test('also by who asked Redis before its server was put back, and reads the ledger after', async () => {
    const register = createMemoryRegister()
    await ledger.renewEpoch(register)
    const batchId = await submit(ledger, await openAccount(ledger), [refund('A'), refund('B')])
    const copy = copyOf(cluster)
    await using proxy = await openProxy({ path: join(cluster.dir, '.s.PGSQL.5432') })
    await proxy.shut()
    const starting = otherMachine().openAt(urlOf(proxy), {}, 'another desk').renewEpoch(register)
    const stopped = expect(starting).rejects.toThrow('Redis records later work')
    await claimNamed(ledger, batchId, 'A')
    await ledger.close()
    putBack(cluster, copy)
    await proxy.open()
    await stopped
  })

  test('and is not written over by whoever starts there while its server is put back', async () => {
    const register = createMemoryRegister()
    await ledger.renewEpoch(register)
    const batchId = await submit(ledger, await openAccount(ledger), [refund('A'), refund('B')])
    const copy = copyOf(cluster)
    await claimNamed(ledger, batchId, 'A')
    await ledger.close()
    const keeper = await openSession({ ...place.address, url: cluster.url })
    await keeper.begin('READ COMMITTED', takeTurn())
    const starting = place.open().renewEpoch(register)
    const stopped = expect(starting).rejects.toThrow('records later work')
    const waits = () => inDatabase("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    await expect.poll(waits, { timeout: 20_000 }).not.toHaveLength(0)
    putBack(cluster, copy)
    await keeper.close()
    await stopped
  })

  test('also what was sent, and told, on the word of the server that it was before', async () => {
    const register = createMemoryRegister()
    const { faults, die } = dying()
    const living = otherMachine().openAt(cluster.url, {}, 'another desk', { die, restMs: 5_000 })
    await living.renewEpoch(register)
    await ledger.renewEpoch(register)
    await beatUntilHeard(living)
    cluster.kill()
    cluster.start()
    await beatUntilHeard(living)
    await expect.poll(() => register.looks, { timeout: 20_000 }).toBeGreaterThan(2) // at once, and nothing is told yet
    const [, ...said] = (await register.testimonies()).get('desk')!.split(' ')
    register.testify('desk', ['0000000000000009', ...said].join(' '))
    await expect.poll(() => String(faults[0]), { timeout: 20_000 }).toContain('Redis records later work')
    expect(living.maySend()).toBe(false)
  })

  test('and connections with other time zones are no server that was started anew', async () => {
    await ledger.renewEpoch(createMemoryRegister())
    await beatUntilHeard(ledger)
    const start = await startIn('UTC')
    expect(await startIn('Asia/Kathmandu')).toBe(start)
  })

  test('and an adoption stands, also after another one of the same copy', async () => {
    const register = createMemoryRegister()
    await ledger.renewEpoch(register)
    const copy = copyOf(cluster)
    for (const desk of ['another desk', 'third desk']) {
      putBack(cluster, copy)
      await otherMachine().open().adopt('restored', 'put back', CLERK, NOW)
      await otherMachine().openAt(cluster.url, {}, desk).renewEpoch(register)
    }
  })

  test('and a Redis that is away lets no worker start, but stops none', async () => {
    const register = createMemoryRegister()
    register.isAway = true
    await expect(ledger.renewEpoch(register)).rejects.toThrow('Redis is away')
    register.isAway = false
    await ledger.renewEpoch(register)
    register.isAway = true
    await expect(ledger.renewEpoch(register)).resolves.toBeUndefined()
  })

  test('until the ledger knows its epoch no more', async () => {
    const register = createMemoryRegister()
    await ledger.renewEpoch(register)
    await place.openAt(cluster.url, {}, 'another desk').renewEpoch(register)
    expect([...(await register.testimonies()).keys()]).toEqual(['desk', 'another desk'])
    await inDatabase("UPDATE epoch SET at = at - interval '4 days' WHERE no < (SELECT max(no) FROM epoch)")
    for (let n = 0; n < 2; n++) await place.openAt(cluster.url, {}, 'third desk').renewEpoch(register)
    expect([...(await register.testimonies()).keys()]).toEqual(['another desk', 'third desk'])
  })
})

test('a worker that starts, and whose witness knows of later work, says so to all', async () => {
  await ledger.renewEpoch()
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
  const copy = copyOf(cluster)
  await claimNamed(ledger, batchId, 'A')
  await ledger.close()
  putBack(cluster, copy)
  const other = otherMachine().open()
  await other.renewEpoch()
  await beatUntilHeard(other)
  await expect(place.open().renewEpoch()).rejects.toThrow('records later work by this ledger')
  expect(await kindOf(other)).toBe('older')
  await beatUntilHeard(other)
  expect(other.maySend()).toBe(false)
})

test('a server rests for longer than a worker trusts', () => {
  expect(REST_MS).toBeGreaterThan(LEASE_MS - MARGIN_MS)
})

test('the witness is there with the first epoch, and knows each commit of a claim', async () => {
  expect(existsSync(place.witnessAt('desk'))).toBe(false)
  await ledger.renewEpoch()
  const commitNo = () => Number(readFileSync(place.witnessAt('desk'), 'utf8').slice(0, 16))
  const before = commitNo()
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
  await claimNamed(ledger, batchId, 'A')
  expect(commitNo()).toBeGreaterThan(before)
})

/** Its connection ended with the server that was stopped. */
async function beatUntilHeard(of: Ledger): Promise<void> {
  const isHeard = () =>
    of.beat(heartbeatOf('x:1')).then(
      () => true,
      () => false,
    )
  await expect.poll(isHeard, { timeout: 20_000 }).toBe(true)
}
