// The commands that run and keep an installation. Each is imported when it is called.

import { Argument, type Command } from 'commander'
import type { AdoptArguments } from '../commands/adopt.ts'
import type { DoctorArguments } from '../commands/doctor.ts'
import type { HealthArguments } from '../commands/health.ts'
import type { InitArguments } from '../commands/init.ts'
import type { MessagesArguments } from '../commands/messages.ts'
import type { MigrateArguments } from '../commands/migrate.ts'
import type { PurgeArguments } from '../commands/purge.ts'
import type { SandboxArguments } from '../commands/sandbox.ts'
import type { WorkerArguments } from '../commands/worker.ts'
import type { Act, ActAlone } from './act.ts'
import { completionFor, SHELLS, type Shell } from './completion.ts'
import { COMPLETION_HELP, DOCTOR_HELP, example, GROUP, HEALTH_HELP, INIT_HELP, PURGE_HELP } from './help.ts'
import { GIVE_UP_HELP, YES_HELP } from './options.ts'

export function addWorkerCommand(program: Command, act: Act): void {
  program
    .commandsGroup(GROUP.run)
    .command('worker')
    .description('send what is submitted, until SIGTERM (graceful) or until nothing can move')
    .option('--until-idle', 'end when nothing can move within a minute without a person')
    .option('--give-up-after <duration>', `with --until-idle: ${GIVE_UP_HELP}`)
    .addHelpText('after', example('tranche worker', 'tranche worker --until-idle'))
    .action((options: WorkerArguments) =>
      act(async (app, terminal) => (await import('../commands/worker.ts')).worker(app, options, terminal), 'serves'),
    )
}

export function addServiceCommands(program: Command, act: Act, actAlone: ActAlone): void {
  program.commandsGroup(GROUP.look)
  addMessageCommands(program, act)
  program.commandsGroup(GROUP.run)
  program
    .command('rate [merchant] [rate]')
    .description('show or change the sending rate while running; a change holds until it is set back to "configured"')
    .option('--reason <text>', 'why; kept in the history')
    .addHelpText(
      'after',
      example('tranche rate', 'tranche rate 25/s', 'tranche rate default 0.5/s', 'tranche rate default configured'),
    )
    .action((merchant: string | undefined, rate: string | undefined, { reason }: { reason?: string }) =>
      act(async (app, terminal) => (await import('../commands/rate.ts')).rate(app, [merchant, rate], reason, terminal)),
    )
  program
    .command('doctor')
    .description('check configuration, Redis, ledger, worker, gateway, clock; say what to fix, and what needs a person')
    .option('--live', 'health check: exit 0 if the worker is alive, 6 if none is running or it is silent')
    .option('--whole', 'look at every page of the ledger, however large it is (a few seconds per GiB)')
    .option('--deep', 'check the ledger against itself: sums, rows, moves, acts and the chain over them')
    .option('--head <head>', 'with --deep: fail unless the ledger once had this head')
    .addHelpText('after', DOCTOR_HELP)
    .action((options: DoctorArguments) =>
      act(async (app, terminal) => (await import('../commands/doctor.ts')).doctor(app, options, terminal), 'examines'),
    )
  program
    .command('health')
    .description('exit 0 if a worker lives and the ledger and its disk are healthy, otherwise 1: for health checks')
    .option('--no-worker', 'of a host on which no worker runs: look at the ledger and its disk alone')
    .addHelpText('after', HEALTH_HELP)
    .action((options: HealthArguments) =>
      act(async (app, terminal) => (await import('../commands/health.ts')).health(app, options, terminal), 'reads'),
    )
  addCopyCommands(program, act)
  addRemovingCommands(program, act)
  program
    .command('down')
    .description('stop a private Redis left behind')
    .addHelpText('after', example('tranche down'))
    .action(() => act(async (app, terminal) => (await import('../commands/down.ts')).down(app, terminal)))
  program.commandsGroup(GROUP.setUp).helpCommand(true)
  program
    .command('init')
    .description('create the ledger of this installation, once; no other command creates one for real sending')
    .option('-y, --yes', 'also where an account of the configuration has another ledger already')
    .addHelpText('after', INIT_HELP)
    .action((options: InitArguments) =>
      act(async (app, terminal) => (await import('../commands/init.ts')).init(app, options, terminal)),
    )
  addSandboxCommand(program, actAlone)
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'whose completion').choices(SHELLS))
    .description('a script that completes commands and options in a shell')
    .addHelpText('after', COMPLETION_HELP)
    .action((shell: Shell) =>
      actAlone(async (terminal) => {
        const script = completionFor(shell, program)
        terminal.data(...script.trimEnd().split('\n'))
        terminal.object({ shell, script })
        return 0
      }),
    )
}

function addRemovingCommands(program: Command, act: Act): void {
  program
    .command('purge')
    .description('remove personal data of finished batches from the ledger; what prevents sending twice stays')
    .requiredOption('--before <time>', 'of batches that ended before this time (ISO 8601 with offset)')
    .requiredOption('--reason <text>', 'why; kept in the log of acts')
    .option('-y, --yes', YES_HELP)
    .addHelpText('after', PURGE_HELP)
    .action((options: PurgeArguments) =>
      act(async (app, terminal) => (await import('../commands/purge.ts')).purge(app, options, terminal)),
    )
}

