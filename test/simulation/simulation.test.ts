// The first hundred seeds of the simulation, and the proof that it repeats.

import { expect, test } from 'vitest'
import { runSeed } from './run.ts'

const SEEDS = 100

test(`the three books agree after each of the first ${SEEDS} seeds`, async () => {
  const broken: Record<string, readonly string[]> = {}
  let executions = 0
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const result = await runSeed({ seed })
    executions += result.executions
    if (result.violations.length > 0) broken[`npm run simulate -- --seed ${seed} --runs 1`] = result.violations
  }
  expect(broken).toEqual({})
  expect(executions).toBeGreaterThan(SEEDS)
})

test('a seed repeats exactly, whatever ran before it', async () => {
  for (const seed of [3, 44, 105]) {
    const first = await runSeed({ seed, trace: true })
    await runSeed({ seed: seed + 1 })
    const again = await runSeed({ seed, trace: true })
    expect(first.trace.length).toBeGreaterThan(20)
    expect(again).toEqual(first)
  }
})

test('a process killed before any one step of a run leaves books that agree', async () => {
  const seed = 8
  const { steps } = await runSeed({ seed })
  for (let dieAtStep = 1; dieAtStep <= steps; dieAtStep += 1) {
    const { violations } = await runSeed({ seed, dieAtStep })
    expect(violations, `npm run simulate -- --seed ${seed} --runs 1 --die-at ${dieAtStep}`).toEqual([])
  }
})
