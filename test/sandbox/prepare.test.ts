// What is prepared for a file: with it, each of its instructions can be approved in file order.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Instruction, TransactionType } from '../../src/domain/instruction.ts'
import { type Currency, formatAmount, parseCurrency } from '../../src/domain/money.ts'
import { createOrderBook } from '../../src/sandbox/book.ts'
import { execute, type TransactionRequest } from '../../src/sandbox/orders.ts'
import { addPrepared, prepareFor } from '../../src/sandbox/prepare.ts'

const EUR = parseCurrency('EUR') as Currency
const JPY = parseCurrency('JPY') as Currency

type Row = readonly [operation: TransactionType, target: string, amountMinor: number | null, currency?: Currency]

function toInstruction([operation, target, amountMinor, currency = EUR]: Row): Instruction {
  const sells = operation === 'CAPTURE' || operation === 'AUTH'
  return {
    reference: 'R',
    operation,
    money: amountMinor === null ? null : { amountMinor: BigInt(amountMinor), currency },
    orderId: sells ? null : target,
    vaultId: sells ? target : null,
    saveCardOnFile: false,
    xtlOrderId: null,
    details: {},
    executeAtMs: null,
  } as unknown as Instruction
}

function toRequest(instruction: Instruction): TransactionRequest {
  const { money, orderId, vaultId } = instruction
  const operation = instruction.operation as TransactionType
  const amount = money === null ? null : formatAmount(money)
  const plain = (id: string | null) => (id ?? '').replace(/^0+/, '')
  if (operation === 'REFUND' || operation === 'CANCEL') {
    return { operation, amount, orderId: plain(orderId), xtlOrderId: null }
  }
  if (money === null) throw new Error(`${operation} needs an amount`)
  if (operation === 'CAUTH') return { operation, amount, money, orderId: plain(orderId), xtlOrderId: null }
  return {
    operation,
    amount,
    money,
    source: { kind: 'vault', vaultId: plain(vaultId) },
    saveFor: null,
    xtlOrderId: null,
  }
}

function statusesOf(rows: readonly Row[]): string[] {
  const instructions = rows.map(toInstruction)
  const book = createOrderBook(1000, 0)
  addPrepared(book, prepareFor(instructions), 0)
  return instructions.map((instruction) => execute(book, toRequest(instruction), 0).answer.status)
}

const table: ReadonlyArray<readonly [string, readonly Row[]]> = [
  [
    'sales and authorizations by vault id',
    [
      ['CAPTURE', '55', 100],
      ['AUTH', '055', 100],
      ['AUTH', '56', 7, JPY],
    ],
  ],
  [
    'several refunds of one order, ids with and without zeros',
    [
      ['REFUND', '77', 100],
      ['REFUND', '0077', 250],
    ],
  ],
  ['a refund in a currency without decimals', [['REFUND', '77', 1200, JPY]]],
  ['a capture', [['CAUTH', '77', 100]]],
  [
    'a cancellation with and one without an amount',
    [
      ['CANCEL', '77', 100],
      ['CANCEL', '78', null],
    ],
  ],
  [
    'two part cancellations of one order',
    [
      ['CANCEL', '77', 100],
      ['CANCEL', '77', 250],
    ],
  ],
  [
    'a part refund, then a cancellation of the rest',
    [
      ['REFUND', '77', 100],
      ['CANCEL', '77', null],
    ],
  ],
  [
    'a capture, then its refund',
    [
      ['CAUTH', '77', 100],
      ['REFUND', '77', 100],
    ],
  ],
  [
    'a part cancellation of an authorization, then its capture',
    [
      ['CANCEL', '77', 50],
      ['CAUTH', '77', 100],
    ],
  ],
  [
    'a capture, then its cancellation',
    [
      ['CAUTH', '77', 100],
      ['CANCEL', '77', null],
    ],
  ],
]

describe('after preparing', () => {
  it.each(table)('approved: %s', (_what, rows) => {
    expect(statusesOf(rows)).toEqual(rows.map(() => 'APPROVED'))
  })

  it('settled sales are prepared for refunds, so that they are what they are in earnest', () => {
    const instruction = toInstruction(['REFUND', '77', 1234])
    expect(prepareFor([instruction])).toEqual({
      orders: [{ orderId: '77', state: 'settled', amount: '12.34', currency: 'EUR' }],
      vault: [],
    })
  })

  it('any refunds of any orders are approved, and not one cent more', () => {
    const row = fc.tuple(
      fc.constant('REFUND' as const),
      fc.constantFrom('1', '2', '3'),
      fc.integer({ min: 503, max: 99_999 }),
    )
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 12 }), (rows) => {
        expect(statusesOf(rows)).toEqual(rows.map(() => 'APPROVED'))
        const instructions = rows.map(toInstruction)
        const book = createOrderBook(1000, 0)
        addPrepared(book, prepareFor(instructions), 0)
        for (const instruction of instructions) execute(book, toRequest(instruction), 0)
        for (const orderId of new Set(rows.map(([, target]) => target))) {
          const request: TransactionRequest = { operation: 'REFUND', amount: '0.01', orderId, xtlOrderId: null }
          expect(execute(book, request, 0).answer.status).toBe('DECLINED')
        }
      }),
    )
  })

  it('orders and cards that no gateway could know are left out', () => {
    const rows: Row[] = [
      ['REFUND', 'ABC', 100],
      ['CAPTURE', 'V-1', 100],
    ]
    expect(prepareFor(rows.map(toInstruction))).toEqual({ orders: [], vault: [] })
  })

  it('the records that a vault file changes or deletes exist, and a create needs none', () => {
    const ofVault = (operation: Instruction['operation'], vaultId: string | null) => ({
      ...toInstruction(['CAPTURE', '', 1]),
      ...{ operation, vaultId, money: null, orderId: null },
    })
    const file = [ofVault('VAULT_UPDATE', '0055'), ofVault('VAULT_DELETE', '56'), ofVault('VAULT_CREATE', null)]
    expect(prepareFor(file)).toEqual({ orders: [], vault: [{ vaultId: '55' }, { vaultId: '56' }] })
  })

  it('a preparation with a mistake changes nothing', () => {
    const book = createOrderBook(1000, 0)
    const good = { orderId: '1', state: 'settled', amount: '1.00', currency: 'EUR' } as const
    expect(() => addPrepared(book, { orders: [good, { ...good, orderId: '2', amount: '0.00' }] }, 0)).toThrow('Order 2')
    expect(() => addPrepared(book, { orders: [good], vault: [{ vaultId: 'x' }] }, 0)).toThrow('vault id "x"')
    expect([book.orders.size, book.vault.size]).toEqual([0, 0])
  })
})
