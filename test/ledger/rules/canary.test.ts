import { describe, expect, test } from 'vitest'
import { chooseCanary, isSameCanary, WHENEVER_DUE } from '../../../src/ledger/rules/canary.ts'
import { given } from './given.ts'

const NOW = Date.UTC(2026, 4, 4, 9)
const rows = (howMany: number, rowNo: number) => ({ rows: howMany, rowNo })

describe('a canary of 2 rows', () => {
  test.each([
    ['of 5, all due', 5, rows(2, 2), rows(2, 2), { rows: 2, rowNo: 2, executeAtMs: NOW }],
    ['of 5, the third and fifth due', 5, rows(2, 5), rows(2, 2), { rows: 2, rowNo: 5, executeAtMs: NOW }],
    ['of 5, one due', 5, rows(1, 4), rows(2, 2), { rows: 1, rowNo: 4, executeAtMs: NOW }],
    ['of 5, all due later', 5, rows(0, 0), rows(2, 2), { rows: 2, rowNo: 2, executeAtMs: WHENEVER_DUE }],
    ['of 2, which is the whole batch', 2, rows(2, 2), rows(2, 2), null],
    ['of 1', 1, rows(1, 1), rows(1, 1), null],
    ['of none', 0, rows(0, 0), rows(0, 0), null],
  ])('%s', (_which, count, dueFirst, first, canary) => {
    given({ count, dueFirst, first })
      .when((sendable) => chooseCanary(2, NOW, sendable))
      .then(canary)
  })
})

describe('the canary of a batch', () => {
  test.each([
    ['the same', { rowNo: 2, executeAtMs: NOW }, true],
    ['with another last row', { rowNo: 3, executeAtMs: NOW }, false],
    ['of another moment', { rowNo: 2, executeAtMs: WHENEVER_DUE }, false],
    ['that has none', { rowNo: null, executeAtMs: null }, false],
  ])('is compared with that of a batch: %s', (_which, recorded, isSame) => {
    given({ rows: 2, rowNo: 2, executeAtMs: NOW })
      .when((asked) => isSameCanary(asked, recorded))
      .then(isSame)
  })

  test('that is the whole batch is that of a batch without one', () => {
    expect(isSameCanary(null, { rowNo: null, executeAtMs: null })).toBe(true)
  })
})
