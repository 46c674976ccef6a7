// Counts and sums of the summary: exact, complete and tied to the rows.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OPERATIONS } from '../../src/domain/instruction.ts'
import type { Currency } from '../../src/domain/money.ts'
import type { ReconciliationRow } from '../../src/domain/reconciliation.ts'
import { STATES } from '../../src/domain/states.ts'
import { categoriesBy } from '../../src/results/remembered.ts'
import { createTally, type Extract, tieOut, toSummaryRecords } from '../../src/results/summary.ts'
import { AT_MS, NO_FACTS, readingOf, rowOf } from './reading.ts'

function linesOf(rows: readonly ReconciliationRow[]) {
  const tally = createTally()
  for (const row of rows) tally.add(row)
  return tally.lines()
}

function answered(amount: string | null, currency: string | null = 'EUR'): Partial<ReconciliationRow> {
  return { state: 'APPROVED', facts: { ...NO_FACTS, amount, currency } }
}

describe('a line', () => {
  test('adds requested and answered amounts exactly', () => {
    const rows = [rowOf(answered('12.3000')), rowOf(answered('0.1')), rowOf(answered('90071992547409931234.5678'))]
    expect(linesOf(rows)).toEqual([
      {
        operation: 'REFUND',
        currency: 'EUR',
        status: 'APPROVED',
        count: 3,
        requestedAmount: '36.90',
        requestedMinor: 3690n,
        answeredCurrency: 'EUR',
        answeredCount: 3,
        answeredAmount: '90071992547409931246.9678',
        answered: { digits: 900719925474099312469678n, decimals: 4 },
      },
    ])
  })

  test('stands for each operation, currency, status and answered currency, in a fixed order', () => {
    const rows = [
      rowOf({ operation: null, amountMinor: null, currency: null, state: 'INVALID' }),
      rowOf(),
      rowOf({ state: 'SENDING' }),
      rowOf(answered('12.30', 'usd')),
      rowOf(answered('12.30')),
      rowOf({ currency: 'CHF' as Currency, state: 'IN_DOUBT' }),
      rowOf({ operation: 'CAPTURE', amountMinor: 5n, currency: 'JPY' as Currency, state: 'DECLINED' }),
    ]
    const told = linesOf(rows).map(({ operation, currency, status, answeredCurrency, count, requestedAmount }) =>
      [operation, currency, status, answeredCurrency, count, requestedAmount].join(' '),
    )
    expect(told).toEqual([
      'CAPTURE JPY DECLINED  1 5',
      'REFUND CHF IN_DOUBT  1 12.30',
      'REFUND EUR APPROVED EUR 1 12.30',
      'REFUND EUR APPROVED USD 1 12.30',
      'REFUND EUR PENDING  2 24.60',
      '  INVALID  1 ',
    ])
  })

  test('leaves out what cannot be added up, and tells how many it added', () => {
    const rows = [answered('12.30'), answered('12,30'), answered(null), answered('9'.repeat(40))].map(rowOf)
    expect(linesOf(rows)).toMatchObject([{ count: 4, answeredCount: 1, answeredAmount: '12.30' }])
  })

  test('takes negative answers', () => {
    expect(linesOf([answered('-12.30'), answered('-0.05')].map(rowOf))).toMatchObject([{ answeredAmount: '-12.35' }])
    expect(linesOf([rowOf(answered('-0.05'))])).toMatchObject([{ answeredAmount: '-0.05' }])
  })

  test('gathers whatever is no currency code', () => {
    const rows = ['euro', '=cmd', '€'].map((currency) => rowOf(answered('1', currency)))
    expect(linesOf(rows)).toMatchObject([{ answeredCurrency: '???', count: 3, answeredAmount: '3' }])
  })

  test('of a cancel without an amount has no currency and no requested amount', () => {
    expect(linesOf([rowOf({ operation: 'CANCEL', amountMinor: null })])).toMatchObject([
      { currency: '', requestedAmount: '', answeredAmount: '' },
    ])
  })
})

const recordsOf = (
  rows: readonly ReconciliationRow[],
  batch = readingOf([], rows).batch,
  extract: Extract | null = null,
) => {
  const lines = linesOf(rows)
  return toSummaryRecords(
    lines,
    { batchMark: 'b-7', readAtMs: AT_MS, auditHead: '9:ab', environment: null },
    tieOut(lines, batch),
    extract,
  ).map((record) => record.join('|'))
}

test('the records carry batch and reading time, and the ledger’s total last', () => {
  expect(recordsOf([rowOf(), rowOf(answered('12.3000'))])).toEqual([
    'b-7|2026-01-31T12:00:00.000Z|REFUND|EUR|APPROVED|1|12.30|EUR|1|12.3000|2|24.60|yes|9:ab',
    'b-7|2026-01-31T12:00:00.000Z|REFUND|EUR|PENDING|1|12.30||0||2|24.60|yes|9:ab',
    'b-7|2026-01-31T12:00:00.000Z|TOTAL|||2|||1||2||yes|9:ab',
  ])
})

