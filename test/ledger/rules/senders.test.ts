import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AccountId, BatchId } from '../../../src/domain/ids.ts'
import {
  type Able,
  type AccountToSend,
  type OwnAccount,
  type SenderFacts,
  type SendingWorker,
  toAskFor,
  toGiveBack,
  toTake,
} from '../../../src/ledger/rules/senders.ts'
import { tries } from '../../fixtures/tries.ts'

const BATCH = 'one batch' as BatchId
const worker = (workerId: number, over: Partial<SendingWorker> = {}): SendingWorker => ({
  ...{ workerId, only: null, merchants: null },
  ...over,
})
const account = (id: number, over: Partial<AccountToSend> = {}): AccountToSend => ({
  ...{ accountId: id as AccountId, merchant: `m${id}`, isDue: true, owner: null, askedBy: null },
  ...over,
})
const accounts = (count: number, over: Partial<AccountToSend> = {}) =>
  Array.from({ length: count }, (_, i) => account(i + 1, over))
const able = (over: Partial<Able> = {}): Able => ({
  ...{ lanes: new Set(accounts(9).map(({ accountId }) => accountId)), hasFile: false, failed: new Set<AccountId>() },
  leftOver: new Set<AccountId>(),
  ...over,
})
const factsOf = (workers: readonly SendingWorker[], of: readonly AccountToSend[], me = 1): SenderFacts => ({
  ...{ me, workers, accounts: of },
})
const own = (ids: readonly number[], over: Partial<OwnAccount> = {}) =>
  new Map(ids.map((id) => [id as AccountId, { sinceMs: 0, busyMs: 100_000, isFailing: false, ...over }]))
const NOW_MS = 100_000

describe('a worker takes', () => {
  test('all that is due where it is alone, and none that has a sender, is not due or is not configured here', () => {
    const of = [account(1), account(2, { owner: 2 }), account(3, { isDue: false }), account(4)]
    expect(toTake(factsOf([worker(1)], of), able({ lanes: new Set([1, 2, 3] as AccountId[]) }))).toEqual([1])
  })

  test('up to its part, rounded up, where others could take the rest', () => {
    expect(toTake(factsOf([worker(1), worker(2)], accounts(5)), able())).toHaveLength(3)
  })

  test('beyond its part what no other is configured for', () => {
    expect(toTake(factsOf([worker(1), worker(2, { merchants: ['m1'] })], accounts(4)), able())).toEqual([1, 2, 3, 4])
  })

  test('nothing that another has asked for', () => {
    expect(toTake(factsOf([worker(1), worker(2)], [account(1, { askedBy: 2 })]), able())).toEqual([])
    expect(toTake(factsOf([worker(1), worker(2)], [account(1, { askedBy: 2 })], 2), able())).toEqual([1])
  })

  test('what it gave back because the gateway did not answer only where no other would', () => {
    const failed = able({ failed: new Set([1] as AccountId[]) })
    expect(toTake(factsOf([worker(1), worker(2)], [account(1)]), failed)).toEqual([])
    expect(toTake(factsOf([worker(1)], [account(1)]), failed)).toEqual([1])
    const full = factsOf([worker(1), worker(2)], [account(1), account(2, { owner: 2 })])
    expect(toTake(full, failed)).toEqual([])
  })

  test('beyond its part what nobody has taken for a while', () => {
    const full = factsOf([worker(1), worker(2)], [account(1), account(2, { owner: 1 })])
    expect(toTake(full, able())).toEqual([])
    const leftOver = new Set([1] as AccountId[])
    expect(toTake(full, able({ leftOver }))).toEqual([1])
    expect(toTake(full, able({ leftOver, failed: leftOver }))).toEqual([])
    const run = factsOf([worker(1, { only: BATCH }), worker(2)], [account(1)])
    expect(toTake(run, able({ leftOver }))).toEqual([1])
  })

  test('for a single batch only where no worker would send it, or with its file', () => {
    const run = worker(1, { only: BATCH })
    expect(toTake(factsOf([run, worker(2)], [account(1)]), able())).toEqual([])
    expect(toTake(factsOf([run, worker(2)], [account(1)]), able({ hasFile: true }))).toEqual([1])
    expect(toTake(factsOf([run], [account(1)]), able())).toEqual([1])
  })
})

