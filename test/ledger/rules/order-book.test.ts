import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OPERATIONS, type Operation } from '../../../src/domain/instruction.ts'
import { STATES } from '../../../src/domain/states.ts'
import {
  isShortageUnexplained,
  judgeOrder,
  NOTHING_DONE,
  OF_AN_ORDER,
  type OfOrder,
  ORDER_COUNTS_IN,
  type Order,
  SALES,
  type Sum,
  withRow,
} from '../../../src/ledger/rules/order-book.ts'

const at = (rowNo: number, batchId: string | null = 'b1') => ({ batchId, rowNo })
const sum = (amountMinor: bigint, rowNo = 3, currency: string | null = 'EUR'): Sum => ({
  ...{ amountMinor, currency },
  at: at(rowNo),
})
const UNKNOWN: Order = {
  ...{ orderId: '7', authorized: null, isAuthorizationUnsure: false, sold: null, isSaleUnsure: false },
  ...{ recorded: NOTHING_DONE, inFile: NOTHING_DONE, unsure: { CAUTH: null, REFUND: null } },
}
const voids = (amountMinor: bigint | null, rowNo = 9, currency = 'EUR') => ({
  ...sum(amountMinor ?? 0n, rowNo, currency),
  isWhole: amountMinor === null,
})
const recorded = (done: Partial<Order['recorded']>, over: Partial<Order> = {}): Order => ({
  ...{ ...UNKNOWN, ...over },
  recorded: { ...NOTHING_DONE, ...done },
})
const row = (operation: Operation, amountMinor: bigint | null = null, currency = 'EUR'): OfOrder => ({
  ...{ operation, amountMinor, currency },
})
const STRICT = { captureTolerance: 0 }

describe.each([
  ['CAUTH', 'authorized', 'captured', 'more of the order would be captured than was authorized'],
  ['REFUND', 'sold', 'refunded', 'more of the order would be refunded than was paid'],
] as const)('a %s of an order of 10.00 EUR', (operation, limit, done, problem) => {
  const known = { [limit]: sum(1000n) }
  const told = limit === 'sold' ? 'paid' : limit
  const verb = operation === 'CAUTH' ? 'capture' : 'refund'

  test.each([
    [0n, 1000n, 'EUR', 'fits'],
    [999n, 1n, 'EUR', 'fits'],
    [0n, 1001n, 'EUR', 'amount'],
    [1000n, 1n, 'EUR', 'amount'],
    [0n, 1n, 'USD', 'request_currency'],
    [0n, 1001n, 'USD', 'request_currency'],
  ])('after %i, that asks for %i %s: %s', (before, amount, currency, column) => {
    const order = recorded({ [done]: before === 0n ? null : sum(before, 5) }, known)
    const verdict = judgeOrder(order, row(operation, amount, currency), STRICT)
    if (column === 'fits') expect(verdict).toBe('fits')
    else expect(verdict).toMatchObject({ kind: 'wrong', column })
  })

  test('names all sums and where they are recorded', () => {
    const order = recorded({ [done]: sum(600n, 5) }, known)
    expect(judgeOrder(order, row(operation, 401n), STRICT)).toMatchObject({
      problem: `${problem} (order 7: ${told} 10.00 EUR by row 3 of batch b1, ${verb}s of 6.00 EUR, last by row 5 of batch b1; this row asks for 4.01 EUR)`,
    })
  })

  test('counts earlier rows of the file like recorded ones', () => {
    const order = withRow(recorded({ [done]: sum(300n, 5) }, known), row(operation, 300n), 2)
    expect(judgeOrder(order, row(operation, 400n), STRICT)).toBe('fits')
    expect(judgeOrder(order, row(operation, 401n), STRICT)).toMatchObject({
      problem: expect.stringContaining(`${verb}s of 6.00 EUR, last by row 2 of this file; this row asks for 4.01 EUR`),
    })
  })

  test('is wrong once the order is voided, known or not', () => {
    for (const over of [known, {}]) {
      expect(judgeOrder(recorded({ voided: voids(null) }, over), row(operation, 1n), STRICT)).toMatchObject({
        ...{ kind: 'wrong', column: 'request_ref_po_id' },
        problem: 'a void of the order is recorded (order 7: row 9 of batch b1)',
      })
    }
  })

  test('is asked about beside a void in the same file, whichever comes first', () => {
    const void2 = { kind: 'asked', why: 'beside-void', at: at(2, null) }
    expect(judgeOrder(withRow(UNKNOWN, row('CANCEL'), 2), row(operation, 1n), STRICT)).toMatchObject(void2)
    const first = withRow(UNKNOWN, row(operation, 1n), 2)
    expect(judgeOrder(first, row('CANCEL'), STRICT)).toMatchObject(void2)
  })
})