test('of an extract they say that it is one', () => {
  const { batch } = readingOf([], [rowOf(), rowOf(answered('12.3000'))])
  expect(recordsOf([rowOf()], batch, { what: 'PENDING', ofRows: 2 })).toEqual([
    'b-7|2026-01-31T12:00:00.000Z|REFUND|EUR|PENDING|1|12.30||0||2|24.60|extract|9:ab',
    'b-7|2026-01-31T12:00:00.000Z|TOTAL|||1|||0||2||extract|9:ab',
    'b-7|2026-01-31T12:00:00.000Z|EXTRACT||PENDING|2|||||||extract|9:ab',
  ])
})

describe('what does not tie out is seen', () => {
  const rows = [rowOf(), rowOf(answered('12.3000')), rowOf({ operation: 'CAPTURE', currency: 'USD' as Currency })]
  const { batch } = readingOf([], rows)
  const isTrue = (over: Partial<typeof batch>) => tieOut(linesOf(rows), { ...batch, ...over }).isTrue

  test('in the number of rows', () => {
    expect(isTrue({})).toBe(true)
    expect(isTrue({ rows: 4 })).toBe(false)
  })

  test('in the rows or the amount of an operation and currency, though the rest agree', () => {
    const [first, ...others] = batch.totals
    if (first === undefined) throw new Error('no totals')
    expect(isTrue({ totals: [{ ...first, amountMinor: first.amountMinor + 1n }, ...others] })).toBe(false)
    expect(isTrue({ totals: [{ ...first, count: 2 }, ...others] })).toBe(false)
    expect(isTrue({ totals: [{ ...first, currency: 'CHF' as Currency }, ...others] })).toBe(false)
    expect(isTrue({ totals: others })).toBe(false)
    expect(isTrue({ totals: [...batch.totals, { ...first, operation: 'AUTH' }] })).toBe(false)
  })

  test('but not in how rows stand to each other: a status may have changed since', () => {
    expect(isTrue({ totals: batch.totals.map((total) => ({ ...total, state: 'IN_DOUBT' as const })) })).toBe(true)
  })
})

test('declined and failed rows are counted by category, the most frequent first', () => {
  const tally = createTally(categoriesBy([{ match: 'Konto', category: 'card' }]))
  const reasons = ['Over limit', 'over limit', 'Konto', 'x']
  for (const reason of reasons) tally.add(rowOf({ state: 'DECLINED', reason }))
  tally.add(rowOf({ state: 'FAILED', reason: 'refused as wrong (HTTP 400)' }))
  tally.add(rowOf({ state: 'IN_DOUBT', reason: 'Over limit' }))
  tally.add(rowOf({ state: 'INVALID', reason: 'amount: is empty' }))
  expect(tally.reasons()).toEqual([
    { status: 'DECLINED', category: 'funds', count: 2 },
    { status: 'DECLINED', category: 'card', count: 1 },
    { status: 'FAILED', category: 'data', count: 1 },
    { status: 'DECLINED', category: 'other', count: 1 },
  ])
})

test('whatever the rows, counts and requested amounts tie out to them', () => {
  const rows = fc.array(
    fc
      .record({
        operation: fc.constantFrom(null, ...OPERATIONS),
        state: fc.constantFrom(...STATES),
        amountMinor: fc.option(fc.bigInt({ min: 0n, max: 10n ** 15n })),
        currency: fc.constantFrom('EUR' as Currency, 'USD' as Currency),
        cents: fc.option(fc.nat()),
        answeredCurrency: fc.option(fc.string({ maxLength: 3 })),
      })
      .map(({ cents, answeredCurrency, ...row }) =>
        rowOf({
          ...row,
          facts: {
            ...NO_FACTS,
            amount: cents === null ? null : (cents / 100).toFixed(2),
            currency: answeredCurrency,
          },
        }),
      ),
  )
  fc.assert(
    fc.property(rows, (list) => {
      const lines = linesOf(list)
      const minor = (text: string) => BigInt(text.replace('.', '') || '0')
      const sum = (numbers: readonly bigint[]) => numbers.reduce((a, b) => a + b, 0n)
      expect(lines.reduce((count, line) => count + line.count, 0)).toBe(list.length)
      const { batch } = readingOf([], list)
      expect(
        toSummaryRecords(
          lines,
          { batchMark: 'b', readAtMs: AT_MS, auditHead: '', environment: null },
          tieOut(lines, batch),
        ).at(-1)?.[5],
      ).toBe(String(list.length))
      expect(tieOut(lines, batch).isTrue).toBe(true)
      expect(sum(lines.map((line) => minor(line.requestedAmount)))).toBe(sum(list.map((row) => row.amountMinor ?? 0n)))
      expect(sum(lines.map((line) => minor(line.answeredAmount)))).toBe(
        sum(list.map((row) => minor(row.facts.amount ?? ''))),
      )
    }),
  )
})
