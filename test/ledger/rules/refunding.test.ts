import { describe, expect, test } from 'vitest'
import { OPERATIONS } from '../../../src/domain/instruction.ts'
import { STATES } from '../../../src/domain/states.ts'
import {
  faultBeyondSale,
  isBeyondSale,
  REFUND_COUNTS_IN,
  refundedBefore,
  SALE_OF_ITS_ORDER,
  SALES,
} from '../../../src/ledger/rules/refunding.ts'
import { given } from './given.ts'

const SALE = { soldMinor: 1000n, soldCurrency: 'EUR', orderId: '7', currency: 'EUR', batchId: 'b1', saleRowNo: 3n }

describe('a refund of an order whose sale is known', () => {
  test.each([
    [1000n, 'EUR', false],
    [999n, 'EUR', false],
    [1001n, 'EUR', true],
    [1n, 'USD', true],
    [1001n, 'USD', true],
  ])('that makes %i in %s of 1000 EUR is too much: %s', (refundedMinor, currency, isBeyond) => {
    given({ ...SALE, refundedMinor, currency })
      .when(isBeyondSale)
      .then(isBeyond)
  })

  test('that is too much is a fault of its amount', () => {
    given({ ...SALE, refundedMinor: 1001n })
      .when(faultBeyondSale)
      .then({
        column: 'amount',
        problem:
          'more of the order would be refunded than was paid (with this row 10.01 EUR of order 7; its sale, row 3 of batch b1, was 10.00 EUR)',
        remedy: 'take out the refund that is too much, or correct the amount or the order id',
      })
  })

  test('in another currency is a fault of its currency', () => {
    given({ ...SALE, refundedMinor: 1n, currency: 'USD' })
      .when(faultBeyondSale)
      .then({
        column: 'request_currency',
        problem: 'the order was paid in another currency (order 7: its sale, row 3 of batch b1, was in EUR)',
        remedy: 'a refund is made in the currency of its order: check the amount and the currency',
      })
  })
})

describe('a refund of 10.00 EUR of an order whose sale is not recorded', () => {
  const refund = { orderKey: '7', amountMinor: 1000n, currency: 'EUR' }
  const earlier = (amount: string) => `${amount} of order 7 was refunded before, and its sale is not recorded here`

  test.each([
    ['nothing', 0n, null, null],
    ['more', 1001n, 'EUR', null],
    ['as much', 1000n, 'EUR', earlier('10.00 EUR')],
    ['less', 999n, 'EUR', earlier('9.99 EUR')],
    ['more in another currency', 5000n, 'USD', earlier('50.00 USD')],
    [
      'more in several currencies',
      5000n,
      null,
      'order 7 was refunded before, in more than one currency, and its sale is not recorded here',
    ],
  ])('after %s', (_what, refundedMinor, currency, why) => {
    given({ refundedMinor, currency })
      .when((refunded) => refundedBefore(refund, refunded))
      .then(why)
  })
})

test('sales are what takes money, and only a capture of an AUTH names its order itself', () => {
  expect(OPERATIONS.filter((operation) => SALES.includes(operation))).toEqual(['CAPTURE', 'CAUTH'])
  expect(SALE_OF_ITS_ORDER).toBe('CAUTH')
})

test.each([
  ['READY', true],
  ['SENDING', true],
  ['APPROVED', true],
  ['DECLINED', false],
  ['FAILED', false],
  ['IN_DOUBT', true],
  ['CANCELLED', false],
  ['INVALID', false],
  ['DUPLICATE', false],
] as const)('a refund that is %s counts against its order: %s', (state, counts) => {
  expect(STATES).toContain(state)
  given(state)
    .when((is) => REFUND_COUNTS_IN.includes(is))
    .then(counts)
})
