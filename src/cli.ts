// argv → command → exit code. Commands are imported when they are called, so that help and errors come at once.

import { createRequire } from 'node:module'
import { Command, CommanderError, Option } from 'commander'
import type { App } from './app.ts'
import type { AdoptArguments } from './commands/adopt.ts'
import type { CheckArguments } from './commands/check.ts'
import type { DoctorArguments } from './commands/doctor.ts'
import type { FileArguments } from './commands/file-arguments.ts'
import type { InboxArguments } from './commands/inbox.ts'
import type { LogArguments } from './commands/log.ts'
import { assertFitTexts } from './commands/option-texts.ts'
import { keepToItself } from './commands/own-process.ts'
import type { PurgeArguments } from './commands/purge.ts'
import type { ResolveArguments } from './commands/resolve.ts'
import type { ResultsArguments } from './commands/results.ts'
import type { RunArguments } from './commands/run.ts'
import { EXIT, exitCodeOfError, openTerminal, type Terminal } from './commands/terminal.ts'
import { maskCardData } from './domain/card-secrets.ts'
import { Fault } from './domain/fault.ts'
import { openTextScrub } from './domain/text-scrub.ts'
import { visible } from './domain/visible.ts'

interface GlobalOptions {
  readonly json?: boolean
  readonly as?: string
}

/** Runs one command and ends the process with its exit code: a connection that will not close keeps nobody waiting. */
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
  // Whoever read our output may leave. That must not end work that has requests open: only the writing ends.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const program = toProgram()
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    process.exitCode = reportError(error, argv.includes('--json'), SCRUBS.get(program))
  }
}

/** `opened`: the scrub of the configuration, once it could be read. */
function reportError(error: unknown, json: boolean, opened?: (text: string) => string): number {
  // Commander has spoken already. Asking for help, or naming no command, is no mistake.
  if (error instanceof CommanderError)
    return error.exitCode === 0 || error.code === 'commander.help' ? EXIT.approved : EXIT.usage
  const exit = exitCodeOfError(error)
  const terminal = openTerminal(json, process.stdout, process.stderr)
  const said = error instanceof Error ? error.message : String(error)
  const scrub = opened ?? openTextScrub({ secrets: secretsIn(process.env), usernames: [] })
  // Faults are our own words, except that those of a configuration quote it. Other errors may quote anything.
  const clean = error instanceof Fault && opened !== undefined ? maskCardData : scrub
  const message = clean(said)
  if (error instanceof Fault) for (const line of error.lines) terminal.say(clean(line))
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

/** A password may stand in a wrong variable as well. */
function secretsIn(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    name.startsWith('TRANCHE_') && name.endsWith('PASSWORD') && value !== undefined ? [value] : [],
  )
}

/** What commander says of words that it does not know. */
function writeErr(text: string): void {
  process.stderr.write(maskCardData(text).split('\n').map(visible).join('\n'))
}

type Action = (app: App, terminal: Terminal) => Promise<number>

function toProgram(): Command {
  const program = new Command('tranche')
  const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

  /** Opens what every command needs, runs it, keeps its exit code. */
  async function act(action: Action, logLevel = 'error'): Promise<void> {
    const { json = false, as = null } = givenTo(program)
    const [{ loadApp }, { explainDamage }] = await Promise.all([import('./app.ts'), import('./app/ledger.ts')])
    const app = await loadApp({ env: process.env, as, logLevel })
    SCRUBS.set(program, app.scrub)
    try {
      process.exitCode = await action(app, openTerminal(json, process.stdout, process.stderr))
    } catch (error) {
      throw await explainDamage(app, error)
    }
  }

  program
    .description(
      'Executes payment instructions in bulk against a card gateway: never twice, never lost, never misreported.',
    )
    .version(version)
    .option('--json', JSON_HELP)
    .option('--as <name>', AS_HELP)
    // In front of the command or behind it: "in-doubt resolve" has an --as of its own.
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError('(add --help for the options)')
    .configureOutput({ writeErr })
    .addHelpText('after', PROGRAM_HELP)

  addFileCommands(program, act)
  addInboxCommand(program, act)
  addBatchCommands(program, act)
  addServiceCommands(program, act)
  for (const command of allOf(program)) {
    command.exitOverride().showHelpAfterError('(add --help for the options)').configureOutput({ writeErr })
    if (command.commands.length > 0) continue
    command.option('--json', JSON_HELP)
    if (!command.options.some(({ long }) => long === '--as')) command.option('--as <name>', AS_HELP)
    command.hook('preAction', (called) => {
      CALLED.set(program, called)
      assertFitTexts(called)
    })
  }
  return program
}

