// How many approvals a batch needs, and who may give one.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Actor } from '../../src/domain/actor.ts'
import {
  type ApprovalPolicy,
  type ApprovalRule,
  type AskedSum,
  approvalsNeeded,
  isAwaiting,
  leastApprovals,
  unfitToApprove,
} from '../../src/domain/approval.ts'
import type { Operation } from '../../src/domain/instruction.ts'
import { type Currency, parseCurrency } from '../../src/domain/money.ts'

const [EUR, JPY, KWD] = ['EUR', 'JPY', 'KWD'].map((code) => parseCurrency(code) as Currency)
const RULE: ApprovalRule = { merchants: null, operations: null, fourEyes: false, bands: {}, rowOver: {} }
const policy = (...rules: Partial<ApprovalRule>[]): ApprovalPolicy => ({
  rules: rules.map((rule) => ({ ...RULE, ...rule })),
  expireAfterMs: 1,
  osUsers: true,
})
const BANDS = {
  EUR: [
    { upTo: '1000.00', approvals: 0 },
    { upTo: '50000.00', approvals: 1 },
    { upTo: null, approvals: 2 },
  ],
}
const sum = (amountMinor: bigint, currency = EUR, operation: Operation = 'REFUND', largestMinor = amountMinor) => ({
  ...{ operation, currency: currency as Currency, amountMinor, largestMinor },
})
const needs = (rules: ApprovalPolicy, sums: ReturnType<typeof sum>[], earlier: AskedSum[] = [], merchant = 'shop') =>
  approvalsNeeded(rules, { merchant, sums, earlier })

describe('how many approvals', () => {
  test.each([
    [100_000n, 0],
    [100_001n, 1],
    [5_000_000n, 1],
    [5_000_001n, 2],
  ])('a sum of %d minor units needs %d', (amount, count) => {
    expect(needs(policy({ bands: BANDS }), [sum(amount)])).toBe(count)
  })

  test('earlier sums of the same currency count, those of another one do not', () => {
    expect(needs(policy({ bands: BANDS }), [sum(1n)], [sum(100_000n)])).toBe(1)
    expect(needs(policy({ bands: BANDS }), [sum(1n)], [sum(100_000n, JPY)])).toBe(0)
  })

  test('a currency without a band needs as many as the strictest band of all', () => {
    expect(needs(policy({ bands: BANDS }), [sum(1n, JPY)])).toBe(2)
  })

  test('limits are in units of the currency, whatever decimals it has', () => {
    const bands = {
      JPY: [
        { upTo: '1000.00', approvals: 0 },
        { upTo: null, approvals: 1 },
      ],
      KWD: [{ upTo: '1.5', approvals: 0 }],
    }
    expect(needs(policy({ bands }), [sum(1_000n, JPY)])).toBe(0)
    expect(needs(policy({ bands }), [sum(1_001n, JPY)])).toBe(1)
    expect(
      needs(
        policy({
          bands: {
            KWD: [
              { upTo: '1.5', approvals: 0 },
              { upTo: null, approvals: 1 },
            ],
          },
        }),
        [sum(1_501n, KWD)],
      ),
    ).toBe(1)
  })

  test('a single row above its limit asks for one more', () => {
    const rowOver = { EUR: '50.00' }
    expect(needs(policy({ bands: BANDS, rowOver }), [sum(6_000n, EUR, 'REFUND', 5_000n)])).toBe(0)
    expect(needs(policy({ bands: BANDS, rowOver }), [sum(6_000n, EUR, 'REFUND', 5_001n)])).toBe(1)
    expect(needs(policy({ fourEyes: true, rowOver: { '*': '50' } }), [sum(51n, JPY)])).toBe(2)
  })

  test('rules for other merchants and operations ask for nothing, and the strictest that fits counts', () => {
    const rules = policy(
      { merchants: ['other'], fourEyes: true },
      { operations: ['REFUND'], fourEyes: true },
      { bands: BANDS },
    )
    expect(needs(rules, [sum(1n, EUR, 'CAPTURE')])).toBe(0)
    expect(needs(rules, [sum(1n)])).toBe(1)
    expect(needs(rules, [sum(5_000_001n)])).toBe(2)
    expect(needs(rules, [sum(1n, EUR, 'CAPTURE')], [], 'other')).toBe(1)
  })

  test('more money never needs fewer, and a file that is split needs as many for its last part as a whole one', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt(1n, 3_000_000n), { minLength: 1, maxLength: 8 }), (parts) => {
        const total = parts.reduce((all, part) => all + part, 0n)
        const whole = needs(policy({ bands: BANDS }), [sum(total)])
        const last = parts.at(-1) as bigint
        const earlier = parts.slice(0, -1).map((part) => sum(part))
        expect(needs(policy({ bands: BANDS }), [sum(last)], earlier)).toBe(whole)
        expect(needs(policy({ bands: BANDS }), [sum(total + 1n)])).toBeGreaterThanOrEqual(whole)
      }),
    )
  })

  test('a cancellation without an amount is below no limit, and the vault moves no money', () => {
    const none = '' as Currency
    expect(needs(policy({ bands: BANDS }), [sum(0n, none, 'CANCEL')])).toBe(2)
    expect(needs(policy({ bands: BANDS, rowOver: { EUR: '5' } }), [sum(0n, none, 'CANCEL')])).toBe(3)
    expect(needs(policy({ bands: BANDS, operations: ['REFUND'] }), [sum(0n, none, 'CANCEL')])).toBe(0)
    expect(needs(policy({ bands: BANDS }), [sum(0n, none, 'VAULT_DELETE')])).toBe(0)
    expect(needs(policy({ fourEyes: true }), [sum(0n, none, 'VAULT_DELETE')])).toBe(1)
  })

  test('nothing to send needs none', () => {
    expect(needs(policy({ fourEyes: true, bands: BANDS }), [])).toBe(0)
    expect([isAwaiting(null), isAwaiting({ needed: 2, given: 1 }), isAwaiting({ needed: 2, given: 2 })]).toEqual([
      ...[false, true, false],
    ])
  })
})

