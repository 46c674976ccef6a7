// One recorded row as a line of the reconciliation.

import { describe, expect, test } from 'vitest'
import { holdsCardData } from '../../src/domain/card-secrets.ts'
import { RESULT_COLUMNS } from '../../src/domain/result-columns.ts'
import { STATES } from '../../src/domain/states.ts'
import { layoutOf, toHeaderCells, toResultCells } from '../../src/results/cells.ts'
import { AT_MS, NO_FACTS, readingOf, rowOf } from './reading.ts'

/** The line as values under their columns. */
function lineOf(columns: readonly string[], row: ReturnType<typeof rowOf>, batch = {}) {
  const layout = layoutOf(readingOf(columns, [row], batch))
  const names = toHeaderCells(layout)
  const cells = toResultCells(row, layout)
  expect(cells).toHaveLength(names.length)
  return Object.fromEntries(names.map((name, i) => [name, cells[i]]))
}

test('the columns are the promised ones, after those of the input', () => {
  expect(toHeaderCells(layoutOf(readingOf(['amount', '=note'], [])))).toEqual([
    'amount',
    "'=note",
    'result_status',
    'result_reason',
    'result_transaction_id',
    'result_order_id',
    'result_record_id',
    'result_amount',
    'result_currency',
    'result_vault_id',
    'result_xtl_order_id',
    'result_warning',
    'result_attempts',
    'result_sent_at',
    'result_completed_at',
    'result_row',
    'result_reference',
    'result_batch',
    'result_reason_category',
  ])
})

test('an approved row tells what the gateway answered, digit by digit', () => {
  const row = rowOf({
    rowNo: 3,
    cells: ['12.30'],
    reference: '2026-12/r-3',
    state: 'APPROVED',
    facts: {
      transactionId: '900719925474099312',
      orderId: '000123',
      recordId: '77',
      amount: '12.3000',
      currency: 'EUR',
      vaultId: '55',
      xtlOrderId: 'T1',
      customerId: null,
      card: null,
    },
    warning: 'late\nanswer',
    attempts: 2,
    sentAtMs: AT_MS,
    completedAtMs: AT_MS + 1,
  })
  expect(lineOf(['amount'], row)).toEqual({
    amount: '12.30',
    result_status: 'APPROVED',
    result_reason: '',
    result_transaction_id: '900719925474099312',
    result_order_id: '000123',
    result_record_id: '77',
    result_amount: '12.3000',
    result_currency: 'EUR',
    result_vault_id: '55',
    result_xtl_order_id: 'T1',
    result_warning: 'late answer',
    result_attempts: '2',
    result_sent_at: '2026-01-31T12:00:00.000Z',
    result_completed_at: '2026-01-31T12:00:00.001Z',
    result_row: '3',
    result_reference: '2026-12/r-3',
    result_batch: 'b-7',
    result_reason_category: '',
  })
})

test.each(STATES)('a row that is %s has the status outsiders know', (state) => {
  const line = lineOf([], rowOf({ state, completedAtMs: AT_MS }))
  const open = state === 'READY' || state === 'SENDING'
  expect(line.result_status).toBe(open ? 'PENDING' : state)
  expect(line.result_completed_at).toBe(open ? '' : '2026-01-31T12:00:00.000Z')
})

describe('what the gateway says', () => {
  test('stays on one line', () => {
    expect(lineOf([], rowOf({ reason: ' no\r\n\tfunds\0 left\u2028' })).result_reason).toBe('no funds left')
  })

  test('carries no card number', () => {
    const line = lineOf([], rowOf({ reason: 'card 4111111111111111', warning: '4111 1111 1111 1111' }))
    expect(Object.values(line).join().replaceAll(' ', '')).not.toContain('4111111111111111')
  })

  test('carries no security code, and what is left is none when the results are fed back', () => {
    const line = lineOf([], rowOf({ reason: 'Invalid CVV 123', warning: 'track ;4111111111111112=28121010000?' }))
    expect(line).toMatchObject({
      result_reason: 'Invalid CVV 000',
      result_warning: 'track ;0000000000000000=00000000000?',
    })
    expect(Object.values(line).some((cell) => holdsCardData(cell ?? ''))).toBe(false)
  })

  test('is guarded like any cell', () => {
    const line = lineOf([], rowOf({ reason: '=cmd', facts: { ...NO_FACTS, amount: '-12.3000', orderId: '@x' } }))
    expect(line).toMatchObject({ result_reason: "'=cmd", result_amount: '-12.3000', result_order_id: "'@x" })
  })
})

test('result columns of an earlier reconciliation are replaced, whatever their case', () => {
  const line = lineOf(['amount', 'Result_Status ', 'note'], rowOf({ cells: ['1', 'DECLINED', 'n'], state: 'APPROVED' }))
  expect(Object.keys(line)).toEqual(['amount', 'note', ...RESULT_COLUMNS])
  expect(line).toMatchObject({ amount: '1', note: 'n', result_status: 'APPROVED' })
})

test('missing cells are empty and never shift the result columns', () => {
  expect(lineOf(['a', 'b', 'c'], rowOf({ cells: ['1'] }))).toMatchObject({ a: '1', b: '', c: '', result_row: '1' })
})

test('more cells than columns are a bug, not a shifted line', () => {
  expect(() => lineOf(['a'], rowOf({ cells: ['1', '2'] }))).toThrow(/^bug: /)
})

test('results of the sandbox say so in every line', () => {
  expect(lineOf([], rowOf(), { sandbox: true }).result_batch).toBe('SANDBOX-b-7')
})
