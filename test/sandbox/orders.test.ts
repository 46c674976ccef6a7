// What each operation does to an order in each of its states, and what must hold whatever is asked of it.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CardMask } from '../../src/domain/card.ts'
import { type Currency, parseAmount, parseCurrency } from '../../src/domain/money.ts'
import { type GatewayAnswer, toJson } from '../../src/sandbox/answer.ts'
import { createOrderBook, type OrderBook } from '../../src/sandbox/book.ts'
import { balanceMinorOf, execute, type OrderState, stateOf, type TransactionRequest } from '../../src/sandbox/orders.ts'
import { addPrepared } from '../../src/sandbox/prepare.ts'

const SETTLE_AFTER_MS = 1000
const CARD: CardMask = { bin: '411111', lastFour: '1111', expiry: { month: '12', year: '2030' } }
const HOLDER = { firstName: 'Ada', lastName: 'Byron' }

function money(amount: string, code = 'EUR') {
  const parsed = parseAmount(amount, parseCurrency(code) as Currency)
  if (typeof parsed === 'string') throw new Error(parsed)
  return parsed
}

function sale(operation: 'CAPTURE' | 'AUTH', amount: string, saveCard = false): TransactionRequest {
  const source = { kind: 'card', card: CARD } as const
  return { operation, amount, money: money(amount), source, saveFor: saveCard ? HOLDER : null, xtlOrderId: 'X1' }
}

function capture(orderId: string, amount: string, code = 'EUR'): TransactionRequest {
  return { operation: 'CAUTH', amount, money: money(amount, code), orderId, xtlOrderId: 'X2' }
}

function back(operation: 'REFUND' | 'CANCEL', orderId: string, amount: string | null): TransactionRequest {
  return { operation, orderId, amount, xtlOrderId: null }
}

function ask(book: OrderBook, request: TransactionRequest, nowMs = 0): GatewayAnswer {
  return execute(book, request, nowMs).answer
}

function bookWith(state: OrderState): OrderBook {
  const book = createOrderBook(SETTLE_AFTER_MS, 0)
  const prepared = state === 'voided' ? 'pending settlement' : state
  addPrepared(book, { orders: [{ orderId: '77', state: prepared, amount: '10.00', currency: 'EUR' }] }, 0)
  if (state === 'voided') ask(book, back('CANCEL', '77', null))
  return book
}

const ON_ORDER = {
  CAUTH: capture('77', '10.00'),
  REFUND: back('REFUND', '77', '10.00'),
  CANCEL: back('CANCEL', '77', null),
}

describe('what an operation is told in each state of its order', () => {
  const NOT_OPEN = 'Only an open authorization can be captured.'
  const NOT_PENDING = 'Only transactions pending settlement can be voided. Ref id'
  const table: ReadonlyArray<readonly [keyof typeof ON_ORDER, OrderState, string | null]> = [
    ['CAUTH', 'authorized', null],
    ['CAUTH', 'pending settlement', NOT_OPEN],
    ['CAUTH', 'settled', NOT_OPEN],
    ['CAUTH', 'voided', NOT_OPEN],
    ['REFUND', 'authorized', 'Only a sale can be refunded'],
    ['REFUND', 'pending settlement', null],
    ['REFUND', 'settled', null],
    ['REFUND', 'voided', 'A voided transaction cannot be refunded.'],
    ['CANCEL', 'authorized', null],
    ['CANCEL', 'pending settlement', null],
    ['CANCEL', 'settled', NOT_PENDING],
    ['CANCEL', 'voided', NOT_PENDING],
  ]
  it.each(table)('%s on an order that is %s: %s', (operation, state, advice) => {
    const answer = ask(bookWith(state), ON_ORDER[operation])
    expect(answer.status).toBe(advice === null ? 'APPROVED' : 'DECLINED')
    if (advice === null) expect(answer.advice).toBeNull()
    else expect(answer.advice).toContain(advice)
  })
})

