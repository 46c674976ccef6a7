// A round of a search: one process that tries some seeds, and the cases that fail in it.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, closeSync, existsSync, globSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import type { Case, SimulatorCase, TestCase } from './cases.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Round {
  /** Its seeds, or whatever else tells it from other rounds. */
  readonly name: string
  /** Of Node. Tests write their report to the file. */
  args(report: string): readonly string[]
  readonly env: Readonly<Record<string, string>>
  casesIn(exit: Exit): readonly Case[]
}

export interface Exit {
  readonly code: number | null
  readonly isBrokenOff: boolean
  readonly output: string
  /** Empty: it wrote none. */
  readonly report: string
}

export function simulate(seed: number, runs: number, ...options: readonly string[]): Round {
  return {
    name: runs === 1 ? `${seed}` : `${seed}–${seed + runs - 1}`,
    args: () => [join(ROOT, 'test/simulation/simulate.ts'), '--seed', `${seed}`, '--runs', `${runs}`, ...options],
    env: {},
    casesIn: ({ output }) => simulatorCasesIn(output),
  }
}

/** `env`: the seeds. */
export function runTests(file: string, env: Round['env'], ...options: readonly string[]): Round {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  return {
    name: Object.values(env)[0] ?? file,
    args: (report) => [vitest, 'run', file, '--reporter=json', `--outputFile=${report}`, ...options],
    env,
    casesIn: ({ report }) => (report === '' ? [] : testCasesIn(report, file, env)),
  }
}

/** The program without its nth guard: it is found where no test notices. That makes no case, but a test to be written. */
export function takeOut(nth: number): Round {
  return {
    name: `${nth}`,
    args: () => [join(ROOT, 'test/search/take-out.ts'), `${nth}`],
    env: {},
    casesIn: () => [],
  }
}

/** Once more what failed. */
export function replay({ file, test, env }: TestCase, ...options: readonly string[]): Round {
  const named = test === null ? [] : ['--testNamePattern', `^${RegExp.escape(test)}$`]
  return runTests(file, env, ...named, ...options)
}

/** In what the simulator says of a seed. */
function simulatorCasesIn(output: string): SimulatorCase[] {
  const [, failure, command = ''] = /must always hold:\n(.*?)\nRepeat it: (.*)/s.exec(output) ?? []
  if (failure === undefined) return []
  const numberOf = (option: string) => Number(new RegExp(`--${option} (\\d+)`).exec(command)?.[1])
  const dieAtStep = command.includes('--die-at') ? numberOf('die-at') : null
  const hosts = command.includes('--hosts')
  return [{ kind: 'simulator', hosts, seed: numberOf('seed'), dieAtStep, failure: failure.trim() }]
}

interface VitestReport {
  readonly numPassedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[]
      readonly title: string
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

function testCasesIn(report: string, file: string, env: Round['env']): TestCase[] {
  const { numPassedTests, testResults } = JSON.parse(report) as VitestReport
  const cases = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(ROOT, name)
    const failed = assertionResults.filter((result) => result.status === 'failed')
    if (failed.length === 0 && status === 'failed') return [testCase(file, null, env, message)]
    return failed.map(({ ancestorTitles, title, failureMessages }) =>
      testCase(file, [...ancestorTitles, title].join(' > '), env, failureMessages.join('\n')),
    )
  })
  return cases.length === 0 && numPassedTests === 0
    ? [testCase(file, null, env, 'No test ran: it is gone, or a program is missing.')]
    : cases
}

/** A property that fails names the seed. */
function testCase(file: string, test: string | null, env: Round['env'], message: string): TestCase {
  const [, seed] = /\{ seed: (-?\d+), path: /.exec(message) ?? []
  const failure = stripVTControlCharacters(message.split('\n    at ')[0] ?? '').slice(0, 2_000)
  return { kind: 'test', file, test, env: seed === undefined ? env : { PROPERTY_SEED: seed }, failure }
}

/** In a folder and a process group of its own. Nothing is left behind, not even of a round that is broken off. */
export async function run(round: Round, breakOff?: AbortSignal): Promise<Exit> {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'round-'))
  chmodSync(folder, 0o755) // PostgreSQL may run as somebody else
  const [report, output] = [join(folder, 'report.json'), join(folder, 'output')]
  const file = openSync(output, 'w')
  const child = spawn(process.execPath, round.args(report), {
    ...{ cwd: ROOT, detached: true, stdio: ['ignore', file, file] },
    env: { ...process.env, NO_COLOR: '1', ...round.env, TRANCHE_ROUND: folder },
  })
  let isBrokenOff = false
  const onBreakOff = () => {
    isBrokenOff = true
    child.kill('SIGKILL')
  }
  breakOff?.addEventListener('abort', onBreakOff)
  try {
    const [code] = (await once(child, 'exit')) as [number | null]
    return { code, isBrokenOff, output: textOf(output), report: textOf(report) }
  } finally {
    breakOff?.removeEventListener('abort', onBreakOff)
    closeSync(file)
    for (let times = 0; times < 100 && killLeft(child.pid as number, folder); times += 1) await sleep(50)
    for (const [, disk] of textOf('/proc/mounts').matchAll(new RegExp(`^\\S+ (${folder}\\S+)`, 'gm')))
      spawnSync('umount', ['--lazy', disk as string])
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Of its group, and of those that left it and know the folder. Whether any was there. */
function killLeft(group: number, folder: string): boolean {
  const left = globSync('/proc/[0-9]*/environ').filter((path) => textOf(path).includes(`TRANCHE_ROUND=${folder}\0`))
  return [-group, ...left.map((path) => Number(path.split('/')[2]))].filter(kill).length > 0
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false // it has ended
  }
}

/** Empty where it is gone, or somebody else's. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
