// The man page: as the commands are now, and as roff understands it.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { manPage } from '../../src/cli/man.ts'
import { toProgram } from '../../src/cli.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
const written = () => readFileSync('man/tranche.1', 'utf8')
const isThere = (program: string) => spawnSync(program, ['--version']).status === 0

/** Those that are no group of others. */
function endsOf(command: Command, at: string): string[] {
  const within = command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help')
  return within.length === 0 ? [at] : within.flatMap((one) => endsOf(one, `${at} ${one.name()}`))
}

test('man/tranche.1 is what the commands say now (npm run man)', () => {
  expect(written()).toBe(manPage(toProgram(), version))
})

describe.skipIf(!isThere('groff'))('groff', () => {
  const shown = () =>
    spawnSync('groff', ['-man', '-Tutf8', '-ww', '-P-cbou', '-rLL=200n', 'man/tranche.1'], { encoding: 'utf8' })

  test('reads it without a warning', () => {
    const { status, stderr } = shown()
    expect([status, stderr]).toEqual([0, ''])
  })

  test('shows every command, with its options and examples', () => {
    const { stdout } = shown()
    expect(endsOf(toProgram(), 'tranche').filter((name) => !stdout.includes(name))).toEqual([])
    for (const said of [
      '--decimal <sign>',
      'decimal sign of the amounts, where the file leaves it open. (".", ",")',
      '$ tranche in-doubt resolve R-1001 --found approved --transaction 7001234 --reason "found in the portal"',
      '130  interrupted',
      '…', // in the help, and no sign that roff could misread
    ])
      expect(stdout).toContain(said)
  })
})

test.skipIf(!isThere('man'))('man shows it', () => {
  const { status, stdout, stderr } = spawnSync('man', ['--warnings', '-l', 'man/tranche.1'], {
    env: { ...process.env, MANWIDTH: '80', MANPAGER: 'cat', LC_ALL: 'C.UTF-8' },
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toContain('never twice, never lost, never misreported')
})
