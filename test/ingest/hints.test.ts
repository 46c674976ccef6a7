// What is proposed where a column is missing. A proposal that is followed moves money: only a slip of the keyboard is one.

import { describe, expect, test } from 'vitest'
import type { Currency } from '../../src/domain/money.ts'
import { isSlipOf, namesOf } from '../../src/ingest/columns.ts'
import type { HeaderNeeds } from '../../src/ingest/said-columns.ts'
import { headerOf } from './table.ts'

const REFUND = { operation: 'REFUND' } as const
const SALE = { operation: 'CAPTURE' } as const
function remedyOf(line: string, needs: HeaderNeeds): string {
  const parsed = headerOf(line, needs)
  if (!('kind' in parsed)) throw new Error('not refused')
  return parsed.remedy
}

describe('a missing column', () => {
  test.each([
    'Order',
    'Orders',
    'orderby',
    'OwnerId',
    'Order No',
    'Account',
    'CONTACT',
    'Content',
    'Month',
    'Soporte',
    'count',
    'Define',
    'Values',
    'Value1',
    'Amount1',
    'Transaktionscode',
    'Mount',
    'Vaults',
  ])('is not proposed to be %s, which means something else', (name) => {
    for (const needs of [REFUND, SALE]) expect(remedyOf(`${name};x`, needs)).not.toContain('meant?')
  })

  test.each([
    ['ammount', 'amount'],
    ['Amuont', 'amount'],
    ['Amounts', 'amount'],
    ['Betarg', 'amount'],
    ['Curency', 'request_currency'],
    ['Order_di', 'request_ref_po_id'],
    ['Orders ID', 'request_ref_po_id'],
    ['request_ref_po_ids', 'request_ref_po_id'],
  ])('may be %s, mistyped: %s', (name, field) => {
    expect(remedyOf(`${name};x`, REFUND)).toContain(
      `is "${name}" meant? Name it ${field}, or add --map "${name}=${field}"`,
    )
  })

  test('is no slip of two fields, and where two columns are slips of one neither is proposed', () => {
    const needed = ['transaction_type', 'amount', 'request_currency', 'request_ref_po_id', 'customer_vault_id'] as const
    for (const field of needed)
      for (const name of namesOf(field))
        for (const other of needed.filter((one) => one !== field))
          expect(namesOf(other).filter((one) => isSlipOf(name, one))).toEqual([])
    expect(remedyOf('ammount;amounts', REFUND)).not.toContain('meant?')
  })

  test('that names the target says what it is: an id of the gateway, not a number of the shop', () => {
    expect(remedyOf('Order;amount', { ...REFUND, currency: 'EUR' as Currency })).toBe(
      `add the column request_ref_po_id, the gateway's id of the earlier transaction (an order number of the shop is something else), or map the column that holds it: --map "COLUMN=request_ref_po_id"`,
    )
    expect(remedyOf('Customer;amount', { ...SALE, currency: 'EUR' as Currency })).toBe(
      `add the column customer_vault_id, the gateway's id of the stored card (a customer number is something else), or map the column that holds it: --map "COLUMN=customer_vault_id"`,
    )
  })
})
