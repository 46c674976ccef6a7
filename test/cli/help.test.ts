// Help as a person reads it, of every command.

import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { toProgram } from '../../src/cli.ts'

/** Every command that help shows, by its name as it is typed. */
function allOf(command: Command, name = command.name()): (readonly [string, Command])[] {
  const shown = command.createHelp().visibleCommands(command)
  const own = command.commands.filter((one) => shown.includes(one))
  return [[name, command], ...own.flatMap((one) => allOf(one, `${name} ${one.name()}`))]
}

function helpOf(command: Command, columns: number): string {
  let text = ''
  const writeOut = (part: string) => {
    text += part
  }
  command.configureOutput({ writeOut, getOutHelpWidth: () => columns }).outputHelp()
  return text
}

describe.each(allOf(toProgram()))('help of %s', (_, command) => {
  test('has an example and is not wider than a terminal', () => {
    const lines = helpOf(command, 80).split('\n')
    expect(lines.filter((line) => line.startsWith('  $ '))).not.toEqual([])
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    expect(lines.filter((line) => line.endsWith('-'))).toEqual([]) // no option is broken in two
  })
})

test('options are wrapped in a narrow terminal', () => {
  const [, list] = allOf(toProgram()).find(([name]) => name === 'tranche in-doubt list') as [string, Command]
  expect(
    helpOf(list, 60)
      .split('\n')
      .filter((line) => line.length > 60),
  ).toEqual([])
})

test('paragraphs use the width of a wide terminal', () => {
  const [, resolve] = allOf(toProgram()).find(([name]) => name === 'tranche in-doubt resolve') as [string, Command]
  expect(
    Math.max(
      ...helpOf(resolve, 120)
        .split('\n')
        .map(({ length }) => length),
    ),
  ).toBeGreaterThan(100)
})

test('every command stands under a heading that says what it is for, what sends first', () => {
  const headings = [...helpOf(toProgram(), 80).matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual([
    ...['Options', 'Sending payments', 'Looking things up', 'Rows in doubt', 'Running the service', 'Setting up'],
    ...['Exit codes', 'Examples'],
  ])
})
