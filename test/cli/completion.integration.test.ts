// The scripts of `tranche completion`, against the commands and options as they are, and in bash.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completionFor, SHELLS, type Shell } from '../../src/cli/completion.ts'
import { toProgram } from '../../src/cli.ts'
import { OPTION_VALUES } from '../../src/present/option-values.ts'

let place: string
const scriptOf = (shell: Shell) => join(place, `tranche.${shell}`)
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'tranche-completion-'))
  for (const shell of SHELLS) writeFileSync(scriptOf(shell), completionFor(shell, toProgram()))
})
afterAll(() => rmSync(place, { recursive: true }))

function allOf(command: Command): Command[] {
  return [command, ...command.createHelp().visibleCommands(command).flatMap(allOf)]
}

describe.each(SHELLS)('for %s', (shell) => {
  test('every command and every option that help shows is in the script', () => {
    const words = completionFor(shell, toProgram()).split(/[\s'"|/:=)(]+/)
    const missing = allOf(toProgram()).flatMap((command) => {
      const options = command.createHelp().visibleOptions(command)
      const flags = options.flatMap(({ long, short }) =>
        shell === 'fish' ? [long?.slice(2), short?.slice(1)] : [long, short],
      )
      return [command.name(), ...flags].filter((word) => word !== undefined && !words.includes(word))
    })
    expect(missing).toEqual([])
  })
})

test('every option with values of its own is one that a command has', () => {
  const flags = allOf(toProgram()).flatMap((command) => command.options.map((option) => option.flags))
  expect(Object.keys(OPTION_VALUES).filter((known) => !flags.includes(known))).toEqual([])
})

describe('in bash', () => {
  test('the script is read without a complaint', () => {
    const { status, stderr } = spawnSync('bash', ['-n', scriptOf('bash')], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  test.each([
    ['tranche ch', ['check']],
    ['tranche in-doubt re', ['resolve']],
    ['tranche run refunds.csv --sandb', ['--sandbox']],
    ['tranche check --decimal ', ['.', ',']],
    ['tranche completion f', ['fish']],
    ['tranche run --out res', []], // a file, which bash itself offers
    ['tranche --ver', ['--version']],
    ['tranche heal', ['health']],
    ['tranche policy ', ['show', 'adopt', 'help']],
    ['tranche audit verify --an', ['--anchor']],
    ['tranche approve 261120-k7q2m --dig', ['--digest']],
    ['tranche in-doubt resolve R-1 --found ', ['approved', 'declined', 'not-executed', 'send-again']],
    ['tranche run f.csv --operation CA', ['CAPTURE', 'CAUTH', 'CANCEL']],
    ['tranche status --state awa', ['awaiting_approval']],
    ['tranche sandbox --state awa', []], // a file there
  ])('%s leads to %s', (line, expected) => {
    const said = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ')
    const words = line.split(' ')
    const script = `source ${scriptOf('bash')}; COMP_WORDS=(${said(words)}); COMP_CWORD=${words.length - 1}; _tranche; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
    expect(stdout.split('\n').filter((word) => word !== '')).toEqual(expected)
  })
})