describe('who may approve', () => {
  const user = (name: string, over: object = {}): Actor => ({
    ...{ name, uid: 4001, host: 'desk', terminal: null, login: null, sudo: null, as: null },
    ...over,
  })
  const root = (sudo: string | null) => user('root', { uid: 0, sudo: sudo === null ? null : { name: sudo, uid: 4001 } })
  const osUsers = { osUsers: true }

  test('not the submitter, however they became somebody else', () => {
    expect(unfitToApprove(user('ann'), user('ann', { host: 'server' }), [], osUsers)).toBe('the-submitter')
    expect(unfitToApprove(root('ann'), user('ann'), [], osUsers)).toBe('the-submitter')
    expect(unfitToApprove(user('ann', { login: { name: 'bob', uid: 1 } }), user('ann'), [], osUsers)).toBe(
      'the-submitter',
    )
    expect(unfitToApprove(root(null), root('ann'), [], osUsers)).toBe('the-submitter')
  })

  test('not whoever made the key with which it was handed in', () => {
    const key = { kind: 'key' as const, id: 'k1', name: 'billing', address: null }
    expect(unfitToApprove(user('ann'), { ...key, makers: ['os:root', 'os:ann'] }, [], osUsers)).toBe('maker-of-its-key')
    expect(unfitToApprove(user('bob'), { ...key, makers: ['os:ann'] }, [], osUsers)).toBeNull()
  })

  test('two people who both became root are two people', () => {
    expect(unfitToApprove(root('bob'), root('ann'), [], osUsers)).toBeNull()
  })

  test('a user who claims another caller of sudo is still that user', () => {
    const posing = (name: string) => user('ann', { sudo: { name, uid: 4002 } })
    expect(unfitToApprove(posing('bob'), posing('eve'), [], osUsers)).toBe('the-submitter')
  })

  test('nobody twice, and messages have no submitter who could not', () => {
    expect(unfitToApprove(user('ann'), null, ['os:ann'], osUsers)).toBe('an-approver-already')
    expect(unfitToApprove(user('ann'), null, [], osUsers)).toBeNull()
  })

  test('no key, and users only where they may', () => {
    const [key, person] = (['key', 'person'] as const).map((kind) => ({ kind, id: 'x', name: 'x', address: null }))
    expect(unfitToApprove(key as Actor, null, [], osUsers)).toBe('a-key')
    expect(unfitToApprove(user('ann'), null, [], { osUsers: false })).toBe('not-by-users')
    expect(unfitToApprove(person as Actor, null, [], { osUsers: false })).toBeNull()
  })
})

describe('as far as a file alone tells', () => {
  const ofFile = (amountMinor: bigint, largestMinor: bigint) => {
    const kind = { operation: 'REFUND', currency: EUR as Currency } as const
    const largest = { line: 2, amountMinor: largestMinor }
    return { totals: [{ ...kind, count: 2, amountMinor }], extents: [{ ...kind, smallest: largest, largest }] }
  }

  test('no policy asks for none, and a limit of one row counts', () => {
    const rules = policy({ rowOver: { EUR: '10.00' } })
    expect(leastApprovals(null, 'shop', ofFile(100_001n, 1n))).toBe(0)
    expect(leastApprovals(rules, 'shop', ofFile(2_000n, 1_000n))).toBe(0)
    expect(leastApprovals(rules, 'shop', ofFile(2_000n, 1_001n))).toBe(1)
  })

  test('what was handed in before may ask for more, and never for fewer', () => {
    const amount = fc.bigInt({ min: 0n, max: 10_000_000n })
    fc.assert(
      fc.property(amount, amount, (own, earlier) => {
        const rules = policy({ bands: BANDS, rowOver: { '*': '100.00' } })
        const least = leastApprovals(rules, 'shop', ofFile(own, own))
        expect(needs(rules, [sum(own)], [sum(earlier)])).toBeGreaterThanOrEqual(least)
      }),
    )
  })
})
