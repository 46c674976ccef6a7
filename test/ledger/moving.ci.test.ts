// A ledger in a file that moves to a server: one of the two sends, at any moment, and all that counts is known there.

import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { fillServer, lookAtTarget, wake } from '../../src/ledger/postgres/copies/arriving.ts'
import { makeTables } from '../../src/ledger/postgres/make-tables.ts'
import { type Address, openSession, type Session } from '../../src/ledger/postgres/session.ts'
import { disownCopies, holdLedger, whereMoved } from '../../src/ledger/sqlite/copies/moving.ts'
import type { SharedRegister } from '../../src/ports/ledger/copies.ts'
import type { FileLedger } from '../../src/ports/ledger/file.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import { deathOf } from '../fixtures/deaths.ts'
import {
  CLERK,
  claimNamed,
  dueRow,
  factsWith,
  NOW,
  openAccount,
  refund,
  rowIn,
  rowsIn,
  type SqlitePlace,
  settle,
  sqlitePlace,
  statesIn,
  submit,
} from '../fixtures/ledgers.ts'
import { newSchemaName, query, sharedCluster } from '../fixtures/postgres.ts'
import { placeAt } from '../fixtures/postgres-places.ts'
import { createMemoryRegister } from '../fixtures/shared-register.ts'

let file: SqlitePlace
let here: FileLedger
let address: Address
let session: Session

beforeEach(async () => {
  file = await sqlitePlace()
  here = file.open()
  address = { url: (await sharedCluster()).url, schema: newSchemaName() }
  session = await openSession(address)
  onTestFinished(async () => {
    await session.close()
    await file.remove()
  })
})

const newToken = () => randomBytes(16).toString('hex')

async function fill(token = newToken(), path = file.path, ledgerId = here.ledgerId): Promise<string> {
  const held = holdLedger(path)
  try {
    const { epochNo, lastIds, tables: from } = held
    const of = { from, ledgerId, token, epochNo, lastIds }
    await fillServer(session, address.schema, { ...of, failover: 'none', onTable: () => {} })
    return token
  } finally {
    held.release()
  }
}

function retire(token: string): void {
  const held = holdLedger(file.path)
  held.retire({ name: 'postgres://there', atMs: NOW, token })
  held.release()
}

const wakeIt = (token: string) =>
  wake(session, { ledgerId: here.ledgerId, token, from: file.path, actor: CLERK, nowMs: NOW })

async function move(): Promise<Ledger> {
  const token = await fill()
  retire(token)
  await wakeIt(token)
  const place = placeAt(address, here.ledgerId)
  onTestFinished(place.remove)
  return place.open()
}

const inThere = (sql: string) =>
  query<{ n: string }>(`${address.url}&options=${encodeURIComponent(`-c search_path=${address.schema}`)}`, sql)

test('every row, finding and reference is there, in its state; what was approved cannot be sent or settled again', async () => {
  const accountId = await openAccount(here)
  const batchId = await submit(
    here,
    accountId,
    ['A', 'B', 'C'].map((reference) => refund(reference)),
  )
  await settle(here, await claimNamed(here, batchId, 'A'), 'APPROVED', {
    facts: factsWith('0071', { orderId: '00815' }),
  })
  await settle(here, await claimNamed(here, batchId, 'B'), 'IN_DOUBT', { reason: 'no answer\twithin\\30 s\n\u2028' })
  const before = await rowsIn(here, batchId)
  const there = await move()
  expect(await rowsIn(there, batchId)).toEqual(before)
  expect(await there.account('default', 'https://default.gateway.example', 'merchant', NOW)).toBe(accountId)
  await there.renewEpoch()
  const c = await dueRow(there, batchId, 'C')
  const claimed = await claimNamed(there, batchId, 'C')
  expect(claimed.rowId).toBe(c.rowId)
  const settled = await settle(there, claimed, 'APPROVED', { facts: factsWith('71') })
  expect(settled).toMatchObject({ state: 'IN_DOUBT' }) // that transaction has paid for A
  const again = await submit(there, accountId, [refund('A'), refund('D')])
  expect(await statesIn(there, again)).toEqual(['DUPLICATE', 'READY'])
  expect((await rowIn(there, again, 'D')).reference).toBe('D')
})

test('the file tells that it was moved, and whoever had it open before writes nothing more in it', async () => {
  const accountId = await openAccount(here)
  const batchId = await submit(here, accountId, [refund('A')])
  expect(whereMoved(file.path)).toBe(null)
  const token = await fill()
  expect(await here.alarm()).toBe(null)
  retire(token)
  expect(whereMoved(file.path)).toMatchObject({ token })
  expect(await file.open().alarm()).toMatchObject({ kind: 'moved-away' })
  await expect(here.renewEpoch()).rejects.toThrow('is not the one that sends')
  void here.pause(batchId, 'wait', CLERK, NOW)
  expect(await deathOf()).toMatchObject({
    message: expect.stringContaining('was moved to postgres://there a moment ago'),
  })
})

