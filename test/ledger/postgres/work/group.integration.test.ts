// What a group of claims and settlements does to the tables in its one transaction.

import { expect, test } from 'vitest'
import type { AccountId, RowId } from '../../../../src/domain/ids.ts'
import { openSession } from '../../../../src/ledger/postgres/session.ts'
import { createTransactor } from '../../../../src/ledger/postgres/transactor.ts'
import { createClaiming } from '../../../../src/ledger/postgres/work/claims.ts'
import { groupOf, type Work } from '../../../../src/ledger/postgres/work/group.ts'
import { plainOf } from '../../../../src/ledger/postgres/work/settlements.ts'
import { KEPT } from '../../../../src/ledger/texts/engine.ts'
import type { Entry } from '../../../../src/ledger/write-queue.ts'
import {
  claim,
  claimed,
  dueIn,
  factsWith,
  NOW,
  named,
  refund,
  settle,
  settlementOf,
  submit,
} from '../../../fixtures/ledgers.ts'
import { query } from '../../../fixtures/postgres.ts'
import { TRANSACTOR_HERE } from '../../../fixtures/postgres-places.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../../fixtures/use-ledger.ts'

usePostgresLedger()

interface Open {
  readonly row_id: string
  readonly worker: string
  readonly claim_no: string
}

const openClaims = () =>
  query<Open>(
    postgres.address.url,
    `SELECT row_id, worker, claim_no FROM ${postgres.address.schema}.claim ORDER BY row_id`,
  )

/** As the worker of the ledger that claimed it. */
async function entriesOf(settling: readonly RowId[], claiming: readonly RowId[], passedMs = NOW) {
  const open = await openClaims()
  const worker = Number(open[0]!.worker)
  const settlements = settling.map((rowId, i): Work => {
    const claimNo = Number(open.find(({ row_id }) => Number(row_id) === rowId)!.claim_no)
    const facts = factsWith(String(8_000 + i))
    return {
      kind: 'settle',
      settlement: plainOf(settlementOf({ rowId, attempt: 1, row: named('any') }, 'APPROVED', { facts }), claimNo)!,
      worker,
    }
  })
  const claims = claiming.map((rowId, i): Work => {
    const times = { nowMs: NOW, reachedMs: NOW, passedMs, sendByMs: NOW + 15_000, answerByMs: NOW + 80_000 }
    const limits = { expiresAtMs: null, limited: null, reasonRules: [], mayExceed: false }
    return { kind: 'claim', asked: { rowId, attempt: 0, sharesOrder: true, ...limits, claimNo: 9_000 + i, ...times } }
  })
  const entries = [...settlements, ...claims].map((work): Entry<Work> & { result: unknown } => ({
    ...{ work, mode: KEPT, result: undefined },
  }))
  return { worker, entries }
}

/** Writes them, and tells what the server found for each statement. */
async function write(entries: readonly Entry<Work>[], worker: number, mayClaim = true) {
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
  const rows = await query<{ id: string; term: string }>(
    postgres.address.url,
    `SELECT account_id AS id, term FROM ${postgres.address.schema}.sender WHERE owner = $1`,
    [worker],
  )
  const held = { accounts: rows.map(({ id }) => Number(id) as AccountId), terms: rows.map(({ term }) => Number(term)) }
  const { first, finish } = groupOf(
    entries,
    worker,
    createClaiming('none', 0, () => held),
    mayClaim,
  )
  let found: readonly (readonly object[])[] = []
  const how = await transactor.writeGroup(first, (rows) => {
    found = rows
    return finish(rows)
  })
  await session.close()
  return { how, found, results: entries.map(({ result }) => result) }
}

async function batchOf(names: readonly string[], maxDeclinedPercent: number | null = null) {
  const rows = names.map((name) => refund(name))
  return dueIn(ledger, await submit(ledger, accountId, rows, { maxDeclinedPercent, fileSha256: names.join() }))
}

