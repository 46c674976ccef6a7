// No command has become much slower than it was when bench/quick.json was written. Processor time is compared, never the
// clock: what else the machine does slows both sides of a round alike.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBench } from '../../bench/parts/bench.ts'
import { spreadOf } from '../../bench/parts/figures.ts'
import { keptRatios, LOOKED_AT, QUICKEST, type QuickRatios, quickRatios } from '../../bench/parts/quick.ts'

/** Of a ratio that has fallen by a third. */
const LEFT = 2 / 3
/** Takes half a minute of processor time. */
const HANGS_AFTER_MS = 900_000

const bench = openBench(QUICKEST, () => {})
let ratios: QuickRatios

beforeAll(async () => {
  ratios = await quickRatios(bench)
}, HANGS_AFTER_MS)

afterAll(() => bench.close())

test.each(LOOKED_AT)('%s is within a third of its kept speed beside the other side', (name) => {
  const { median } = spreadOf(ratios[name])
  expect(median, `rounds: ${ratios[name].join(', ')}`).toBeGreaterThan(keptRatios()[name] * LEFT)
})
