// npm run mutate: takes each guard of the money path out, one at a time, in a copy of the project, and runs the tests that
// must notice. A guard whose absence no test notices is no guard that can be relied on.
//   npm run mutate                 every guard
//   npm run mutate -- fence order  those whose name holds one of the words
//   npm run mutate -- --new        those that no test is known to notice
// Which test noticed is kept in noticed-by.json, and is run alone the next time: the others only where it passes.

import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GUARDS, type Guard, withoutGuard } from './guards.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** A test that waits for ever without its guard has noticed as well. */
const TESTS_WITHIN_MS = 240_000
/** Every test of the table. */
const ALL_TESTS_WITHIN_MS = 3_600_000
/** Tests wait more than they compute. */
const COPIES = availableParallelism()

const NOTICED_BY = join(ROOT, 'test/mutation/noticed-by.json')

type Verdict = 'noticed' | 'hung' | 'NOT NOTICED'

interface TestName {
  readonly file: string
  /** null: the file as a whole. */
  readonly test: string | null
}

function copyProject(): string {
  const copy = mkdtempSync(join(tmpdir(), 'tranche-mutate-'))
  const listed = spawnSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  for (const file of listed.stdout.split('\n').filter((name) => name !== '')) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(ROOT, file), join(copy, file))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** The long properties come second: what a short test notices need not wait for them. */
const SHORT_ONES = ['--testNamePattern', '^((?!after any sequence).)*$']

interface Ran {
  readonly passed: boolean
  readonly hung: boolean
  readonly failed: TestName | null
  readonly said: string
}

async function runTests(
  copy: string,
  tests: readonly string[],
  which: readonly string[] = [],
  withinMs = TESTS_WITHIN_MS,
): Promise<Ran> {
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs')
  const report = join(copy, 'report.json')
  rmSync(report, { force: true })
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`]
  const ran = spawn(process.execPath, [vitest, 'run', ...tests, ...which, '--bail=1', ...reporters], {
    ...{ cwd: copy, env: { ...process.env, NO_COLOR: '1' }, timeout: withinMs, killSignal: 'SIGKILL' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [ran.stdout, ran.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
  const [status, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    ran.once('close', (...end) => resolve(end))
  })
  return { passed: status === 0, hung: signal !== null, failed: failedIn(report, copy), said }
}

interface Report {
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly assertionResults: ReadonlyArray<{ readonly fullName: string; readonly status: string }>
  }>
}

function failedIn(report: string, copy: string): TestName | null {
  if (!existsSync(report)) return null
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report
  const file = testResults.find(({ status }) => status === 'failed')
  if (file === undefined) return null
  const failed = file.assertionResults.find(({ status }) => status === 'failed')
  return { file: relative(copy, file.name), test: failed?.fullName ?? null }
}

interface Attempt {
  readonly files: readonly string[]
  readonly which: readonly string[]
}

/** Tried in turn until one fails: the test that noticed the last time, the short ones, all. */
function attemptsAt({ tests }: Guard, known: TestName | undefined): readonly Attempt[] {
  const anew = [SHORT_ONES, []].map((which) => ({ files: tests, which }))
  // A file that is gone fails whatever is in the code.
  if (known === undefined || !existsSync(join(ROOT, known.file))) return anew
  const alone = known.test === null ? [] : ['--testNamePattern', patternOf(known.test)]
  return [{ files: [known.file], which: alone }, ...anew]
}

/** Between a group and its test a name has ` > `, and a blank in a report. */
function patternOf(reported: string): string {
  return `^${RegExp.escape(reported).replaceAll(RegExp.escape(' '), '(?: >)? ')}$`
}

async function tryWithout(
  copy: string,
  guard: Guard,
  known: TestName | undefined,
): Promise<[Verdict, TestName | null]> {
  const path = join(copy, guard.file)
  const whole = readFileSync(path, 'utf8')
  writeFileSync(path, withoutGuard(whole, guard))
  try {
    for (const { files, which } of attemptsAt(guard, known)) {
      const { passed, hung, failed } = await runTests(copy, files, which)
      if (!passed) return [hung ? 'hung' : 'noticed', failed]
    }
    return ['NOT NOTICED', null]
  } finally {
    writeFileSync(path, whole)
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function keep(noticedBy: ReadonlyMap<string, TestName>): void {
  const known = GUARDS.flatMap(({ name }) => (noticedBy.has(name) ? [[name, noticedBy.get(name)]] : []))
  writeFileSync(NOTICED_BY, `${JSON.stringify(Object.fromEntries(known), null, 2)}\n`)
}

const words = process.argv.slice(2)
const noticedBy = new Map<string, TestName>(Object.entries(JSON.parse(readFileSync(NOTICED_BY, 'utf8'))))
const isChosen = ({ name }: Guard) =>
  words.length === 0 || words.some((word) => (word === '--new' ? !noticedBy.has(name) : name.includes(word)))
const chosen = GUARDS.filter(isChosen)
if (chosen.length === 0) {
  say('No guard is chosen by these words.')
  process.exit(2)
}
const copies = Array.from({ length: Math.min(COPIES, chosen.length) }, copyProject)
try {
  const files = [...new Set(chosen.flatMap(({ tests }) => tests))]
  const whole = await runTests(copies[0] as string, files, [], ALL_TESTS_WITHIN_MS)
  if (!whole.passed) throw new Error(`not all tests pass with every guard in place:\n${whole.said}`)
  let missed = 0
  const left = chosen.values()
  await Promise.all(
    copies.map(async (copy) => {
      for (const guard of left) {
        const [verdict, test] = await tryWithout(copy, guard, noticedBy.get(guard.name))
        if (verdict === 'NOT NOTICED') missed += 1
        if (test !== null) noticedBy.set(guard.name, test)
        say(`${verdict.padEnd(12)} ${guard.name}  (${guard.file})`)
        keep(noticedBy)
      }
    }),
  )
  say(`${chosen.length} guards taken out, ${chosen.length - missed} noticed, ${missed} not`)
  process.exitCode = missed === 0 ? 0 : 1
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true })
}