test('a claim goes with plain settlements, and the order that one of them frees is free', async () => {
  const rows = ['A', 'B'].map((name, i) => refund(name, { orderId: '77', amountMinor: BigInt(i + 1) }))
  const batchId = await submit(ledger, accountId, rows)
  const [a] = await dueIn(ledger, batchId)
  await claimed(ledger, a!)
  const { entries, worker } = await entriesOf([a!.rowId], [(a!.rowId + 1) as RowId])
  const { how, results } = await write(entries, worker)
  expect([how, ...results]).toEqual([
    { kind: 'written' },
    { state: 'APPROVED', paused: null },
    { answer: { kind: 'claimed', attempt: 1 }, worker },
  ])
  expect((await ledger.batch(batchId))?.counts).toEqual({ APPROVED: 1, SENDING: 1 })
})

test('a row that has expired by one of the two clocks is not claimed', async () => {
  const rows = ['A', 'B'].map((name) => refund(name, { expiresAtMs: NOW + 1_000 }))
  const [a, b] = await dueIn(ledger, await submit(ledger, accountId, rows))
  await claimed(ledger, a!)
  const claims = async (passedMs: number) => {
    const { entries, worker } = await entriesOf([], [b!.rowId], passedMs)
    return (await write(entries, worker)).results
  }
  expect(await claims(NOW + 1_000)).toMatchObject([{ answer: { kind: 'not-free' } }])
  expect(await claims(NOW + 999)).toMatchObject([{ answer: { kind: 'claimed' } }])
})

test('nothing is claimed beside a settlement that the server finds not to be plain', async () => {
  const [a] = await batchOf(['A', 'B'], 50)
  const [c, d] = await batchOf(['C', 'D'])
  for (const row of [a!, c!]) await claimed(ledger, row)
  const { entries, worker } = await entriesOf([a!.rowId, c!.rowId], [d!.rowId])
  const { how, found, results } = await write(entries, worker)
  expect(how).toEqual({ kind: 'written' })
  expect(found[1]).toEqual([])
  expect(results).toEqual(['later', { state: 'APPROVED', paused: null }, 'later'])
  expect((await openClaims()).map(({ row_id }) => Number(row_id))).toEqual([a!.rowId])
})

test('nothing is claimed beside a settlement that came too late for its claim', async () => {
  const [a, b] = await batchOf(['A', 'B'])
  const first = await claimed(ledger, a!)
  const { entries, worker } = await entriesOf([a!.rowId], [b!.rowId])
  await settle(ledger, first, 'IN_DOUBT')
  const { found, results } = await write(entries, worker)
  expect(found).toMatchObject([[{ claims: null }], []])
  expect(results).toEqual(['later', 'later'])
})

test('a settlement of another attempt is not plain', async () => {
  const [a] = await batchOf(['A'])
  await claimed(ledger, a!)
  const { entries, worker } = await entriesOf([a!.rowId], [])
  const { url, schema } = postgres.address
  await query(url, `UPDATE ${schema}.instruction SET attempt = 2`)
  expect((await write(entries, worker)).results).toEqual(['later'])
})

test('a group notes the transaction ids of all that it settles, without zeros in front, and ends their claims', async () => {
  const [a, b] = await batchOf(['A', 'B'])
  for (const row of [a!, b!]) await claimed(ledger, row)
  const { entries, worker } = await entriesOf([a!.rowId, b!.rowId], [])
  for (const { work } of entries)
    if (work.kind === 'settle')
      Object.assign(work.settlement.step.facts, { transactionId: `00${work.settlement.rowId}7` })
  expect((await write(entries, worker)).how).toEqual({ kind: 'written' })
  const { url, schema } = postgres.address
  const seen = await query(url, `SELECT transaction_id, row_id FROM ${schema}.seen_transaction ORDER BY row_id`)
  expect(seen).toEqual([a!, b!].map(({ rowId }) => ({ transaction_id: `${rowId}7`, row_id: String(rowId) })))
  expect(await openClaims()).toEqual([])
})