test.each([
  [15, 1150n, true],
  [15, 1151n, false],
  [100, 2000n, true],
] as const)('with a tolerance of %i per cent, %i of 1000 may be captured: %s', (captureTolerance, amount, fits) => {
  const order = recorded({}, { authorized: sum(1000n) })
  const verdict = judgeOrder(order, row('CAUTH', amount), { captureTolerance })
  if (fits) expect(verdict).toBe('fits')
  else expect(verdict).toMatchObject({ problem: expect.stringContaining(`${captureTolerance} % more is allowed`) })
})

test.each(['CAUTH', 'REFUND'] as const)(
  'a %s beside a row in doubt, or answered otherwise, is asked about, whatever it asks for',
  (operation) => {
    const order = recorded({}, { unsure: { CAUTH: at(4), REFUND: at(4) } })
    expect(judgeOrder(order, row(operation, 1n), STRICT)).toMatchObject({
      ...{ kind: 'asked', why: 'beside-doubt', at: at(4) },
      problem: 'a row of order 7 is in doubt, or was answered otherwise than asked (row 4 of batch b1)',
    })
  },
)

test('a capture of what is not authorized here is in the currency of the captures before it', () => {
  const order = recorded({ captured: sum(1000n, 5) })
  expect(judgeOrder(order, row('CAUTH', 1n, 'USD'), STRICT)).toMatchObject({
    ...{ kind: 'wrong', code: 'other_currency', column: 'request_currency' },
    problem: expect.stringContaining('captures of 10.00 EUR, last by row 5 of batch b1'),
  })
  expect(judgeOrder(order, row('CAUTH', 9_999n), STRICT)).toBe('fits')
})

describe('what is paid of an order', () => {
  const refundable = (order: Order, amount: bigint) => judgeOrder(order, row('REFUND', amount), STRICT)

  test('is what was captured, may have been or waits to be, recorded or in the same file', () => {
    const open = recorded({ captured: sum(900n), open: sum(300n) }, { sold: sum(600n) })
    expect(refundable(open, 900n)).toBe('fits')
    expect(refundable(open, 901n)).toMatchObject({ kind: 'wrong', column: 'amount' })
    const beside = withRow(UNKNOWN, row('CAUTH', 600n), 2)
    expect(refundable(beside, 600n)).toBe('fits')
    expect(refundable(beside, 601n)).toMatchObject({
      problem: expect.stringContaining('paid 6.00 EUR by row 2 of this file'),
    })
  })

  test('is nothing where it was authorized and not captured, and is not known where it was not authorized either', () => {
    const authorized = recorded({}, { authorized: sum(1000n) })
    expect(refundable(authorized, 1n)).toMatchObject({
      kind: 'wrong',
      problem:
        'more of the order would be refunded than was paid (order 7: authorized 10.00 EUR, not captured, by row 3 of batch b1; this row asks for 0.01 EUR)',
    })
    const warned = { authorized: sum(1000n), isSaleUnsure: true }
    for (const order of [recorded({}, warned), withRow(authorized, row('CAUTH', 600n), 2), UNKNOWN])
      expect(refundable(order, 600n)).toBe('fits')
  })

  test('is not known where parts of it are in several currencies', () => {
    const several = recorded({ open: sum(300n, 4, 'USD') }, { sold: sum(600n) })
    expect(refundable(several, 9_999n)).toBe('fits')
  })

  test('is not known where the gateway named another amount for a part of it', () => {
    expect(refundable(recorded({ open: sum(300n) }, { isSaleUnsure: true }), 9_999n)).toBe('fits')
  })
})

