// What a server does that is in trouble, or in another's hands: it crashes in the midst of a commit, takes nobody in, ends what stands
// still, or does not say that its standby has a commit. No answer is lost by it, and nothing is said that is not so.

import { expect, onTestFinished, test } from 'vitest'
import { NotQuiet } from '../../../src/ledger/postgres/errors.ts'
import { makeTables } from '../../../src/ledger/postgres/make-tables.ts'
import { quietBy } from '../../../src/ledger/postgres/reads.ts'
import { openSession, type Session } from '../../../src/ledger/postgres/session.ts'
import { createSessions } from '../../../src/ledger/postgres/sessions.ts'
import { createTransactor, type TransactorParts } from '../../../src/ledger/postgres/transactor.ts'
import { all, allExact, change } from '../../../src/ledger/texts/script.ts'
import {
  claim,
  claimNamed,
  dueIn,
  factsWith,
  heartbeatOf,
  NOW,
  openAccount,
  refund,
  settle,
  statesIn,
  submit,
} from '../../fixtures/ledgers.ts'
import { freePort } from '../../fixtures/ports.ts'
import { openCluster, query } from '../../fixtures/postgres.ts'
import { postgresPlaceOn, TRANSACTOR_HERE } from '../../fixtures/postgres-places.ts'
import { openProxy } from '../../fixtures/proxy.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../fixtures/use-ledger.ts'

usePostgresLedger()

const die = (error: unknown): never => {
  throw error
}

const mark = (session: Session) => session.run(change("INSERT INTO meta (key, value) VALUES ('mark', 'x')"))

async function clusterOfOwn(settings: readonly string[] = []) {
  const cluster = openCluster({ settings })
  onTestFinished(() => cluster.remove())
  const schema = 'Own Ledger'
  const session = await openSession({ url: cluster.url, schema })
  await makeTables(session, schema)
  await session.close()
  const proxy = await openProxy({ path: `${cluster.dir}/.s.PGSQL.5432` })
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  const transactorAt = (url: string, over: Partial<TransactorParts> = {}) => {
    const sessions = createSessions(() => openSession({ url, schema, answerWithinMs: 60_000 }))
    onTestFinished(() => sessions.closeAll())
    return createTransactor({
      ...TRANSACTOR_HERE,
      schema,
      die,
      connect: sessions.kept(),
      reconnect: sessions.open,
      ...over,
    })
  }
  return { cluster, proxy, transactorAt, urlOfProxy: `postgres://tranche@127.0.0.1:${proxy.port}/postgres` }
}

test('after a crash, a commit that was lost is not taken for that of another transaction with its number', async () => {
  // Once any of its log were on the disk, its number would not be given again.
  const { cluster, proxy, transactorAt, urlOfProxy } = await clusterOfOwn(['wal_writer_delay = 10000'])
  const cutOff = transactorAt(urlOfProxy)
  let xid = 0
  const writing = cutOff.write('exclusive', async (session) => {
    const [found] = await session.exec('SELECT pg_current_xact_id()::text::bigint AS xid')
    xid = (found as { xid: number }).xid
    await mark(session)
    proxy.treatStanding('lose-requests')
    proxy.treat('hold')
  })
  await expect.poll(() => proxy.held + xid, { timeout: 20_000 }).toBeGreaterThan(0)
  cluster.kill()
  cluster.start()
  const other = transactorAt(cluster.url)
  const used: number[] = []
  while (used.at(-1) === undefined || (used.at(-1) as number) <= xid) {
    const how = await other.write('exclusive', async (session) => {
      const [found] = await session.exec('SELECT pg_current_xact_id()::text::bigint AS xid')
      used.push((found as { xid: number }).xid)
    })
    expect(how).toEqual({ kind: 'written' })
  }
  expect(used).toContain(xid)
  proxy.treat('pass')
  proxy.treatStanding('reset')
  expect(await writing).toEqual({ kind: 'not-written', why: 'busy' })
})

