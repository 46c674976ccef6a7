// Statements that go to the server in one message: none behind one that fails is carried out, a COMMIT least of all, and what is said of a
// COMMIT is true, however it was sent.

import { type AddressInfo, connect, createServer } from 'node:net'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { NotCommitted } from '../../../src/ledger/postgres/errors.ts'
import { type Asked, openSession, type Session } from '../../../src/ledger/postgres/session.ts'
import { createSessions } from '../../../src/ledger/postgres/sessions.ts'
import { createTransactor, type Transactor } from '../../../src/ledger/postgres/transactor.ts'
import { query } from '../../fixtures/postgres.ts'
import { TRANSACTOR_HERE } from '../../fixtures/postgres-places.ts'
import { openProxy, type TcpProxy, type Treatment } from '../../fixtures/proxy.ts'
import { postgres, usePostgresLedger } from '../../fixtures/use-ledger.ts'

usePostgresLedger()

let session: Session
let proxy: TcpProxy

beforeEach(async () => {
  session = await openSession(postgres.address)
  const folder = new URL(postgres.address.url).searchParams.get('host')
  proxy = await openProxy({ path: `${folder}/.s.PGSQL.5432` })
})
afterEach(async () => {
  await session.close()
  await proxy[Symbol.asyncDispose]()
})

const noting = (key: string): Asked => ({
  text: 'INSERT INTO meta (key, value) VALUES ($1, $2) RETURNING key',
  values: [key, 'x'],
})
const DIVIDING: Asked = { text: 'SELECT 1 / $1::bigint AS one', values: [0] }

async function noted(): Promise<readonly string[]> {
  const { url, schema } = postgres.address
  const found = await query<{ key: string }>(url, `SELECT key FROM ${schema}.meta WHERE key LIKE 'note-%' ORDER BY key`)
  return found.map(({ key }) => key)
}

function transactorAt(url: string, answerWithinMs = 10_000): Transactor {
  const { schema } = postgres.address
  const sessions = createSessions(() => openSession({ url, schema, answerWithinMs }))
  onTestFinished(() => sessions.closeAll())
  const die = (error: unknown): never => {
    throw error
  }
  return createTransactor({ ...TRANSACTOR_HERE, schema, die, connect: sessions.kept(), reconnect: sessions.open })
}

test('each is answered in its place, with numbers as numbers', async () => {
  const opening = { text: 'SELECT 7::bigint AS seven', values: [] }
  const begun = await session.beginWith(
    {},
    [opening],
    [noting('note-1'), { text: 'SELECT $1::bigint AS n', values: [5] }],
  )
  await session.commit([noting('note-2')])
  expect(begun).toEqual({ opened: [{ seven: 7 }], found: [[{ key: 'note-1' }], [{ n: 5 }]] })
  expect(await noted()).toEqual(['note-1', 'note-2'])
})

test('behind one that fails none is carried out, and the connection goes on', async () => {
  await expect(session.beginWith({}, [], [noting('note-1'), DIVIDING, noting('note-2')])).rejects.toMatchObject({
    code: '22012',
  })
  await session.rollback()
  expect(await noted()).toEqual([])
  // What was not begun was not taken by its name either: by that it is sent again.
  const { found } = await session.beginWith({}, [], [{ ...DIVIDING, values: [1] }, noting('note-2')])
  await session.commit()
  expect(found).toEqual([[{ one: 1 }], [{ key: 'note-2' }]])
})

test('a statement that was never begun is asked under its name afterwards', async () => {
  const never = { text: "SELECT 'never begun' AS text", values: [] }
  await expect(session.beginWith({}, [], [DIVIDING, never])).rejects.toMatchObject({ code: '22012' })
  await session.rollback()
  expect((await session.beginWith({}, [], [never])).found).toEqual([[{ text: 'never begun' }]])
  await session.commit()
})

test('where a beginning fails, what goes with it is in no transaction of its own', async () => {
  const { url, schema } = postgres.address
  const holder = await openSession(postgres.address)
  onTestFinished(() => holder.close())
  await holder.exec(`BEGIN; SELECT pg_advisory_xact_lock(20817001, '${schema}'::regnamespace::oid::int)`)
  const how = await transactorAt(url).writeGroup([noting('note-1')], () => [noting('note-2')])
  expect([how, await noted()]).toEqual([{ kind: 'not-written', why: 'busy' }, []])
})

test('a COMMIT behind a statement that fails is not begun', async () => {
  await session.beginWith({}, [], [noting('note-1')])
  await expect(session.commit([noting('note-2'), DIVIDING])).rejects.toThrow(NotCommitted)
  await session.rollback()
  expect(await noted()).toEqual([])
})