test('tolerance is for captures alone', () => {
  const order = recorded({}, { sold: sum(1000n) })
  expect(judgeOrder(order, row('REFUND', 1001n), { captureTolerance: 100 })).toMatchObject({ kind: 'wrong' })
})

describe('a void', () => {
  test.each([
    ['of an order that is not known', UNKNOWN],
    ['of an authorization', recorded({}, { authorized: sum(1000n) })],
    ['of a captured authorization', recorded({ captured: sum(1000n) }, { authorized: sum(1000n), sold: sum(1000n) })],
    ['of a sale', recorded({}, { sold: sum(1000n) })],
  ])('%s fits', (_what, order) => {
    expect(judgeOrder(order, row('CANCEL'), STRICT)).toBe('fits')
  })

  const auth = { authorized: sum(1000n) }
  test.each([
    ['of a part of an authorization leaves the rest to be captured', auth, 400n, 'CAUTH', 600n, 601n],
    ['of a part of a sale leaves the rest to be refunded', { sold: sum(1000n) }, 400n, 'REFUND', 600n, 601n],
    ['of a part can be followed by one of the rest', auth, 400n, 'CANCEL', 600n, 601n],
  ] as const)('%s', (_what, known, voided, operation, fits, tooMuch) => {
    const order = recorded({ voided: voids(voided) }, known)
    expect(judgeOrder(order, row(operation, fits), STRICT)).toBe('fits')
    expect(judgeOrder(order, row(operation, tooMuch), STRICT)).toMatchObject({ kind: 'wrong', column: 'amount' })
  })

  test.each([
    ['without an amount', auth, null, 'EUR'],
    ['of the whole amount', auth, 1000n, 'EUR'],
    ['in another currency', auth, 400n, 'USD'],
    ['of an order whose amount is not known', {}, 400n, 'EUR'],
    ['of an authorization that was answered otherwise', { isAuthorizationUnsure: true }, 400n, 'EUR'],
  ] as const)('%s ends the order', (_what, known, voided, currency) => {
    const order = recorded({ voided: voids(voided, 9, currency) }, known)
    for (const operation of ['CAUTH', 'REFUND'] as const)
      expect(judgeOrder(order, row(operation, 1n), STRICT)).toMatchObject({ code: 'after_void' })
  })

  test.each([
    ['its authorization', auth, 1000n],
    ['its sale', { sold: sum(1000n) }, 1000n],
    ['what was captured beyond its authorization', { ...auth, sold: sum(1100n) }, 1100n],
  ] as const)('of more than %s is wrong, as is one in another currency', (_what, known, most) => {
    const order = recorded({}, known)
    expect(judgeOrder(order, row('CANCEL', most), STRICT)).toBe('fits')
    expect(judgeOrder(order, row('CANCEL', most + 1n), STRICT)).toMatchObject({ code: 'over_void', column: 'amount' })
    expect(judgeOrder(order, row('CANCEL', 1n, 'USD'), STRICT)).toMatchObject({ code: 'other_currency' })
    const unsure = { ...order, isAuthorizationUnsure: true, authorized: null }
    expect(judgeOrder(unsure, row('CANCEL', most + 1n), STRICT)).toBe('fits')
  })

  test.each([
    [null, 'asked'],
    [400n, 'fits'],
    [401n, 'asked'],
  ] as const)('of %s beside a capture of 600 of 1000 that waits or is in doubt: %s', (amount, kind) => {
    const order = recorded({ captured: sum(600n, 5), open: sum(600n, 5) }, auth)
    const verdict = judgeOrder(order, row('CANCEL', amount), STRICT)
    if (kind === 'fits') return expect(verdict).toBe('fits')
    return expect(verdict).toMatchObject({ kind, why: 'beside-void', at: at(5) })
  })

  test('of an order of which something was refunded is wrong', () => {
    expect(judgeOrder(recorded({ refunded: sum(1n, 5) }), row('CANCEL'), STRICT)).toMatchObject({
      ...{ kind: 'wrong', column: 'request_ref_po_id' },
      problem: expect.stringContaining('refunds of 0.01 EUR, last by row 5 of batch b1'),
    })
  })
})

