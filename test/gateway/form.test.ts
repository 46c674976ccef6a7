import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DETAIL_FIELDS, type Instruction, TRANSACTION_TYPES } from '../../src/domain/instruction.ts'
import { formatAmount } from '../../src/domain/money.ts'
import { toForm } from '../../src/gateway/form.ts'
import { EUR, instructionOf } from './arrange.ts'

const credentials = { username: 'u', password: 'p' }

function sent(instruction: Instruction): Record<string, string> {
  const {
    req_username: _u,
    req_password: _p,
    ...fields
  } = Object.fromEntries(new URLSearchParams(toForm(instruction, credentials, 'transaction_type')))
  return fields
}

/** An instruction that holds everything, whether its operation takes it or not. */
const EVERYTHING: Partial<Instruction> = {
  orderId: '000123',
  vaultId: '42',
  saveCardOnFile: true,
  xtlOrderId: 'x1',
  details: { cust_fname: 'Ana María', bill_addr: '1 & 2 = 3' },
}

describe('each operation sends exactly its own fields', () => {
  test.each([
    [
      'CAPTURE',
      {
        amount: '12.30',
        request_currency: 'EUR',
        customer_vault_id: '42',
        save_card_on_file: 'Y',
        xtl_order_id: 'x1',
        cust_fname: 'Ana María',
        bill_addr: '1 & 2 = 3',
      },
    ],
    [
      'AUTH',
      {
        amount: '12.30',
        request_currency: 'EUR',
        customer_vault_id: '42',
        xtl_order_id: 'x1',
        cust_fname: 'Ana María',
        bill_addr: '1 & 2 = 3',
      },
    ],
    [
      'CAUTH',
      {
        amount: '12.30',
        request_currency: 'EUR',
        request_ref_po_id: '000123',
        xtl_order_id: 'x1',
        cust_fname: 'Ana María',
        bill_addr: '1 & 2 = 3',
      },
    ],
    ['REFUND', { amount: '12.30', request_ref_po_id: '000123' }],
    ['CANCEL', { amount: '12.30', request_ref_po_id: '000123' }],
  ] as const)('%s', (operation, fields) => {
    expect(sent(instructionOf(operation, EVERYTHING))).toEqual({ transaction_type: operation, ...fields })
  })

  test('a CANCEL without an amount sends none', () => {
    expect(sent(instructionOf('CANCEL', { orderId: '1', money: null }))).toEqual({
      transaction_type: 'CANCEL',
      request_ref_po_id: '1',
    })
  })

  test('the earlier variant renames the refund and nothing else', () => {
    for (const operation of TRANSACTION_TYPES) {
      const form = new URLSearchParams(toForm(instructionOf(operation, EVERYTHING), credentials, 'request_action'))
      const isRefund = operation === 'REFUND'
      expect(form.get('request_action')).toBe(isRefund ? 'CCCREDIT' : null)
      expect(form.get('transaction_type')).toBe(isRefund ? null : operation)
    }
  })
})

test.each([
  ['REFUND', { money: null, orderId: '1' }, 'amount'],
  ['REFUND', {}, 'request_ref_po_id'],
  ['CAPTURE', {}, 'customer_vault_id'],
] as const)('%s without what it needs is a bug, not a request: %o', (operation, changes, field) => {
  expect(() => sent(instructionOf(operation, changes))).toThrow(`bug: ${operation} needs ${field}`)
})

test('whatever text the fields hold, a form decoder reads it back', () => {
  const text = fc.string({ unit: 'grapheme' })
  fc.assert(
    fc.property(
      fc.record({
        operation: fc.constantFrom(...TRANSACTION_TYPES),
        orderId: text,
        vaultId: text,
        xtlOrderId: text,
        amountMinor: fc.bigInt({ min: 0n, max: 999_999_999_999_999n }),
        details: fc.dictionary(fc.constantFrom(...DETAIL_FIELDS), text),
        secret: text,
      }),
      ({ operation, amountMinor, secret, ...changes }) => {
        const instruction = instructionOf(operation, { ...changes, money: { amountMinor, currency: EUR } })
        const encoded = toForm(instruction, { username: 'u', password: secret }, 'transaction_type')
        expect(encoded).toMatch(/^[\x21-\x7e]+$/)
        const form = new URLSearchParams(encoded)
        expect(form.get('req_password')).toBe(secret)
        expect(form.get('amount')).toBe(formatAmount({ amountMinor, currency: EUR }))
        const back = {
          ...instruction.details,
          xtl_order_id: instruction.xtlOrderId,
          request_ref_po_id: instruction.orderId,
        }
        for (const [name, value] of form) {
          if (name in back) expect(value).toBe(back[name as keyof typeof back])
        }
      },
    ),
  )
})
