// What every tier asks of the simulation of one machine; they differ in how often.

import { expect } from 'vitest'
import { tallied } from '../fixtures/counts.ts'
import { runSeed } from './run.ts'

/** The gateway's log, the ledger and the reconciliation agree after each seed. */
export async function expectBooksToAgree(firstSeed: number, seeds: number): Promise<void> {
  const broken: Record<string, readonly string[]> = {}
  let executions = 0
  for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
    const result = await runSeed({ seed })
    executions += result.executions
    if (result.violations.length > 0) broken[`npm run simulate -- --seed ${seed} --runs 1`] = result.violations
  }
  tallied('simulated seeds', seeds)
  expect(broken).toEqual({})
  expect(executions).toBeGreaterThan(seeds)
}

/** They do as well where a process is killed before any one step of the run. */
export async function expectBooksToAgreeAfterEveryKill(seed: number): Promise<void> {
  const { steps } = await runSeed({ seed })
  for (let dieAtStep = 1; dieAtStep <= steps; dieAtStep += 1) {
    const { violations } = await runSeed({ seed, dieAtStep })
    expect(violations, `npm run simulate -- --seed ${seed} --runs 1 --die-at ${dieAtStep}`).toEqual([])
  }
  tallied('simulated runs with a kill before every step', 1)
  tallied('kills in them', steps)
}