describe('a refund of 10.00 EUR of an order whose sale is not recorded', () => {
  const earlier = (sum: string) => `order 7 was refunded before (${sum}), and its sale is not recorded here`

  test.each([
    ['nothing', null, null],
    ['more', sum(1001n), null],
    ['as much', sum(1000n), earlier('10.00 EUR')],
    ['less', sum(999n), earlier('9.99 EUR')],
    ['more in another currency', sum(5000n, 3, 'USD'), earlier('50.00 USD')],
    ['more in several currencies', sum(5000n, 3, null), earlier('in several currencies')],
  ])('after %s', (_what, refunded, problem) => {
    const verdict = judgeOrder(recorded({ refunded }), row('REFUND', 1000n), STRICT)
    if (problem === null) expect(verdict).toBe('fits')
    else expect(verdict).toEqual({ kind: 'asked', why: 'refunded-before', before: refunded, at: at(3), problem })
  })

  test('is asked about in one file as it is over two', () => {
    const order = withRow(UNKNOWN, row('REFUND', 999n), 4)
    expect(judgeOrder(order, row('REFUND', 1000n), STRICT)).toMatchObject({ why: 'refunded-before', at: at(4, null) })
    expect(judgeOrder(order, row('REFUND', 998n), STRICT)).toBe('fits')
  })
})

describe('"Order balance: 0.00" is a surprise', () => {
  const says = 'Order balance: 0.00 EUR, requested amount: 10.00 EUR'
  const ofSale = (refundedMinor: bigint | null, over: Partial<Order> = {}) =>
    recorded({ refunded: refundedMinor === null ? null : sum(refundedMinor, 4) }, { sold: sum(1000n), ...over })
  const refund = row('REFUND', 1000n)

  test.each([
    ['of a sale of which nothing is refunded', ofSale(null), refund, true],
    ['of a sale that is refunded in part, and has enough left', ofSale(400n), row('REFUND', 600n), true],
    ['not where what is recorded took too much', ofSale(400n), refund, false],
    ['not in another currency', ofSale(null), row('REFUND', 1000n, 'USD'), false],
    ['where the answer to the sale differed about money', ofSale(null, { isSaleUnsure: true }), refund, true],
    ['not where it did, and something is refunded', ofSale(1n, { isSaleUnsure: true }), refund, false],
    ['not after a void', recorded({ voided: voids(null) }, { sold: sum(1000n) }), refund, false],
    ['not of an authorization', { ...UNKNOWN, authorized: sum(1000n) }, refund, false],
    ['of an unknown sale', UNKNOWN, refund, true],
    ['not of an unknown sale that is refunded here', recorded({ refunded: sum(1n) }), refund, false],
    ['of the first capture', { ...UNKNOWN, authorized: sum(1000n) }, row('CAUTH', 1000n), true],
    [
      'not after a void of a part: all may be released',
      recorded({ voided: voids(400n) }, { authorized: sum(1000n) }),
      row('CAUTH', 600n),
      false,
    ],
    ['of the first capture, of somewhat more', { ...UNKNOWN, authorized: sum(1000n) }, row('CAUTH', 1100n), true],
    [
      'of a second one that fits',
      recorded({ captured: sum(1n) }, { authorized: sum(1000n) }),
      row('CAUTH', 999n),
      true,
    ],
    [
      'not of one that does not',
      recorded({ captured: sum(1n) }, { authorized: sum(1000n) }),
      row('CAUTH', 1000n),
      false,
    ],
    ['of a void', ofSale(null), row('CANCEL'), true],
    ['not of a void after a refund', ofSale(1n), row('CANCEL'), false],
  ] as const)('%s', (_, order, asked, isSurprise) => {
    expect(isShortageUnexplained(order, asked, says)).toBe(isSurprise)
  })

  test('of a capture of what a void of a part has left', () => {
    const order = recorded({ voided: voids(400n) }, { authorized: sum(1000n) })
    const left = 'Order balance: 2.00, requested: 4.00'
    expect(isShortageUnexplained(order, row('CAUTH', 400n), left)).toBe(true)
    expect(isShortageUnexplained(order, row('CAUTH', 601n), left)).toBe(false)
  })

  test.each([
    ['Order balance: 19.90, requested refund 39.90', false],
    ['The balance of the order is EUR 0', true],
    ['Remaining balance 0.50', false],
    ['no balance', false],
  ])('of an unknown sale: %s: %s', (reason, isSurprise) => {
    expect(isShortageUnexplained(UNKNOWN, refund, reason)).toBe(isSurprise)
  })
})

