// tranche check FILE: reads and validates all of it; records and sends nothing.

import { basename, dirname, join } from 'node:path'
import { knownAccountOf } from '../app/accounts.ts'
import { type OpenedFile, openInstructionFile } from '../app/instruction-file.ts'
import { hasLedger, openLedgerOrNone } from '../app/ledger.ts'
import { isTaken } from '../app/results.ts'
import { assertFormatName, saveFormat } from '../app/saved-formats.ts'
import { prepareSubmission } from '../app/submission.ts'
import type { App } from '../app.ts'
import { maskCardData } from '../domain/card-secrets.ts'
import type { DraftRow } from '../domain/draft.ts'
import { Fault } from '../domain/fault.ts'
import type { AccountId } from '../domain/ids.ts'
import { NO_MERCHANT } from '../domain/merchant.ts'
import type { InstructionFile } from '../domain/submission.ts'
import { askingWords, commandText, readingWords } from '../present/command-line.ts'
import { EXIT } from '../present/exit-codes.ts'
import {
  allErrorsOf,
  columnLines,
  heldLines,
  lateLines,
  noteLines,
  refusalLines,
  reviewLines,
  structuralFaultLine,
  toJsonCause,
  toJsonDetails,
  toJsonReading,
  toJsonRefusals,
  toJsonReview,
} from '../present/review.ts'
import { environmentLines } from '../present/text.ts'
import { openDetails } from './details.ts'
import {
  type FileArguments,
  type FileRequest,
  formatOwner,
  parseFileArguments,
  requestFor,
  withFormat,
} from './file-arguments.ts'
import { tellAlarm } from './on-ledger.ts'
import { openRejects, type Rejects } from './rejects.ts'
import { refuseStdin } from './results-target.ts'
import type { Terminal } from './terminal.ts'

export interface CheckArguments extends FileArguments {
  readonly saveFormat?: string
  /** A folder that is not there yet. */
  readonly details?: string
}

/** How the file came here. */
export interface Handed {
  readonly cards: 'taken' | 'refused'
  /** As its sender calls it, where the path is not its own. */
  readonly name?: string
  /** Hears of rows as they are read, and how many there are. */
  readonly onRows?: (rows: readonly DraftRow[], all: number) => void
}

const BY_HAND: Handed = { cards: 'taken' }

export async function check(
  app: App,
  path: string,
  asked: CheckArguments,
  terminal: Terminal,
  { cards, name, onRows }: Handed = BY_HAND,
): Promise<number> {
  refuseStdin(path, 'check')
  const given = await withFormat(app, asked)
  if (given.saveFormat !== undefined) await assertCanSave(app, given, given.saveFormat)
  const anonymous = app.config.merchants.size === 0 && given.merchant === undefined
  const request = anonymous ? requestFor(app, NO_MERCHANT, given, cards) : parseFileArguments(app, given, cards)
  if (anonymous) terminal.say('No gateway account is set, so the file was not compared with earlier batches.')
  else if (!(await hasLedger(app)))
    terminal.say(`There is no ledger at ${app.paths.ledger}, so the file was not compared with earlier batches.`)
  const rejects = await openRejects(asked, path, null)
  const details = await openDetails(asked.details)
  const opened = await openInstructionFile(path, request.merchant, { ...request.options, name })
  if (opened.kind === 'refused') {
    if (given.saveFormat !== undefined)
      terminal.say(`The format ${given.saveFormat} was not saved: no file was read with it.`)
    details.say(terminal)
    return refuseWhole(opened, path, rejects, terminal)
  }
  const ledger = await openLedgerOrNone(app)
  try {
    await tellAlarm(app, ledger, terminal)
    terminal.say(...noteLines(opened))
    terminal.note(...columnLines(opened))
    if (given.saveFormat !== undefined) await keepFormat(app, given, given.saveFormat, terminal)
    const toSubmit = request.toSubmit(await knownAccount(app, ledger, request), false)
    const reviewed = await (await prepareSubmission(ledger)).review(heard(opened, onRows), toSubmit)
    const ok = reviewed.refusals.length === 0
    await rejects.write(opened, reviewed)
    await details.write(opened, reviewed)
    terminal.data(...environmentLines(request.merchant), ...reviewLines(reviewed.review))
    terminal.say(...heldLines(reviewed.review), ...lateLines(reviewed.review))
    terminal.data(...refusalLines(reviewed, allErrorsOf(path)))
    terminal.object({
      file: maskCardData(path),
      file_sha256: opened.file.sha256,
      ...(request.merchant.environment === null ? {} : { environment: request.merchant.environment }),
      ok,
      columns: opened.columns,
      read: toJsonReading(opened),
      numbers_passed: opened.numbersPassed,
      ...toJsonReview(reviewed.review),
      held_by_doubt: reviewed.review.heldByDoubt,
      declined_cards: reviewed.review.declinedCards,
      ...toJsonDetails(reviewed.review),
      causes: reviewed.first.causes.map(toJsonCause),
      ...toJsonRefusals(reviewed),
      ...rejects.toJson(),
      ...details.toJson(),
      exit: ok ? EXIT.approved : EXIT.refused,
    })
    rejects.say(terminal)
    details.say(terminal)
    await reviewed.draft.discard()
    terminal.say(
      ok
        ? 'Nothing was recorded and nothing was sent.'
        : 'The file would be refused as it is. Nothing was recorded and nothing was sent.',
    )
    if (ok && reviewed.review.accepted > 0)
      terminal.say('Next:', ...(await nextCommands(app, path, asked)).map((command) => `  $ ${command}`))
    return ok ? EXIT.approved : EXIT.refused
  } finally {
    await opened.close()
    await ledger.close()
  }
}

