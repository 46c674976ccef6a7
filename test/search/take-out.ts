// node test/search/take-out.ts N: takes the Nth guard out, in a copy of the project, and runs the tests that must notice. Ends with 1 where
// none does: such a guard cannot be relied on.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { GUARDS, type Guard } from './guards.ts'
import { ROOT } from './rounds.ts'

interface Report {
  readonly numFailedTests: number
}

function copyProject(): string {
  const copy = mkdtempSync(join(process.env.TRANCHE_ROUND ?? tmpdir(), 'copy-'))
  const { stdout } = spawnSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  for (const file of stdout.split('\n').filter((name) => name !== '' && existsSync(join(ROOT, name)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(ROOT, file), join(copy, file))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

function takeOut({ file, guard, without }: Guard, copy: string): void {
  const text = readFileSync(join(copy, file), 'utf8')
  if (text.split(guard).length !== 2) throw new Error(`The guard does not occur exactly once in ${file}: ${guard}`)
  writeFileSync(
    join(copy, file),
    text.replace(guard, () => without),
  )
}

/** What ends otherwise than by a failed test has shown nothing. */
function isNoticed({ tests }: Guard, copy: string): boolean {
  const report = join(copy, 'report.json')
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs')
  spawnSync(process.execPath, [vitest, 'run', ...tests, '--bail=1', '--reporter=json', `--outputFile=${report}`], {
    cwd: copy,
    stdio: 'inherit',
  })
  return existsSync(report) && (JSON.parse(readFileSync(report, 'utf8')) as Report).numFailedTests > 0
}

const guard = GUARDS[Number(process.argv[2])]
if (guard === undefined) throw new Error(`there are ${GUARDS.length} guards`)
const copy = copyProject()
try {
  takeOut(guard, copy)
  if (!isNoticed(guard, copy)) {
    process.stdout.write(`NOT NOTICED: ${guard.name} (${guard.file})\n`)
    process.exitCode = 1
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
}
