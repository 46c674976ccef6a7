// The commands that take a file, or a folder of files. Each is imported when it is called.

import type { Command } from 'commander'
import type { CheckArguments } from '../commands/check.ts'
import type { FileArguments } from '../commands/file-arguments.ts'
import type { InboxArguments } from '../commands/inbox.ts'
import type { RunArguments } from '../commands/run.ts'
import type { Act } from './act.ts'
import { example, GROUP, INBOX_HELP, VAULT_HELP } from './help.ts'
import { READING, withBrakes, withFileOptions, withRunOptions, withTableOptions, YES_HELP } from './options.ts'

export function addFileCommands(program: Command, act: Act): void {
  program.commandsGroup(GROUP.send)
  withFileOptions(program.command('check <file>'))
    .description('read and validate a file to its last row; record and send nothing')
    .optionsGroup(READING)
    .option('--vault <verb>', 'the file is for the customer vault: create, update or delete')
    .option(
      '--save-format <name>',
      'keep operation, currency, decimal, sign, scale, header-row, timezone, map and not-a-card under this name, for --format',
    )
    .option(
      '--details <dir>',
      'make this folder: every row as it was understood, every fault and every look-alike, as lines of JSON',
    )
    .addHelpText(
      'after',
      example(
        'tranche check refunds.csv --expect-count 4000 --expect-total EUR=41280.55',
        'tranche check refunds.csv --rejects bad.csv',
        'tranche check refunds.csv --details refunds.checked',
        'tranche check bank.csv --map "Bestell-ID=request_ref_po_id" \\\n      --operation REFUND --save-format bank',
        'tranche check bank.csv --format bank',
      ),
    )
    .action((file: string, options: CheckArguments) =>
      act(async (app, terminal) => (await import('../commands/check.ts')).check(app, file, options, terminal)),
    )
  withFileOptions(withRunOptions(program.command('run <file>')))
    .description('submit a file, execute it in this process and write the results; run it again to resume')
    .addHelpText(
      'after',
      example(
        'tranche run refunds.csv --sandbox             # rehearse it',
        'tranche run refunds.csv                       # writes refunds.results.csv',
        'tranche run subscribers.csv --operation CAPTURE --run-key 2026-12 \\\n      --out 2026-12.results.csv',
        'tranche run refunds.csv --quiet --out - > refunds.results.csv',
        'tranche run refunds.results.csv --operation REFUND --retry failed \\\n      --out again.results.csv',
      ),
    )
    .action((file: string, options: RunArguments) =>
      act(async (app, terminal) => (await import('../commands/run.ts')).run(app, file, options, terminal)),
    )
  withBrakes(withFileOptions(program.command('submit <file>')))
    .description('record a file and print the batch id; a worker does the rest')
    .option('-y, --yes', YES_HELP)
    .optionsGroup(READING)
    .option('--vault <verb>', 'the file is for the customer vault: delete')
    .addHelpText('after', example('tranche submit refunds.csv', 'batch=$(tranche submit refunds.csv)'))
    .action((file: string, options: FileArguments) =>
      act(async (app, terminal) => (await import('../commands/submit.ts')).submit(app, file, options, terminal)),
    )
}

const VAULT_COMMANDS = [
  ['create', 'store the cards of the file in the customer vault of the gateway'],
  ['update', 'replace what the vault holds under the vault ids of the file'],
  ['delete', 'delete the vault ids of the file from the vault'],
] as const

export function addVaultCommands(program: Command, act: Act): void {
  const command = program
    .commandsGroup(GROUP.send)
    .command('vault')
    .description('store, replace or delete cards in the customer vault of the gateway')
    .addHelpText('after', example('tranche vault create cards.csv --sandbox', 'tranche vault create --help'))
  for (const [verb, description] of VAULT_COMMANDS) {
    withTableOptions(withRunOptions(command.command(`${verb} <file>`)))
      .description(description)
      .addHelpText('after', VAULT_HELP[verb])
      .action((file: string, options: RunArguments) =>
        act(async (app, terminal) =>
          (await import('../commands/run.ts')).run(app, file, { ...options, vault: verb }, terminal),
        ),
      )
  }
}

export function addInboxCommand(program: Command, act: Act): void {
  const command = withBrakes(withFileOptions(program.commandsGroup(GROUP.run).command('inbox <dir>')))
    .description('take files from a folder into archive/ or rejected/, and write their results to results/')
    .option('--once', 'take what is complete now, write the results that are due, and exit')
    .option('--stable-for <duration>', 'a file is complete when it has not changed for this long (default 10s)')
    .option('--bom', 'write results with a byte order mark, for Excel')
    .addHelpText('after', INBOX_HELP)
    .action((dir: string, options: InboxArguments) =>
      act(async (app, terminal) => (await import('../commands/inbox.ts')).inbox(app, dir, options, terminal)),
    )
  // What is meant for one file is refused, with the reason, and not offered.
  const forOneFile = [
    '--run-key',
    '--expect-count',
    '--expect-total',
    '--allow-lookalikes',
    '--allow-execute-at',
    '--allow-above-limit',
    '--retry',
    '--category',
    '--rejects',
  ]
  for (const option of command.options) if (forOneFile.includes(option.long ?? '')) option.hideHelp()
}
