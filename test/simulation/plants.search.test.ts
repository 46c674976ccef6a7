// The proof that the simulation finds what it is there to find.

import { describe, expect, test } from 'vitest'
import { PLANTS, type Plant } from './plants.ts'
import { type RunResult, runSeed } from './run.ts'

/** Found only after hundreds of seeds, or thousands: `npm run simulate -- --plant NAME`. The ledger's own tests hold them. */
const RARE = [
  'the fence lets go what is late',
  'a settlement does not ask for its attempt',
  'a transaction id settles any number of rows',
  'an earlier doubt is forgotten',
]
const SEEDS_FOR_A_PLANT = 400

describe('a planted bug is found', () => {
  test.each(Object.entries(PLANTS).filter(([name]) => !RARE.includes(name)))('%s', async (_name, plant) => {
    let found: RunResult | null = null
    for (let seed = 1; found === null && seed <= SEEDS_FOR_A_PLANT; seed += 1) {
      const result = await runSeed({ seed, plant })
      if (result.violations.length > 0) found = result
    }
    expect(found).not.toBeNull()
    expect(plant.unused?.() ?? []).toEqual([])
  })

  test.each(RARE)('%s is planted', async (name) => {
    const plant = PLANTS[name] as Plant
    for (let seed = 1; seed <= 5; seed += 1) await runSeed({ seed, plant })
    expect(plant.unused?.() ?? []).toEqual([])
  })
})
