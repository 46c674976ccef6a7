// Relative paths that a person names begin in the directory of the run, and every other part of the program is given them as they are found
// from the directory of the process.

import { join } from 'node:path'
import type { Command } from 'commander'
import type { Io } from '../ports/io.ts'

/** Settings that name a file. Those that name a directory must be absolute. */
const NAMES_A_FILE = /^TRANCHE_(CONFIG|\w+_FILE)$/

export function withOwnPaths(io: Io): Io {
  const { env, cwd } = io
  if (cwd === null) return io
  const own = Object.entries(env).map(([name, value]) => [name, NAMES_A_FILE.test(name) ? pathIn(cwd, value) : value])
  return Object.create(io, { env: { value: Object.fromEntries(own) } })
}

/** How the help calls what is a path. */
const PATH = /^(file|dir|directory|results|worklist)$/

/** Before the command acts. */
export function resolvePaths(command: Command, cwd: string | null): void {
  if (cwd === null) return
  for (const option of command.options) {
    const placeholder = /<(.+)>/.exec(option.flags)?.[1] ?? ''
    const name = option.attributeName()
    if (PATH.test(placeholder)) command.setOptionValue(name, pathIn(cwd, command.getOptionValue(name)))
  }
  for (const [i, argument] of command.registeredArguments.entries())
    if (PATH.test(argument.name())) command.processedArgs[i] = pathIn(cwd, command.processedArgs[i])
}

/** `-` is a stream, and what is empty is refused by those who need it. */
function pathIn<Value>(cwd: string, named: Value): Value | string {
  if (typeof named !== 'string' || named === '' || named === '-' || named.startsWith('/')) return named
  return join(cwd, named)
}
