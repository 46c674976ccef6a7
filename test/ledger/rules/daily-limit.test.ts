import { expect, test } from 'vitest'
import type { LimitedAmount } from '../../../src/domain/daily-limit.ts'
import type { AccountId } from '../../../src/domain/ids.ts'
import { STATES } from '../../../src/domain/states.ts'
import {
  countsTowardsLimit,
  dueAfterLimit,
  fitsLimit,
  isAccepted,
  isSameLimit,
} from '../../../src/ledger/rules/daily-limit.ts'
import { EUR } from '../../fixtures/ledgers.ts'

const limited = (amountMinor: bigint): LimitedAmount => ({
  ...{ accountId: 1 as AccountId, direction: 'out', currency: EUR, amountMinor, limitMinor: 100n, timeZone: 'UTC' },
  day: { startsAtMs: 0, endsAtMs: 86_400_000 },
})

test.each([
  [100n, 0n, false, true],
  [60n, 40n, false, true],
  [60n, 41n, false, false],
  [101n, 0n, false, false],
  [101n, 0n, true, true],
  [101n, 1n, true, false],
  [0n, 150n, false, false],
  [1n, 9_007_199_254_740_993n, false, false],
] as const)('%d beside %d, accepted %s: fits %s', (amountMinor, spent, mayExceed, fits) => {
  expect(fitsLimit(limited(amountMinor), spent, mayExceed)).toBe(fits)
})

test('what was executed, or may have been, counts', () => {
  expect(STATES.filter(countsTowardsLimit)).toEqual(['SENDING', 'APPROVED', 'IN_DOUBT'])
})

test('a row that needs a day to itself is due before all others', () => {
  expect(dueAfterLimit(limited(101n), true)).toBe(86_400_000)
  for (const [amountMinor, isAccepted] of [
    [101n, false],
    [100n, true],
  ] as const)
    expect(dueAfterLimit(limited(amountMinor), isAccepted)).toBe(86_460_000)
})

test('a limit is the same by its amount, its currency and its zone', () => {
  const of = (minor: bigint, timeZone = 'UTC') => ({ amounts: new Map([[EUR, minor]]), timeZone })
  const { currency, timeZone, limitMinor } = limited(1n)
  const same = (limits: Parameters<typeof isSameLimit>[1]) => isSameLimit({ currency, timeZone, limitMinor }, limits)
  expect([of(100n), of(101n), of(100n, 'Europe/Berlin'), null].map(same)).toEqual([true, false, false, false])
})

test.each([
  [null, false],
  [99n, true],
  [100n, true],
  [101n, false],
] as const)('what was accepted above a limit of %s holds for one of 100: %s', (accepted, holds) => {
  expect(isAccepted({ limitMinor: 100n }, accepted)).toBe(holds)
})
