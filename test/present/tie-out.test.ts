// The sentence under a run: every row accounted for, and every amount that was asked for.

import { expect, test } from 'vitest'
import type { Currency } from '../../src/domain/money.ts'
import type { ReconciliationRow } from '../../src/domain/reconciliation.ts'
import { tieOutLines } from '../../src/present/tie-out.ts'
import { createTally } from '../../src/results/summary.ts'
import { AT_MS, NO_FACTS, rowOf } from '../results/reading.ts'

function linesFor(rows: readonly Partial<ReconciliationRow>[]): string[] {
  const tally = createTally()
  for (const row of rows) tally.add(rowOf(row))
  const count = rows.length
  return tieOutLines({
    ...{
      path: '/o.csv',
      summaryPath: '/o.summary.csv',
      rows: count,
      carried: [],
      rowsRead: count,
      atMs: AT_MS,
      exceptions: null,
    },
    ...{ summary: tally.lines(), reasons: tally.reasons(), submittedAgain: tally.submittedAgain() },
    differences: tally.differences(),
  })
}

const UNREAD = { operation: null, amountMinor: null, currency: null, state: 'INVALID' } as const

test('one operation in one currency is one sentence', () => {
  expect(linesFor([{ state: 'APPROVED', amountMinor: 606n }])).toEqual([
    '1 row read, 1 in the results: 1 approved; 6.06 EUR asked = 6.06 approved.',
  ])
  const rows: Partial<ReconciliationRow>[] = [
    { state: 'APPROVED', amountMinor: 4_090_000n },
    { state: 'DECLINED', amountMinor: 30_000n, reason: 'Insufficient funds' },
    { state: 'DECLINED', amountMinor: 5_000n, reason: 'Expired card' },
    { state: 'FAILED', amountMinor: 3_055n, reason: 'refused as wrong (HTTP 400)' },
  ]
  expect(linesFor(rows)).toEqual([
    '4 rows read, 4 in the results: 1 approved, 2 declined (1 card, 1 funds), 1 failed (1 data); ' +
      '41280.55 EUR asked = 40900.00 approved + 380.55 not moved.',
  ])
})

test('what was recorded before with another content is not in the sum of what was recorded', () => {
  const repeats = { state: 'APPROVED', warned: false } as const
  const rows: Partial<ReconciliationRow>[] = [
    { state: 'APPROVED', amountMinor: 1_300n },
    { state: 'DUPLICATE', amountMinor: 2_300n, repeats },
    { state: 'DUPLICATE', amountMinor: 9_900n, repeats: { ...repeats, changed: true } },
  ]
  expect(linesFor(rows)[0]).toContain(
    '135.00 EUR asked = 13.00 approved + 23.00 recorded before + 99.00 recorded otherwise and not sent.',
  )
})

test.each(['1,234.5000', '12,3000', '9'.repeat(31), 'NaN', '12.30 EUR'])(
  'an answered amount that cannot be read (%s) is not just what was asked',
  (amount) => {
    const rows: Partial<ReconciliationRow>[] = [
      { state: 'APPROVED', amountMinor: 1_230n, facts: { ...NO_FACTS, amount, currency: 'EUR' } },
      { state: 'APPROVED', amountMinor: 500n, facts: { ...NO_FACTS, amount: '5.0000', currency: 'EUR' } },
    ]
    expect(linesFor(rows.slice(0, 1))[0]).toBe(
      '1 row read, 1 in the results: 1 approved; 12.30 EUR asked = 12.30 in approved rows. The gateway named an amount that cannot be read for 1 row.',
    )
    expect(linesFor(rows)[0]).toContain(
      '17.30 EUR asked = 17.30 in approved rows. The gateway approved 5.00 EUR and named an amount that cannot be read for 1 row.',
    )
  },
)

