// Whatever the search found on one simulated machine stays repaired.

import { expect, test } from 'vitest'
import { readCases } from '../search/cases.ts'
import { runSeed } from '../simulation/run.ts'

test.each(readCases('simulator').filter(({ hosts }) => !hosts))('seed $seed: $found', async ({ seed, dieAtStep }) => {
  expect((await runSeed({ seed, dieAtStep })).violations).toEqual([])
})
