// npm run search -- --minutes N [--only NAME] [--jobs K] [--seed S]
// Looks for unknown failures, for so long. Each becomes a case in test/regressions. The exit code is 1 if there is one.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { plural } from '../../src/present/text.ts'
import { WrongArguments, withUsage } from '../fixtures/arguments.ts'
import { CASES } from './cases.ts'
import { ROOT } from './rounds.ts'
import { SEARCHES } from './searches.ts'
import { type Result, search } from './shares.ts'

const USAGE = `npm run search -- --minutes N
  --minutes N   for how long
  --only NAME   one search alone: ${SEARCHES.map(({ name }) => name).join(', ')}
  --jobs K      how many rounds at a time (default 2)
  --seed S      the first seed (default: from the clock)`

const LAST = join(ROOT, 'test/search/last.json')

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function parseArguments() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      only: { type: 'string' },
      jobs: { type: 'string', default: '2' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    },
  })
  const [minutes, jobs, seed] = [Number(values.minutes), Number(values.jobs), Number(values.seed)]
  const searches = SEARCHES.filter(({ name }) => values.only === undefined || name === values.only)
  if (!(minutes > 0)) throw new WrongArguments('--minutes needs a number above 0.')
  if (!(Number.isSafeInteger(jobs) && jobs > 0)) throw new WrongArguments('--jobs needs a whole number above 0.')
  if (!Number.isSafeInteger(seed)) throw new WrongArguments('--seed needs a whole number.')
  if (searches.length === 0) throw new WrongArguments(`--only ${values.only}: there is no such search.`)
  return { minutes, jobs, seed, searches }
}

function table(results: readonly Result[]): string {
  const width = Math.max(...results.map(({ name }) => name.length))
  const lines = results.map(({ name, rounds, brokenOff, seconds, failures, notRun }) => {
    const counts = `${String(rounds.length).padStart(6)}  ${(seconds / 60).toFixed(1).padStart(7)}`
    const outcome = notRun === null ? (failures.length === 0 ? 'none' : failures.join('\n    ')) : `not run: ${notRun}`
    return `${name.padEnd(width)}  ${counts}  ${outcome}${brokenOff.length === 0 ? '' : `; broken off: ${brokenOff.join(', ')}`}`
  })
  return [`${'search'.padEnd(width)}  rounds  minutes  failures`, ...lines].join('\n')
}

const { searches, ...options } = withUsage(USAGE, parseArguments)
const { minutes, jobs, seed } = options
const controller = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => controller.abort())
const startedAt = new Date()
say(`${plural(minutes, 'minute')}, ${plural(jobs, 'job')}, seed ${seed}`)
const results = await search(searches, { ...options, cases: CASES, signal: controller.signal, say })
const ranMinutes = (Date.now() - startedAt.getTime()) / 60_000
writeFileSync(LAST, `${JSON.stringify({ startedAt, ...options, ranMinutes, results }, null, 2)}\n`)
say(`\n${table(results)}\n\nSeed ${seed}, ${ranMinutes.toFixed(1)} minutes. Every round is in ${LAST}.`)
process.exitCode = results.some(({ failures }) => failures.length > 0) ? 1 : 0
