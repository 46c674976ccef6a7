// Why rows were refused, as words that can be counted: the texts of the gateway, of processors, and of a merchant's own list.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { categoryOfReason, categoryOfRow, REASON_CATEGORIES } from '../../src/domain/reason-categories.ts'
import { STATES } from '../../src/domain/states.ts'
import { codePoint } from '../fixtures/code-points.ts'

describe('the gateway’s documented texts and those of the sandbox', () => {
  test.each([
    ['Order balance: 49.00 EUR, requested amount: 60.00 EUR', 'balance'],
    [
      'The refund is greater than the balance of the order. Order balance: 1.00 EUR, requested amount: 2.00 EUR',
      'balance',
    ],
    ['The capture is greater than the authorization. Order balance: 1.00 EUR, requested amount: 2.00 EUR', 'balance'],
    ['Only transactions pending settlement can be voided. Ref id 4711', 'settlement'],
    ['Only an open authorization can be captured. Ref id 4711', 'settlement'],
    ['Only a sale can be refunded, and this authorization was not captured. Ref id 4711', 'settlement'],
    ['A voided transaction cannot be refunded. Ref id 4711', 'settlement'],
    ['Order id 999000004 is not known', 'data'],
    ['Customer vault id 55 is not known', 'data'],
    ['The authorization is in USD', 'data'],
    ['The amount is not an amount in EUR', 'data'],
    ['Declined by the processor', 'other'],
  ])('%s: %s', (reason, category) => {
    expect(categoryOfReason(reason, [])).toBe(category)
  })
})

describe('our own words', () => {
  test.each([
    ['refused as wrong (HTTP 400: something new)', 'data'],
    ['the gateway refused this request (HTTP 403: Forbidden), 3 times while others passed', 'technical'],
    ['not-executed by Ann (ann@desk): not in the portal', 'technical'],
    ['declined without a reason', 'other'],
    ['declined by Ann (ann@desk): the portal says insufficient funds', 'funds'],
  ])('%s: %s', (reason, category) => {
    expect(categoryOfReason(reason, [])).toBe(category)
  })
})

describe('the texts that processors return', () => {
  test.each([
    ['Insufficient funds/over credit limit', 'funds'],
    ['NSF', 'funds'],
    ['Insufficient balance', 'funds'],
    ['Over limit', 'funds'],
    ['Exceeds withdrawal amount limit', 'funds'],
    ['Excess withdrawal count', 'funds'],
    ['Expired card', 'card'],
    ['CARD_EXPIRED', 'card'],
    ['Restricted Card', 'card'],
    ['Transaction not permitted to issuer/cardholder', 'card'],
    ['Account closed', 'card'],
    ['Unsupported card type', 'card'],
    ['No card number on file with issuer', 'card'],
    ['Invalid PIN', 'card'],
    ['Refer to card issuer', 'card'],
    ['Declined-Stop all recurring payments', 'card'],
    ['Lost card', 'fraud'],
    ['Stolen Card, pick up', 'fraud'],
    ['Suspected fraud', 'fraud'],
    ['Suspicion of Manipulation', 'fraud'],
    ['Restricted card, suspected fraud', 'fraud'],
    ['Pick up card', 'fraud'],
    ['Security violation', 'fraud'],
    ['Invalid amount', 'data'],
    ['Invalid card number', 'data'],
    ['Invalid expiration date', 'data'],
    ['No such card issuer', 'data'],
    ['Declined for CVV failure', 'data'],
    ['CVV2 Mismatch', 'data'],
    ['Format error', 'data'],
    ['Duplicate transmission detected', 'done'],
    ['Suspected duplicate', 'done'],
    ['This order has already been voided', 'done'],
    ['Order already refunded', 'done'],
    ['Order id is already used', 'done'],
    ['Vorgang bereits verarbeitet', 'done'],
    ['Cannot be voided: already settled', 'settlement'],
    ['Card already expired', 'card'],
    ['Unable to locate record', 'data'],
    ['System malfunction', 'technical'],
    ['Issuer unavailable', 'technical'],
    ['Authorization Platform or issuer system inoperative', 'technical'],
    ['Unable to route transaction', 'technical'],
    ['Transaction timed out', 'technical'],
    ['Reply not anticipated or received too late', 'technical'],
    ['Re-enter transaction', 'technical'],
    ['Do not honor', 'other'],
    ['Declined', 'other'],
    ['No action taken', 'other'],
  ])('%s: %s', (reason, category) => {
    expect(categoryOfReason(reason, [])).toBe(category)
  })
})

test('every text has one category, and only what was refused has any', () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), fc.constantFrom(...STATES), (reason, state) => {
      expect(REASON_CATEGORIES).toContain(categoryOfReason(reason, []))
      const category = categoryOfRow({ state, reason }, [])
      if (state === 'DECLINED' || state === 'FAILED') expect(category).toBe(categoryOfReason(reason, []))
      else expect(category).toBe(state === 'INVALID' ? 'data' : '')
    }),
  )
})

describe('a merchant’s own rules', () => {
  const own = [
    { match: 'Konto  Limit', category: 'funds' },
    { match: '(51)', category: 'card' },
    { match: 'konto', category: 'other' },
  ] as const

  test('come before the built-in ones, in their order, whatever the letter case and the blanks', () => {
    expect(categoryOfReason('KONTO LIMIT erreicht', own)).toBe('funds')
    expect(categoryOfReason('Insufficient funds (51)', own)).toBe('card')
    expect(categoryOfReason('Konto expired', own)).toBe('other')
    expect(categoryOfReason('Insufficient funds', own)).toBe('funds')
  })

  test('are plain text: no sign in them means anything', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), fc.string(), (match, before, after) => {
        fc.pre(match.trim() !== '')
        expect(categoryOfReason(`${before}${match}${after}`, [{ match, category: 'fraud' }])).toBe('fraud')
      }),
    )
    expect(categoryOfReason('aaaa', [{ match: '(a+)+$', category: 'fraud' }])).toBe('other')
  })
})