function heard(opened: OpenedFile & { readonly kind: 'file' }, onRows: Handed['onRows']): InstructionFile {
  const { file, rows: all } = opened
  if (onRows === undefined) return file
  return {
    ...file,
    async *rows() {
      for await (const rows of file.rows()) {
        onRows(rows, all)
        yield rows
      }
    },
  }
}

async function nextCommands(app: App, path: string, asked: CheckArguments): Promise<string[]> {
  const run = nextCommand(path, await freeOut(path), asked)
  if (app.config.merchants.size === 0) return [`${run} --sandbox  # rehearse it`]
  return (await hasLedger(app)) ? [run] : ['tranche init  # once', run]
}

/** To be pasted: without the options the file would be read otherwise, or another number of rows be let through. */
function nextCommand(path: string, out: string, asked: CheckArguments): string {
  const format = asked.saveFormat ?? asked.format
  const { vault, ...said } = asked
  const reading = asked.saveFormat === undefined ? readingWords(said) : []
  return commandText(
    ...(vault === undefined ? ['run'] : ['vault', vault]),
    maskCardData(path),
    ...reading,
    ...askingWords({ ...asked, format }),
    '--out',
    maskCardData(out),
  )
}

/** Beside the file, where no results are: what is there is of an earlier batch, which no other is written over. */
async function freeOut(path: string): Promise<string> {
  for (let nth = 1; ; nth += 1) {
    const results = `${nth === 1 ? '' : `-${nth}`}.results`
    const name = basename(path).replace(
      /(?:\.(?:csv|txt|tsv)|(\.xlsx))?$/i,
      (_, book = '.csv') => results + book.toLowerCase(),
    )
    const out = join(dirname(path), maskCardData(name))
    if (!(await isTaken(out))) return out
  }
}

/** Before the file is read: a wrong name is no reason to read a million rows. */
async function assertCanSave(app: App, given: FileArguments, name: string): Promise<void> {
  await assertFormatName(app, formatOwner(app, given), name)
  if (Object.values(formatOf(given)).some((said) => said !== undefined && said.length > 0)) return
  throw new Fault(
    'usage',
    '--save-format: there is nothing to keep. Add what says how the file is read: --operation, --currency, --decimal, --sign, --scale, --header-row, --timezone, --map or --not-a-card. Nothing was recorded and nothing was sent.',
  )
}

function formatOf({ operation, currency, decimal, sign, scale, headerRow, timezone, map, notACard }: FileArguments) {
  return { operation, currency, decimal, sign, scale, headerRow, timezone, map, notACard }
}

/** What a format keeps is how the file is read, not what is expected of it. */
async function keepFormat(app: App, given: FileArguments, name: string, terminal: Terminal): Promise<void> {
  const { path, replaced } = await saveFormat(app, formatOwner(app, given), name, formatOf(given))
  terminal.say(
    `The format ${name} was ${replaced ? 'replaced' : 'saved'}: ${path}. Files are read that way with --format ${name}.`,
  )
}

/** Without making the account: a check records nothing. An account that is not known has nothing recorded. */
async function knownAccount(
  app: App,
  ledger: Awaited<ReturnType<typeof openLedgerOrNone>>,
  { merchant }: FileRequest,
): Promise<AccountId> {
  if (merchant === NO_MERCHANT) return 0 as AccountId
  return (await knownAccountOf(ledger, merchant, app.clock)) ?? (0 as AccountId)
}

/** A structural fault: no row of the file was looked at. */
export async function refuseWhole(
  opened: OpenedFile & { readonly kind: 'refused' },
  path: string,
  rejects: Rejects,
  terminal: Terminal,
): Promise<number> {
  await rejects.writeWhole(opened)
  return showStructuralFault(opened, path, terminal, rejects)
}

export function showStructuralFault(
  fault: { line: number | null; column: string | null; problem: string; remedy: string },
  path: string,
  terminal: Terminal,
  rejects: Rejects | null = null,
): number {
  terminal.say(structuralFaultLine(fault, path))
  rejects?.say(terminal)
  terminal.say('Nothing was recorded and nothing was sent.')
  terminal.object({
    event: 'result',
    ok: false,
    file: maskCardData(path),
    ...fault,
    ...rejects?.toJson(),
    exit: EXIT.refused,
  })
  return EXIT.refused
}