test('each operation and currency has a line, and what is not known is not called approved', () => {
  const rows: Partial<ReconciliationRow>[] = [
    { state: 'APPROVED', operation: 'CAPTURE', amountMinor: 100n },
    { state: 'IN_DOUBT', operation: 'CAPTURE', amountMinor: 20n },
    { state: 'SENDING', operation: 'CAPTURE', amountMinor: 3n },
    { state: 'READY', operation: 'CAPTURE', amountMinor: 4n },
    { state: 'DUPLICATE', operation: 'CAPTURE', amountMinor: 50n },
    { state: 'CANCELLED', amountMinor: 7n, currency: 'JPY' as Currency },
    { state: 'APPROVED', operation: 'CANCEL', amountMinor: null },
    { state: 'INVALID', operation: null, amountMinor: 9n },
    UNREAD,
  ]
  expect(linesFor(rows)).toEqual([
    '9 rows read, 9 in the results: 2 approved, 1 in doubt, 2 pending, 1 cancelled, 2 invalid, 1 recorded before.',
    'CAPTURE: 1.77 EUR asked = 1.00 approved + 0.20 in doubt + 0.07 pending + 0.50 recorded before.',
    'REFUND: 7 JPY asked = 7 not moved.',
    'Bad rows: 0.09 EUR asked = 0.09 not moved.',
    '1 invalid row has no amount that could be read, and no part in these sums.',
  ])
})

const answered = (amount: string | null, currency: string | null = 'EUR') => ({
  facts: { ...NO_FACTS, amount, currency },
})

test('what was approved is the gateway’s sum: where it is another one, both are told, and the rows', () => {
  const rows: Partial<ReconciliationRow>[] = [
    { state: 'APPROVED', amountMinor: 1_200n, ...answered('12.0000') },
    { rowNo: 5, reference: 'X-5', state: 'APPROVED', amountMinor: 508n, ...answered('6.0800') },
    { state: 'IN_DOUBT', amountMinor: 503n },
  ]
  expect(linesFor(rows).slice(0, 2)).toEqual([
    '3 rows read, 3 in the results: 2 approved, 1 in doubt; 22.11 EUR asked = 17.08 in approved rows + 5.03 in doubt. ' +
      'The gateway approved 18.08 EUR.',
    'Other than asked: row 5 (X-5) 6.0800 EUR for 5.08 EUR.',
  ])
})

test('amounts that even out are still told row by row, and another currency is never added up with the one asked', () => {
  const rows: Partial<ReconciliationRow>[] = [
    { rowNo: 1, reference: 'A', state: 'APPROVED', amountMinor: 500n, ...answered('6.0000') },
    { rowNo: 2, reference: 'B', state: 'APPROVED', amountMinor: 500n, ...answered('4.0000') },
  ]
  expect(linesFor(rows)[1]).toBe(
    'Other than asked: row 1 (A) 6.0000 EUR for 5.00 EUR; row 2 (B) 4.0000 EUR for 5.00 EUR.',
  )
  const inDollars = {
    rowNo: 3,
    reference: 'C',
    state: 'APPROVED' as const,
    amountMinor: 500n,
    ...answered('5.0000', 'USD'),
  }
  expect(
    linesFor([...rows, inDollars, { state: 'APPROVED', amountMinor: 100n, ...answered(null, null) }])[0],
  ).toContain(
    '16.00 EUR asked = 16.00 in approved rows. The gateway approved 10.00 EUR and 5.00 USD and named no amount for 1 row.',
  )
})

test('an authorization and a cancellation are told as what they are: no money has moved', () => {
  expect(
    linesFor([
      { state: 'APPROVED', operation: 'AUTH', amountMinor: 2_000n, ...answered('20.00') },
      { state: 'DECLINED', operation: 'AUTH', amountMinor: 502n },
      { state: 'APPROVED', operation: 'CANCEL', amountMinor: 900n, ...answered('45.00') },
    ]).slice(1),
  ).toEqual([
    'AUTH: 25.02 EUR asked = 20.00 authorized + 5.02 not approved. An authorization moves no money.',
    'CANCEL: 9.00 EUR declared = 9.00 released. A cancellation moves no money.',
  ])
})

test('results without a row have no list of what became of the rows', () => {
  expect(linesFor([])).toEqual(['0 rows read, 0 in the results.'])
})

test('rows that were submitted again have a sentence: their money may have moved there', () => {
  const failed: Partial<ReconciliationRow> = {
    state: 'FAILED',
    amountMinor: 100n,
    reason: 'refused as wrong (HTTP 400)',
  }
  const again = { ...failed, submittedAgain: 'APPROVED' } as const
  expect(linesFor([failed, again])).toEqual([
    '2 rows read, 2 in the results: 2 failed (2 data); 2.00 EUR asked = 2.00 not moved.',
    '1 of these rows stands in another batch as well, and its money may have moved there: see result_warning.',
  ])
  expect(linesFor([again, again])[1]).toBe(
    '2 of these rows stand in another batch as well, and their money may have moved there: see result_warning.',
  )
})
