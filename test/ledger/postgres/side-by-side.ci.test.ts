// Several ledgers on one server at the same time: what one writes, all the others know.

import { expect, test } from 'vitest'
import type { BatchId, RowId } from '../../../src/domain/ids.ts'
import { LOCKS } from '../../../src/ledger/postgres/locks.ts'
import { createReads } from '../../../src/ledger/postgres/reads.ts'
import { openSession, type Session } from '../../../src/ledger/postgres/session.ts'
import { createTransactor } from '../../../src/ledger/postgres/transactor.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import {
  CLERK,
  claim,
  dueIn,
  factsWith,
  headerOf,
  inAttempt,
  messageOf,
  NOW,
  refund,
  review,
  settle,
  submit,
} from '../../fixtures/ledgers.ts'
import { query } from '../../fixtures/postgres.ts'
import { TRANSACTOR_HERE } from '../../fixtures/postgres-places.ts'
import { soon } from '../../fixtures/soon.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../fixtures/use-ledger.ts'

usePostgresLedger()

const ORDERS = 5
const ROWS = 60

async function workOff(one: Ledger, batchId: BatchId, claimedNow: Set<string>, seen: number[]): Promise<void> {
  for (;;) {
    const due = await dueIn(one, batchId)
    if (due.length === 0) {
      const { counts } = (await one.batch(batchId))!
      if (counts.READY === undefined && counts.SENDING === undefined) return
      continue
    }
    await Promise.all(
      due.slice(0, 4).map(async (row) => {
        if ((await claim(one, row)).kind !== 'claimed') return
        const order = row.instruction.orderId as string
        expect(claimedNow.has(order)).toBe(false)
        claimedNow.add(order)
        seen.push(row.rowNo)
        await new Promise((resolve) => setTimeout(resolve, 2)) // so long a request lasts: nothing is waited for
        claimedNow.delete(order)
        const facts = factsWith(String(90_000 + row.rowNo))
        await settle(one, inAttempt(row, row.attempt + 1), 'APPROVED', { facts })
      }),
    )
  }
}

test('four of them send each row once, and of one order one row at a time', async () => {
  const rows = Array.from({ length: ROWS }, (_, i) =>
    refund(`R-${i}`, { orderId: String(700 + (i % ORDERS)), amountMinor: BigInt(i + 1) }),
  )
  const { draft } = await review(ledger, headerOf(accountId), rows)
  const batchId = await draft.record(CLERK)
  const claimedNow = new Set<string>()
  const seen: number[] = []
  await Promise.all(
    [ledger, postgres.open(), postgres.open(), postgres.open()].map((one) => workOff(one, batchId, claimedNow, seen)),
  )
  expect(seen.toSorted((one, other) => one - other)).toEqual(rows.map((_, i) => i + 1))
  expect((await ledger.batch(batchId))?.counts).toEqual({ APPROVED: ROWS })
  const left = await query<{ n: string }>(
    postgres.address.url,
    `SELECT count(*) AS n FROM ${postgres.address.schema}.claim`,
  )
  expect(left).toEqual([{ n: '0' }])
})

test('nothing is claimed once a pause was acknowledged', async () => {
  const rows = Array.from({ length: 200 }, (_, i) => refund(`R-${i}`))
  const batchId = await submit(ledger, accountId, rows)
  const other = postgres.open()
  const due = await dueIn(other, batchId)
  let isPaused = false
  const pausing = ledger.pause(batchId, 'stop', CLERK, NOW).then(() => {
    isPaused = true
  })
  const late: string[] = []
  for (const row of due) {
    const isLate = isPaused
    const answer = await claim(other, row)
    if (answer.kind === 'claimed' && isLate) late.push(row.instruction.reference)
    if (answer.kind === 'not-free') break
  }
  await pausing
  expect(late).toEqual([])
  expect(await claim(other, due.at(-1)!)).toEqual({ kind: 'not-free' })
})

test('of messages for the last of an order that come at once, the sale is never exceeded', async () => {
  const many = [ledger, postgres.open(), postgres.open(), postgres.open()]
  const answers = await Promise.all(
    many.flatMap((one, i) =>
      [1, 2, 3].map((n) => one.recordMessage(messageOf(accountId, refund(`M-${i}-${n}`, { orderId: '4711' })))),
    ),
  )
  // Each looks like the one before it, which is refused.
  expect(answers.filter(({ kind }) => kind === 'accepted')).toHaveLength(1)
})

test('one reference is taken once, whichever of them asks at the same moment', async () => {
  const many = [ledger, postgres.open(), postgres.open(), postgres.open()]
  const answers = await Promise.all(many.map((one) => one.recordMessage(messageOf(accountId, refund('same')))))
  expect(answers.map(({ kind }) => kind).toSorted()).toEqual(['accepted', 'duplicate', 'duplicate', 'duplicate'])
})

test('one transaction id settles one row, though two workers are answered with it at once', async () => {
  for (let round = 0; round < 10; round++) {
    const batchId = await submit(ledger, accountId, [refund(`A-${round}`), refund(`B-${round}`)], {
      fileSha256: `${round}`,
    })
    const other = postgres.open()
    const [a, b] = await dueIn(ledger, batchId)
    await claim(ledger, a!)
    await claim(other, b!)
    const facts = factsWith(`55${round}`)
    const states = await Promise.all([
      settle(ledger, inAttempt(a!, 1), 'APPROVED', { facts }),
      settle(other, inAttempt(b!, 1), 'APPROVED', { facts: factsWith(`055${round}`) }),
    ])
    expect(states.map(({ state }) => state).toSorted()).toEqual(['APPROVED', 'IN_DOUBT'])
  }
})

