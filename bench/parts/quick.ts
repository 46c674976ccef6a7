// The shortest look that still tells a program that has become slow: processor time of `check`, `results` and the worker,
// beside that of their other sides in the same minute. What else the machine does slows both sides alike.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Bench, Rounds, Sizes } from './case.ts'
import { ratiosOf } from './figures.ts'
import { runCheck, runParse, runResults, runStringify } from './runs.ts'
import { recordAndSend, sendByScript } from './sending.ts'

export const QUICKEST: Sizes = {
  ...{ rounds: 3, sent: 5_000 },
  // Not looked at.
  ...{ large: 0, slow: 0, minute: 0, small: 0, waiting: 0, messages: 0, told: 0, starts: 0 },
}

/** So many that start-up, which no change of the reading makes slower, is a small part. */
const CHECKED_ROWS = 50_000
/** They have to be sent first, which takes longer than all else here. */
const WRITTEN_ROWS = 24_000
const WARM_UP_ROWS = 10

export const LOOKED_AT = ['check', 'results', 'worker'] as const
export type LookedAt = (typeof LOOKED_AT)[number]

/** How many times as fast as its other side, by processor time; of every round. */
export type QuickRatios = Readonly<Record<LookedAt, readonly number[]>>

export async function quickRatios(bench: Bench): Promise<QuickRatios> {
  const { sent } = bench.sizes
  // Compiles the program, so that no round does.
  await runCheck(bench, WARM_UP_ROWS)
  const check = await bench.rounds({
    ours: () => runCheck(bench, CHECKED_ROWS),
    other: () => runParse(bench, CHECKED_ROWS),
  })
  const worker = await bench.rounds({ ours: () => recordAndSend(bench, sent), other: () => sendByScript(bench, sent) })
  const settled = await bench.settled(WRITTEN_ROWS)
  const results = await bench.rounds({
    ours: () => runResults(bench, WRITTEN_ROWS, settled),
    other: () => runStringify(bench, WRITTEN_ROWS, settled),
  })
  return {
    check: byProcessor(check, ({ cpuMs }) => cpuMs),
    results: byProcessor(results, ({ cpuMs }) => cpuMs),
    worker: byProcessor(worker, ({ cpuMsPerRow }) => cpuMsPerRow),
  }
}

function byProcessor<T>({ ours, other }: Rounds<T>, cpu: (one: T) => number): number[] {
  return ratiosOf(other.map(cpu), ours.map(cpu))
}

export const KEPT = fileURLToPath(new URL('../quick.json', import.meta.url))

/** The medians that were kept when they were last worth keeping. */
export function keptRatios(): Readonly<Record<LookedAt, number>> {
  return JSON.parse(readFileSync(KEPT, 'utf8')) as Record<LookedAt, number>
}
