// The first seeds of the simulation of several hosts, and the proof that it repeats.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { newSchemaName, sharedCluster } from '../../fixtures/postgres.ts'
import { runHostsSeed } from './run.ts'
import { SimulatedServer } from './server.ts'

const SEEDS = 40

let server: SimulatedServer

beforeAll(async () => {
  server = await SimulatedServer.open((await sharedCluster()).url, newSchemaName())
})
afterAll(() => server.close())

test(`the books of four hosts agree after each of the first ${SEEDS} seeds`, async () => {
  const broken: Record<string, readonly string[]> = {}
  let executions = 0
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const result = await runHostsSeed(server, { seed })
    executions += result.executions
    if (result.violations.length > 0) broken[`npm run simulate -- --hosts --seed ${seed} --runs 1`] = result.violations
  }
  expect(broken).toEqual({})
  expect(executions).toBeGreaterThan(SEEDS)
})

test('a seed of four hosts repeats exactly, whatever ran before it', async () => {
  for (const seed of [3, 8, 21]) {
    const first = await runHostsSeed(server, { seed, trace: true })
    await runHostsSeed(server, { seed: seed + 1 })
    const again = await runHostsSeed(server, { seed, trace: true })
    expect(first.trace.length).toBeGreaterThan(20)
    expect(again).toEqual(first)
  }
})
