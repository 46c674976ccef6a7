// Ids are given before they are committed: events must not be read past one that is still to come.

import { expect, test } from 'vitest'
import { openSession } from '../../../src/ledger/postgres/session.ts'
import { createTransactor } from '../../../src/ledger/postgres/transactor.ts'
import { readEvents } from '../../../src/processors/read-events.ts'
import { NOW, refund, submit, work } from '../../fixtures/ledgers.ts'
import { TRANSACTOR_HERE } from '../../fixtures/postgres-places.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../fixtures/use-ledger.ts'

usePostgresLedger()

const MOVE = `INSERT INTO move (row_id, attempt, from_state, to_state, cause, at, by)
  SELECT id, 1, 'SENDING', 'APPROVED', 'answer', ${NOW}, 'another' FROM instruction WHERE reference = 'A'`

test('the end of the events waits for what is being written below it', async () => {
  const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
  await ledger.eventsEnd()
  const { address } = postgres
  const connect = () => openSession(address)
  const session = await connect()
  const transactor = createTransactor({
    ...{ ...TRANSACTOR_HERE, schema: address.schema, reconnect: connect, connect: async () => session },
    die: (error) => {
      throw error
    },
  })
  const inserted = Promise.withResolvers<void>()
  const mayCommit = Promise.withResolvers<void>()
  const writing = transactor.write('shared', async (own) => {
    await own.exec(MOVE)
    inserted.resolve()
    await mayCommit.promise
  })
  await inserted.promise
  await work(ledger, batchId, 'B', 'APPROVED') // behind it, and committed before it
  const end = ledger.eventsEnd()
  const first = await Promise.race([end.then(() => 'read'), waiting().then(() => 'waits')])
  mayCommit.resolve()
  await writing
  const { facts } = await ledger.events({ move: 0, event: 0 }, await end)
  expect([first, facts.map(({ row }) => row?.reference)]).toEqual(['waits', ['A', 'B']])
  expect(await readEvents(ledger, { after: null, types: ['row.settled'], limit: 10 }, NOW)).toEqual(facts)
  await session.close()
})

/** Resolves when somebody waits for the turnstile. */
async function waiting(): Promise<void> {
  const session = await openSession(postgres.address)
  const locks = "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
  try {
    for (;;) {
      const [found] = await session.exec(locks)
      if ((found as { n: number }).n > 0) return
    }
  } finally {
    await session.close()
  }
}

test('one of several hosts delivers, and the next one when it is gone', async () => {
  const other = postgres.open()
  const first = await ledger.holdDelivery('queues')
  expect(first?.isHeld()).toBe(true)
  expect(await other.holdDelivery('queues')).toBeNull()
  const apart = await other.holdDelivery('webhooks') // by a process that has no Redis
  expect(apart?.isHeld()).toBe(true)
  apart?.release()
  await ledger.close() // as its process ends
  expect(first?.isHeld()).toBe(false)
  const next = await other.holdDelivery('queues')
  expect(next?.isHeld()).toBe(true)
  next?.release()
})
