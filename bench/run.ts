// Measures this program beside what else could do the same, and prints one table. See bench/README.md.

import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { WrongArguments, withUsage } from '../test/fixtures/arguments.ts'
import { check } from './cases/check.ts'
import { pages } from './cases/console.ts'
import { engines } from './cases/engines.ts'
import { latency } from './cases/latency.ts'
import { layers } from './cases/layers.ts'
import { memory } from './cases/memory.ts'
import { pace } from './cases/pace.ts'
import { requests } from './cases/requests.ts'
import { results } from './cases/results.ts'
import { start } from './cases/start.ts'
import { submit } from './cases/submit.ts'
import { worker } from './cases/worker.ts'
import { worstTexts } from './cases/worst-texts.ts'
import { openBench, SIZES } from './parts/bench.ts'
import type { Bench, Case, Line, Sizes } from './parts/case.ts'
import { loadNow, machineNow } from './parts/machine.ts'
import { isReached, tableOf } from './parts/table.ts'

/** `memory` compares the memory that the cases before it saw, and `engines` would disturb that. */
const CASES = [
  worker,
  layers,
  latency,
  pace,
  check,
  submit,
  results,
  memory,
  engines,
  start,
  pages,
  worstTexts,
  requests,
]
const LAST = fileURLToPath(new URL('last.json', import.meta.url))
const USAGE = `npm run bench -- [CASES…] [--rounds N] [--out FILE]
  CASES        default all: ${CASES.map(({ name }) => name).join(' ')}
  --rounds N   how often each case runs (default ${SIZES.rounds})
  --out FILE   where every round is written (default bench/last.json)`

interface Ran {
  readonly name: string
  readonly seconds: number
  readonly lines: readonly Line[]
  /** Why it has no figures. */
  readonly failed?: string
}

interface Asked {
  readonly cases: readonly Case[]
  readonly sizes: Sizes
  readonly out: string
}

const asked = withUsage(USAGE, parse)
const machine = machineNow()
const loadBefore = loadNow()
const bench = openBench(asked.sizes, (text) => process.stderr.write(`  ${text}\n`))
process.once('exit', bench.close)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const ran: Ran[] = []
for (const one of asked.cases) ran.push(await runCase(one, bench))
const load = { before: loadBefore, after: loadNow() }
writeFileSync(asked.out, `${JSON.stringify({ at: new Date(), machine, load, sizes: asked.sizes, ran }, null, 1)}\n`)
show()
process.exit(ran.some(({ failed }) => failed !== undefined) ? 1 : 0)

function parse(): Asked {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { rounds: { type: 'string' }, out: { type: 'string' } },
  })
  const unknown = positionals.filter((name) => CASES.every((one) => one.name !== name))
  const rounds = Number(values.rounds ?? SIZES.rounds)
  if (unknown.length > 0) throw new WrongArguments(`There is no case ${unknown.join(', ')}.`)
  if (!Number.isInteger(rounds) || rounds < 1) throw new WrongArguments('--rounds needs a whole number above 0.')
  return {
    cases: CASES.filter(({ name }) => positionals.length === 0 || positionals.includes(name)),
    sizes: { ...SIZES, rounds },
    out: values.out ?? LAST,
  }
}

/** A case that did not do its work tells why, and the others go on. */
async function runCase(one: Case, shared: Bench): Promise<Ran> {
  const begun = performance.now()
  const seconds = () => Math.round((performance.now() - begun) / 1000)
  process.stderr.write(`${one.name}\n`)
  try {
    const lines = await one.run(shared)
    return { name: one.name, seconds: seconds(), lines }
  } catch (error) {
    const failed = error instanceof Error ? error.message : String(error)
    process.stderr.write(`  failed: ${failed}\n`)
    return { name: one.name, seconds: seconds(), lines: [], failed }
  }
}

function show(): void {
  const { cores, processor, memoryGiB, kernel, versions, commit } = machine
  console.log(tableOf(ran))
  console.log(`\nEach figure: minimum / median / maximum. ${cores} × ${processor}, ${memoryGiB} GiB, Linux ${kernel}`)
  console.log(
    `${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}; ${commit}`,
  )
  console.log(
    `Load by all processes: ${load.before.toFixed(1)} before, ${load.after.toFixed(1)} after. ${asked.out} has every round.`,
  )
  const missed = ran.flatMap(({ name, lines }) =>
    lines.filter((line) => !isReached(line)).map(({ what }) => `${name}: ${what}`),
  )
  if (missed.length > 0) console.log(`\nGoals not reached:\n${missed.map((line) => `  ${line}`).join('\n')}`)
  for (const { name, failed } of ran) if (failed !== undefined) console.log(`\nFailed: ${name}. ${failed}`)
}