test('whoever opened the file under an alarm, before it was taken over and moved, writes nothing more in it', async () => {
  const batchId = await submit(here, await openAccount(here), [refund('A')])
  await here.close()
  rmSync(join(file.dir, 'ledger.epoch'))
  const served = file.open()
  expect(await served.alarm()).toMatchObject({ kind: 'unmarked' })
  await served.pause(batchId, 'wait', CLERK, NOW)
  here = file.open()
  await here.adopt('moved', 'a new disk', CLERK, NOW)
  await served.resume(batchId, 'go', CLERK, NOW)
  retire(await fill())
  const ended = Promise.race([deathOf(), served.pause(batchId, 'wait', CLERK, NOW)])
  expect(await ended).toMatchObject({ message: expect.stringContaining('was moved to postgres://there') })
  expect(await file.open().batch(batchId)).toMatchObject({ hold: 'none' })
})

test('nobody writes in the file while it is copied', async () => {
  await submit(here, await openAccount(here), [refund('A')])
  const held = holdLedger(file.path)
  const other = new DatabaseSync(file.path, { timeout: 0 })
  expect(() => other.exec('BEGIN IMMEDIATE')).toThrow('locked')
  held.release()
  other.exec('BEGIN IMMEDIATE; ROLLBACK')
  other.close()
})

test('on the server nothing is claimed before it is woken, and only the copy that the file was retired for is woken', async () => {
  await submit(here, await openAccount(here), [refund('A')])
  const first = await fill()
  expect(await inThere("SELECT count(*) AS n FROM meta WHERE key = 'unfinished' AND value = 'arriving'")).toEqual([
    { n: '1' },
  ])
  const second = await fill() // the first was broken off
  expect(await lookAtTarget(session, address.schema, { ledgerId: here.ledgerId, token: second })).toBe('arriving')
  retire(first)
  await expect(wakeIt(first)).rejects.toThrow('not as it was left there')
  await wakeIt(second)
  await wakeIt(second)
  expect(await lookAtTarget(session, address.schema, { ledgerId: here.ledgerId, token: second })).toBe('arrived')
  expect(await inThere("SELECT count(*) AS n FROM act WHERE what = 'migrate'")).toEqual([{ n: '1' }])
})

test('what arrives in another form is thrown away', async () => {
  await submit(here, await openAccount(here), [refund('A')])
  await makeTables(session, address.schema)
  await inThere(
    `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.amount_minor := 1; RETURN NEW; END $$`,
  )
  await inThere('CREATE TRIGGER spoils BEFORE INSERT ON instruction FOR EACH ROW EXECUTE FUNCTION spoil()')
  await expect(fill()).rejects.toThrow('the table instruction differs')
  expect(await inThere('SELECT count(*) AS n FROM instruction')).toEqual([{ n: '0' }])
})

test('a ledger that arrives from another file is not written over: that file may send nothing any more', async () => {
  const batchId = await submit(here, await openAccount(here), [refund('A')])
  const token = await fill()
  retire(token)
  const other = await sqlitePlace()
  onTestFinished(() => other.remove())
  const { ledgerId } = other.open()
  expect(await lookAtTarget(session, address.schema, { ledgerId, token: null })).toBe('another')
  await expect(fill(newToken(), other.path, ledgerId)).rejects.toThrow('There is another ledger there already')
  await wakeIt(token)
  const place = placeAt(address, here.ledgerId)
  onTestFinished(place.remove)
  expect(await statesIn(place.open(), batchId)).toEqual(['READY'])
})

test('a ledger that worked there since is not written over', async () => {
  await submit(here, await openAccount(here), [refund('A')])
  const there = await move()
  await expect(fill()).rejects.toThrow('There is another ledger there already')
  expect((await there.batches()).length).toBe(1)
})

test('a shared Redis that knows the epochs of the file raises no alarm there', async () => {
  const register = createMemoryRegister()
  for (let n = 0; n < 3; n++) await here.renewEpoch(register)
  const there = await move()
  await there.renewEpoch(register)
  expect(await there.alarm()).toBe(null)
})

test('it is not woken where another host is first with an epoch, and may be woken again and again by the same token', async () => {
  const register = createMemoryRegister()
  await here.renewEpoch(register)
  const token = await fill()
  retire(token)
  const disown = (at: SharedRegister) =>
    disownCopies(file.path, { ledgerId: here.ledgerId, token, witnessDirs: [], register: at })
  const before = register.held
  register.held = '2-of-another-host'
  await expect(disown({ ...register, newest: async () => before })).rejects.toThrow('Redis records later work')
  expect(register.held).toBe('2-of-another-host')
  register.held = before
  await disown(register)
  const after = register.held
  await disown(register)
  expect([after, register.held]).toEqual([expect.stringContaining(token), after])
})
