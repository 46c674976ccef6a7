// The reasons that a person is told at the end of a run.

import { expect, test } from 'vitest'
import type { ReasonTotal } from '../../src/domain/reconciliation.ts'
import { topReasons } from '../../src/domain/top-reasons.ts'
import { reasonLines } from '../../src/present/reasons.ts'

const total = (state: ReasonTotal['state'], count: number, reason: string | null): ReasonTotal => ({
  ...{ state, count, reason, categoryKept: null },
})

test('the commonest come first, with their category; what has none is told without', () => {
  const totals = [total('DECLINED', 3, 'Do not honour'), total('DECLINED', 9, 'Insufficient funds')]
  const tops = topReasons(totals, [])
  expect(reasonLines({ counts: { DECLINED: 12 } }, tops)).toEqual([
    '12 declined: 9 × Insufficient funds (funds); 3 × Do not honour.',
  ])
  expect(tops).toEqual([
    { status: 'DECLINED', reason: 'Insufficient funds', category: 'funds', count: 9 },
    { status: 'DECLINED', reason: 'Do not honour', category: 'other', count: 3 },
  ])
})

test('reasons that differ in ids or moments are one, and codes stay', () => {
  const totals = ['700000001', '700000002'].map((id) =>
    total(
      'IN_DOUBT',
      1,
      `not the answer promised (HTTP 200: ${id} at 2026-11-21T19:57:03.144Z); it may have been executed`,
    ),
  )
  expect(topReasons(totals, [])).toEqual([
    { status: 'IN_DOUBT', reason: 'not the answer promised (HTTP 200: … at …)', category: null, count: 2 },
  ])
})

test('three reasons of each status are told, and how many rows have others', () => {
  const totals = [5, 4, 3, 2, 1].map((count) => total('FAILED', count, `reason ${count}`))
  const counts = { FAILED: 15, IN_DOUBT: 2 }
  const lines = reasonLines({ counts }, topReasons([...totals, total('IN_DOUBT', 2, null)], []))
  expect(lines).toEqual([
    '15 failed: 5 × reason 5; 4 × reason 4; 3 × reason 3; 3 more.',
    '2 in doubt: no reason given.',
  ])
})

test('a purged reason keeps its category, and a merchant has categories of its own', () => {
  const purged: ReasonTotal = { ...total('DECLINED', 2, null), categoryKept: 'fraud' }
  expect(topReasons([purged], [])).toMatchObject([{ reason: 'text purged', category: 'fraud' }])
  const rules = [{ match: 'kode 7', category: 'card' }] as const
  expect(topReasons([total('FAILED', 1, 'Kode 7')], rules)).toMatchObject([{ category: 'card' }])
})