test('of whatever comes, what fits never captures more than was authorized, refunds more than was paid, or moves anything after a void', () => {
  const rows = fc.array(
    fc.record({
      operation: fc.constantFrom<Operation>('CAUTH', 'CANCEL', 'REFUND'),
      amountMinor: fc.bigInt({ min: 1n, max: 1500n }),
      currency: fc.constantFrom('EUR', 'EUR', 'EUR', 'USD'),
      isNextFile: fc.boolean(),
    }),
    { maxLength: 12 },
  )
  fc.assert(
    fc.property(rows, fc.integer({ min: 0, max: 30 }), (instructions, captureTolerance) => {
      let order = recorded({}, { authorized: sum(1000n), sold: sum(500n) })
      const moved = { CAUTH: 0n, REFUND: 0n, CANCEL: 0n }
      const most = (captured: bigint) => (500n + captured > 1000n ? 500n + captured : 1000n)
      for (const [i, { isNextFile, ...one }] of instructions.entries()) {
        if (isNextFile) order = { ...order, recorded: allOf(order), inFile: NOTHING_DONE }
        if (judgeOrder(order, one, { captureTolerance }) !== 'fits') continue
        order = withRow(order, one, i)
        expect(one.currency).toBe('EUR')
        if (one.operation === 'CANCEL') expect(moved.REFUND).toBe(0n)
        else expect(moved.CANCEL).toBeLessThan(most(moved.CAUTH))
        moved[one.operation as keyof typeof moved] += one.amountMinor
        const left = most(moved.CAUTH) - moved.CANCEL
        if (one.operation === 'CANCEL') expect(left).toBeGreaterThanOrEqual(0n)
        if (one.operation === 'CAUTH')
          expect(moved.CAUTH + moved.CANCEL <= 1000n + 10n * BigInt(captureTolerance)).toBe(true)
        expect(moved.REFUND <= 500n + moved.CAUTH).toBe(true)
        if (one.operation === 'REFUND') expect(moved.REFUND <= left).toBe(true)
      }
    }),
    { numRuns: 2_000 },
  )
})

/** As it is recorded once the file is. */
function allOf({ recorded: before, inFile: file }: Order): Order['recorded'] {
  const both = (done: 'captured' | 'refunded' | 'voided') => {
    const [one, other] = [before[done], file[done]]
    return one === null || other === null
      ? (other ?? one)
      : { ...other, amountMinor: one.amountMinor + other.amountMinor }
  }
  const captured = both('captured')
  const voided = both('voided')
  return { captured, open: captured, refunded: both('refunded'), voided: voided && { ...voided, isWhole: false } }
}

test('sales are what takes money, and captures, voids and refunds name the order that they are of', () => {
  expect(OPERATIONS.filter((operation) => SALES.includes(operation))).toEqual(['CAPTURE', 'CAUTH'])
  expect(OPERATIONS.filter((operation) => OF_AN_ORDER.includes(operation))).toEqual(['CAUTH', 'REFUND', 'CANCEL'])
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
] as const)('a row that is %s counts in its order: %s', (state, counts) => {
  expect(STATES).toContain(state)
  expect(ORDER_COUNTS_IN.includes(state)).toBe(counts)
})