function addSandboxCommand(program: Command, actAlone: ActAlone): void {
  program
    .command('sandbox')
    .description('a complete gateway of your own, for trials and tests')
    .option('--port <n>', 'port on this machine (default 8020; 0: any)')
    .option('--username <name>', 'the credentials it takes (default sandbox)')
    .option('--password <text>', 'the credentials it takes (default sandbox)')
    .option('--latency <ms>', 'how long an answer takes')
    .option('--settle-after <seconds>', 'when a sale is no longer pending settlement (default 86400)')
    .option('--state <file>', 'keep orders and stored cards in this file over restarts (default: forget them)')
    .option(
      '--prepare <file>',
      'make the orders and vault ids that this file names (.json: as POST /_sandbox/prepare takes it; else instructions)',
    )
    .option('--operation <op>', 'with --prepare: what every row of that file asks for')
    .option('--currency <code>', 'with --prepare: currency of rows that name none')
    .option(
      '--accept-unknown-orders [currency]',
      'orders and vault ids exist when they are first named; orders in EUR, or in this currency',
    )
    .option('--no-triggers', 'no amount causes trouble except 5.02')
    .addHelpText(
      'after',
      example(
        'tranche sandbox',
        'tranche sandbox --port 0 --json',
        'tranche sandbox --state rehearsal.state',
        'tranche sandbox --prepare refunds.csv --operation REFUND',
        'tranche sandbox --accept-unknown-orders USD',
      ),
    )
    .action((options: SandboxArguments) =>
      actAlone(async (terminal) => (await import('../commands/sandbox.ts')).sandbox(options, terminal)),
    )
}

function addMessageCommands(program: Command, act: Act): void {
  const messages = program
    .command('messages')
    .description('messages from other services that were refused')
    .addHelpText('after', example('tranche messages failed'))
  messages
    .command('failed')
    .description('messages that were refused, with reasons and time, as the ledger keeps them; the latest first')
    .option('--last <n>', 'how many (default 100)')
    .option('--since <time>', 'only those since this time (ISO 8601 with offset)')
    .option('--merchant <name>', 'only those of this merchant; unknown: of none that is configured')
    .addHelpText(
      'after',
      example('tranche messages failed', 'tranche messages failed --since 2026-12-01T00:00:00Z --merchant shop --json'),
    )
    .action((options: MessagesArguments) =>
      act(async (app, terminal) => (await import('../commands/messages.ts')).messagesFailed(app, options, terminal)),
    )
}

function addCopyCommands(program: Command, act: Act): void {
  program
    .command('backup <file>')
    .description('copy the ledger; the only supported way, also while a worker runs')
    .addHelpText('after', example('tranche backup /backup/ledger-2026-12-01.db'))
    .action((file: string) =>
      act(async (app, terminal) => (await import('../commands/backup.ts')).backup(app, file, terminal), 'reads'),
    )
  program
    .command('migrate')
    .description('move the ledger from its file to a PostgreSQL server, which several hosts can share')
    .option('--to <url>', 'its address, as postgres://user@host/database (default: TRANCHE_LEDGER_URL)')
    .option('--check', 'look whether it can be moved, and change nothing')
    .option('-y, --yes', YES_HELP)
    .addHelpText(
      'after',
      example(
        'tranche migrate --to postgres://tranche@db.example/payments --check',
        'tranche migrate --to postgres://tranche@db.example/payments',
      ),
    )
    .action((options: MigrateArguments) =>
      act(async (app, terminal) => (await import('../commands/migrate.ts')).migrate(app, options, terminal)),
    )
  program
    .command('adopt')
    .description('take over a ledger that was moved or restored, or an account at a new address')
    .option('--moved', 'this is the newest state, and no other copy will send again')
    .option('--restored', 'an older state was restored: its unsettled rows become IN_DOUBT')
    .option('--server-is-lost', 'with --restored, after a move to a server: that server is lost for good')
    .option('--due-before <moment>', 'with --restored: rows with an execute_at from this moment on stay PENDING')
    .option('--merchant <name>', 'the same account, at the address or user name configured now')
    .option(
      '--environment <merchant>',
      'this merchant’s account is live or test as configured now; nothing was sent for it yet',
    )
    .requiredOption('--reason <text>', 'why; kept in the history')
    .option('-y, --yes', YES_HELP)
    .addHelpText(
      'after',
      example(
        'tranche adopt --moved --reason "new host; the old one is wiped"',
        'tranche adopt --restored --reason "disk failed, backup of 1 December"',
        'tranche adopt --merchant shop \\\n      --reason "gateway moved to pay.example, letter of 3 May"',
        'tranche adopt --environment shop --reason "it was labelled test by mistake"',
      ),
    )
    .action((options: AdoptArguments) =>
      act(async (app, terminal) => (await import('../commands/adopt.ts')).adopt(app, options, terminal)),
    )
}
