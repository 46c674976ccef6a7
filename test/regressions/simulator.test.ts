// Failures that the search met on one simulated machine stay repaired.

import { expect, test } from 'vitest'
import { readCases } from '../search/cases.ts'
import { runSeed } from '../simulation/run.ts'

test.each(readCases('simulator').filter(({ hosts }) => !hosts))('seed $seed: $failure', async ({ seed, dieAtStep }) => {
  expect((await runSeed({ seed, dieAtStep })).violations).toEqual([])
})