test('of one order one row is claimed, though each was free when it was looked at', async () => {
  const other = postgres.open()
  const dueAtMs = NOW + 1_000
  for (let round = 0; round < 30; round++) {
    const orderId = String(6_000 + round)
    const rows = [
      refund(`A-${round}`, { orderId, executeAtMs: dueAtMs }),
      refund(`B-${round}`, { orderId, amountMinor: 5n }),
    ]
    const batchId = await submit(ledger, accountId, rows, { fileSha256: `${round}` })
    const [b] = await dueIn(ledger, batchId)
    const a = { rowId: (b!.rowId - 1) as RowId, attempt: 0 }
    const answers = await Promise.all([claim(ledger, a, dueAtMs), claim(other, b!)])
    expect(answers.filter(({ kind }) => kind === 'claimed')).toHaveLength(1)
  }
})

test('a reading begins when nothing is being written, so that nothing older appears after it', async () => {
  const batchId = await submit(ledger, accountId, [refund('A')])
  const session = await openSession(postgres.address)
  const transactor = createTransactor({
    ...TRANSACTOR_HERE,
    schema: postgres.address.schema,
    connect: async () => session,
    reconnect: () => openSession(postgres.address),
    die: (error) => {
      throw error
    },
  })
  let written = false
  let reading: ReturnType<Ledger['openReading']> | null = null
  await transactor.write('shared', async () => {
    await session.exec("SELECT nextval('move_id')")
    reading = ledger.openReading(batchId, NOW).finally(() => {
      expect(written).toBe(true)
    })
    const waits = `SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'advisory' AND classid = ${LOCKS.turnstile}
      AND objid = '${postgres.address.schema}'::regnamespace::oid`
    await soon(async () => expect(await query(postgres.address.url, waits)).not.toEqual([]))
    written = true
  })
  await (await reading!).close()
  await session.close()
})

test('a reader takes its moment while nothing is being written', async () => {
  let isSettled = false
  const begun: boolean[] = []
  const connect = async (): Promise<Session> => {
    const session = await openSession(postgres.address)
    return {
      ...session,
      begin: (...asked) => {
        begun.push(isSettled)
        return session.begin(...asked)
      },
    }
  }
  const reads = createReads(
    connect,
    async (begin) => {
      isSettled = true
      return begin().finally(() => {
        isSettled = false
      })
    },
    { monotonicMs: () => performance.now(), sleep: async () => {} },
  )
  await (await reads.openReader()).close()
  await (await reads.openSnapshot()).close()
  expect(begun).toEqual([true, true])
})

test('a character that the server does not hold costs no settlement', async () => {
  const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
  const [a, b] = await dueIn(ledger, batchId)
  for (const row of [a!, b!]) await claim(ledger, row)
  const answerText = 'a\0b'
  await settle(ledger, inAttempt(a!, 1), 'APPROVED', { answerText })
  await settle(ledger, inAttempt(b!, 1), 'IN_DOUBT', { answerText })
  for (const reference of ['A', 'B'])
    expect((await ledger.history(reference)).at(-1)).toMatchObject({ answerText: 'a\uFFFDb' })
})

test('values as long as files and gateways may have them are held', async () => {
  const reference = Array.from({ length: 269 }, (_, i) => String.fromCharCode(0x4e00 + ((i * 7_919) % 20_000))).join('')
  const id = '9'.repeat(40)
  const rows = [refund(reference, { orderId: id, vaultId: id, xtlOrderId: 'x'.repeat(255) })]
  const batchId = await submit(ledger, accountId, rows)
  const [row] = await dueIn(ledger, batchId)
  await claim(ledger, row!)
  const facts = factsWith(id, { orderId: id, vaultId: id })
  expect(await settle(ledger, inAttempt(row!, 1), 'APPROVED', { facts })).toMatchObject({
    state: 'APPROVED',
  })
})

test('a row of a file that is being recorded is claimed by nobody', async () => {
  const batchId = await submit(ledger, accountId, [refund('A')])
  const [row] = await dueIn(ledger, batchId)
  const { url, schema } = postgres.address
  await query(url, `UPDATE ${schema}.batch SET stage = 'draft'`)
  expect(await claim(ledger, row!)).toEqual({ kind: 'not-free' })
  await query(url, `UPDATE ${schema}.batch SET stage = 'open'`)
  expect(await claim(ledger, row!)).toMatchObject({ kind: 'claimed' })
})

test('a submit waits until the one before it has ended, on whichever host', async () => {
  const { draft } = await review(ledger, headerOf(accountId), [refund('A')])
  const isWaiting = Promise.withResolvers<void>()
  const header = headerOf(accountId, { fileSha256: 'b' })
  const second = postgres.open().openDraft(header, { onWait: () => isWaiting.resolve() })
  await Promise.race([isWaiting.promise, second.then(() => Promise.reject(new Error('it has not waited')))])
  await draft.record(CLERK)
  await (await second).discard()
})
