// What the environment of a command may not do, command by command: none that connects runs in one that weakens its connections.

import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { reachOf } from '../../src/cli/reach.ts'
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

/** Whether it is, in the words and with the code that are meant. */
async function isRefused(line: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  const stderr = gathering()
  const code = await main(line, ioOf(env, { stdout: gathering(), stderr }))
  const said = stderr.text().replaceAll('\n', ' ')
  const whole =
    /NODE_TLS_REJECT_UNAUTHORIZED=0 makes the connections .* no money was moved\. Remove it .*TRANCHE_GATEWAY_CA_FILE/
  return code === 2 && whole.test(said)
}

const LINES = linesOf(toProgram()).map((line) => [line.join(' '), line] as const)

test.each(LINES)('unless it connects to nothing, it ends before it connects: %s', async (name, line) => {
  expect(await isRefused(line, { ...WEAK, ...SERVER })).toBe(name !== 'completion bash')
})

test.each(['worker', 'serve', 'sandbox', 'migrate', 'doctor'])('%s connects whatever is configured', async (line) => {
  expect(await isRefused([line], WEAK)).toBe(true)
})

test('a command of which nobody said what it connects to stops the program', () => {
  expect(() => reachOf(toProgram().command('new'))).toThrow('what the command new connects to is not listed')
})
