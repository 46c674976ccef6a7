// argv → command → exit code. Commands are imported when they are called, so that help and errors come at once.

import { createRequire } from 'node:module'
import { Command, CommanderError, Option } from 'commander'
import type { App } from './app.ts'
import type { Act, ActAlone } from './cli/act.ts'
import { addApprovalCommands } from './cli/approval-commands.ts'
import { addBatchCommands } from './cli/batch-commands.ts'
import { addDoubtCommands } from './cli/doubt-commands.ts'
import { addFileCommands, addInboxCommand, addVaultCommands } from './cli/file-commands.ts'
import { groupCommands } from './cli/groups.ts'
import { PROGRAM_HELP } from './cli/help.ts'
import { AS_HELP, JSON_HELP, withCommonOptions } from './cli/options.ts'
import { addServerCommands } from './cli/server-commands.ts'
import { addServiceCommands } from './cli/service-commands.ts'
import { assertFitTexts, nameIn } from './commands/option-texts.ts'
import { keepToItself } from './commands/own-process.ts'
import { createTerminal, loggingTerminal, quietly } from './commands/terminal.ts'
import { maskCardData } from './domain/card-secrets.ts'
import { Fault } from './domain/fault.ts'
import { passwordsIn } from './domain/secrets.ts'
import { createTextScrub } from './domain/text-scrub.ts'
import { visible } from './domain/visible.ts'
import { commandLine, errorText } from './present/command-line.ts'
import { EXIT, exitCodeOfError } from './present/exit-codes.ts'
import { fitHelp } from './present/help.ts'

interface GlobalOptions {
  readonly json?: boolean
  readonly as?: string
  readonly quiet?: boolean
}

/** Of a command that is called; one of them takes a finding as well. */
interface OwnOptions {
  readonly json?: boolean
  readonly as?: string | readonly string[]
  readonly found?: string
  readonly quiet?: boolean
}

/** Runs one command and ends the process with its exit code: a connection that will not close does not keep it alive. */
export async function main(argv: readonly string[]): Promise<never> {
  keepToItself()
  process.exitCode = EXIT.approved
  await runCommand(argv)
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))),
  )
  process.exit()
}

async function runCommand(argv: readonly string[]): Promise<void> {
  // The reader of our output may leave. That must not end work with requests open: only the writing ends.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const program = toProgram()
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    const isService = LOGGED.has(CALLED.get(program)?.name() ?? '') && process.stderr.isTTY !== true
    process.exitCode = await reportError(error, argv.includes('--json'), SCRUBS.get(program), isService)
  }
}

/** Services, by name: where their stderr is no terminal, every line of it is one of the log. */
const LOGGED: ReadonlySet<string> = new Set(['worker', 'serve'])

/** `opened`: the scrub of the configuration, once it could be read. */
async function reportError(
  error: unknown,
  json: boolean,
  opened: ((text: string) => string) | undefined,
  isService: boolean,
): Promise<number> {
  // Commander has spoken already. Asking for help, or naming no command, is no mistake.
  if (error instanceof CommanderError)
    return error.exitCode === 0 || error.code === 'commander.help' ? EXIT.approved : EXIT.usage
  const exit = exitCodeOfError(error)
  const terminal = createTerminal(json, process.stdout, process.stderr)
  const scrub = opened ?? createTextScrub({ secrets: passwordsIn(process.env), usernames: [] })
  // Faults are our own words, except that those of a configuration quote it. Other errors may quote anything.
  const clean = error instanceof Fault && opened !== undefined ? maskCardData : scrub
  const message = clean(errorText(error))
  if (isService) await logError(error, message, exit)
  else if (error instanceof Fault) for (const line of error.linesIn(commandLine)) terminal.say(clean(line))
  else {
    terminal.say(`Unexpected failure: ${message}. What was recorded is safe; run it again, and report this:`)
    const stack = error instanceof Error ? (error.stack ?? '') : ''
    for (const line of scrub(stack).split('\n')) terminal.say(line)
  }
  terminal.object({
    event: 'result',
    error: { code: error instanceof Fault ? error.code : 'unexpected', message },
    exit,
  })
  return exit
}

async function logError(error: unknown, message: string, exit: number): Promise<void> {
  const log = (await import('./app/error-log.ts')).openErrorLog(passwordsIn(process.env))
  if (error instanceof Fault) log.error({ code: error.code, exit }, message)
  else
    log.error(
      { err: error, exit },
      `unexpected failure: ${message}. What was recorded is safe; run it again, and report this`,
    )
}

