import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  contentOf,
  type Instruction,
  lookalikeOf,
  parseOperation,
  plainId,
  sendsCurrency,
  TRANSACTION_TYPES,
} from '../../src/domain/instruction.ts'
import type { Currency } from '../../src/domain/money.ts'

const CARD = { bin: '411111', lastFour: '1111', expiry: { month: '12', year: '2028' } }

const REFUND: Omit<Instruction, 'reference'> = {
  operation: 'REFUND',
  money: { amountMinor: 1230n, currency: 'EUR' as Currency },
  orderId: '777',
  vaultId: null,
  card: null,
  saveCardOnFile: false,
  xtlOrderId: null,
  details: {},
  executeAtMs: null,
  expiresAtMs: null,
}

describe('the word for an operation', () => {
  test.each([
    ['CAPTURE', 'CAPTURE'],
    ['sale', 'CAPTURE'],
    ['Sale', 'CAPTURE'],
    ['capture', 'CAUTH'],
    ['cauth', 'CAUTH'],
    ['Authorise', 'AUTH'],
    ['authorization', 'AUTH'],
    [' refund ', 'REFUND'],
    ['VOID', 'CANCEL'],
    ['Cancel', 'CANCEL'],
  ])('%j means %s', (word, operation) => {
    expect(parseOperation(word)).toBe(operation)
  })

  test('every code of the gateway means itself', () => {
    for (const operation of TRANSACTION_TYPES) expect(parseOperation(operation)).toBe(operation)
  })

  test.each(['Capture', 'CaPtUrE', '', 'charge', 'CCCREDIT', 'sale refund', 'tostring'])('%j means nothing', (word) => {
    expect(parseOperation(word)).toBeUndefined()
  })

  test.each(['\u017fale', 'can\u0441el', 'VO\u0131D', 'refund\u200b', '\uff52efund', '\u212aauth'])(
    '%j means nothing, though it looks like a word that does',
    (word) => {
      expect(parseOperation(word)).toBeUndefined()
    },
  )

  test.each(['R\u00fcckerstattung', 'RU\u0308CKERSTATTUNG', 'anulaci\u00f3n'])(
    '%j is understood with its accents',
    (word) => {
      expect(parseOperation(word)).toBeDefined()
    },
  )

  test.each(['constructor', '__proto__'])('%j means nothing, though every object has one', (word) => {
    expect(parseOperation(word)).toBeUndefined()
  })
})

test('ids are the same without leading zeros and blanks, and zero stays zero', () => {
  expect(['000123', ' 123 ', '123', '0', '000', '0x0', 'A01'].map(plainId)).toEqual([
    '123',
    '123',
    '123',
    '0',
    '0',
    'x0',
    'A01',
  ])
})

test('only what takes money from a card names its currency to the gateway', () => {
  expect(TRANSACTION_TYPES.filter(sendsCurrency)).toEqual(['CAPTURE', 'AUTH', 'CAUTH'])
})

describe('content', () => {
  test('is what is asked, not how its ids are padded', () => {
    expect(contentOf({ ...REFUND, orderId: '000777' })).toBe(contentOf(REFUND))
  })

  test.each([
    { operation: 'CANCEL' },
    { money: { amountMinor: 1231n, currency: 'EUR' as Currency } },
    { money: { amountMinor: 1230n, currency: 'USD' as Currency } },
    { money: null },
    { orderId: '778' },
    { orderId: null },
    { orderId: null, vaultId: '777' },
    { executeAtMs: 0 },
  ] as const)('is another with %o', (changes) => {
    expect(contentOf({ ...REFUND, ...changes })).not.toBe(contentOf(REFUND))
  })

  test('of a vault record is another where any field of the customer is, whatever their order', () => {
    const update = (details: Instruction['details']) =>
      contentOf({ ...REFUND, operation: 'VAULT_UPDATE', money: null, orderId: null, vaultId: '9', card: CARD, details })
    const one = update({ first_name: 'Ada', phone: '0301' })
    expect(update({ phone: '0301', first_name: 'Ada' })).toBe(one)
    expect([update({ first_name: 'Ada', phone: '0309' }), update({ first_name: 'Ada' })]).not.toContain(one)
    expect(one).not.toContain('Ada')
  })

  test('is the same exactly where operation, money, ids and times are', () => {
    const id = fc.option(fc.stringMatching(/^[0-9]{1,3}$/))
    const instruction = fc.record({
      operation: fc.constantFrom(...TRANSACTION_TYPES),
      money: fc.option(
        fc.record({ amountMinor: fc.bigInt(0n, 3n), currency: fc.constantFrom('EUR' as Currency, 'USD' as Currency) }),
      ),
      orderId: id,
      vaultId: id,
      card: fc.option(fc.constant(CARD)),
      executeAtMs: fc.option(fc.nat({ max: 2 })),
      expiresAtMs: fc.option(fc.nat({ max: 2 })),
      details: fc.constant({}),
    })
    const plain = (text: string | null) => (text === null ? null : String(BigInt(text)))
    const keyOf = (one: typeof instruction extends fc.Arbitrary<infer T> ? T : never) =>
      JSON.stringify([
        one.operation,
        one.money && [String(one.money.amountMinor), one.money.currency],
        plain(one.orderId),
        plain(one.vaultId),
        one.card,
        one.executeAtMs,
        one.expiresAtMs,
      ])
    fc.assert(
      fc.property(instruction, instruction, (one, other) => {
        expect(contentOf(one) === contentOf(other)).toBe(keyOf(one) === keyOf(other))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('a look-alike', () => {
  test('has the same operation, money and order, however padded and whenever due', () => {
    const later = { ...REFUND, orderId: '0777', executeAtMs: 5 }
    expect(lookalikeOf(later)).toBe(lookalikeOf(REFUND))
  })

  test.each([
    { operation: 'CANCEL' },
    { money: { amountMinor: 1n, currency: 'EUR' as Currency } },
    { orderId: '778' },
  ] as const)('does not have %o', (changes) => {
    expect(lookalikeOf({ ...REFUND, ...changes })).not.toBe(lookalikeOf(REFUND))
  })

  test('needs a target to be compared by', () => {
    expect(lookalikeOf({ ...REFUND, orderId: null })).toBeNull()
    expect(lookalikeOf({ ...REFUND, operation: 'CAPTURE', orderId: null, vaultId: '9' })).not.toBeNull()
  })
})