const JSON_HELP = 'write JSON to stdout: one object, or one per line for long commands, the last {"event":"result",…}'
const AS_HELP = 'who acts, kept beside user@host in the history'

/** How the failures of a program are scrubbed once its configuration has been read. */
const SCRUBS = new WeakMap<Command, (text: string) => string>()

/** Which command of a program was called. */
const CALLED = new WeakMap<Command, Command>()

/** The options that every command takes, wherever they stood. */
function givenTo(program: Command): GlobalOptions {
  const front = program.opts<GlobalOptions>()
  const called = CALLED.get(program)
  if (called === undefined) return front
  const { json, as } = called.opts<GlobalOptions>()
  const isOwnAs = called.name() === 'resolve'
  return { ...front, ...(json === true ? { json } : {}), ...(as === undefined || isOwnAs ? {} : { as }) }
}

function allOf(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allOf(child)])
}

type Act = (action: Action, logLevel?: string) => Promise<void>

function withFileOptions(command: Command): Command {
  return command
    .option(
      '--operation <op>',
      'what every row asks for: CAPTURE (sale), AUTH, CAUTH (capture of an authorization), REFUND, CANCEL',
    )
    .option('--currency <code>', 'currency of rows that name none')
    .addOption(
      new Option('--decimal <sign>', 'decimal sign of the amounts, where the file leaves it open').choices(['.', ',']),
    )
    .option('--timezone <zone>', 'where execute_at is meant when it names no offset, such as Europe/Berlin')
    .option(
      '--map <COLUMN=FIELD>',
      'read a column as this field; FIELD ignore: as none; may be given per column',
      collect,
    )
    .option(
      '--not-a-card <COLUMN>',
      'the numbers of this column only look like card numbers; recorded with your name; may be given per column',
      collect,
    )
    .option(
      '--format <name>',
      'read the file as saved under this name (check --save-format); other options overrule it',
    )
    .option('--sheet <name>', 'which sheet of an Excel workbook, where more than one has something in it')
    .option('--run-key <key>', 'puts KEY/ before every reference: one roster file serves every month')
    .option('--merchant <name>', 'which configured merchant')
    .option('--skip-invalid', 'leave bad rows out and report them as INVALID, instead of refusing the file')
    .option(
      '--rejects <file>',
      'write bad rows to this CSV, with what is wrong, to be corrected there and handed in again',
    )
    .option('--expect-count <n>', 'refuse the file unless it has exactly this many rows')
    .option(
      '--expect-total <CUR=AMOUNT>',
      'refuse the file unless it adds up to this; once for each currency in it',
      collect,
    )
    .option('--allow-lookalikes <n>', 'the number of look-alikes that check shows, when every one is meant')
    .option(
      '--lookalike-days <days>',
      'how long a row that was sent under another run key counts as a look-alike (default 20, or the merchant’s)',
    )
    .option('--retry <statuses>', 'with a results file: which of failed,cancelled,invalid run again')
}

