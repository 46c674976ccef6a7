// Why a file is refused although it can be read: bad rows, look-alikes, and what was declared about it.

import { describe, expect, test } from 'vitest'
import type { Total } from '../../src/domain/batch.ts'
import type { DraftReview, Lookalike } from '../../src/domain/draft.ts'
import type { AccountId } from '../../src/domain/ids.ts'
import type { Currency, Money } from '../../src/domain/money.ts'
import {
  isAsTold,
  type LookalikeCounts,
  pairOf,
  refusalsOf,
  repeatsAt,
  type SubmitRequest,
} from '../../src/domain/submission.ts'

const EUR = 'EUR' as Currency
const USD = 'USD' as Currency
const JPY = 'JPY' as Currency

const money = (currency: Currency, amountMinor: bigint): Money => ({ currency, amountMinor })
const total = (
  currency: Currency | '',
  count: number,
  amountMinor: bigint,
  operation: Total['operation'] = 'REFUND',
) => ({
  ...{ operation, currency, count, amountMinor },
})

const REVIEW: DraftReview = {
  ...{
    rows: 3,
    accepted: 3,
    duplicate: 0,
    invalid: 0,
    lookalikes: 0,
    aboveLimit: [],
    heldByDoubt: 0,
    declinedCards: 0,
    amountsUnread: 0,
    faults: 0,
  },
  unidentified: 0,
  again: { repeated: [], retried: [], changed: 0, otherCells: 0, notAsked: [] },
  correction: null,
  cancelledBefore: [],
  farDates: { rows: 0, first: null },
  late: { captures: { rows: 0, days: null }, refunds: { rows: 0, days: null } },
  totals: [],
  totalsRead: [total(EUR, 3, 4128055n)],
  extents: [],
}

const REQUEST: SubmitRequest = {
  ...{
    accountId: 1 as AccountId,
    runKey: null,
    fingerprint: '',
    sandbox: false,
    retry: [],
    lookalikeDays: 20,
    captureTolerance: 0,
    dailyLimits: null,
    allowAboveLimit: 0,
  },
  ...{ allowLookalikes: 0, skipInvalid: false, expectCount: null, expectTotals: [], canaryRows: null },
  ...{ maxDeclinedPercent: null, nowMs: 0 },
}

const NO_LOOKALIKES: LookalikeCounts = {
  recorded: 0,
  changed: 0,
  lost: 0,
  questions: 0,
  longAgo: new Map(),
  stillToSend: new Map(),
}

const refusals = (review: Partial<DraftReview>, request: Partial<SubmitRequest>) =>
  refusalsOf({ ...REVIEW, ...review }, NO_LOOKALIKES, { ...REQUEST, ...request })

describe('a far execute_at', () => {
  const first = { line: 3, executeAtMs: 5 }
  const farDates = { rows: 2, first }

  test.each([undefined, 0, 1, 3])('is refused with %s allowed of two', (allowExecuteAt) => {
    const asked = { kind: 'execute-at', found: 2, allowed: allowExecuteAt ?? 0, ...first }
    expect(refusals({ farDates }, allowExecuteAt === undefined ? {} : { allowExecuteAt })).toEqual([asked])
  })

  test('is let through with its number, and a number where there is none is no matter', () => {
    expect(refusals({ farDates }, { allowExecuteAt: 2 })).toEqual([])
    expect(refusals({}, { allowExecuteAt: 2 })).toEqual([])
  })
})

describe('the declared number of rows', () => {
  test('counts every row as read: bad ones and those recorded before', () => {
    const review = { rows: 7, accepted: 2, duplicate: 4, invalid: 1 }
    expect(refusals(review, { expectCount: 7, skipInvalid: true })).toEqual([])
    expect(refusals(review, { expectCount: 2, skipInvalid: true })).toEqual([{ kind: 'count', expected: 2, found: 7 }])
  })
})

