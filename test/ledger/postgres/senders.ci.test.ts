// Workers on one server, of which one at a time sends for an account: how it is taken, lost and handed over, and what becomes of claims.

import { expect, onTestFinished, test } from 'vitest'
import type { AccountId } from '../../../src/domain/ids.ts'
import { openSession } from '../../../src/ledger/postgres/session.ts'
import { createClaiming } from '../../../src/ledger/postgres/work/claims.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import type { AccountsAsked } from '../../../src/ports/ledger/work.ts'
import {
  claim,
  claimNamed,
  dueIn,
  factsWith,
  heartbeatOf,
  NOW,
  refund,
  settle,
  submit,
} from '../../fixtures/ledgers.ts'
import { queryIn } from '../../fixtures/postgres.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../fixtures/use-ledger.ts'

usePostgresLedger()

/** Past every program. */
const change = (text: string) => queryIn(postgres.address, text)
const silence = () => change(`UPDATE worker SET lease_until = clock_timestamp() - interval '1 s'`)
const NOT_FREE = { kind: 'not-free' }

/** As its tick asks, where something of these accounts is due. */
function keep(one: Ledger, over: Partial<AccountsAsked> = {}, ids: readonly AccountId[] = [accountId]) {
  const accounts = new Set(ids)
  const none = new Set<AccountId>()
  const asked = { lanes: accounts, due: accounts, failing: none, quiet: none, only: null, hasFile: false }
  return one.keepAccounts({ ...asked, isEnding: false, openIn: () => 0, ...over })
}

async function isSender(one: Ledger, over: Partial<AccountsAsked> = {}): Promise<boolean> {
  return (await keep(one, over)).has(accountId)
}

const batchOf = (...references: string[]) =>
  submit(
    ledger,
    accountId,
    references.map((reference) => refund(reference)),
  )

test('one of them is the sender, the others claim nothing, and when it ends another takes over', async () => {
  const [a, b] = await dueIn(ledger, await batchOf('A', 'B'))
  const [first, second] = [postgres.workerAt('one'), postgres.workerAt('two')]
  expect([await isSender(first), await isSender(second)]).toEqual([true, false])
  expect(await claim(second, a!)).toEqual(NOT_FREE)
  expect(second.tenure(accountId)()).toBe(false)
  expect(await claim(first, a!)).toMatchObject({ kind: 'claimed' })
  await first.close()
  expect(await isSender(second)).toBe(true)
  expect(await claim(second, b!)).toMatchObject({ kind: 'claimed' })
})

test('all who ask at the same moment: one has it', async () => {
  const workers = ['one', 'two', 'three', 'four'].map((desk) => postgres.workerAt(desk))
  const senders = await Promise.all(workers.map((one) => isSender(one)))
  expect(senders.filter(Boolean)).toHaveLength(1)
  expect(await Promise.all(workers.map((one) => isSender(one)))).toEqual(senders)
})

test('of a silent one the account is taken, and what it had claimed leaves no more, even if it is the sender again', async () => {
  const [first, second] = [postgres.workerAt('one'), postgres.workerAt('two')]
  const [a] = await dueIn(ledger, await batchOf('A'))
  await isSender(first)
  await first.beat(heartbeatOf('one:1'))
  const mayLeave = first.tenure(accountId)
  expect(mayLeave()).toBe(true)
  await silence()
  await second.beat(heartbeatOf('two:2'))
  expect(await isSender(second)).toBe(false)
  const isTaken = async () => {
    await silence() // it may have spoken again
    await second.beat(heartbeatOf('two:2'))
    await second.sweepLost(NOW)
    return isSender(second)
  }
  await expect.poll(isTaken, { timeout: 20_000, interval: 20 }).toBe(true)
  expect(await claim(first, a!)).toEqual(NOT_FREE)
  await first.beat(heartbeatOf('one:1'))
  expect([await isSender(first), mayLeave()]).toEqual([false, false])
  await second.close()
  expect(await isSender(first)).toBe(true)
  expect([first.tenure(accountId)(), mayLeave()]).toEqual([true, false])
})

test('a claim of a term that is over is not made, and the claims of other accounts beside it are', async () => {
  const other = await ledger.account('other', 'https://other.example', 'somebody', NOW)
  const worker = postgres.workerAt('one')
  await keep(worker, {}, [accountId, other])
  const [a] = await dueIn(ledger, await batchOf('A'))
  const [b] = await dueIn(ledger, await submit(ledger, other, [refund('B')], { fileSha256: 'b' }))
  await change(`UPDATE sender SET term = term + 1 WHERE account_id = ${accountId}`)
  expect(await Promise.all([claim(worker, a!), claim(worker, b!)])).toMatchObject([NOT_FREE, { kind: 'claimed' }])
  expect((await keep(worker, {}, [accountId, other])).size).toBe(2)
  expect(await claim(worker, a!)).toMatchObject({ kind: 'claimed' })
})