describe('a worker asks', () => {
  test('with a file for the account of whoever has it, and without one for that of a single batch', () => {
    const of = [account(1, { owner: 2 }), account(2, { owner: 3 }), account(3, { owner: 1 }), account(4)]
    const workers = [worker(1), worker(2), worker(3, { only: BATCH })]
    expect(toAskFor(factsOf(workers, of), able())).toEqual([2])
    expect(toAskFor(factsOf(workers, of), able({ hasFile: true }))).toEqual([1, 2])
    const runs = [worker(1, { only: BATCH }), worker(2), worker(3, { only: 'other' as BatchId })]
    expect(toAskFor(factsOf(runs, of), able())).toEqual([2])
  })
})

describe('a sender gives back', () => {
  const mine = (count: number, over: Partial<AccountToSend> = {}) => accounts(count, { owner: 1, ...over })
  const two = [worker(1), worker(2)]

  test('what had nothing due or open for half a minute', () => {
    const facts = factsOf([worker(1)], mine(1, { isDue: false }))
    expect(toGiveBack(facts, own([1], { busyMs: NOW_MS - 29_999 }), NOW_MS)).toEqual([])
    expect(toGiveBack(facts, own([1], { busyMs: NOW_MS - 30_000 }), NOW_MS)).toEqual([1])
  })

  test('what is more than its part, where another would take it', () => {
    expect(toGiveBack(factsOf(two, mine(5)), own([1, 2, 3, 4, 5]), NOW_MS)).toHaveLength(2)
    const others = [worker(1), worker(2, { merchants: [] })]
    expect(toGiveBack(factsOf(others, mine(5)), own([1, 2, 3, 4, 5]), NOW_MS)).toEqual([])
  })

  test('what another asks for, once it has had it for a while', () => {
    const facts = factsOf(two, mine(1, { askedBy: 2 }))
    expect(toGiveBack(facts, own([1], { sinceMs: NOW_MS - 4_999 }), NOW_MS)).toEqual([])
    expect(toGiveBack(facts, own([1], { sinceMs: NOW_MS - 5_000 }), NOW_MS)).toEqual([1])
  })

  test('what its gateway does not answer for, where another would take it', () => {
    const failing = own([1], { isFailing: true })
    expect(toGiveBack(factsOf(two, mine(1)), failing, NOW_MS)).toEqual([1])
    expect(toGiveBack(factsOf([worker(1)], mine(1)), failing, NOW_MS)).toEqual([])
    expect(toGiveBack(factsOf(two, [...mine(1), account(2, { owner: 2 })]), failing, NOW_MS)).toEqual([1])
  })
})

/** One after another, as the server lets them. */
function settled(workers: readonly SendingWorker[], count: number, ablesOf: (id: number) => Able): AccountToSend[] {
  let of = accounts(count)
  const give = (ids: readonly AccountId[], owner: number | null) => {
    of = of.map((one) => (ids.includes(one.accountId) ? { ...one, owner } : one))
  }
  for (let round = 0; round < 2 * count + 2; round++)
    for (const { workerId: me } of workers) {
      const facts = factsOf(workers, of, me)
      const known = own(of.map(({ accountId }) => accountId))
      give(toGiveBack(facts, known, NOW_MS), null)
      give(toTake(factsOf(workers, of, me), ablesOf(me)), me)
    }
  return of
}

test('whoever joins, and whatever each is configured for: in the end every account that anyone can send for has a sender, and it stays', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.array(fc.subarray([1, 2, 3, 4, 5, 6, 7, 8, 9]), { minLength: 1, maxLength: 4 }),
      (count, configured) => {
        const workers = configured.map((ids, i) => worker(i + 1, { merchants: ids.map((id) => `m${id}`) }))
        const ablesOf = (id: number) => able({ lanes: new Set(configured[id - 1] as unknown as AccountId[]) })
        const of = settled(workers, count, ablesOf)
        for (const { accountId, owner } of of)
          expect([accountId, owner !== null]).toEqual([accountId, configured.flat().includes(accountId)])
        for (const { workerId } of workers)
          expect(toGiveBack(factsOf(workers, of, workerId), own(of.map((one) => one.accountId)), NOW_MS)).toEqual([])
      },
    ),
    { numRuns: tries(200) },
  )
})
