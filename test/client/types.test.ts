// What does not compile: each of these is an instruction that the ledger would refuse. `tsc` fails where one of them compiles.

import { expect, test } from 'vitest'
import type { Batch, Instruction, OutcomeEvent } from '../../src/client/client.ts'

const sale = {
  transaction_type: 'CAPTURE',
  reference: 'A',
  amount: '1.00',
  request_currency: 'EUR',
  customer_vault_id: '7',
} as const
const refund = {
  transaction_type: 'REFUND',
  reference: 'A',
  amount: '1.00',
  request_currency: 'EUR',
  request_ref_po_id: '7',
} as const

const compiling: readonly Instruction[] = [
  sale,
  refund,
  { ...sale, batch: 'b', merchant: 'shop', run_key: '2026-12', allow_lookalike_of: 'B', accept: ['execute_at'] },
  { ...sale, save_card_on_file: 'Y' as const },
  { transaction_type: 'CANCEL', reference: 'A', request_ref_po_id: '7' },
  { transaction_type: 'CANCEL', reference: 'A', request_ref_po_id: '7', amount: '1.00', request_currency: 'EUR' },
]

const { customer_vault_id: _, ...saleOfNoCard } = sale
const { request_ref_po_id: __, ...refundOfNoOrder } = refund
const { amount: ___, ...refundOfNoAmount } = refund
const { request_currency: ____, ...refundOfNoCurrency } = refund
const { reference: _____, ...saleOfNoReference } = sale
const { transaction_type: ______, ...refundOfNoType } = refund

const failing: readonly Instruction[] = [
  // @ts-expect-error a sale names a card
  saleOfNoCard,
  // @ts-expect-error a refund names an order
  refundOfNoOrder,
  // @ts-expect-error a refund names an amount
  refundOfNoAmount,
  // @ts-expect-error an amount has a currency
  refundOfNoCurrency,
  // @ts-expect-error an instruction has a reference
  saleOfNoReference,
  // @ts-expect-error an amount is no number
  { ...sale, amount: 1 },
  // @ts-expect-error CAUTH captures an authorization of an order
  { ...sale, transaction_type: 'CAUTH' },
  // @ts-expect-error a cancellation with an amount has a currency
  { transaction_type: 'CANCEL', reference: 'A', request_ref_po_id: '7', amount: '1.00' },
  // @ts-expect-error only a sale saves a card
  { ...sale, transaction_type: 'AUTH' as const, save_card_on_file: 'Y' as const },
  // @ts-expect-error no such operation
  { ...sale, transaction_type: 'SALE' },
  // @ts-expect-error a message has no field for card data
  { ...sale, pmt_numb: '4111' },
]

// @ts-expect-error a batch has an instruction
const empty: Batch = { batch: 'b', instructions: [] }
// @ts-expect-error a batch has a name
const nameless: Batch = { instructions: [sale] }

const roster: readonly Batch[] = [
  {
    batch: 'captures-2026-11-25',
    transaction_type: 'CAUTH',
    request_currency: 'EUR',
    instructions: [
      { reference: 'CAP-1001', amount: '12.30', request_ref_po_id: '700000001' },
      { reference: 'CAP-1002', amount: '8.00', request_ref_po_id: '700000002' },
    ],
  },
  { batch: 'b', transaction_type: 'REFUND', instructions: [{ ...refundOfNoType }, sale] },
  { batch: 'b', request_currency: 'EUR', instructions: [refundOfNoCurrency] },
]
const wrongRosters: readonly Batch[] = [
  // @ts-expect-error nothing says what it is
  { batch: 'b', instructions: [refundOfNoType] },
  // @ts-expect-error nothing says in which currency
  { batch: 'b', transaction_type: 'REFUND', instructions: [refundOfNoCurrency] },
  // @ts-expect-error a sale names a card, whichever way it says that it is one
  { batch: 'b', transaction_type: 'CAPTURE', instructions: [refundOfNoType] },
]

test('an event of a row is told from others by its type', () => {
  const finalOf = (event: OutcomeEvent): boolean | null => (event.type === 'row.settled' ? event.data.final : null)
  expect(finalOf({ type: 'ping', data: {} } as OutcomeEvent)).toBeNull()
  const lists = [compiling, failing, empty, nameless, roster, wrongRosters]
  expect(lists.map((list) => Object.keys(list).length)).toEqual([6, 11, 2, 1, 3, 3])
})
