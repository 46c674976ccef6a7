// argv → command → exit code. Commands are imported when they are called, so that help and errors come at once.

import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Command, CommanderError, Option, type OutputConfiguration } from 'commander'
import type { App } from './app.ts'
import type { Act, ActAlone } from './cli/act.ts'
import { addApprovalCommands } from './cli/approval-commands.ts'
import { addBatchCommands } from './cli/batch-commands.ts'
import { addDoubtCommands } from './cli/doubt-commands.ts'
import { addEventCommands } from './cli/event-commands.ts'
import { addFileCommands, addInboxCommand, addVaultCommands } from './cli/file-commands.ts'
import { PROGRAM_HELP } from './cli/help.ts'
import { AS_HELP, JSON_HELP, withCommonOptions } from './cli/options.ts'
import { resolvePaths, withOwnPaths } from './cli/paths.ts'
import { reachOf } from './cli/reach.ts'
import { addServerCommands } from './cli/server-commands.ts'
import { addServiceCommands, addWorkerCommand } from './cli/service-commands.ts'
import { assertSafeEnvironment } from './commands/environment.ts'
import { assertFitTexts } from './commands/option-texts.ts'
import { keepToItself, processIo } from './commands/own-process.ts'
import { createTerminal, loggingTerminal, quietly } from './commands/terminal.ts'
import { maskCardData } from './domain/card-secrets.ts'
import { errorCodeOf, messageOf } from './domain/errors.ts'
import { Fault } from './domain/fault.ts'
import { passwordsIn } from './domain/secrets.ts'
import { createTextScrub } from './domain/text-scrub.ts'
import { visible } from './domain/visible.ts'
import type { Io } from './ports/io.ts'
import { commandLine, errorText } from './present/command-line.ts'
import { EXIT, exitCodeOfError } from './present/exit-codes.ts'

interface GlobalOptions {
  readonly json?: boolean
  readonly as?: string
  readonly quiet?: boolean
}

/** One run of the program: what it is given, and what becomes known on the way. */
interface Run {
  readonly io: Io
  exit: number
  called?: Command
  /** How failures are scrubbed, once the configuration could be read. */
  scrub?: (text: string) => string
}

function newRun(io: Io): Run {
  return { io: withOwnPaths(io), exit: EXIT.approved }
}

/** This process runs one command, and ends with its exit code: a connection that will not close does not keep it alive. */
export async function runInThisProcess(argv: readonly string[]): Promise<never> {
  keepToItself()
  process.exitCode = EXIT.failure // where nothing is left to wait for before the command has come to its end
  const io = processIo()
  const run = newRun(io)
  process.on('uncaughtException', (error) => dieOf(error, run))
  process.exit(await main(argv, io, run))
}

/** At once: nothing is known of the process any more, so nothing may be waited for in it. */
function dieOf(error: unknown, { io, scrub = scrubOf(io) }: Run): never {
  try {
    writeSync(2, `${scrub(error instanceof Error ? (error.stack ?? errorText(error)) : errorText(error))}\n`)
  } finally {
    process.exit(EXIT.failure)
  }
}

/** Before the configuration could be read. */
function scrubOf({ env }: Io): (text: string) => string {
  return createTextScrub({ secrets: passwordsIn(env), usernames: [] })
}

/** Runs one command. Resolves to its exit code when all that it wrote is written. */
export async function main(argv: readonly string[], io: Io, run: Run = newRun(io)): Promise<number> {
  const { stdout, stderr } = io
  let lost: string | null = null
  // The reader of our output may leave. That must not end work with requests open: only the writing ends.
  stderr.on('error', () => {})
  stdout.on('error', (error) => {
    const code = errorCodeOf(error) ?? messageOf(error)
    if (code !== 'EPIPE') lost ??= code
  })
  try {
    await toProgram(run).parseAsync(argv, { from: 'user' })
  } catch (error) {
    run.exit = await reportError(error, argv.includes('--json'), run)
  }
  await Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))))
  return lost === null ? run.exit : sayLost(lost, run)
}

/** What the command did is done: only a code that says that all is well is taken back. */
async function sayLost(code: string, { io: { stderr }, exit }: Run): Promise<number> {
  const text = `What belongs on stdout could not be written (${code}). What was recorded is safe; ask for it again.\n`
  await new Promise((resolve) => stderr.write(text, resolve))
  return exit === EXIT.approved ? EXIT.failure : exit
}

/** Services, by name: where their stderr is no terminal, every line of it is one of the log. */
const LOGGED: ReadonlySet<string> = new Set(['worker', 'serve'])