test('whoever takes an account waits for the claims of the term before; the beat of a worker does not', async () => {
  const [first, second] = [postgres.workerAt('one'), postgres.workerAt('two')]
  const [a] = await dueIn(ledger, await batchOf('A'))
  await isSender(first)
  const [sender] = await queryIn<{ owner: number; term: number }>(postgres.address, 'SELECT owner, term FROM sender')
  const times = { nowMs: NOW, reachedMs: NOW, passedMs: NOW, sendByMs: NOW + 15_000, answerByMs: NOW + 80_000 }
  const limits = { sharesOrder: true, expiresAtMs: null, limited: null, reasonRules: [], mayExceed: false }
  const asked = { rowId: a!.rowId, attempt: 0, claimNo: 1, ...times, ...limits }
  const claiming = await openSession(postgres.address)
  onTestFinished(() => claiming.close())
  await claiming.begin('READ COMMITTED')
  const held = { accounts: [accountId], terms: [sender!.term] }
  const { text, values } = createClaiming('none', 0, () => held).ask(sender!.owner, [asked], 0)
  expect(await claiming.ask(text, values)).toHaveLength(1)
  await change('UPDATE worker SET ended_at = clock_timestamp()')
  let isTaken = false
  const taking = isSender(second).then((taken) => {
    isTaken = taken
  })
  const waits = () =>
    change("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO sender%'")
  await expect.poll(async () => (await waits()).length, { timeout: 20_000, interval: 20 }).toBe(1)
  await second.beat(heartbeatOf('two:2'))
  expect(isTaken).toBe(false)
  await claiming.commit()
  await taking
  expect(isTaken).toBe(true)
})

test('requests that a silent sender may have open count, until no answer can come', async () => {
  const [first, second] = [postgres.workerAt('one'), postgres.workerAt('two')]
  await isSender(first)
  await claimNamed(first, await batchOf('A'), 'A')
  await silence()
  await second.beat(heartbeatOf('two:2'))
  await second.sweepLost(NOW)
  expect((await keep(second)).get(accountId)).toMatchObject({ openElsewhere: 1 })
  await change(`UPDATE claim SET answer_by = clock_timestamp() - interval '1 s'`)
  await second.sweepLost(NOW)
  expect((await keep(second)).get(accountId)).toMatchObject({ openElsewhere: 0 })
})

test('whoever comes to the place of a dead sender has its account at once, and nothing of that one counts', async () => {
  const first = postgres.workerAt('one')
  await isSender(first)
  await claimNamed(first, await batchOf('A'), 'A')
  const next = postgres.workerAt('one')
  expect(await next.sweep(NOW)).toBe(1)
  expect((await keep(next)).get(accountId)).toMatchObject({ openElsewhere: 0 })
})

test('an answer is taken from whoever was the sender', async () => {
  const [first, second] = [postgres.workerAt('one'), postgres.workerAt('two')]
  await isSender(first)
  const row = await claimNamed(first, await batchOf('A'), 'A')
  await silence()
  await second.beat(heartbeatOf('two:2'))
  await second.sweepLost(NOW)
  await isSender(second)
  expect(await settle(first, row, 'APPROVED', { facts: factsWith('51') })).toMatchObject({ state: 'APPROVED' })
})

test('with the file of its rows a process asks for the account, and has it when what is open has ended', async () => {
  const [first, withFile] = [postgres.workerAt('one'), postgres.workerAt('two')]
  expect(await isSender(first)).toBe(true)
  let open = 1
  const asking = () => isSender(withFile, { hasFile: true })
  const working = () => isSender(first, { openIn: () => open })
  const turn = async () => [await asking(), await working()]
  await expect.poll(turn, { timeout: 20_000 }).toEqual([false, false])
  open = 0
  await expect.poll(turn, { timeout: 20_000 }).toEqual([true, false])
  expect(await working()).toBe(false)
})

test('a server of another history makes nobody a sender', async () => {
  const worker = postgres.workerAt('one')
  await change("UPDATE meta SET value = 'another' WHERE key = 'database'")
  expect(await isSender(worker)).toBe(false)
})

test('an account that it lost, or could not give back, is free for others at its next look, even with nothing due', async () => {
  const [first, second] = [postgres.workerAt('one'), postgres.workerAt('two')]
  const none = new Set<AccountId>()
  await isSender(first)
  await change(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'`)
  await change('CREATE TRIGGER refuse BEFORE UPDATE ON sender FOR EACH ROW EXECUTE FUNCTION refuse()')
  await expect(keep(first, { isEnding: true })).rejects.toThrow()
  await change('DROP TRIGGER refuse ON sender')
  expect(await isSender(second)).toBe(false)
  await keep(first, { due: none })
  expect(await isSender(second)).toBe(true)
})

test('a worker that ends gives back what it has once nothing is open, and takes no other', async () => {
  const [first, second] = [postgres.workerAt('one'), postgres.workerAt('two')]
  await isSender(first)
  expect((await keep(first, { isEnding: true, openIn: () => 1 })).size).toBe(0)
  expect(await isSender(second)).toBe(false)
  await keep(first, { isEnding: true })
  expect(await isSender(second)).toBe(true)
  await second.close()
  expect((await keep(first, { isEnding: true })).size).toBe(0)
})