/** What makes a batch stop by itself before all of it is sent. */
function withBrakes(command: Command): Command {
  return command
    .option('--canary <rows>', 'send so many rows, then pause until you have looked and resume it')
    .option(
      '--max-declined <percent>',
      'pause when more than this share of the last 100 answered rows was declined or refused',
    )
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

function addFileCommands(program: Command, act: Act): void {
  withFileOptions(program.command('check <file>'))
    .description('read and validate all of it; record and send nothing')
    .option(
      '--save-format <name>',
      'keep operation, currency, decimal, timezone, map and not-a-card under this name, for --format',
    )
    .addHelpText(
      'after',
      example(
        'tranche check refunds.csv --expect-count 4000 --expect-total EUR=41280.55',
        'tranche check refunds.csv --rejects bad.csv',
        'tranche check bank.csv --map "Bestell-ID=request_ref_po_id" --operation REFUND --save-format bank',
        'tranche check bank.csv --format bank',
      ),
    )
    .action((file: string, options: CheckArguments) =>
      act(async (app, terminal) => (await import('./commands/check.ts')).check(app, file, options, terminal)),
    )
  withBrakes(withFileOptions(program.command('run <file>')))
    .description('submit it, work it off in this process, write the results; run again: resumes')
    .requiredOption('--out <results>', 'where the reconciliation goes: CSV, or by its ending .xlsx or .jsonl')
    .option('--exceptions <file>', 'write the rows that a person must look at there as well')
    .option('--bom', 'write a byte order mark, for Excel')
    .option('--sandbox', 'rehearse: a private sandbox gateway and a throw-away ledger, no money moves')
    .option(
      '--give-up-after <duration>',
      'when no row was settled for this long (90s, 15m, 2h), leave the rest PENDING',
    )
    .addHelpText(
      'after',
      example(
        'tranche run refunds.csv --out refunds.results.csv',
        'tranche run subscribers.csv --operation CAPTURE --run-key 2026-12 --out 2026-12.results.csv',
        'tranche run refunds.csv --out try.csv --sandbox',
        'tranche run refunds.results.csv --operation REFUND --retry failed --out again.results.csv',
      ),
    )
    .action((file: string, options: RunArguments) =>
      act(async (app, terminal) => (await import('./commands/run.ts')).run(app, file, options, terminal)),
    )
  withBrakes(withFileOptions(program.command('submit <file>')))
    .description('record it and print the batch id; a worker does the rest')
    .addHelpText('after', example('tranche submit refunds.csv', 'batch=$(tranche submit refunds.csv)'))
    .action((file: string, options: FileArguments) =>
      act(async (app, terminal) => (await import('./commands/submit.ts')).submit(app, file, options, terminal)),
    )
}

function addInboxCommand(program: Command, act: Act): void {
  const command = withBrakes(withFileOptions(program.command('inbox <dir>')))
    .description('take the files that are put into a folder: archive/ or rejected/, and their results into results/')
    .option('--once', 'take what is complete now, write the results that are due, end')
    .option('--stable-for <duration>', 'a file is complete when it has not changed for so long (default 10s)')
    .option('--bom', 'write results with a byte order mark, for Excel')
    .addHelpText('after', INBOX_HELP)
    .action((dir: string, options: InboxArguments) =>
      act(async (app, terminal) => (await import('./commands/inbox.ts')).inbox(app, dir, options, terminal)),
    )
  // What is meant for one file is refused, with the reason, and not offered.
  const forOneFile = ['--run-key', '--expect-count', '--expect-total', '--allow-lookalikes', '--retry', '--rejects']
  for (const option of command.options) if (forOneFile.includes(option.long ?? '')) option.hideHelp()
}

function addBatchCommands(program: Command, act: Act): void {
  program
    .command('status [batch]')
    .description('all batches; or one: counts, amounts, and why nothing moves')
    .option('--watch', 'of one batch: keep showing until it moves no further')
    .addHelpText('after', example('tranche status', 'tranche status 261120-k7q2m --watch'))
    .action((batch: string | undefined, options: { watch?: boolean }) =>
      act(async (app, terminal) => (await import('./commands/status.ts')).status(app, batch, options, terminal)),
    )
  program
    .command('results <batch>')
    .description('reconciliation of a batch, finished or not (unfinished rows are PENDING)')
    .requiredOption('--out <file>', 'where it goes (.csv, .xlsx or .jsonl); a summary is written beside it')
    .option('--exceptions <file>', 'write the rows that a person must look at there as well')
    .option('--bom', 'write a byte order mark, for Excel')
    .option('--since <time>', 'only rows that changed at this time or later (ISO 8601 with offset)')
    .option('--only <statuses>', 'only rows of these statuses, such as declined,failed,in_doubt')
    .addHelpText(
      'after',
      example(
        'tranche results 261120-k7q2m --out refunds.results.csv',
        'tranche results 261120-k7q2m --since 2026-11-21T09:00:00Z --out since-nine.csv',
        'tranche results 261120-k7q2m --only declined,failed --out to-look-at.xlsx',
      ),
    )
    .action((batch: string, options: ResultsArguments) =>
      act(async (app, terminal) => (await import('./commands/results.ts')).results(app, batch, options, terminal)),
    )
  for (const what of ['pause', 'resume', 'cancel'] as const) addSteering(program, what, act)
  program
    .command('rate [merchant] [rate]')
    .description('show or turn the rate dial while running; it holds until it is turned back to "configured"')
    .addHelpText(
      'after',
      example('tranche rate', 'tranche rate 25/s', 'tranche rate default 0.5/s', 'tranche rate default configured'),
    )
    .action((merchant: string | undefined, rate: string | undefined) =>
      act(async (app, terminal) => (await import('./commands/rate.ts')).rate(app, merchant, rate, terminal)),
    )
  program
    .command('history <reference>')
    .description('every move of an instruction')
    .addHelpText('after', example('tranche history R-1001', 'tranche history 2026-12/sub-77'))
    .action((reference: string) =>
      act(async (app, terminal) => (await import('./commands/history.ts')).history(app, reference, terminal)),
    )
  program
    .command('log')
    .description('what people and the machine did: pauses, resolutions, refusals, backups, exports')
    .option('--since <time>', 'from this moment on, with its offset')
    .addHelpText('after', example('tranche log', 'tranche log --since 2026-12-01T00:00:00Z --json'))
    .action((options: LogArguments) =>
      act(async (app, terminal) => (await import('./commands/log.ts')).log(app, options, terminal)),
    )
  program
    .command('purge')
    .description('personal data of finished batches out of the record; what prevents a second sending stays')
    .requiredOption('--before <time>', 'of batches that were over before this moment, with its offset')
    .requiredOption('--reason <text>', 'why; kept in the log of acts')
    .option('--yes', 'do not ask')
    .addHelpText('after', PURGE_HELP)
    .action((options: PurgeArguments) =>
      act(async (app, terminal) => (await import('./commands/purge.ts')).purge(app, options, terminal)),
    )
  const inDoubt = program
    .command('in-doubt')
    .description('rows that may have been executed and are never sent again by the machine')
  inDoubt
    .command('list')
    .description('the worklist, with all a person needs to look a transaction up at the gateway')
    .option('--out <file>', 'write it as CSV')
    .addHelpText('after', example('tranche in-doubt list', 'tranche in-doubt list --out doubts.csv'))
    .action((options: { out?: string }) =>
      act(async (app, terminal) => (await import('./commands/in-doubt.ts')).listInDoubt(app, options, terminal)),
    )
  inDoubt
    .command('resolve [reference]')
    .description('record what was found at the gateway; nothing is sent unless you say send-again')
    .option('--as <finding>', 'what was found: approved, declined, not-executed, or send-again')
    .option('--transaction <id>', 'the transaction at the gateway; it can settle one row only')
    .option('--reason <text>', 'what was found and where; kept in the history')
    .option('--attempt <n>', 'the attempt that was looked up, as the worklist shows it')
    .option('--merchant <name>', 'where several merchants have this reference')
    .option('--file <worklist>', 'a worklist with its column resolution filled in')
    .addHelpText('after', RESOLVE_HELP)
    .action((reference: string | undefined, options: ResolveArguments) =>
      act(async (app, terminal) =>
        (await import('./commands/resolve.ts')).resolveInDoubt(app, reference, options, terminal),
      ),
    )
}

const STEERING = {
  pause: 'send nothing more of a batch until it is resumed; open requests are awaited',
  resume: 'go on with a paused batch, or with a merchant after a stop',
  cancel: 'give up what has not been sent yet; what was executed stays executed',
}

function addSteering(program: Command, what: keyof typeof STEERING, act: Act): void {
  const command = program
    .command(what === 'resume' ? 'resume [batch]' : `${what} <batch>`)
    .description(STEERING[what])
    .requiredOption('--reason <text>', 'why; kept in the history')
  if (what === 'resume') command.option('--merchant <name>', 'in place of a batch: let a stopped merchant go on')
  command
    .addHelpText('after', example(`tranche ${what} 261120-k7q2m --reason "agreed with Ann"`))
    .action((batch: string | undefined, options: { reason: string; merchant?: string }) =>
      act(async (app, terminal) => (await import('./commands/steer.ts')).steer(app, what, batch, options, terminal)),
    )
}

function addServiceCommands(program: Command, act: Act): void {
  program
    .command('init')
    .description('make the record (ledger) of this installation, once; nothing else makes one for real sending')
    .addHelpText('after', INIT_HELP)
    .action(() => act(async (app, terminal) => (await import('./commands/init.ts')).init(app, terminal)))
  program
    .command('worker')
    .description('work until SIGTERM (graceful), or until nothing can move')
    .option('--until-idle', 'end when nothing can move within a minute without a person')
    .addHelpText('after', example('tranche worker', 'tranche worker --until-idle'))
    .action((options: { untilIdle?: boolean }) =>
      act(async (app, terminal) => (await import('./commands/worker.ts')).worker(app, options, terminal), 'info'),
    )
  program
    .command('sandbox')
    .description('a gateway of your own, complete, for trials and tests')
    .option('--port <n>', 'port on this machine (default 8020; 0: any)')
    .option('--username <name>', 'the credentials it takes (default sandbox)')
    .option('--password <text>', 'the credentials it takes (default sandbox)')
    .option('--latency <ms>', 'how long an answer takes')
    .option('--settle-after <seconds>', 'when a sale is no longer pending settlement (default 86400)')
    .option('--no-triggers', 'let no amount but 5.02 mean trouble')
    .addHelpText('after', example('tranche sandbox', 'tranche sandbox --port 0 --json'))
    .action(async (options: object) => {
      const terminal = openTerminal(givenTo(program).json === true, process.stdout, process.stderr)
      process.exitCode = await (await import('./commands/sandbox.ts')).sandbox(options, terminal)
    })
  addCopyCommands(program, act)
  program
    .command('doctor')
    .description('check configuration, Redis, ledger, gateway, clock; say what to fix')
    .option('--whole', 'look at every page of the ledger, however large it is (some seconds for each GiB)')
    .option('--deep', 'hold the record against itself: sums, rows, moves, acts and the chain over them')
    .option('--head <head>', 'with --deep: the record must be the one that had this head')
    .action((options: DoctorArguments) =>
      act(async (app, terminal) => (await import('./commands/doctor.ts')).doctor(app, options, terminal)),
    )
  program
    .command('down')
    .description('stop a private Redis left behind')
    .action(() => act(async (app, terminal) => (await import('./commands/down.ts')).down(app, terminal)))
}

function addCopyCommands(program: Command, act: Act): void {
  program
    .command('backup <file>')
    .description('copy the ledger, the only supported way; a worker may go on meanwhile')
    .addHelpText('after', example('tranche backup /backup/ledger-2026-12-01.db'))
    .action((file: string) =>
      act(async (app, terminal) => (await import('./commands/backup.ts')).backup(app, file, terminal)),
    )
  program
    .command('adopt')
    .description('take over a ledger that was moved or put back, or an account at a new address')
    .option('--moved', 'this is the newest state, and no other copy will send again')
    .option('--restored', 'an older state was put back: what is not settled in it comes into doubt')
    .option('--merchant <name>', 'the same account, at the address or user name configured now')
    .requiredOption('--reason <text>', 'why; kept in the history')
    .addHelpText(
      'after',
      example(
        'tranche adopt --moved --reason "new host; the old one is wiped"',
        'tranche adopt --restored --reason "disk failed, backup of 1 December"',
        'tranche adopt --merchant shop --reason "gateway moved to pay.example, letter of 3 May"',
      ),
    )
    .action((options: AdoptArguments) =>
      act(async (app, terminal) => (await import('./commands/adopt.ts')).adopt(app, options, terminal)),
    )
}

function example(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`
}

const INIT_HELP = `
The ledger lies in TRANCHE_DATA_DIR. Where it is missing later, its volume is not mounted or it is another user's: run, submit,
worker and inbox then end with 2 and send nothing. Run init by hand, never from the script that runs the payments.
${example('tranche init', 'TRANCHE_DATA_DIR=/srv/tranche tranche init')}`

const PURGE_HELP = `
Goes: the cells of every row, names, addresses and e-mails, the gateway's texts, the texts of refused messages. Stays: reference, amounts,
order, vault and transaction ids, states and moves. A batch with rows that are open or in doubt, or whose results were not written since it
last changed, stays as it is. Backups and results that were written before keep the data.
${example('tranche purge --before 2026-01-01T00:00:00Z --reason "retention: 12 months"')}`

const RESOLVE_HELP = `
not-executed ends the row as FAILED; send-again sends it once more. Both are refused for a while after the request left
(TRANCHE_DOUBT_REST_MS, 15 minutes unless set): what is not there yet may still be executed. Of a row that was sent
more than once they need --attempt N, the attempt that you looked up.
Who acts stands in front: tranche --as Ann in-doubt resolve …

Examples:
  $ tranche in-doubt resolve R-1001 --as approved --transaction 7001234 --reason "found in the portal"
  $ tranche in-doubt resolve R-1002 --as not-executed --reason "not in the portal, not in the settlement file"
  $ tranche in-doubt list --out doubts.csv     # fill in its last three columns, then:
  $ tranche in-doubt resolve --file doubts.csv --reason "checked by Ann on Monday"`

const INBOX_HELP = `
A file is complete when it has not changed for --stable-for, or as soon as a file NAME.done stands beside it. Only .csv, .txt,
.tsv and .xlsx files are taken; write under another name (x.csv.tmp) and rename. It sends nothing: tranche worker does.
A file with card data is never moved nor copied.

Examples:
  $ tranche inbox /srv/refunds --operation REFUND
  $ tranche inbox /srv/refunds --operation REFUND --once     # from cron`

const PROGRAM_HELP = `
Examples:
  $ tranche init                                       # once: make the record
  $ tranche check refunds.csv                          # look before anything moves
  $ tranche run refunds.csv --out refunds.results.csv  # do it, with a reconciliation at the end
  $ tranche run refunds.csv --out try.csv --sandbox    # rehearse it on a gateway of your own

Exit codes:
  0 all approved   1 unexpected failure   2 usage or configuration   3 some rows not approved
  5 rows in doubt need a person   6 stopped, paused or cannot go on   7 file refused   130 interrupted

Environment: TRANCHE_GATEWAY_URL, TRANCHE_GATEWAY_USERNAME, TRANCHE_GATEWAY_PASSWORD (or …_FILE),
TRANCHE_DATA_DIR, TRANCHE_REDIS_URL, TRANCHE_RATE and more: see docs/CONFIGURATION.md.`

if (import.meta.main) await main(process.argv.slice(2))
