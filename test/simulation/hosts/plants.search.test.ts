// The proof that the simulation of several hosts finds what it is there to find.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newSchemaName, sharedCluster } from '../../fixtures/postgres.ts'
import type { RunResult } from '../run.ts'
import { HOSTS_PLANTS, type HostsPlant } from './plants.ts'
import { runHostsSeed } from './run.ts'
import { SimulatedServer } from './server.ts'

/** Found only after hundreds of seeds: `npm run simulate -- --hosts --plant NAME`. The ledger's own tests hold them. */
const RARE: readonly string[] = [
  'a worker sends although its lease is over',
  'a worker claims although it was given up',
  'a claim does not ask whether the row is still READY',
  'a commit whose answer was lost counts as none',
  'a server that was put back hands out rows at once',
  'a transactor that is gone is made anew',
  'a server of another timeline hands out rows',
  'a claim of before an adoption speaks for its row',
  'any claim speaks for an attempt of its number',
  'a server that was started anew is taken for the one before',
  'what a worker saw is lost with it',
  'a batch of a server that was put back is cancelled',
  'nobody looks for what it saw committed',
  'a claim asks for no term',
  'requests of others do not count',
]
const SEEDS_FOR_A_PLANT = 150
const SEEDS_FOR_ITS_TEXTS = 25

let server: SimulatedServer

beforeAll(async () => {
  server = await SimulatedServer.open((await sharedCluster()).url, newSchemaName())
})
afterAll(() => server.close())

describe('a planted bug of several hosts is found', () => {
  const often = Object.entries(HOSTS_PLANTS).filter(([name]) => !RARE.includes(name))
  test.each(often)('%s', { timeout: 600_000 }, async (_name, plant) => {
    let found: RunResult | null = null
    for (let seed = 1; found === null && seed <= SEEDS_FOR_A_PLANT; seed += 1) {
      const result = await runHostsSeed(server, { seed, plant })
      if (result.violations.length > 0) found = result
    }
    expect(found).not.toBeNull()
    expect(plant.unused?.() ?? []).toEqual([])
  })

  const inTexts = RARE.flatMap((name) => {
    const { unused, ...plant } = HOSTS_PLANTS[name] as HostsPlant
    return unused === undefined ? [] : [{ name, unused, plant }]
  })
  test.each(inTexts)('$name is planted', async ({ unused, plant }) => {
    for (let seed = 1; seed <= SEEDS_FOR_ITS_TEXTS && unused().length > 0; seed += 1)
      await runHostsSeed(server, { seed, plant })
    expect(unused()).toEqual([])
  })
})