describe('the declared totals', () => {
  test('that the file adds up to let it pass', () => {
    const totalsRead = [
      total(EUR, 1, 100n),
      total(EUR, 1, 50n, 'CAPTURE'),
      total(USD, 1, 5n),
      total('', 1, 0n, 'CANCEL'),
    ]
    expect(refusals({ totalsRead }, { expectTotals: [money(EUR, 150n), money(USD, 5n)] })).toEqual([])
  })

  test('that it does not add up to are named with what is missing or too much', () => {
    expect(refusals({}, { expectTotals: [money(EUR, 4128155n)] })).toEqual([
      { kind: 'total', expected: 'EUR=41281.55', found: 'EUR=41280.55', difference: '1.00 EUR too little' },
    ])
    const totalsRead = [total(EUR, 3, 4128055n), total(JPY, 1, 7n)]
    expect(refusals({ totalsRead }, { expectTotals: [money(EUR, 4128055n), money(JPY, 5n)] })).toEqual([
      { kind: 'total', expected: 'JPY=5', found: 'JPY=7', difference: '2 JPY too much' },
    ])
  })

  test('of a currency that is not in the file are not met', () => {
    const expectTotals = [money(EUR, 4128055n), money(USD, 1n)]
    expect(refusals({}, { expectTotals })).toMatchObject([{ kind: 'total', found: 'USD=0.00' }])
  })

  test('that leave out a currency of the file refuse it', () => {
    const totalsRead = [total(EUR, 3, 4128055n), total(USD, 2, 3000n), total(USD, 1, 1n, '')]
    expect(refusals({ totalsRead }, { expectTotals: [money(EUR, 4128055n)] })).toEqual([
      { kind: 'currency', found: 'USD=30.01', rows: 3 },
    ])
    expect(refusals({ totalsRead }, {})).toEqual([])
  })

  test('cannot be met while an amount cannot be read, even where the rest adds up to them', () => {
    const review = { invalid: 2, amountsUnread: 2 }
    expect(refusals(review, { skipInvalid: true, expectTotals: [money(EUR, 4128055n)] })).toEqual([
      { kind: 'total-unknown', expected: 'EUR=41280.55', found: 'EUR=41280.55', unread: 2 },
    ])
    expect(refusals(review, { skipInvalid: true })).toEqual([])
  })
})

test('lines of a results file that are no recorded row refuse it, even with --skip-invalid', () => {
  const review = { invalid: 2, accepted: 1, unidentified: 1 }
  expect(refusals(review, { skipInvalid: true })).toEqual([{ kind: 'unidentified', rows: 1 }])
  expect(refusals({ invalid: 2, accepted: 1 }, { skipInvalid: true })).toEqual([])
})

describe('what would be sent is what a person was told', () => {
  const review = { accepted: 4, totals: [total(EUR, 2, 2000n), total(JPY, 1, 5n), total('', 1, 0n, 'CANCEL')] }
  const told = {
    rows: 4,
    approval: false,
    totals: [
      { operation: 'CANCEL', currency: '', count: 1, amount: '' },
      { operation: 'REFUND', currency: EUR, count: 2, amount: '20.00' },
      { operation: 'REFUND', currency: JPY, count: 1, amount: '5' },
    ],
  } as const

  test('in whatever order', () => {
    expect(isAsTold(review, told)).toBe(true)
  })

  test.each([
    ['another number of rows', { accepted: 3 }],
    ['another sum', { totals: [total(EUR, 2, 2001n), total(JPY, 1, 5n), total('', 1, 0n, 'CANCEL')] }],
    ['another operation', { totals: [total(EUR, 2, 2000n, 'CAPTURE'), total(JPY, 1, 5n), total('', 1, 0n, 'CANCEL')] }],
    ['another currency', { totals: [total(EUR, 2, 2000n), total(USD, 1, 5n), total('', 1, 0n, 'CANCEL')] }],
    [
      'other numbers with the same sums',
      { totals: [total(EUR, 1, 2000n), total(JPY, 2, 5n), total('', 1, 0n, 'CANCEL')] },
    ],
    ['one less', { totals: [total(EUR, 2, 2000n), total(JPY, 1, 5n)] }],
    ['one more', { totals: [...review.totals, total(USD, 1, 1n)] }],
  ])('and not with %s', (_, over) => {
    expect(isAsTold({ ...review, ...over }, told)).toBe(false)
  })
})