async function reportError(error: unknown, json: boolean, { io, called, scrub: opened }: Run): Promise<number> {
  // Commander has spoken already. Asking for help, or naming no command, is no mistake.
  if (error instanceof CommanderError)
    return error.exitCode === 0 || error.code === 'commander.help' ? EXIT.approved : EXIT.usage
  const exit = exitCodeOfError(error)
  const terminal = createTerminal(json, io)
  const scrub = opened ?? scrubOf(io)
  // Faults are our own words, except that those of a configuration quote it. Other errors may quote anything.
  const clean = error instanceof Fault && opened !== undefined ? maskCardData : scrub
  const message = clean(errorText(error))
  const isService = LOGGED.has(called?.name() ?? '') && io.stderr.isTTY !== true
  if (isService) await logError(io, error, message, exit)
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

async function logError({ env, stderr }: Io, error: unknown, message: string, exit: number): Promise<void> {
  const log = (await import('./app/error-log.ts')).openErrorLog(passwordsIn(env), stderr)
  if (error instanceof Fault) log.error({ code: error.code, exit }, message)
  else
    log.error(
      { err: error, exit },
      `unexpected failure: ${message}. What was recorded is safe; run it again, and report this`,
    )
}

/** Of commander: its help, and what it says of words that it does not know. */
function outputTo({ stdout, stderr }: Io): OutputConfiguration {
  return {
    writeOut: (text) => void stdout.write(text),
    writeErr: (text) => void stderr.write(maskCardData(text).split('\n').map(visible).join('\n')),
    getOutHelpWidth: () => (stdout.isTTY ? (stdout.columns ?? 80) : 80),
    getErrHelpWidth: () => (stderr.isTTY ? (stderr.columns ?? 80) : 80),
  }
}

export function toProgram(run: Run = newRun(processIo())): Command {
  const program = new Command('tranche')
  const { version } = createRequire(import.meta.url)('../package.json') as { version: string }
  const { act, actAlone } = actsOf(program, run)
  program
    .description(
      'Executes payment instructions in bulk against a card gateway: never twice, never lost, never misreported.',
    )
    .version(version, '-v, --version')
    .addOption(new Option('-V').hideHelp())
    .on('option:V', () => sayVersion(run.io, version))
    .option('--json', JSON_HELP)
    .option('--as <name>', AS_HELP)
    // In front of the command or behind it.
    .enablePositionalOptions()
    .addHelpText('after', PROGRAM_HELP)
  addFileCommands(program, act)
  addVaultCommands(program, act)
  addBatchCommands(program, act)
  addDoubtCommands(program, act)
  addWorkerCommand(program, act)
  addServerCommands(program, act)
  addApprovalCommands(program, act)
  addInboxCommand(program, act)
  addEventCommands(program, act)
  addServiceCommands(program, act, actAlone)
  for (const command of [program, ...allOf(program)]) {
    command.exitOverride().configureHelp({ minWidthToWrap: 20 }).configureOutput(outputTo(run.io))
    if (command.commands.length === 0) addCommonOptions(run, command)
    else refuseHelpOfUnknown(command)
  }
  return program
}

/** Of commands that are not there, where commander would show the help of all and end with 0. */
function refuseHelpOfUnknown(command: Command): void {
  const path = command.parent === null ? command.name() : `${command.parent.name()} ${command.name()}`
  command.showHelpAfterError(`(${path} --help lists the commands)`).addHelpText('before', () => {
    const name = command.args.find((word) => word !== 'help')
    const isThere = name === undefined || name.startsWith('-') || command.commands.some((one) => one.name() === name)
    if (!isThere) command.parse([name], { from: 'user' }) // ends with what commander says of it
    return ''
  })
}

/** As commander ends for --version. */
function sayVersion({ stdout }: Io, version: string): never {
  stdout.write(`${version}\n`)
  throw new CommanderError(0, 'commander.version', version)
}

function actsOf(program: Command, run: Run): { act: Act; actAlone: ActAlone } {
  const { io } = run
  const terminalOf = ({ json = false, quiet = false }: GlobalOptions) => {
    const terminal = createTerminal(json, io)
    return quiet ? quietly(terminal) : terminal
  }
  return {
    async act(action, mode = 'sends') {
      const given = givenTo(program, run)
      const [{ loadApp }, { explainDamage }] = await Promise.all([import('./app.ts'), import('./app/ledger.ts')])
      const app = await loadApp({
        ...{ io, as: given.as ?? null, spelling: commandLine },
        logLevel: mode === 'serves' ? 'info' : 'error',
        reads: mode === 'reads' || mode === 'examines',
        credentials: run.called !== undefined && reachOf(run.called) === 'gateways',
        logsOnly: mode === 'serves' && io.stderr.isTTY !== true,
      })
      run.scrub = app.scrub
      const terminal = app.logsOnly ? loggingTerminal(terminalOf(given), app.log) : terminalOf(given)
      if (mode === 'reads') terminal.say(...mistakenLines(app))
      try {
        run.exit = await action(app, terminal)
      } catch (error) {
        throw await explainDamage(app, error)
      }
    },
    async actAlone(action) {
      run.exit = await action(terminalOf(givenTo(program, run)))
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
function addCommonOptions(run: Run, command: Command): void {
  const reach = reachOf(command)
  command.showHelpAfterError('(add --help for the options)')
  withCommonOptions(command).hook('preAction', (called) => {
    run.called = called
    assertFitTexts(called)
    resolvePaths(called, run.io.cwd)
    assertSafeEnvironment(reach, run.io.env)
  })
}

/** The options that every command takes, wherever they stood. */
function givenTo(program: Command, { called }: Run): GlobalOptions {
  return (called ?? program).optsWithGlobals<GlobalOptions>()
}

function allOf(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allOf(child)])
}

if (import.meta.main) await runInThisProcess(process.argv.slice(2))
