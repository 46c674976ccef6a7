// A bug that the simulator of several hosts finds in its first seeds, so that a blind one is noticed. `plants.search.test.ts` plants all.

import { expect, onTestFinished, test } from 'vitest'
import { newSchemaName, sharedCluster } from '../../fixtures/postgres.ts'
import { HOSTS_PLANTS, type HostsPlant } from './plants.ts'
import { runHostsSeed } from './run.ts'
import { SimulatedServer } from './server.ts'

const SEEDS = 20

test('rows of one order are claimed together: it is found', async () => {
  const plant = HOSTS_PLANTS['rows of one order are claimed together'] as HostsPlant
  const server = await SimulatedServer.open((await sharedCluster()).url, newSchemaName())
  onTestFinished(() => server.close())
  const violations: string[] = []
  for (let seed = 1; violations.length === 0 && seed <= SEEDS; seed += 1)
    violations.push(...(await runHostsSeed(server, { seed, plant })).violations)
  expect(violations).not.toEqual([])
})
