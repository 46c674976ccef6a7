// Counts and sums of the summary: exact, complete and tied to the rows.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OPERATIONS } from '../../src/domain/instruction.ts'
import type { Currency } from '../../src/domain/money.ts'
import type { ReconciliationRow } from '../../src/domain/ports.ts'
import { STATES } from '../../src/domain/states.ts'
import { openTally, toSummaryRecords } from '../../src/results/summary.ts'
import { AT_MS, NO_FACTS, rowOf } from './reading.ts'

function linesOf(rows: readonly ReconciliationRow[]) {
  const tally = openTally()
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
        answeredCurrency: 'EUR',
        answeredCount: 3,
        answeredAmount: '90071992547409931246.9678',
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

test('the records carry batch and reading time, the total last', () => {
  const records = toSummaryRecords(linesOf([rowOf(), rowOf(answered('12.3000'))]), 'b-7', AT_MS)
  expect(records.map((record) => record.join('|'))).toEqual([
    'b-7|2026-01-31T12:00:00.000Z|REFUND|EUR|APPROVED|1|12.30|EUR|1|12.3000',
    'b-7|2026-01-31T12:00:00.000Z|REFUND|EUR|PENDING|1|12.30||0|',
    'b-7|2026-01-31T12:00:00.000Z|TOTAL|||2|||1|',
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
      expect(toSummaryRecords(lines, 'b', AT_MS).at(-1)?.[5]).toBe(String(list.length))
      expect(sum(lines.map((line) => minor(line.requestedAmount)))).toBe(sum(list.map((row) => row.amountMinor ?? 0n)))
      expect(sum(lines.map((line) => minor(line.answeredAmount)))).toBe(
        sum(list.map((row) => minor(row.facts.amount ?? ''))),
      )
    }),
  )
})
