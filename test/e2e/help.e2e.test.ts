// Help as a person reads it, of every command.

import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toProgram } from '../../src/cli.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'

let office: Office
beforeAll(async () => {
  office = await openOffice({ made: false })
})
afterAll(() => office.close())

function pathsOf(command: Command, path: readonly string[] = []): (readonly string[])[] {
  const shown = command.createHelp().visibleCommands(command)
  const own = command.commands.filter((one) => shown.includes(one))
  return [path, ...own.flatMap((one) => pathsOf(one, [...path, one.name()]))]
}

describe('help', () => {
  test.each(pathsOf(toProgram()).map((path) => [['tranche', ...path].join(' '), path] as const))(
    'of %s ends with 0, has an example, and is not wider than a terminal',
    async (_, path) => {
      const { code, stdout, stderr } = await office.tranche(...path, '--help')
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const lines = stdout.split('\n')
      expect(lines.filter((line) => line.startsWith('  $ '))).not.toEqual([])
      expect(lines.filter((line) => line.length > 80)).toEqual([])
      expect(stdout).not.toMatch(/-$/m) // no option is broken in two
    },
  )

  test('has every command under a heading that says what it is for', async () => {
    const { stdout } = await office.tranche('--help')
    expect(stdout).not.toMatch(/^Commands:$/m)
    const headings = [...stdout.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading)
    expect(headings).toEqual(
      expect.arrayContaining(['Sending', 'Looking', 'Doubts', 'Running it', 'Installation', 'Examples']),
    )
    expect(stdout.indexOf('  check ')).toBeLessThan(stdout.indexOf('  adopt '))
  })

  test('the version is told by --version, -v and -V', async () => {
    const told = await Promise.all(['--version', '-v', '-V'].map((flag) => office.tranche(flag)))
    expect(told.map(({ code, stdout }) => ({ code, version: /^\d+\.\d+\.\d+\n$/.test(stdout) }))).toEqual(
      Array(3).fill({ code: 0, version: true }),
    )
  })

  test('completion is written to stdout, and --json has it in one object', async () => {
    const { code, stdout } = await office.tranche('completion', 'bash')
    expect(code).toBe(0)
    expect(stdout).toContain('complete -o default -F _tranche tranche\n')
    const { last } = await office.tranche('completion', 'bash', '--json')
    expect(last).toEqual({ shell: 'bash', script: stdout })
    expect((await office.tranche('completion', 'tcsh')).code).toBe(2)
  })
})
