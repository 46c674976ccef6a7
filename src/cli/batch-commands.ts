// The commands that show and steer what is recorded. Each is imported when it is called.

import type { Command } from 'commander'
import type { LogArguments } from '../commands/log.ts'
import type { ResultsArguments } from '../commands/results.ts'
import type { StatusListArguments } from '../commands/status-list.ts'
import type { SteerArguments } from '../commands/steer.ts'
import type { Act } from './act.ts'
import { example, GROUP } from './help.ts'
import { REPORT_HELP, YES_HELP } from './options.ts'

export function addBatchCommands(program: Command, act: Act): void {
  program.commandsGroup(GROUP.send)
  for (const what of ['pause', 'resume', 'cancel'] as const) addSteering(program, what, act)
  program
    .commandsGroup(GROUP.look)
    .command('status [batch]')
    .description('all batches, or one of them: counts, amounts, and why nothing moves')
    .option('--watch', 'keep showing it: one batch until it moves no further, all of them until Ctrl-C')
    .option('--merchant <name>', 'only batches of this merchant')
    .option('--state <state>', 'only batches in this state, such as running, paused or needs_attention')
    .option('--last <n>', 'how many, the latest first (default 20; with --json all of them)')
    .option(
      '--check',
      'for scripts: exit 3 where bad rows or refused files wait to be looked at, 4 where approvals are missing, 5 where rows are in doubt, 6 where something is stopped, paused or silent',
    )
    .addHelpText(
      'after',
      example(
        'tranche status',
        'tranche status 261120-k7q2m --watch',
        'tranche status --merchant shop --state paused',
        'tranche status --check || mail -s tranche ops@example.com < /dev/null',
      ),
    )
    .action((batch: string | undefined, options: StatusListArguments) =>
      act(async (app, terminal) => {
        if (batch === undefined) return (await import('../commands/status-list.ts')).statusList(app, options, terminal)
        return (await import('../commands/status.ts')).status(app, batch, options, terminal)
      }, 'reads'),
    )
  program
    .command('results <batch>')
    .description('reconciliation of a batch, finished or not (unfinished rows are PENDING)')
    .requiredOption(
      '-o, --out <file>',
      'where it goes (.csv, .xlsx or .jsonl); a summary is written beside it; - writes CSV to stdout, without a summary',
    )
    .option('--exceptions <file>', 'also write the rows that a person must look at to this file')
    .option('--report <file>', REPORT_HELP)
    .option('--bom', 'write a byte order mark, for Excel')
    .option('--since <time>', 'only rows that changed at this time or later (ISO 8601 with offset)')
    .option('--family', 'one reconciliation of the file across its corrections, rejects and retries')
    .option('--only <statuses>', 'only rows of these statuses, such as declined,failed,in_doubt')
    .addHelpText(
      'after',
      example(
        'tranche results 261120-k7q2m --out refunds.results.csv',
        'tranche results 261120-k7q2m --since 2026-11-21T09:00:00Z \\\n      --out since-nine.csv',
        'tranche results 261120-k7q2m --only declined,failed --out to-look-at.xlsx',
        'tranche results 261120-k7q2m --out - | grep DECLINED',
      ),
    )
    .action((batch: string, options: ResultsArguments) =>
      act(
        async (app, terminal) => (await import('../commands/results.ts')).results(app, batch, options, terminal),
        'reads',
      ),
    )
  addLookingBack(program, act)
}

function addLookingBack(program: Command, act: Act): void {
  program
    .command('history <reference>')
    .description('every move of an instruction')
    .addHelpText('after', example('tranche history R-1001', 'tranche history 2026-12/sub-77'))
    .action((reference: string) =>
      act(async (app, terminal) => (await import('../commands/history.ts')).history(app, reference, terminal), 'reads'),
    )
  program
    .command('find <id>')
    .description('instructions by reference, order id, transaction id, merchant order id or vault id')
    .addHelpText('after', example('tranche find 7001234', 'tranche find R-1001 --json'))
    .action((id: string) =>
      act(async (app, terminal) => (await import('../commands/find.ts')).find(app, id, terminal), 'reads'),
    )
  program
    .command('log')
    .description('what people and the machine did: pauses, resolutions, refusals, backups, exports')
    .option('--since <time>', 'only entries since this time (ISO 8601 with offset)')
    .addHelpText('after', example('tranche log', 'tranche log --since 2026-12-01T00:00:00Z --json'))
    .action((options: LogArguments) =>
      act(async (app, terminal) => (await import('../commands/log.ts')).log(app, options, terminal), 'reads'),
    )
}

const STEERING = {
  pause: 'send nothing more of a batch until it is resumed; open requests are awaited',
  resume: 'continue a paused batch, or a merchant after a stop',
  cancel: 'give up what has not been sent yet; what was executed stays executed',
}

function addSteering(program: Command, what: keyof typeof STEERING, act: Act): void {
  const command = program
    .command(what === 'pause' ? 'pause <batch>' : `${what} [batch]`)
    .description(STEERING[what])
    .requiredOption('--reason <text>', 'why; kept in the history')
  if (what === 'resume')
    command
      .option('--merchant <name>', 'instead of a batch: let a stopped merchant continue')
      .option('--clock-is-right', "with --merchant: send rows with an execute_at though the gateway's clock differs")
  if (what === 'cancel')
    command
      .option('--reference <reference>', 'instead of a batch: cancel this one instruction')
      .option('--merchant <name>', 'whose instruction, where several have one of that reference')
      .option('-y, --yes', YES_HELP)
  command
    .addHelpText('after', example(`tranche ${what} 261120-k7q2m --reason "agreed with Ann"`))
    .action((batch: string | undefined, options: SteerArguments) =>
      act(
        async (app, terminal) => (await import('../commands/steer.ts')).steer(app, what, batch, options, terminal),
        // The brake must hold whatever else is wrong.
        what === 'pause' ? 'reads' : 'sends',
      ),
    )
}