test('what stands before a COMMIT and fails is told as it is, not asked for again', async () => {
  const how = await transactorAt(postgres.address.url).writeGroup([noting('note-1')], () => [DIVIDING])
  expect(how).toMatchObject({ kind: 'broke', error: { code: '22012' } })
  expect(await noted()).toEqual([])
})

test('a transaction that was rolled back is not said to be committed', async () => {
  await session.beginWith({}, [], [noting('note-1')])
  await session.client.query('SELECT 1 / 0').catch(() => {})
  await expect(session.commit()).rejects.toThrow('the transaction was rolled back')
  expect(await noted()).toEqual([])
})

/** The connection is so treated right before what goes with the COMMIT is sent. */
async function committing(how: Treatment, answerWithinMs?: number) {
  const transactor = transactorAt(`postgres://tranche@127.0.0.1:${proxy.port}/postgres`, answerWithinMs)
  let reads = 0
  const written = await transactor.writeGroup([noting('note-1')], () => {
    reads += 1
    proxy.treatStanding(how)
    return [noting('note-2')]
  })
  return { written, reads }
}

test('a COMMIT that is sent with other statements and whose answer is lost counts as written, and is not made twice', async () => {
  expect(await committing('reset-on-reply')).toEqual({ written: { kind: 'written' }, reads: 1 })
  expect(await noted()).toEqual(['note-1', 'note-2'])
})

test('a COMMIT whose answer does not come at all is asked for', async () => {
  expect(await committing('lose-replies', 300)).toEqual({ written: { kind: 'written' }, reads: 1 })
  expect(await noted()).toEqual(['note-1', 'note-2'])
})

/** A pooler that tells of a server it lost by an error of its own, in the place of what the server had answered. */
async function openPooler(path: string) {
  let isLosing = false
  const pooler = createServer((client) => {
    const server = connect({ path })
    client.pipe(server)
    server.on('data', (answered) => {
      if (!isLosing) client.write(answered)
      else if (answered.includes(READY)) client.end(SERVER_LOST)
    })
    for (const one of [client, server]) one.on('error', () => {})
    client.on('close', () => server.destroy())
  })
  await new Promise<void>((resolve) => pooler.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => pooler.close(() => resolve())))
  return {
    port: (pooler.address() as AddressInfo).port,
    loses: (does: boolean) => {
      isLosing = does
    },
  }
}

/** What every answer of the server ends with. */
const READY = Buffer.from('Z\0\0\0\x05')
const SAID = Buffer.from('SFATAL\0VFATAL\0C08P01\0Mserver closed the connection unexpectedly\0\0')
const SERVER_LOST = Buffer.concat([Buffer.from('E'), Buffer.from([0, 0, 0, SAID.length + 4]), SAID])

test('a COMMIT of whose server a pooler says that it was lost is asked for, and not made twice', async () => {
  const folder = new URL(postgres.address.url).searchParams.get('host')
  const pooler = await openPooler(`${folder}/.s.PGSQL.5432`)
  const transactor = transactorAt(`postgres://tranche@127.0.0.1:${pooler.port}/postgres`)
  const written = transactor.writeGroup([noting('note-1')], () => {
    pooler.loses(true)
    return [noting('note-2')]
  })
  await expect.poll(noted, { timeout: 20_000 }).toEqual(['note-1', 'note-2'])
  pooler.loses(false)
  expect(await written).toEqual({ kind: 'written' })
})

test('a COMMIT that never arrived with what was sent with it counts as not written', async () => {
  expect(await committing('reset')).toMatchObject({ written: { kind: 'not-written', why: 'busy' }, reads: 1 })
  expect(await noted()).toEqual([])
})

test('what the server says of the COMMIT itself is not believed before it was asked', async () => {
  const { url, schema } = postgres.address
  const table = `${schema}.checked_late`
  await query(url, `CREATE TABLE ${table} (id BIGINT UNIQUE DEFERRABLE INITIALLY DEFERRED)`)
  onTestFinished(() => query(url, `DROP TABLE ${table}`).then(() => {}))
  const twice = { text: 'INSERT INTO checked_late VALUES (1), (1)', values: [] }
  const how = await transactorAt(url).writeGroup([noting('note-1')], () => [twice])
  expect([how, await noted()]).toEqual([{ kind: 'not-written', why: 'busy' }, []])
})

test('a COMMIT is not sent behind what could not be sent', async () => {
  const unsendable = {
    toPostgres: () => {
      throw new Error('no text')
    },
  }
  await session.beginWith({}, [], [noting('note-1')])
  await expect(session.commit([{ ...noting('note-2'), values: ['note-2', unsendable] }])).rejects.toThrow('no text')
  await session.rollback()
  expect(await noted()).toEqual([])
})