/** What commander says of words that it does not know. */
function writeErr(text: string): void {
  process.stderr.write(maskCardData(text).split('\n').map(visible).join('\n'))
}

/** Help, and nothing else. */
function writeOut(text: string): void {
  process.stdout.write(fitHelp(text, process.stdout.isTTY ? process.stdout.columns : 80))
}

export function toProgram(): Command {
  const program = new Command('tranche')
  const { version } = createRequire(import.meta.url)('../package.json') as { version: string }
  const { act, actAlone } = actsOf(program)
  program
    .description(
      'Executes payment instructions in bulk against a card gateway: never twice, never lost, never misreported.',
    )
    .version(version, '-v, --version')
    .addOption(new Option('-V').hideHelp())
    .on('option:V', () => sayVersion(version))
    .option('--json', JSON_HELP)
    .option('--as <name>', AS_HELP)
    // In front of the command or behind it.
    .enablePositionalOptions()
    .addHelpText('after', PROGRAM_HELP)
  addFileCommands(program, act)
  addVaultCommands(program, act)
  addInboxCommand(program, act)
  addBatchCommands(program, act)
  addDoubtCommands(program, act)
  addApprovalCommands(program, act)
  addServerCommands(program, act)
  addServiceCommands(program, act, actAlone)
  groupCommands(program)
  for (const command of [program, ...allOf(program)]) {
    command.exitOverride().showHelpAfterError('(add --help for the options)').configureOutput({ writeErr, writeOut })
    if (command.commands.length === 0) addCommonOptions(program, command)
  }
  return program
}

/** As commander ends for --version. */
function sayVersion(version: string): never {
  process.stdout.write(`${version}\n`)
  throw new CommanderError(0, 'commander.version', version)
}

function actsOf(program: Command): { act: Act; actAlone: ActAlone } {
  const terminalOf = ({ json = false, quiet = false }: GlobalOptions) => {
    const terminal = createTerminal(json, process.stdout, process.stderr)
    return quiet ? quietly(terminal) : terminal
  }
  return {
    async act(action, mode = 'sends') {
      const given = givenTo(program)
      const [{ loadApp }, { explainDamage }] = await Promise.all([import('./app.ts'), import('./app/ledger.ts')])
      const app = await loadApp({
        ...{ env: process.env, as: given.as ?? null, spelling: commandLine },
        logLevel: mode === 'serves' ? 'info' : 'error',
        reads: mode === 'reads' || mode === 'examines',
        logsOnly: mode === 'serves' && process.stderr.isTTY !== true,
      })
      SCRUBS.set(program, app.scrub)
      const terminal = app.logsOnly ? loggingTerminal(terminalOf(given), app.log) : terminalOf(given)
      if (mode === 'reads') terminal.say(...mistakenLines(app))
      try {
        process.exitCode = await action(app, terminal)
      } catch (error) {
        throw await explainDamage(app, error)
      }
    },
    async actAlone(action) {
      process.exitCode = await action(terminalOf(givenTo(program)))
    },
  }
}

/** Of a command that only reads the ledger. */
function mistakenLines({ config: { mistakes }, scrub }: App): string[] {
  if (mistakes.length === 0) return []
  return [
    `The configuration is wrong (${scrub(mistakes.join('; '))}). This command only reads the ledger and goes on; nothing can be sent until that is corrected.`,
  ]
}

/** What every command takes behind its name too, and one look at what it was given. */
function addCommonOptions(program: Command, command: Command): void {
  withCommonOptions(command).hook('preAction', (called) => {
    CALLED.set(program, called)
    assertFitTexts(called)
  })
}

/** How the failures of a program are scrubbed once its configuration has been read. */
const SCRUBS = new WeakMap<Command, (text: string) => string>()

/** Which command of a program was called. */
const CALLED = new WeakMap<Command, Command>()

/** The options that every command takes, wherever they stood. */
function givenTo(program: Command): GlobalOptions {
  const front = program.opts<GlobalOptions>()
  const called = CALLED.get(program)
  if (called === undefined) return front
  const { json, as: said, found, quiet = false } = called.opts<OwnOptions>()
  const as = nameIn(said, found)
  return { ...front, quiet, ...(json === true ? { json } : {}), ...(as === undefined ? {} : { as }) }
}

function allOf(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allOf(child)])
}

if (import.meta.main) await main(process.argv.slice(2))
