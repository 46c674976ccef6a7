// A connection that breaks at any moment, COMMIT included: what was written is written once, and what is said of it is true.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSession, type Session } from '../../../src/ledger/postgres/session.ts'
import { createSessions, type Sessions } from '../../../src/ledger/postgres/sessions.ts'
import { createTransactor, type Transactor } from '../../../src/ledger/postgres/transactor.ts'
import { change, count } from '../../../src/ledger/texts/script.ts'
import type { ClaimAnswer } from '../../../src/ports/ledger/work.ts'
import { claim, dueIn, factsWith, inAttempt, NOW, refund, rowsIn, settle, submit } from '../../fixtures/ledgers.ts'
import { TRANSACTOR_HERE } from '../../fixtures/postgres-places.ts'
import { openProxy, type TcpProxy, type Treatment } from '../../fixtures/proxy.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../fixtures/use-ledger.ts'

usePostgresLedger()

let proxy: TcpProxy
let urlOfProxy: string

beforeEach(async () => {
  const folder = new URL(postgres.address.url).searchParams.get('host')
  proxy = await openProxy({ path: `${folder}/.s.PGSQL.5432` })
  urlOfProxy = `postgres://tranche@127.0.0.1:${proxy.port}/postgres`
})
afterEach(() => proxy[Symbol.asyncDispose]())

/** A transactor through the proxy, and a mark that its transactions leave. */
function throughProxy(answerWithinMs = 10_000): { readonly transactor: Transactor; readonly sessions: Sessions } {
  const { schema } = postgres.address
  const sessions = createSessions(() => openSession({ url: urlOfProxy, schema, answerWithinMs }))
  const die = (error: unknown): never => {
    throw error
  }
  return {
    sessions,
    transactor: createTransactor({
      ...TRANSACTOR_HERE,
      schema,
      die,
      connect: sessions.kept(),
      reconnect: sessions.open,
    }),
  }
}

const mark = (session: Session) => session.run(change("INSERT INTO meta (key, value) VALUES ('mark', 'x')"))

async function marks(): Promise<number> {
  const { sessions, transactor } = throughProxy()
  let found = -1
  await transactor.write('shared', async (session) => {
    found = await session.run(count("SELECT count(*) AS n FROM meta WHERE key = 'mark'"))
  })
  await sessions.closeAll()
  return found
}

test('a commit whose answer was lost counts as written, and is not made twice', async () => {
  const { transactor, sessions } = throughProxy()
  let runs = 0
  const how = await transactor.write('exclusive', async (session) => {
    runs += 1
    await mark(session)
    proxy.treatStanding('reset-on-reply')
  })
  expect([how, runs, await marks()]).toEqual([{ kind: 'written' }, 1, 1])
  await sessions.closeAll()
})

test('a commit that never arrived counts as not written', async () => {
  const { transactor, sessions } = throughProxy()
  const how = await transactor.write('exclusive', async (session) => {
    await mark(session)
    proxy.treatStanding('reset')
  })
  expect([how, await marks()]).toMatchObject([{ kind: 'not-written', why: 'busy' }, 0])
  await sessions.closeAll()
})

test('a connection that falls silent before its commit is given up, and its transaction with it', async () => {
  const { transactor, sessions } = throughProxy(300)
  const how = await transactor.write('exclusive', async (session) => {
    await mark(session)
    proxy.treatStanding('lose-requests')
  })
  expect([how, await marks()]).toMatchObject([{ kind: 'not-written', why: 'busy' }, 0])
  await sessions.closeAll()
})

/** So often the connection is broken; then it holds. */
const SHAKEN = 100

test('claims and settlements over a connection that breaks again and again are each written once', async () => {
  const references = Array.from({ length: 120 }, (_, i) => `R-${i}`)
  const batchId = await submit(
    ledger,
    accountId,
    references.map((reference) => refund(reference)),
  )
  const rows = await dueIn(ledger, batchId)
  const shaken = postgres.openAt(urlOfProxy, { answerWithinMs: 400 })
  const treatments: readonly Treatment[] = ['reset', 'reset-on-reply', 'lose-replies', 'close', 'delay', 'hang']
  let nth = 0
  const shaking = setInterval(() => {
    if (nth === SHAKEN) {
      clearInterval(shaking)
      proxy.treatStanding('reset')
    } else proxy.treatStanding(treatments[nth++ % treatments.length] as Treatment)
  }, 23)
  const claims: ClaimAnswer[] = []
  await Promise.all(
    rows.map(async (row, i) => {
      const answer = await claim(shaken, row, NOW, Date.now() + 60_000)
      claims.push(answer)
      await settle(shaken, inAttempt(row, 1), 'APPROVED', { facts: factsWith(String(7_000 + i)) })
    }),
  )
  expect(claims).toEqual(references.map(() => ({ kind: 'claimed', attempt: 1 })))
  expect(new Set((await rowsIn(ledger, batchId)).map(({ state, warning }) => `${state} ${warning}`))).toEqual(
    new Set(['APPROVED null']),
  )
  for (const reference of references)
    expect((await ledger.history(reference)).map(({ to }) => to)).toEqual(['READY', 'SENDING', 'APPROVED'])
  expect((await ledger.batch(batchId))?.counts).toEqual({ APPROVED: 120 })
  expect(nth).toBeGreaterThan(20)
  await shaken.close()
})
