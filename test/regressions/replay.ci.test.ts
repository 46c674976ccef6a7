// Failures that the search met on several simulated hosts and in tests stay repaired, and one that is not repaired is noticed.

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newSchemaName, sharedCluster } from '../fixtures/postgres.ts'
import { readCases, type TestCase } from '../search/cases.ts'
import { ROOT, replay, run, runTests } from '../search/rounds.ts'
import { runHostsSeed } from '../simulation/hosts/run.ts'
import { SimulatedServer } from '../simulation/hosts/server.ts'

let root: string
let server: SimulatedServer
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'tranche-replayed-'))
  server = await SimulatedServer.open((await sharedCluster()).url, newSchemaName())
})
afterAll(async () => {
  rmSync(root, { recursive: true })
  await server.close()
})

test.each(readCases('simulator').filter(({ hosts }) => hosts))('seed $seed of hosts: $failure', async ({ seed }) => {
  expect((await runHostsSeed(server, { seed })).violations).toEqual([])
})

test.each(readCases('test'))('$file: $test', async (one) => {
  const round = replay(one)
  const exit = await run(round)
  expect(round.casesIn(exit)).toEqual([])
  expect(exit.code, exit.output).toBe(0)
})

test('a case of a property fails until the property holds', async () => {
  const write = (file: string, text: string) => writeFileSync(join(root, file), text)
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  const setUp = JSON.stringify(join(ROOT, 'test/search/properties.ts'))
  write('vitest.config.ts', `export default { test: { setupFiles: [${setUp}] } }`)
  const testThat = (expectation: string) => `import fc from 'fast-check'
    import { describe, expect, test } from 'vitest'
    describe('numbers', () => {
      test('of any size (all)', () => fc.assert(fc.property(fc.nat(9_999), (n) => { ${expectation} })))
      test('in another test', () => expect(1).toBe(1))
    })`

  // A hundred runs hardly ever draw it.
  write('numbers.test.ts', testThat('expect(n).not.toBe(4_321)'))
  const round = runTests('numbers', { PROPERTY_SEED: '7', PROPERTY_SECONDS: '60' }, '--root', root)
  const [one] = round.casesIn(await run(round)) as TestCase[]
  expect(one).toMatchObject({
    test: 'numbers > of any size (all)',
    failure: expect.stringContaining('Counterexample: [4321]'),
  })

  const again = async () => {
    const round = replay({ ...one!, file: 'numbers' }, '--root', root)
    return round.casesIn(await run(round))
  }
  expect(await again()).toEqual([one])
  write('numbers.test.ts', testThat('expect(n).toBeLessThan(10_000)'))
  expect(await again()).toEqual([])
  write('numbers.test.ts', testThat('expect(n).toBeLessThan(10_000)').replace('(all)', 'but one'))
  expect(await again()).toMatchObject([{ failure: expect.stringContaining('No test ran') }])
})