describe('declines', () => {
  it('a refund above the balance is declined with both amounts', () => {
    const book = bookWith('settled')
    expect(ask(book, back('REFUND', '77', '4.00')).status).toBe('APPROVED')
    const answer = ask(book, back('REFUND', '77', '6.01'))
    expect(answer.status).toBe('DECLINED')
    expect(answer.advice).toContain('Order balance: 6.00 EUR, requested amount: 6.01 EUR')
    expect(ask(book, back('REFUND', '77', '6.00')).status).toBe('APPROVED')
  })

  it('a capture above the authorization, or in another currency, is declined and leaves it open', () => {
    const book = bookWith('authorized')
    expect(ask(book, capture('77', '10.01')).advice).toContain('Order balance: 10.00 EUR, requested amount: 10.01 EUR')
    expect(ask(book, capture('77', '10.00', 'USD'))).toMatchObject({
      status: 'DECLINED',
      currency: 'USD',
      value: '10.00',
    })
    expect(ask(book, capture('77', '10.00')).status).toBe('APPROVED')
  })

  it('a capture below the authorization releases the rest', () => {
    const book = bookWith('authorized')
    ask(book, capture('77', '4.00'))
    expect(ask(book, back('REFUND', '77', '4.01')).status).toBe('DECLINED')
    expect(ask(book, back('REFUND', '77', '4.00')).status).toBe('APPROVED')
  })

  it('5.02 is declined by the processor in every operation that names it', () => {
    const requests = [sale('CAPTURE', '5.02'), sale('AUTH', '5.02')]
    for (const request of requests) expect(ask(createOrderBook(0, 0), request).advice).toBe('Declined by the processor')
    const states = { CAUTH: 'authorized', REFUND: 'settled', CANCEL: 'pending settlement' } as const
    expect(ask(bookWith(states.CAUTH), capture('77', '5.02')).advice).toBe('Declined by the processor')
    for (const operation of ['REFUND', 'CANCEL'] as const) {
      expect(ask(bookWith(states[operation]), back(operation, '77', '5.02')).advice).toBe('Declined by the processor')
    }
  })

  it('a cancellation of a whole order that stands at 5.02 is not the processor amount', () => {
    const book = bookWith('pending settlement')
    ask(book, back('REFUND', '77', '4.98'))
    expect(ask(book, back('CANCEL', '77', null))).toMatchObject({ status: 'APPROVED', value: '5.02' })
  })

  it('unknown orders and vault ids are declined with a text', () => {
    const book = createOrderBook(0, 0)
    expect(ask(book, back('REFUND', '9', '1.5'))).toMatchObject({
      advice: 'Order id 9 is not known',
      value: '1.5',
      currency: null,
    })
    const source = { kind: 'vault', vaultId: '8' } as const
    const request: TransactionRequest = {
      ...sale('CAPTURE', '1.00'),
      operation: 'CAPTURE',
      money: money('1.00'),
      source,
      saveFor: null,
    }
    expect(ask(book, request).advice).toBe('Customer vault id 8 is not known')
  })

  it('a declined sale leaves no order behind', () => {
    const book = createOrderBook(0, 0)
    const { orderId } = ask(book, sale('CAPTURE', '5.02'))
    expect(ask(book, back('REFUND', orderId, '1.00')).advice).toContain('is not known')
  })
})

describe('cancelling and settling', () => {
  it('a part can be cancelled, and the rest refunded', () => {
    const book = bookWith('pending settlement')
    expect(ask(book, back('CANCEL', '77', '3.00'))).toMatchObject({ status: 'APPROVED', value: '3.00' })
    expect(ask(book, back('REFUND', '77', '7.01')).status).toBe('DECLINED')
    expect(ask(book, back('REFUND', '77', '7.00')).status).toBe('APPROVED')
  })

  it('a sale can be voided up to the moment it settles, and not from then on', () => {
    const before = createOrderBook(SETTLE_AFTER_MS, 0)
    const early = ask(before, sale('CAPTURE', '10.00'), 5).orderId
    expect(ask(before, back('CANCEL', early, null), 5 + SETTLE_AFTER_MS - 1).status).toBe('APPROVED')
    const late = ask(before, sale('CAPTURE', '10.00'), 5).orderId
    expect(ask(before, back('CANCEL', late, null), 5 + SETTLE_AFTER_MS).status).toBe('DECLINED')
  })

  it('settlement of a captured authorization counts from the capture', () => {
    const book = createOrderBook(SETTLE_AFTER_MS, 0)
    const { orderId } = ask(book, sale('AUTH', '10.00'), 0)
    ask(book, capture(orderId, '10.00'), 5000)
    expect(ask(book, back('CANCEL', orderId, null), 5999).status).toBe('APPROVED')
  })
})

