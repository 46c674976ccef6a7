// The proof that the search finds what is there, and writes it down.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PLANTS } from '../simulation/plants.ts'
import { runSeed } from '../simulation/run.ts'
import { readCases } from './cases.ts'
import { type Round, simulate } from './rounds.ts'
import { minutesNeeded, type Search, search } from './shares.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-searched-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const searchOf = (name: string, round: Round, over: Partial<Search> = {}): Search => ({
  ...{ name, share: 1, roundSeconds: 1, ...over },
  round: (nth) => (nth === 0 ? round : null),
})

const nodeThat = (does: string): Round => ({ name: 'of Node', args: () => ['-e', does], env: {}, casesIn: () => [] })

async function searchFor(round: Round, signal = new AbortController().signal) {
  const said: string[] = []
  const options = { minutes: 5, jobs: 1, seed: 1, cases: folder, signal, say: (line: string) => said.push(line) }
  const [result] = await search([searchOf('planted', round, { roundSeconds: 30 })], options)
  return { said, result: result! }
}

test('a bug of the simulator becomes a case, which fails with the bug and passes without', async () => {
  const name = 'a lost answer counts as not sent'
  const { result } = await searchFor(simulate(1, 300, '--plant', name))
  expect(result).toMatchObject({
    notRun: null,
    rounds: ['1–300'],
    found: [expect.stringMatching(/simulator-\d+\.json$/)],
  })
  const [found] = readCases('simulator', folder)
  expect(found?.found).not.toBe('')
  expect((await runSeed({ ...found!, plant: PLANTS[name]! })).violations).not.toEqual([])
  expect((await runSeed(found!)).violations).toEqual([])
})

test('a round that is broken off finds nothing, and leaves no process', async () => {
  const controller = new AbortController()
  setImmediate(() => controller.abort())
  const { result, said } = await searchFor(nodeThat('setInterval(() => {}, 9)'), controller.signal)
  expect(result).toMatchObject({ rounds: [], brokenOff: ['of Node'], found: [] })
  expect(said).toEqual([expect.stringContaining('broken off')])
})

test('a round that ends badly without a case is found as well', async () => {
  const { result } = await searchFor(nodeThat('throw 7'))
  expect(result.found).toEqual([expect.stringMatching(/^no case, it ended with 1: .*throw 7/s)])
})

test('a search whose rounds do not fit into its share leaves it to the others', () => {
  const searches = [60, 120, 600].map((roundSeconds) => searchOf(`${roundSeconds}`, nodeThat(''), { roundSeconds }))
  expect([...minutesNeeded(searches, 30, 1)]).toEqual([
    ...[
      ['600', 30],
      ['120', 6],
      ['60', 3],
    ],
  ])
  expect([...minutesNeeded(searches, 5, 1)]).toEqual([
    ...[
      ['600', 30],
      ['120', 4],
      ['60', 2],
    ],
  ])
  expect([...minutesNeeded(searches, 5, 9)]).toEqual([
    ...[
      ['600', 10],
      ['120', 2],
      ['60', 1],
    ],
  ])
})

test('a search without its program says how to get it', async () => {
  const needy = searchOf('needy', nodeThat(''), { needs: ['there-is-no-such-program'] })
  const options = { minutes: 1, jobs: 1, seed: 1, cases: folder, signal: new AbortController().signal, say: () => {} }
  const [result] = await search([needy], options)
  expect(result).toMatchObject({ rounds: [], notRun: expect.stringContaining('npm run setup') })
})
