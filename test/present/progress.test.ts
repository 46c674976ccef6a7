// What a screen of 80 columns keeps of a long line, and what a log is told while nothing moves.

import { expect, test } from 'vitest'
import type { BatchView } from '../../src/domain/batch.ts'
import { progressBar, progressLine } from '../../src/present/progress.ts'
import { batchView } from '../fixtures/batches.ts'

const NOW = Date.UTC(2026, 10, 21, 9)
const moving = { perSecond: 14, still: null }
const many: Partial<BatchView> = {
  rows: 1000,
  counts: { APPROVED: 613, DECLINED: 6, FAILED: 1, IN_DOUBT: 12, READY: 368 },
}
const bar = (over: Partial<BatchView>, columns: number, motion: Parameters<typeof progressBar>[1] = moving) =>
  progressBar(batchView(over), motion, NOW, columns)

test('a wide screen shows everything', () => {
  expect(bar(many, 120)).toBe(
    '████████████░░░░░░░░ 632/1000 · 27 s left · 12 in doubt · 613 approved · 6 declined · 1 failed · 14/s',
  )
})

test('at 80 columns time left and doubts stay, and nothing is cut', () => {
  expect(bar(many, 79)).toBe('██████░░░░ 632/1000 · 27 s left · 12 in doubt · 613 ok · 6 decl. · 1 fail.')
})

test('what was recorded before, or is bad, is no part of the work', () => {
  const batch: Partial<BatchView> = { rows: 40, counts: { DUPLICATE: 30, INVALID: 2, APPROVED: 2, READY: 6 } }
  expect(bar(batch, 79)).toBe('█████░░░░░░░░░░░░░░░ 2/8 · 1 s left · 2 approved · 14/s')
  expect(progressLine(batchView(batch), moving)).toBe('2 of 8 · 2 approved · 14/s · 1 s left')
  expect(bar({ rows: 3, counts: { DUPLICATE: 3 } }, 79)).toContain('██ 0/0')
})

test.each([79, 60, 40, 20])('doubts are told on %i columns, of a million rows as well', (columns) => {
  const counts = { APPROVED: 613_000, DECLINED: 60_000, FAILED: 10_000, IN_DOUBT: 12, READY: 316_988 }
  const shown = bar({ rows: 1_000_000, counts }, columns)
  if (columns > 40) expect(shown).toContain('left')
  if (columns > 20) expect(shown.length).toBeLessThanOrEqual(columns)
  expect(shown).toContain('12 in doubt')
})

test('while nothing moves the bar says for how long and for what, in place of a speed', () => {
  const still = { code: 'gateway', why: 'the gateway asked to wait (HTTP 429)', untilMs: NOW + 12_000 } as const
  expect(bar({ rows: 120, counts: { APPROVED: 118, IN_DOUBT: 1, READY: 1 } }, 79, { perSecond: 3, still })).toBe(
    '█████████░ 119/120 · waiting 12 s (gateway 429) · 1 in doubt · 118 approved',
  )
})

test.each([
  [
    { code: 'gateway', why: 'asked to wait', untilMs: NOW } as const,
    'waiting until 2026-11-21T09:00:00.000Z: asked to wait',
  ],
  [{ code: 'answers', requests: 1 } as const, 'waiting for 1 answer'],
  [
    { code: 'due', untilMs: NOW, why: null } as const,
    'waiting until 2026-11-21T09:00:00.000Z, when the next row is due',
  ],
  [{ code: 'order', rows: 2 } as const, '2 rows wait for an earlier row of the same order'],
  [{ code: 'rate', perSecond: 0.1 } as const, 'kept to the rate of one in 10 s'],
])('a log is told why nothing moves: %j', (still, said) => {
  expect(progressLine(batchView({ counts: { READY: 2, IN_DOUBT: 1 } }), { perSecond: 0.1, still })).toBe(
    `1 of 3 · 1 in doubt · ${said}`,
  )
})
