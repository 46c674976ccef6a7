// The sentence under a run: every row accounted for, and every amount that was asked for.

import { expect, test } from 'vitest'
import type { Currency } from '../../src/domain/money.ts'
import type { ReconciliationRow } from '../../src/domain/reconciliation.ts'
import { tieOutLines } from '../../src/present/tie-out.ts'
import { createTally } from '../../src/results/summary.ts'
import { AT_MS, rowOf } from '../results/reading.ts'

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
    '1 of these rows was submitted again in another batch, and its money may have moved there: see result_warning.',
  ])
  expect(linesFor([again, again])[1]).toBe(
    '2 of these rows were submitted again in another batch, and their money may have moved there: see result_warning.',
  )
})
