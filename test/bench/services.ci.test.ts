// The cases of the bench about services still do their work: on so few rows that their figures say nothing.

import { afterAll, expect, test } from 'vitest'
import { intake } from '../../bench/cases/intake.ts'
import { serve } from '../../bench/cases/serve.ts'
import { webhooks } from '../../bench/cases/webhooks.ts'
import { openBench, QUICK } from '../../bench/parts/bench.ts'
import type { Line } from '../../bench/parts/case.ts'

const bench = openBench({ ...QUICK, rounds: 1, sent: 300, slow: 128, messages: 100, told: 20 }, () => {})

afterAll(() => bench.close())

test.each([intake, serve, webhooks])('$name has figures of every round, and goals', async (one) => {
  const lines: readonly Line[] = await one.run(bench)
  const figures = lines.flatMap(({ ours, other, ratios = [] }) => [...ours, ...(other?.figures ?? []), ...ratios])
  expect(figures.every((figure) => Number.isFinite(figure) && figure > 0)).toBe(true)
  expect(lines.every(({ ours }) => ours.length === 1)).toBe(true)
  expect(lines.some(({ goal }) => goal !== undefined)).toBe(true)
})
