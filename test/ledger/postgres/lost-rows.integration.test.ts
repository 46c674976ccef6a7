// Answers to requests of a history that is lost: a server that was put back gives the ids of the rows that it lost to other rows.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { beforeEach, expect, test } from 'vitest'
import type { RowId } from '../../../src/domain/ids.ts'
import type { Settlement } from '../../../src/ports/ledger/work.ts'
import {
  dueIn,
  factsWith,
  NOW,
  named,
  openAccount,
  refund,
  rowIn,
  settlementOf,
  submit,
} from '../../fixtures/ledgers.ts'
import { query } from '../../fixtures/postgres.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../fixtures/use-ledger.ts'

usePostgresLedger()

let told: [Settlement, string][]
beforeEach(() => {
  told = []
})

const keptIn = () => `${postgres.answersAt('desk')}.unknown`

/** A lost row had that id, and was answered. */
function answerOf(rowId: RowId, reference: string, merchant = 'default'): Settlement {
  const row = { ...named(reference), merchant }
  return settlementOf({ rowId, attempt: 1, row }, 'APPROVED', { facts: factsWith('51') })
}

/** As the next process at the desk of the one that kept it. */
async function handIn(settlement: Settlement): Promise<void> {
  writeFileSync(postgres.answersAt('desk'), `${JSON.stringify({ settlement, token: { worker: 1, claimNo: 1 } })}\n`)
  const onUnknownAnswer = (...one: [Settlement, string]) => void told.push(one)
  await postgres.openAt(postgres.address.url, {}, 'desk', { onUnknownAnswer }).sweep(NOW)
  expect(existsSync(postgres.answersAt('desk'))).toBe(false)
}

async function firstIdOf(batchId: Awaited<ReturnType<typeof submit>>): Promise<RowId> {
  return (await dueIn(ledger, batchId))[0]!.rowId
}

test('an answer says nothing of the row that has its id now, and is kept for a person', async () => {
  const batchId = await submit(ledger, accountId, [refund('B')])
  const answer = answerOf(await firstIdOf(batchId), 'A')
  await handIn(answer)
  expect(await rowIn(ledger, batchId, 'B')).toMatchObject({ state: 'READY', warning: null })
  expect(told).toEqual([[answer, keptIn()]])
  expect(JSON.parse(readFileSync(keptIn(), 'utf8')).settlement).toEqual(answer)
})

test('nor of a row of another merchant that has its reference besides', async () => {
  const batchId = await submit(ledger, await openAccount(ledger, 'third'), [refund('A')])
  const answer = answerOf(await firstIdOf(batchId), 'A', 'second')
  await handIn(answer)
  expect(await rowIn(ledger, batchId, 'A')).toMatchObject({ state: 'READY', warning: null })
  expect(told).toEqual([[answer, keptIn()]])
})

test('answers are kept where no row has their id, one after the other, and proof that nothing was sent is not', async () => {
  const first = answerOf(9_999 as RowId, 'A')
  const second = { ...first, attempt: 2 }
  await handIn(first)
  await handIn(second)
  await handIn({ ...first, to: 'READY', facts: null })
  expect(told).toEqual([first, second].map((answer) => [answer, keptIn()]))
  const lines = readFileSync(keptIn(), 'utf8').trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).settlement)).toEqual([first, second])
})

test.each(['in its place', 'in another'])(
  'an answer stops the instruction where it was handed in again, %s',
  async (where) => {
    const names = where === 'in its place' ? ['A', 'B'] : ['B', 'A']
    const rows = names.map((name) => refund(name))
    const batchId = await submit(ledger, accountId, rows)
    await handIn(answerOf(await firstIdOf(batchId), 'A'))
    expect(await rowIn(ledger, batchId, 'A')).toMatchObject({
      ...{ state: 'IN_DOUBT', warning: expect.stringContaining('was answered APPROVED (transaction id 51)') },
    })
    expect(await rowIn(ledger, batchId, 'B')).toMatchObject({ state: 'READY', warning: null })
    expect([told, existsSync(keptIn())]).toEqual([[], false])
  },
)

test('an answer is kept while its instruction is only on its way in', async () => {
  const answer = answerOf(await firstIdOf(await submit(ledger, accountId, [refund('A')])), 'A')
  await query(postgres.address.url, `UPDATE ${postgres.address.schema}.batch SET stage = 'draft'`)
  await handIn(answer)
  expect(told).toEqual([[answer, keptIn()]])
})

test('an answer is written to no other row by the worker that has it yet', async () => {
  const batchId = await submit(ledger, accountId, [refund('B')])
  await expect(ledger.settle(answerOf(await firstIdOf(batchId), 'A'))).rejects.toThrow('which is not in the ledger')
  expect(await rowIn(ledger, batchId, 'B')).toMatchObject({ state: 'READY', warning: null })
})
