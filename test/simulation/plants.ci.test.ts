// Bugs that the simulator finds in its first seeds, so that a blind one is noticed. `plants.search.test.ts` plants all of them.

import { expect, test } from 'vitest'
import { PLANTS, type Plant } from './plants.ts'
import { runSeed } from './run.ts'

const SEEDS = 20

const SOON = ['a lost answer counts as not sent', 'nothing is swept', 'what a row says of its order is not read']

test.each(SOON)('%s: it is found', async (name) => {
  const violations: string[] = []
  for (let seed = 1; violations.length === 0 && seed <= SEEDS; seed += 1)
    violations.push(...(await runSeed({ seed, plant: PLANTS[name] as Plant })).violations)
  expect(violations).not.toEqual([])
})
