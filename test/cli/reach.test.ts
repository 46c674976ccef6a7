// What the environment of a command may not do, command by command: none that connects runs in one that weakens its connections.

import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { main, toProgram } from '../../src/cli.ts'
import { gathering, ioOf } from '../fixtures/io.ts'

const WEAK = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
/** Which nothing listens at: it is never asked. */
const SERVER = { TRANCHE_REDIS_URL: 'redis://127.0.0.1:1' }

/** Every command that acts, as a person might type it. */
function linesOf(command: Command, names: readonly string[] = []): string[][] {
  if (command.commands.length > 0) return command.commands.flatMap((child) => linesOf(child, [...names, child.name()]))
  const options = command.options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [long as string, 'x'])
  const given = command.registeredArguments.filter(({ required }) => required)
  return [[...names, ...given.map(({ argChoices }) => argChoices?.[0] ?? 'x'), ...options]]
}

async function refusalOf(line: readonly string[], env: NodeJS.ProcessEnv): Promise<string | null> {
  const stderr = gathering()
  const code = await main(line, ioOf(env, { stdout: gathering(), stderr }))
  const said = stderr.text().replaceAll('\n', ' ')
  if (!said.includes('makes the connections of this command unsafe')) return null
  expect([code, said]).toEqual([
    2,
    expect.stringMatching(/NODE_TLS_REJECT_UNAUTHORIZED=0 .*no money was moved\. Remove it .*TRANCHE_GATEWAY_CA_FILE/),
  ])
  return line.slice(0, 2).join(' ')
}

const LINES = linesOf(toProgram())

test.each(LINES.filter(([name]) => name !== 'completion'))(
  '%s %s ends before it connects anywhere',
  async (...line) => {
    expect(await refusalOf(line, { ...WEAK, ...SERVER })).not.toBeNull()
  },
)

test('what connects to nothing, or to servers of which there are none, goes on', async () => {
  expect(await refusalOf(['completion', 'bash'], { ...WEAK, ...SERVER })).toBeNull()
  const nowhere = { ...WEAK, TRANCHE_DATA_DIR: '/nowhere/at/all', TRANCHE_WITNESS_DIR: 'none' }
  expect(await refusalOf(['pause', 'B', '--reason', 'x'], nowhere)).toBeNull()
  for (const line of ['worker', 'serve', 'sandbox', 'migrate', 'doctor'])
    expect(await refusalOf([line], nowhere), line).not.toBeNull()
})

test('a command of which nobody said what it connects to stops the program', async () => {
  const { reachOf } = await import('../../src/cli/reach.ts')
  expect(() => reachOf(toProgram().command('new'))).toThrow('what the command new connects to is not listed')
})
