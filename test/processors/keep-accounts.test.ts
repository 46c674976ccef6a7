// The limiters of a worker follow what it is the sender of.

import { expect, test } from 'vitest'
import type { AccountId } from '../../src/domain/ids.ts'
import type { AccountsAsked, Sending } from '../../src/ports/ledger/work.ts'
import type { AccountLane } from '../../src/processors/execute-slice.ts'
import { openAccounts } from '../../src/processors/keep-accounts.ts'
import { createLimiter } from '../../src/throttle/limiter.ts'
import { ManualClock } from '../fixtures/clock.ts'

const [A, B] = [1, 2] as unknown as [AccountId, AccountId]

function accountsOf(isShared: boolean, ratePerSecond: number | null = null) {
  const clock = new ManualClock(Date.UTC(2026, 4, 4, 9))
  const lane = () => ({ limiter: createLimiter({ inFlightMax: 8, ratePerSecond, clock }) }) as AccountLane
  const lanes = new Map([A, B].map((id) => [id, lane()] as const))
  const told: { sending: ReadonlyMap<AccountId, Sending>; asked: AccountsAsked | null } = {
    sending: new Map(),
    asked: null,
  }
  const ledger = {
    isShared,
    async keepAccounts(asked: AccountsAsked) {
      told.asked = asked
      return told.sending
    },
  }
  const accounts = openAccounts({ ledger, lanes, clock, only: null, hasFile: false })
  const limiterOf = (id: AccountId) => lanes.get(id)!.limiter
  const openMost = () => [A, B].map((id) => limiterOf(id).openMost())
  const sends = async (...sending: readonly (readonly [AccountId, Sending])[]) => {
    told.sending = new Map(sending)
    await accounts.keep(new Set([A, B]))
  }
  return { accounts, clock, told, limiterOf, openMost, sends }
}

test('nothing begins before it is the sender, nor once it is no more, and each time begins with one open request', async () => {
  const { accounts, limiterOf, openMost, sends } = accountsOf(true)
  expect([openMost(), accounts.isMine(A)]).toEqual([[0, 0], false])
  await sends([A, { tenure: 1, openElsewhere: 0 }])
  limiterOf(A).record('true-answer', null)
  await sends([A, { tenure: 1, openElsewhere: 0 }])
  expect([openMost(), accounts.isMine(A), accounts.isMine(B)]).toEqual([[2, 0], true, false])
  await sends([A, { tenure: 2, openElsewhere: 0 }], [B, { tenure: 3, openElsewhere: 0 }])
  expect(openMost()).toEqual([1, 1])
  await sends()
  expect([openMost(), accounts.isMine(A)]).toEqual([[0, 0], false])
})

test('what others have open counts', async () => {
  const { openMost, sends } = accountsOf(true)
  await sends([A, { tenure: 1, openElsewhere: 8 }])
  expect(openMost()).toEqual([0, 0])
  await sends([A, { tenure: 1, openElsewhere: 7 }])
  expect(openMost()).toEqual([1, 0])
})

test('a gateway that has not answered for half a minute is told', async () => {
  const { clock, told, limiterOf, sends } = accountsOf(true)
  const mine = [A, { tenure: 1, openElsewhere: 0 }] as const
  await sends(mine)
  limiterOf(A).record('failure', null, 'no route')
  clock.jump(29_999)
  await sends(mine)
  expect(told.asked?.failing).toEqual(new Set())
  clock.jump(1)
  await sends(mine)
  expect(told.asked?.failing).toEqual(new Set([A]))
})

test('what it has just become the sender of is told as quiet, and that it ends', async () => {
  const { accounts, clock, told, sends } = accountsOf(true, 0.1)
  const mine = [A, { tenure: 1, openElsewhere: 0 }] as const
  await sends(mine)
  await sends(mine)
  expect([told.asked?.quiet, told.asked?.isEnding]).toEqual([new Set([A]), false])
  clock.jump(10_000)
  accounts.end()
  await sends(mine)
  expect([told.asked?.quiet, told.asked?.isEnding]).toEqual([new Set(), true])
})

test('where one worker at a time works off a ledger, all of it is its own', async () => {
  const { accounts, told, openMost } = accountsOf(false)
  await accounts.keep(new Set([A]))
  expect([accounts.isMine(A), openMost(), told.asked]).toEqual([true, [1, 1], null])
})