describe('ids', () => {
  it('a card that is kept can be charged again by its vault id, and no other answer carries one', () => {
    const book = createOrderBook(0, 0)
    const saved = ask(book, sale('CAPTURE', '1.00', true))
    const source = { kind: 'vault', vaultId: saved.savedVaultId ?? '' } as const
    const again = ask(book, {
      operation: 'CAPTURE',
      amount: '2.00',
      money: money('2.00'),
      source,
      saveFor: null,
      xtlOrderId: null,
    })
    expect(again).toMatchObject({ status: 'APPROVED', savedVaultId: null })
    expect(book.vault.get(source.vaultId)).toEqual({ ...HOLDER, customerId: expect.any(String), card: CARD })
  })

  it('no id is given out twice, nor one that was prepared', () => {
    const book = createOrderBook(0, 0)
    const orders = ['1', '2', '3', '5'].map(
      (orderId) => ({ orderId, state: 'settled', amount: '1.00', currency: 'EUR' }) as const,
    )
    addPrepared(book, { orders, vault: [{ vaultId: '7' }] }, 0)
    const ids = ['1', '2', '3', '5', '7']
    for (let n = 0; n < 5; n++) {
      const { transactionId, recordId, orderId, savedVaultId } = ask(book, sale('CAPTURE', '1.00', true))
      ids.push(transactionId, recordId ?? '', orderId, savedVaultId ?? '')
    }
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('an order id longer than a double keeps every digit in the answer', () => {
    const orderId = '12345678901234567891'
    const book = createOrderBook(0, 0)
    addPrepared(book, { orders: [{ orderId, state: 'settled', amount: '1.00', currency: 'EUR' }] }, 0)
    expect(toJson(ask(book, back('REFUND', orderId, '1.00')))).toContain(`"TRANS_ORDER_ID":${orderId},`)
  })
})

// ───────────────────────────────────────────────────────────── What holds whatever is asked

type Step = { readonly what: 'CAUTH' | 'REFUND' | 'CANCEL' | 'wait'; readonly minor: number | null }

const steps = fc.array(
  fc.record<Step>({
    what: fc.constantFrom('CAUTH', 'REFUND', 'CANCEL', 'wait'),
    minor: fc.option(fc.integer({ min: 1, max: 700 }), { freq: 4 }),
  }),
  { maxLength: 25 },
)

/** Plays the steps on one order of 7.00 and gives the approved ones. */
function play(first: 'CAPTURE' | 'AUTH', story: readonly Step[]) {
  const book = createOrderBook(SETTLE_AFTER_MS, 0)
  const { orderId } = ask(book, sale(first, '7.00'))
  const approved: { operation: string; minor: bigint; state: OrderState }[] = []
  let nowMs = 0
  for (const { what, minor } of story) {
    if (what === 'wait') {
      nowMs += minor ?? 0
      continue
    }
    const amount = ((minor ?? 100) / 100).toFixed(2)
    const before = book.orders.get(orderId)
    if (before === undefined) throw new Error('the order has gone')
    const request =
      what === 'CAUTH'
        ? capture(orderId, amount)
        : back(what, orderId, what === 'CANCEL' && minor === null ? null : amount)
    const { answer, money: done } = execute(book, request, nowMs)
    const state = stateOf(before, nowMs, SETTLE_AFTER_MS)
    if (answer.status === 'APPROVED') approved.push({ operation: what, minor: done?.amountMinor ?? 0n, state })
  }
  return { approved, order: book.orders.get(orderId) }
}

const total = (moves: readonly { minor: bigint }[]) => moves.reduce((sum, { minor }) => sum + minor, 0n)

describe('whatever is asked of an order', () => {
  it('it never pays out more than it took in: refunds and voids stay within the captured amount', () => {
    fc.assert(
      fc.property(fc.constantFrom('CAPTURE', 'AUTH'), steps, (first, story) => {
        const { approved, order } = play(first, story)
        const captured = first === 'CAPTURE' ? 700n : total(approved.filter(({ operation }) => operation === 'CAUTH'))
        const paidOut = approved.filter(({ operation, state }) => operation !== 'CAUTH' && state !== 'authorized')
        expect(total(paidOut)).toBeLessThanOrEqual(captured)
        expect(captured).toBeLessThanOrEqual(700n)
        expect(order === undefined ? -1n : balanceMinorOf(order)).toBeGreaterThanOrEqual(0n)
      }),
    )
  })

  it('an authorization is captured once at most, within what is left of it, and never a sale', () => {
    fc.assert(
      fc.property(fc.constantFrom('CAPTURE', 'AUTH'), steps, (first, story) => {
        const { approved } = play(first, story)
        const captures = approved.filter(({ operation }) => operation === 'CAUTH')
        expect(captures.length).toBeLessThanOrEqual(first === 'AUTH' ? 1 : 0)
        const released = approved.filter(({ operation, state }) => operation === 'CANCEL' && state === 'authorized')
        expect(total([...captures, ...released])).toBeLessThanOrEqual(700n)
      }),
    )
  })

  it('nothing settled is voided, and nothing uncaptured or voided is refunded', () => {
    fc.assert(
      fc.property(fc.constantFrom('CAPTURE', 'AUTH'), steps, (first, story) => {
        for (const { operation, state } of play(first, story).approved) {
          if (operation === 'CANCEL') expect(['authorized', 'pending settlement']).toContain(state)
          if (operation === 'REFUND') expect(['pending settlement', 'settled']).toContain(state)
        }
      }),
    )
  })
})
