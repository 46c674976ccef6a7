// npm run simulate -- --seed N --runs M [--hosts] [--every-await] [--trace] [--plant NAME]
// Runs the seeds N to N+M-1. The first that breaks an invariant is told with its trace and the command that repeats it.

import { parseArgs } from 'node:util'
import { plural } from '../../src/present/text.ts'
import { WrongArguments, withUsage } from '../fixtures/arguments.ts'
import { openCluster } from '../fixtures/postgres.ts'
import { HOSTS_PLANTS, type HostsPlant } from './hosts/plants.ts'
import { runHostsSeed } from './hosts/run.ts'
import { SimulatedServer } from './hosts/server.ts'
import { PLANTS, type Plant } from './plants.ts'
import { type RunResult, runSeed } from './run.ts'

interface Arguments {
  readonly seed: number
  readonly runs: number
  readonly everyAwait: boolean
  readonly hosts: boolean
  readonly trace: boolean
  readonly dieAtStep: number | null
  readonly plant: string | null
}

const USAGE = `npm run simulate -- --seed N --runs M
  --seed N         the first seed (default 1)
  --runs M         how many seeds, one after the other (default 1000)
  --hosts          four hosts with one PostgreSQL, instead of one machine with SQLite
  --every-await    each seed once more for every one of its steps, with a process killed before that step
  --die-at STEP    with a process killed before that step
  --trace          print what happened
  --plant NAME     with a planted bug

Planted bugs:
${listOf(PLANTS)}

With --hosts:
${listOf(HOSTS_PLANTS)}`

function listOf(plants: object): string {
  return Object.keys(plants)
    .map((name) => `  '${name}'`)
    .join('\n')
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function parseArguments(): Arguments {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      runs: { type: 'string' },
      'every-await': { type: 'boolean', default: false },
      hosts: { type: 'boolean', default: false },
      'die-at': { type: 'string' },
      trace: { type: 'boolean', default: false },
      plant: { type: 'string' },
    },
  })
  const dieAt = values['die-at']
  const runs = values.runs ?? (values.trace || values['every-await'] || dieAt !== undefined ? '1' : '1000')
  const plants = values.hosts ? HOSTS_PLANTS : PLANTS
  if (values.plant !== undefined && plants[values.plant] === undefined)
    throw new WrongArguments(`--plant ${values.plant}: there is no such bug${values.hosts ? ' with --hosts' : ''}.`)
  if (values.hosts && (values['every-await'] || dieAt !== undefined))
    throw new WrongArguments('--hosts cannot be combined with --every-await or --die-at.')
  return {
    seed: toNumber('seed', values.seed),
    runs: toNumber('runs', runs),
    everyAwait: values['every-await'],
    hosts: values.hosts,
    trace: values.trace,
    dieAtStep: dieAt === undefined ? null : toNumber('die-at', dieAt),
    plant: values.plant ?? null,
  }
}

function toNumber(option: string, text: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= 0) return number
  throw new WrongArguments(`--${option} needs a whole number that is not negative.`)
}

const given = withUsage(USAGE, parseArguments)
process.exitCode = await withRunner(given, (run) => runAll(given, run))

type Run = (options: {
  readonly seed: number
  readonly dieAtStep: number | null
  readonly trace: boolean
}) => Promise<RunResult>

async function withRunner({ hosts, plant }: Arguments, runAll: (run: Run) => Promise<number>): Promise<number> {
  if (!hosts) return runAll((options) => runSeed({ ...options, plant: plant === null ? {} : (PLANTS[plant] as Plant) }))
  const cluster = openCluster()
  try {
    const server = await SimulatedServer.open(cluster.url)
    const planted = plant === null ? {} : (HOSTS_PLANTS[plant] as HostsPlant)
    const code = await runAll(({ seed, trace }) => runHostsSeed(server, { seed, trace, plant: planted }))
    await server.close()
    return code
  } finally {
    cluster.remove()
  }
}

async function runAll(given: Arguments, run: Run): Promise<number> {
  const startedMs = performance.now()
  const sum = { runs: 0, steps: 0, executions: 0, rows: 0 }
  let saidMs = startedMs
  for (let seed = given.seed; seed < given.seed + given.runs; seed += 1) {
    let steps = given.dieAtStep ?? 0
    const last = given.everyAwait ? (await run({ seed, dieAtStep: null, trace: false })).steps : steps
    do {
      const dieAtStep = steps === 0 ? null : steps
      const result = await run({ seed, dieAtStep, trace: given.trace })
      sum.runs += 1
      sum.steps += result.steps
      sum.executions += result.executions
      sum.rows += result.rows
      if (given.trace) say(result.trace.join('\n'))
      if (result.violations.length > 0)
        return tell(await run({ seed, dieAtStep, trace: true }), result, dieAtStep, given)
      steps += 1
    } while (steps <= last)
    if (performance.now() - saidMs > 10_000) {
      saidMs = performance.now()
      say(
        `… seed ${seed}: ${plural(sum.runs, 'run')}, ${Math.round((sum.runs / (saidMs - startedMs)) * 60_000)} a minute`,
      )
    }
  }
  const minutes = (performance.now() - startedMs) / 60_000
  say(
    `${plural(sum.runs, 'run')} from seed ${given.seed} in ${(minutes * 60).toFixed(1)} s, ${Math.round(sum.runs / minutes)} a minute: ` +
      `${sum.rows} rows, ${sum.executions} executions, ${sum.steps} steps. The books agree after every one.`,
  )
  return 0
}

function tell(again: RunResult, first: RunResult, dieAtStep: number | null, { plant, hosts }: Arguments): number {
  if (!again.trace.length) return 1
  const words = [
    'npm run simulate --',
    `--seed ${first.seed} --runs 1`,
    ...(hosts ? ['--hosts'] : []),
    ...(dieAtStep === null ? [] : [`--die-at ${dieAtStep}`]),
    ...(plant === null ? [] : [`--plant '${plant}'`]),
  ]
  say(again.trace.join('\n'))
  say(`\nSeed ${first.seed} broke what must always hold:`)
  for (const violation of first.violations) say(`  ${violation}`)
  if (again.violations.join() !== first.violations.join())
    say(`  It did not repeat: ${again.violations.join() || 'nothing'}`)
  say(`Repeat it: ${words.join(' ')}`)
  return 1
}