test('a pair is told by both rows, by why they look alike, and by the trouble that the other is in', () => {
  const like = {
    batchId: 'B-1',
    rowNo: 3,
    line: null,
    reference: 'A',
    state: 'READY',
    money: null,
    orderId: '7',
    atMs: 0,
  } as const
  const one: Lookalike = {
    ...{ rowNo: 5, line: 6, reference: 'B', operation: 'REFUND', money: null, orderId: '7', like },
    ...{ changedFrom: null, lost: false, refundedBefore: null, besideVoid: false, question: null, moneyWarning: null },
  }
  const others: readonly Lookalike[] = [
    { ...one, rowNo: 6 },
    { ...one, like: { ...like, rowNo: 4 } },
    { ...one, like: { ...like, batchId: 'B-2' } },
    { ...one, like: { ...like, batchId: null } },
    { ...one, lost: true },
    { ...one, changedFrom: money(EUR, 5n) },
    { ...one, changedFrom: money(EUR, 6n) },
    { ...one, refundedBefore: money(EUR, 5n) },
    { ...one, besideVoid: true },
    { ...one, question: { code: 'large', text: 'it is large' } },
    { ...one, refundedBefore: money(USD, 5n) },
    { ...one, refundedBefore: { amountMinor: 5n, currency: null } },
    { ...one, like: { ...like, state: 'IN_DOUBT' } },
    { ...one, moneyWarning: 'odd' },
  ]
  expect(new Set([one, ...others].map(pairOf)).size).toBe(others.length + 1)
  // That the other row was executed meanwhile, as it was to be, is no reason to ask again.
  expect(pairOf({ ...one, like: { ...like, state: 'APPROVED' } })).toBe(pairOf(one))
})

test('rows above the limit of a day refuse the file until their number is said', () => {
  const above = {
    direction: 'out',
    currency: EUR,
    limitMinor: 100n,
    rows: 2,
    firstLine: 3,
    largestMinor: 900n,
  } as const
  const aboveLimit = [above, { ...above, direction: 'in', rows: 1 } as const]
  const refused = [{ kind: 'above-limit', found: 3, allowed: 2, above: aboveLimit }]
  expect(refusals({ aboveLimit }, { allowAboveLimit: 2 })).toEqual(refused)
  expect(refusals({ aboveLimit }, { allowAboveLimit: 3 })).toEqual([])
  expect(refusals({}, { allowAboveLimit: 3 })).toEqual([])
})

describe('a file of which rows were recorded before', () => {
  const SINCE = 1_000
  const found = { sent: 0, duplicates: 3, lastMs: 900, oldSales: 0, lastOldMs: null }
  test.each([
    ['all of it long ago', found, false, 900],
    ['all of it, the last of it lately', { ...found, lastMs: 1_000 }, false, null],
    [
      'half of it as sales of long ago',
      { sent: 2, duplicates: 2, lastMs: 1_500, oldSales: 2, lastOldMs: 800 },
      false,
      800,
    ],
    ['less of it', { sent: 3, duplicates: 2, lastMs: 1_500, oldSales: 2, lastOldMs: 800 }, false, null],
    ['most of it, as is known', { sent: 1, duplicates: 3, lastMs: 900, oldSales: 3, lastOldMs: 900 }, true, null],
    ['nothing of it', { sent: 3, duplicates: 0, lastMs: null, oldSales: 0, lastOldMs: null }, false, null],
  ])('%s', (_, repeated, isGrowing, atMs) => {
    expect(repeatsAt(repeated, SINCE, isGrowing)).toBe(atMs)
  })
})
