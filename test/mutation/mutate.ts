// npm run mutate: takes each guard of the money path out, one at a time, in a copy of the project, and runs the tests that
// must notice. A guard whose absence no test notices is no guard that can be relied on.
//   npm run mutate                 every guard
//   npm run mutate -- fence order  those whose name holds one of the words

import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GUARDS, type Guard, withoutGuard } from './guards.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** A test that waits for ever without its guard has noticed as well. */
const TESTS_WITHIN_MS = 240_000
/** Every test of the table. */
const ALL_TESTS_WITHIN_MS = 3_600_000
/** Tests wait more than they compute. */
const COPIES = availableParallelism()

type Verdict = 'noticed' | 'hung' | 'NOT NOTICED'

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
  readonly said: string
}

async function runTests(
  copy: string,
  tests: readonly string[],
  which: readonly string[] = [],
  withinMs = TESTS_WITHIN_MS,
): Promise<Ran> {
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs')
  const ran = spawn(process.execPath, [vitest, 'run', ...tests, ...which, '--bail=1', '--reporter=dot'], {
    ...{ cwd: copy, env: { ...process.env, NO_COLOR: '1' }, timeout: withinMs, killSignal: 'SIGKILL' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [ran.stdout, ran.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
  const [status, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    ran.once('close', (...end) => resolve(end))
  })
  return { passed: status === 0, hung: signal !== null, said }
}

async function tryWithout(copy: string, guard: Guard): Promise<Verdict> {
  const path = join(copy, guard.file)
  const whole = readFileSync(path, 'utf8')
  writeFileSync(path, withoutGuard(whole, guard))
  try {
    const short = await runTests(copy, guard.tests, SHORT_ONES)
    const { passed, hung } = short.passed ? await runTests(copy, guard.tests) : short
    return passed ? 'NOT NOTICED' : hung ? 'hung' : 'noticed'
  } finally {
    writeFileSync(path, whole)
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

const words = process.argv.slice(2)
const chosen = GUARDS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
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
        const verdict = await tryWithout(copy, guard)
        if (verdict === 'NOT NOTICED') missed += 1
        say(`${verdict.padEnd(12)} ${guard.name}  (${guard.file})`)
      }
    }),
  )
  say(`${chosen.length} guards taken out, ${chosen.length - missed} noticed, ${missed} not`)
  process.exitCode = missed === 0 ? 0 : 1
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true })
}