test('a transaction that a script noted, with zeros in front, is refused to a group', async () => {
  const [a] = await batchOf(['A', 'B'], 50)
  const [c] = await batchOf(['C'])
  const first = await claimed(ledger, a!)
  await claimed(ledger, c!)
  await settle(ledger, first, 'APPROVED', { facts: factsWith('008000') })
  const { entries, worker } = await entriesOf([c!.rowId], [])
  expect((await write(entries, worker)).how).toMatchObject({ kind: 'broke', error: { code: '23505' } })
})

test('a settlement of a row that has a transaction already is not plain', async () => {
  const [a] = await batchOf(['A'])
  await claimed(ledger, a!)
  const { entries, worker } = await entriesOf([a!.rowId], [])
  const { url, schema } = postgres.address
  await query(url, `SET search_path TO ${schema}; UPDATE instruction SET transaction_id = '4711'`)
  expect((await write(entries, worker)).results).toEqual(['later'])
})

test('a script ends the claim of what it settles, whatever the connection is set to', async () => {
  const [a] = await batchOf(['A'])
  const told = postgres.openAt(`${postgres.address.url}&options=${encodeURIComponent('-c tranche.keeps_keys=on')}`)
  await settle(told, await claimed(told, a!), 'IN_DOUBT')
  expect(await openClaims()).toEqual([])
})

test('nothing is claimed while something else must be written before', async () => {
  const [a, b] = await batchOf(['A', 'B'])
  await claimed(ledger, a!)
  const { entries, worker } = await entriesOf([a!.rowId], [b!.rowId])
  const { results } = await write(entries, worker, false)
  expect(results).toEqual([{ state: 'APPROVED', paused: null }, 'later'])
})

test('a claim that comes with a settlement that is written alone is made when that is written', async () => {
  const [a, b] = await batchOf(['A', 'B'], 50)
  const first = await claimed(ledger, a!)
  const [settled, answer] = await Promise.all([
    settle(ledger, first, 'APPROVED', { facts: factsWith('5') }),
    claim(ledger, b!),
  ])
  expect([settled.state, answer]).toEqual(['APPROVED', { kind: 'claimed', attempt: 1 }])
  const { url, schema } = postgres.address
  const moves = await query<{ row_id: string }>(url, `SELECT row_id FROM ${schema}.move ORDER BY id DESC LIMIT 2`)
  expect(moves.map(({ row_id }) => Number(row_id))).toEqual([b!.rowId, a!.rowId])
  expect((await openClaims()).map(({ row_id }) => Number(row_id))).toEqual([b!.rowId])
})

test('a pooler for which nothing is prepared gets the same groups', async () => {
  const rows = await batchOf(['A', 'B', 'C'])
  const pooled = postgres.openAt(postgres.address.url, { prepares: false })
  const firsts = await Promise.all(rows.map((row) => claimed(pooled, row)))
  const settled = firsts.map((row, i) => settle(pooled, row, 'APPROVED', { facts: factsWith(String(600 + i)) }))
  expect((await Promise.all(settled)).map(({ state }) => state)).toEqual(['APPROVED', 'APPROVED', 'APPROVED'])
})

test('a settlement is written before every claim that was asked for after it, when it has to be written alone', async () => {
  const { url, schema } = postgres.address
  for (let round = 0; round < 8; round++) {
    const names = ['A', 'B', 'C'].map((name) => `${name}-${round}`)
    const batchId = await submit(
      ledger,
      accountId,
      names.map((name) => refund(name)),
      { fileSha256: `${round}` },
    )
    const [first, second, third] = await dueIn(ledger, batchId)
    const [a, b] = [await claimed(ledger, first!), await claimed(ledger, second!)]
    const facts = factsWith(`77${round}`)
    await settle(ledger, a, 'APPROVED', { facts })
    await Promise.all([settle(ledger, b, 'APPROVED', { facts }), claim(ledger, third!)]) // b has the transaction of a
    const moved = await query<{ row_id: string }>(
      url,
      `SELECT row_id FROM ${schema}.move WHERE row_id IN (${b.rowId}, ${third!.rowId}) ORDER BY id DESC LIMIT 2`,
    )
    expect(moved.map(({ row_id }) => Number(row_id))).toEqual([third!.rowId, b.rowId])
  }
})
