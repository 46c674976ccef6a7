// Help, the version and completion, as the program prints them.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Office, openOffice } from '../fixtures/cli.ts'

let office: Office
beforeAll(async () => {
  office = await openOffice({ made: false })
})
afterAll(() => office.close())

describe('help', () => {
  test('goes to stdout and ends with 0; a mistake goes to stderr, names --help and ends with 2', async () => {
    const help = await office.tranche('in-doubt', 'resolve', '--help')
    expect([help.code, help.stderr]).toEqual([0, ''])
    expect(help.stdout).toMatch(/^Usage: tranche in-doubt resolve /)
    const mistaken = await office.tranche('in-doubt', 'resolve', '--fuond', 'approved')
    expect([mistaken.code, mistaken.stdout]).toEqual([2, ''])
    expect(mistaken.stderr).toContain("unknown option '--fuond'")
    expect(mistaken.stderr).toContain('(add --help for the options)')
  })

  test.each([['help', 'rnu'], ['rnu', '--help'], ['rnu', '-h'], ['--json', 'rnu', '--help'], ['rnu']])(
    'a command that is not there has no help: %s %s',
    async (...words) => {
      const { code, stdout, stderr } = await office.tranche(...words)
      expect([code, stdout.includes('Usage')]).toEqual([2, false])
      expect(stderr).toBe("error: unknown command 'rnu'\n(Did you mean run?)\n(tranche --help lists the commands)\n")
    },
  )

  test('nor has one of a group; known ones have theirs, wherever options stand', async () => {
    const { code, stderr } = await office.tranche('in-doubt', 'lits', '--help')
    expect([code, stderr]).toEqual([
      2,
      "error: unknown command 'lits'\n(Did you mean list?)\n(tranche in-doubt --help lists the commands)\n",
    ])
    for (const words of [
      ['help', 'run'],
      ['--as', 'rnu', 'run', '--help'],
      ['run', 'rnu', '--help'],
    ])
      expect(await office.tranche(...words)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Usage: tranche run /),
      })
    for (const words of [['help'], ['--help'], ['--as', 'rnu', '--help']])
      expect(await office.tranche(...words)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Usage: tranche \[/),
      })
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
