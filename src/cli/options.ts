// The options that several commands share.

import { type Command, Option } from 'commander'
import { ASKED_TO_WAIT_MINUTES, UNATTENDED_HOURS } from '../commands/durations.ts'

export const JSON_HELP =
  'write JSON to stdout: one object, or one per line for long commands, the last {"event":"result",…}'
export const AS_HELP = 'who is acting; kept beside user@host in the history'
export const REPORT_HELP = 'also write a page for people (.html): outcome, reasons, doubts, who and when'
const COMMON = 'Options of every command:'

/** The headings under which `--help` of a command that takes a file has its options. */
export const READING = 'How the file is read:'
const EXPECTED = 'What you expect of it:'
const ROWS = 'Bad, repeated and similar rows:'
const RESULTS = 'Results:'
const RUNNING = 'How it is run:'

/** What every command takes behind its name too. */
export function withCommonOptions(command: Command): Command {
  command.optionsGroup(COMMON).option('--json', JSON_HELP).option('--as <name>', AS_HELP).helpOption(true)
  if (!TELL_MUCH.includes(command.name())) return command
  return command.option(
    '-q, --quiet',
    'show no progress and no list of columns; notes, doubts and faults are still shown',
  )
}

/** The commands that take files: what they say beside results can be left unsaid, but never a fault or a doubt. */
const TELL_MUCH = ['check', 'run', 'submit', 'inbox', 'create', 'update', 'delete']

export const GIVE_UP_HELP = `when no row was settled for this long (90s, 15m, 2h), leave the rest PENDING (default: ${ASKED_TO_WAIT_MINUTES}m where the gateway only asks to wait, otherwise ${UNATTENDED_HOURS}h without a terminal, and never with one)`

export const YES_HELP = 'do not ask for confirmation on a terminal'

/** Of a file of payments. */
export function withFileOptions(command: Command): Command {
  command
    .optionsGroup(READING)
    .option(
      '--operation <op>',
      'what every row asks for: CAPTURE (sale), AUTH, CAUTH (capture of an authorization), REFUND, CANCEL',
    )
    .option('--currency <code>', 'currency of rows that name none')
    .addOption(
      new Option('--decimal <sign>', 'decimal sign of the amounts, where the file leaves it open').choices(['.', ',']),
    )
    .addOption(
      new Option(
        '--sign <sign>',
        'every amount has a minus or brackets, as in exports of refunds: take it off',
      ).choices(['minus']),
    )
    .addOption(
      new Option('--scale <scale>', 'every amount is a number of cents, or of its currency’s smallest unit').choices([
        'minor',
      ]),
    )
  withTableOptions(command)
  return command
    .optionsGroup(EXPECTED)
    .option(
      '--expect-total <CUR=AMOUNT>',
      'refuse the file unless it adds up to this; once for each currency in it',
      collect,
    )
}

/** Of any file of rows. */
export function withTableOptions(command: Command): Command {
  return command
    .optionsGroup(READING)
    .option(
      '--timezone <zone>',
      'time zone of execute_at and expires_at values without an offset, such as Europe/Berlin',
    )
    .option('--map <COLUMN=FIELD>', 'read a column as this field, or skip it (FIELD ignore); may be repeated', collect)
    .option(
      '--not-a-card <COLUMN>',
      'the numbers of this column only look like card numbers; recorded with your name; may be repeated',
      collect,
    )
    .option(
      '--format <name>',
      'read the file as saved under this name (check --save-format); other options override it',
    )
    .option('--header-row <n>', 'the line that names the columns, where title lines are above it')
    .option('--sheet <name>', 'which sheet of an Excel workbook, where more than one has something in it')
    .option('--run-key <key>', 'put KEY/ before every reference, so that one roster file serves every month')
    .option('--merchant <name>', 'which configured merchant')
    .optionsGroup(ROWS)
    .option('--only-new', 'of a corrected file: send the rows that no earlier file holds, and nothing else')
    .option('--skip-invalid', 'leave bad rows out and report them as INVALID, instead of refusing the file')
    .option(
      '--rejects <file>',
      'write bad rows to this CSV, with what is wrong, to be corrected there and handed in again',
    )
    .option('--allow-hidden <n>', 'the number of rows that are hidden in the sheet, when every one is meant')
    .option('--allow-lookalikes <n>', 'the number of look-alikes that check shows, when every one is meant')
    .option('--allow-above-limit <n>', 'the number of rows above the limit of a day, when every one is meant')
    .option(
      '--allow-execute-at <n>',
      'the number of rows that check shows with an execute_at more than a day ago or more than 400 days ahead',
    )
    .option(
      '--lookalike-days <days>',
      'how long a row that was sent under another run key counts as a look-alike (default 20, or the merchant’s)',
    )
    .option(
      '--retry <statuses>',
      'which rows of a results file, or of a file under its run key, run again: failed,cancelled,invalid; or declined',
    )
    .option(
      '--category <reasons>',
      'with --retry declined: charges declined for these are asked for once more, under a new reference: funds,technical,other',
    )
    .optionsGroup(RUNNING)
    .option(
      '--expires-after <duration>',
      'cancel rows that are not sent so long after the file was handed in, or after their execute_at (15m, 2h, 3d); expires_at of a row goes before',
    )
    .optionsGroup(EXPECTED)
    .option('--expect-count <n>', 'refuse the file unless it has exactly this many rows')
}

/** What a batch leaves behind, and how it is run to its end. */
export function withRunOptions(command: Command): Command {
  command
    .optionsGroup(RESULTS)
    .option(
      '-o, --out <results>',
      'where the reconciliation goes: CSV, or by its ending .xlsx or .jsonl; - is stdout (default: NAME.results.csv beside NAME.csv)',
    )
    .option('--exceptions <file>', 'also write the rows that a person must look at to this file')
    .option('--report <file>', REPORT_HELP)
    .option('--bom', 'write a byte order mark, for Excel')
    .optionsGroup(RUNNING)
    .option('--sandbox', 'rehearse with a private sandbox gateway and a throw-away ledger; no money moves')
    .option('-n, --dry-run', 'only check the file, as tranche check does: record and send nothing')
    .option('-y, --yes', YES_HELP)
    .option('--give-up-after <duration>', GIVE_UP_HELP)
    .option(
      '--wait-approval <duration>',
      'where approvals are needed, wait so long for them before ending with exit 4 (default: not at all)',
    )
  return withBrakes(command)
}

/** What makes a batch stop by itself before all of it is sent. */
export function withBrakes(command: Command): Command {
  return command
    .optionsGroup(RUNNING)
    .option('--canary <rows>', 'send this many rows, then pause until somebody has looked and resumes the batch')
    .option(
      '--max-declined <percent>',
      'pause when more than this share of the last 100 answered rows was declined or refused',
    )
}

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}