test('a commit that the standby may not have counts only once the standby has it', async () => {
  const { cluster, transactorAt } = await clusterOfOwn()
  const transactor = transactorAt(cluster.url)
  expect(await transactor.write('exclusive', mark)).toEqual({ kind: 'written' })
  // No standby is there: every commit waits for it.
  await query(cluster.url, "ALTER SYSTEM SET synchronous_standby_names = 'none_there'")
  await query(cluster.url, 'SELECT pg_reload_conf()')
  const named = () => query(cluster.url, 'SHOW synchronous_standby_names')
  await expect.poll(named, { timeout: 20_000 }).toEqual([{ synchronous_standby_names: 'none_there' }])
  let isOver = false
  const writing = transactor
    .write('exclusive', (session) => session.run(change("INSERT INTO meta (key, value) VALUES ('second', 'x')")))
    .finally(() => {
      isOver = true
    })
  const waiters = () =>
    query<{ pid: number }>(cluster.url, "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
  await expect.poll(async () => (await waiters()).length, { timeout: 20_000 }).toBe(1)
  const [first] = await waiters()
  await query(cluster.url, `SELECT pg_cancel_backend(${first!.pid})`)
  // It stands here, and is not told: whatever asks for it waits as well.
  await expect
    .poll(async () => (await waiters()).filter(({ pid }) => pid !== first!.pid).length, { timeout: 20_000 })
    .toBe(1)
  expect(isOver).toBe(false)
  await query(cluster.url, "ALTER SYSTEM SET synchronous_standby_names = ''")
  await query(cluster.url, 'SELECT pg_reload_conf()')
  expect(await writing).toEqual({ kind: 'written' })
})

test('an answer is kept while the server takes nobody in', async () => {
  const { url, schema } = postgres.address
  const role = `role_${schema}`
  await query(url, `CREATE ROLE ${role} LOGIN SUPERUSER`)
  const batchId = await submit(ledger, accountId, [refund('A')])
  const other = postgres.openAt(url.replace('tranche@', `${role}@`))
  const row = await claimNamed(other, batchId, 'A')
  await query(url, `ALTER ROLE ${role} NOLOGIN`)
  await query(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`)
  const settling = [
    settle(other, row, 'APPROVED', { facts: factsWith('99') }),
    other.beat(heartbeatOf('x:1')).catch(() => null),
  ]
  await settling[1]
  expect(await statesIn(ledger, batchId)).toEqual(['SENDING'])
  await query(url, `ALTER ROLE ${role} LOGIN`)
  expect(await settling[0]).toMatchObject({ state: 'APPROVED' })
  await other.close()
  await query(url, `DROP ROLE ${role}`)
})

function transactorOfLedger() {
  const sessions = createSessions(() => openSession(postgres.address))
  onTestFinished(() => sessions.closeAll())
  const { schema } = postgres.address
  return createTransactor({ ...TRANSACTOR_HERE, schema, die, connect: sessions.kept(), reconnect: sessions.open })
}

test('a transaction that the server ended because it stood still is made again', async () => {
  const { url } = postgres.address
  const transactor = transactorOfLedger()
  const how = await transactor.write('exclusive', async (session) => {
    const [found] = await session.exec(
      'SET LOCAL idle_in_transaction_session_timeout TO 100; SELECT pg_backend_pid() AS pid',
    )
    const { pid } = found as { pid: number }
    const isThere = () => query(url, `SELECT 1 FROM pg_stat_activity WHERE pid = ${pid}`)
    await expect.poll(async () => (await isThere()).length, { timeout: 20_000 }).toBe(0)
    await mark(session)
  })
  expect(how).toEqual({ kind: 'not-written', why: 'busy' })
})

test('a reading whose connection was ended while it waited for its turn begins again', async () => {
  const batchId = await submit(ledger, accountId, [refund('A')])
  const { url, schema } = postgres.address
  const holder = await openSession(postgres.address)
  onTestFinished(() => holder.close())
  await holder.exec(`BEGIN; SELECT pg_advisory_xact_lock(20817001, '${schema}'::regnamespace::oid::int)`)
  const reader = postgres.openAt(`${url}&application_name=reader`)
  const reading = reader.openReading(batchId, NOW)
  const waiting = () =>
    query<{ pid: number }>(
      url,
      "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event = 'advisory'",
    )
  await expect.poll(async () => (await waiting()).length, { timeout: 20_000 }).toBeGreaterThan(0)
  for (const { pid } of await waiting()) await query(url, `SELECT pg_terminate_backend(${pid})`)
  await holder.exec('COMMIT')
  await (await reading).close()
  await (await reader.openReading(batchId, NOW)).close()
})

test('a snapshot is not believed whose turnstile was lost while it was taken', async () => {
  const { url, schema } = postgres.address
  const whenQuiet = quietBy(transactorOfLedger())
  const holders = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = 20817001 AND objid = '${schema}'::regnamespace::oid`
  const taken = whenQuiet(async () => {
    await query(url, `SELECT pg_terminate_backend(pid) FROM (${holders}) AS holder`)
    await expect.poll(() => query(url, holders), { timeout: 20_000 }).toEqual([])
    return 'a snapshot'
  })
  await expect(taken).rejects.toThrow(NotQuiet)
  expect(await whenQuiet(async () => 'the next one')).toBe('the next one')
})

test('a machine that is gone lets go of its locks within half a minute', async () => {
  const cluster = openCluster({ port: await freePort() })
  onTestFinished(() => cluster.remove())
  const { port } = new URL(cluster.url)
  const session = await openSession({ url: `postgres://tranche@127.0.0.1:${port}/postgres`, schema: 'x' })
  const settings = ['tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count', 'tcp_user_timeout']
  const told = []
  for (const name of settings) told.push(...(await session.exec(`SELECT current_setting('${name}') AS is`)))
  expect(told).toEqual(['10', '5', '3', '25000'].map((is) => ({ is })))
  await session.close()
})

test('a message with an id that is longer than a key may be is refused and kept', async () => {
  const refusal = {
    sourceId: 'x'.repeat(6_000),
    accountName: 'default',
    reasons: ['no amount'],
    text: '{}',
    cards: null,
  }
  await ledger.recordRefusal({ ...refusal, nowMs: NOW })
  const { url, schema } = postgres.address
  expect(await query(url, `SELECT reasons FROM ${schema}.refusal`)).toEqual([{ reasons: '["no amount"]' }])
})

test('a server that lacks the memory to review a file is told as one, and not as a full disk', async () => {
  const { cluster } = await clusterOfOwn()
  const own = await postgresPlaceOn(cluster.url)
  onTestFinished(() => own.remove())
  const one = own.open()
  const id = await openAccount(one)
  await query(
    cluster.url,
    `SET search_path TO ${own.address.schema}; ALTER TABLE instruction RENAME TO instruction_kept;
    CREATE FUNCTION lack() RETURNS boolean STABLE LANGUAGE plpgsql AS $$ BEGIN RAISE 'out of memory' USING ERRCODE = '53200'; END $$;
    CREATE VIEW instruction AS SELECT * FROM instruction_kept WHERE lack()`,
  )
  await expect(submit(one, id, [refund('A')])).rejects.toMatchObject({ code: 'unavailable', message: /out of memory/ })
  expect(await one.batches()).toEqual([])
})

test('a database that lacks characters is refused', async () => {
  const { cluster } = await clusterOfOwn()
  await query(cluster.url, "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'")
  const session = await openSession({ url: cluster.url.replace('/postgres?', '/latin?'), schema: 'x' })
  await expect(makeTables(session, 'x')).rejects.toThrow('holds LATIN1, which lacks characters')
  await session.close()
})

test('a worker asks for nothing while the server rests after its start, says so, and goes on when that is over', async () => {
  const batchId = await submit(ledger, accountId, [refund('A')])
  const [{ age } = { age: 0 }] = await query<{ age: number }>(
    postgres.address.url,
    'SELECT CAST(extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 1000 AS INT) AS age',
  )
  const young = postgres.openAt(postgres.address.url, {}, 'desk', { restMs: age + 2_500 })
  await young.beat(heartbeatOf('x:1'))
  await expect(young.workable(NOW, 10)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/started a moment ago: for [123] s more it is not known what it may lack\.$/),
  })
  const due = await dueIn(ledger, batchId)
  expect(await claim(young, due[0]!)).toEqual({ kind: 'not-free' })
  await expect.poll(() => young.workable(NOW, 10).catch(() => null), { timeout: 10_000 }).toMatchObject([{ batchId }])
  expect(await claim(young, due[0]!)).toEqual({ kind: 'claimed', attempt: 1 })
})

