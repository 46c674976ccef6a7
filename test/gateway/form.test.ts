import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DETAIL_FIELDS, type Instruction, TRANSACTION_TYPES } from '../../src/domain/instruction.ts'
import { formatAmount } from '../../src/domain/money.ts'
import { createForm, type RefundParameter } from '../../src/gateway/form.ts'
import { EUR, instructionOf } from './arrange.ts'

const credentials = { username: 'u', password: 'p' }

function toForm(
  instruction: Instruction,
  { username, password } = credentials,
  refundParameter: RefundParameter = 'transaction_type',
) {
  return createForm({ username, password }, refundParameter)(instruction)
}

function sent(instruction: Instruction): Record<string, string> {
  const { req_username: _u, req_password: _p, ...fields } = Object.fromEntries(new URLSearchParams(toForm(instruction)))
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

const FIELDS = [
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
] as const

describe('each operation sends exactly its own fields', () => {
  test.each(FIELDS)('%s', (operation, fields) => {
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

test('whatever text the fields hold, a form is what the encoder of the platform makes of them', () => {
  const halfPairs = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit))
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: halfPairs }),
    fc.string({ unit: fc.constantFrom(...'aZ09_*.-~+ ') }),
  )
  fc.assert(
    fc.property(
      fc.record({
        like: fc.constantFrom(...FIELDS),
        orderId: text,
        vaultId: text,
        xtlOrderId: text,
        amountMinor: fc.bigInt({ min: 0n, max: 999_999_999_999_999n }),
        details: fc.dictionary(fc.constantFrom(...DETAIL_FIELDS), text),
        username: text,
        password: text,
      }),
      ({ like: [operation, fields], amountMinor, username, password, ...texts }) => {
        const money = { amountMinor, currency: EUR }
        const all = {
          amount: formatAmount(money),
          request_currency: 'EUR',
          request_ref_po_id: texts.orderId,
          customer_vault_id: texts.vaultId,
          xtl_order_id: texts.xtlOrderId,
        }
        const form = new URLSearchParams({
          req_username: username,
          req_password: password,
          transaction_type: operation,
        })
        for (const [field, value] of Object.entries(all)) if (field in fields) form.append(field, value)
        for (const field of 'cust_fname' in fields ? DETAIL_FIELDS : []) {
          const detail = texts.details[field]
          if (detail !== undefined) form.append(field, detail)
        }
        expect(toForm(instructionOf(operation, { ...texts, money }), { username, password })).toBe(String(form))
      },
    ),
  )
})
