// The proof that the search notices a failure and writes it down.

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

async function searchWith(one: Search, signal = new AbortController().signal) {
  const lines: string[] = []
  const options = { minutes: 5, jobs: 1, seed: 1, cases: folder, signal, say: (line: string) => lines.push(line) }
  const [result] = await search([one], options)
  return { lines, result: result! }
}

const searchFor = (round: Round, signal?: AbortSignal) =>
  searchWith(searchOf('planted', round, { roundSeconds: 30 }), signal)

test('a bug of the simulator becomes a case, which fails with the bug and passes without it', async () => {
  const name = 'a lost answer counts as not sent'
  const { result } = await searchFor(simulate(1, 300, '--plant', name))
  expect(result.rounds).toEqual(['1–300'])
  expect(result.failures).toEqual([expect.stringMatching(/simulator-\d+\.json$/)])
  const [one] = readCases('simulator', folder)
  expect((await runSeed({ ...one!, plant: PLANTS[name]! })).violations.join('\n')).toBe(
    one!.failure.replaceAll('\n  ', '\n'),
  )
  expect((await runSeed(one!)).violations).toEqual([])
})

test('a round that is broken off counts as none, and leaves no process', async () => {
  const controller = new AbortController()
  setImmediate(() => controller.abort())
  const { result, lines } = await searchFor(nodeThat('setInterval(() => {}, 9)'), controller.signal)
  expect(result).toMatchObject({ rounds: [], brokenOff: ['of Node'], failures: [] })
  expect(lines).toEqual([expect.stringContaining('broken off')])
})

test('a round that takes ten times too long is broken off', async () => {
  const { result } = await searchWith(searchOf('endless', nodeThat('setInterval(() => {}, 9)'), { roundSeconds: 0.05 }))
  expect(result).toMatchObject({ rounds: [], brokenOff: ['of Node'], failures: [] })
})

test('a round that fails without a case counts as a failure', async () => {
  const { result } = await searchFor(nodeThat('throw 7'))
  expect(result.failures).toEqual([expect.stringMatching(/^no case, exit code 1: .*throw 7/s)])
})

test('a search whose rounds do not fit into its share leaves it to the others', () => {
  const searches = [60, 120, 600].map((roundSeconds) => searchOf(`of ${roundSeconds}`, nodeThat(''), { roundSeconds }))
  const needed = (minutes: number, jobs: number) => Object.fromEntries(minutesNeeded(searches, minutes, jobs))
  expect(needed(30, 1)).toEqual({ 'of 600': 30, 'of 120': 6, 'of 60': 3 })
  expect(needed(5, 1)).toEqual({ 'of 600': 30, 'of 120': 4, 'of 60': 2 })
  expect(needed(5, 9)).toEqual({ 'of 600': 10, 'of 120': 2, 'of 60': 1 })
})

test('a search without its program says how to get it', async () => {
  const needy = searchOf('needy', nodeThat(''), { needs: ['there-is-no-such-program'] })
  const { result } = await searchWith(needy)
  expect(result).toMatchObject({ rounds: [], notRun: expect.stringContaining('npm run setup') })
})