test('a person is told of a server that stays away, or busy, in words', async () => {
  const { url, schema } = postgres.address
  const blocker = await openSession(postgres.address)
  await blocker.begin('READ COMMITTED', `LOCK TABLE ${schema}.worker`)
  const patient = postgres.openAt(url)
  await expect(patient.sweep(NOW)).rejects.toMatchObject({ code: 'unavailable', message: /busy with other work/ })
  await blocker.rollback()
  await blocker.close()
})

test('a person is told after half a minute that the server takes no writes, and goes on where it does', async () => {
  const { cluster, transactorAt } = await clusterOfOwn()
  await query(cluster.url, 'ALTER DATABASE postgres SET default_transaction_read_only TO on')
  let nowMs = 0
  const transactor = transactorAt(cluster.url, {
    clock: { nowMs: () => 0, monotonicMs: () => nowMs, sleep: async () => {} },
  })
  const busy = { kind: 'not-written', why: 'busy' }
  expect(await transactor.write('exclusive', mark)).toEqual(busy)
  nowMs += 30_000
  expect(await transactor.write('exclusive', mark)).toEqual(busy)
  nowMs += 1
  const told = { ...busy, fault: { code: 'unavailable', message: expect.stringContaining('read-only') } }
  expect(await transactor.write('exclusive', mark)).toMatchObject(told)
  await query(
    `${cluster.url}&options=-c%20default_transaction_read_only%3Doff`,
    'ALTER DATABASE postgres RESET default_transaction_read_only',
  )
  const next = transactorAt(cluster.url)
  expect(await next.write('exclusive', mark)).toEqual({ kind: 'written' })
})

test('a role whose statements and connections are given little time has all it needs', async () => {
  const { url, schema } = postgres.address
  const hasty = ['statement_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout']
  const options = encodeURIComponent(hasty.map((name) => `-c ${name}=200`).join(' '))
  const session = await openSession({ url: `${url}&options=${options}`, schema })
  onTestFinished(() => session.close())
  await session.begin('READ COMMITTED')
  for (const name of hasty) expect(await session.exec(`SHOW ${name}`), name).toEqual([{ [name]: '0' }])
  await session.commit()
})

test('a value that this program does not read is its own mistake: it is told, not asked for again and again', async () => {
  const transactor = transactorOfLedger()
  for (const read of [all("SELECT CAST('0.5' AS NUMERIC) AS n"), allExact("SELECT CAST('0.5' AS NUMERIC) AS n")]) {
    const how = await transactor.write('exclusive', (session) => session.run(read).then(() => {}))
    expect(how).toMatchObject({ kind: 'broke', error: { message: expect.stringContaining('bug: 0.5') } })
  }
  expect(await transactor.write('exclusive', mark)).toEqual({ kind: 'written' })
})
