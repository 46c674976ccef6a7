// The scripts of `tranche completion` in the shells that not every machine has.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completionFor } from '../../src/cli/completion.ts'
import { toProgram } from '../../src/cli.ts'

const SHELLS = ['fish', 'zsh'] as const
type Shell = (typeof SHELLS)[number]
const isThere = (shell: Shell) => spawnSync(shell, ['-c', 'exit 0']).status === 0

let place: string
const scriptOf = (shell: Shell) => join(place, `tranche.${shell}`)
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'tranche-completion-'))
  for (const shell of SHELLS) writeFileSync(scriptOf(shell), completionFor(shell, toProgram()))
})
afterAll(() => rmSync(place, { recursive: true }))

describe.each(SHELLS)('%s', (shell) => {
  test.skipIf(!isThere(shell))('reads the script without a complaint', () => {
    const { status, stderr } = spawnSync(shell, ['-n', scriptOf(shell)], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })
})

describe.skipIf(!isThere('fish'))('in fish', () => {
  test.each([
    ['tranche ch', ['check']],
    ['tranche in-doubt re', ['resolve']],
    ['tranche run refunds.csv --sandb', ['--sandbox']],
    ['tranche completion f', ['fish']],
    ['tranche in-doubt resolve R-1 --found send', ['send-again']],
    ['tranche audit ', ['export', 'help', 'verify']],
  ])('%s leads to %s', (line, expected) => {
    const script = `source ${scriptOf('fish')}; complete -C ${JSON.stringify(line)}`
    const { stdout } = spawnSync('fish', ['--no-config', '-c', script], { encoding: 'utf8', cwd: place })
    const offered = stdout.split('\n').map((found) => found.split('\t')[0] as string)
    expect(offered.filter((word) => word !== '').toSorted()).toEqual(expected)
  })
})

describe.skipIf(!isThere('zsh'))('in zsh', () => {
  test.each([
    ['tranche in-doubt resolve R-1 --found send', 'send-again'],
    ['tranche status --state awa', 'awaiting_approval'],
    ['tranche ch', 'check'],
    ['tranche in-doubt re', 'resolve'],
    ['tranche run refunds.csv --sandb', '--sandbox'],
    ['tranche completion f', 'fish'],
  ])('%s leads to %s', (line, expected) => {
    // What the script would describe, without a terminal to complete in.
    const script = `compdef() {}; _describe() { print -l -- "\${(@P)2}" }; _files() {}; compadd() { shift; print -l -- "$@" }; source ${scriptOf('zsh')}
      words=(${line}); CURRENT=$#words; _tranche`
    const { stdout } = spawnSync('zsh', ['-f', '-c', script], { encoding: 'utf8' })
    const word = line.split(' ').at(-1) as string
    const offered = stdout.split('\n').map((found) => found.split(/(?<!\\):/)[0] as string)
    expect(offered.filter((found) => found.startsWith(word))).toEqual([expected])
  })
})
