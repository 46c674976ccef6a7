// tranche results BATCH --out FILE: the reconciliation of a batch, finished or not.

import { workerNow } from '../app/locks.ts'
import { checkOut, writeBatchResults, writeFamilyResults } from '../app/results.ts'
import type { App } from '../app.ts'
import { countIn, isoOf, leftOpenIn } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import { toLowerAscii } from '../domain/keyword.ts'
import type { ResultStatus } from '../domain/states.ts'
import { EXIT } from '../present/exit-codes.ts'
import { fileLines, moneyWarningLines, toJsonBeside } from '../present/outcome.ts'
import { leftOpenLines } from '../present/standing.ts'
import { plural } from '../present/text.ts'
import { tieOutLines, toJsonTieOut } from '../present/tie-out.ts'
import { noteResults } from './note.ts'
import { openLedgerAloud } from './on-ledger.ts'
import { reportRequest } from './report.ts'
import { openResultsTarget, type ResultsTarget } from './results-target.ts'
import { parseSince } from './since.ts'
import { findBatch, toJsonAlarm } from './status.ts'
import type { Terminal } from './terminal.ts'

export interface ResultsArguments {
  readonly out: string
  readonly bom?: boolean
  readonly since?: string
  readonly only?: string
  readonly exceptions?: string
  readonly family?: boolean
  readonly report?: string
}

export async function results(app: App, id: string, asked: ResultsArguments, shown: Terminal): Promise<number> {
  const target = await openResultsTarget(asked, shown)
  return writeTo(target, app, id, { ...asked, out: target.out }).finally(target.close)
}

async function writeTo(target: ResultsTarget, app: App, id: string, given: ResultsArguments): Promise<number> {
  const { terminal, isStdout } = target
  const sinceMs = given.since === undefined ? null : parseSince('--since', given.since, 'Nothing was written.')
  const only = given.only === undefined ? null : parseOnly(given.only)
  const isExtract = sinceMs !== null || only !== null
  if (isExtract && (given.exceptions ?? given.report) !== undefined) {
    throw new Fault(
      'usage',
      '--exceptions and --report go with the whole reconciliation, not with --since or --only. Nothing was written.',
    )
  }
  if (given.family === true) return familyResults(target, app, id, given, isExtract)
  const ledger = await openLedgerAloud(app, terminal, 'looks')
  try {
    const { batchId, resultsPath, sandbox, purgedAtMs } = await findBatch(ledger, id)
    const { exceptions = null, report = null } = given
    const paths = await checkOut({ out: given.out, inputPath: null, batchId, sandbox, exceptions, report })
    // By whatever name: a link to it, or a directory with two names, is the same file.
    if (paths.exceptionsPath === resultsPath) refuseOver('exceptions', given.exceptions, batchId)
    if (isExtract && paths.path === resultsPath) refuseOver('out', given.out, batchId)
    if (purgedAtMs !== null && paths.path === resultsPath) refusePurged(given.out, batchId)
    const written = await writeBatchResults(app, ledger, batchId, {
      ...{ out: given.out, inputPath: null, bom: given.bom ?? false, sinceMs, only },
      exceptions,
      report: reportRequest(app, ledger, report),
      isPassedOn: isStdout,
    })
    await noteResults(app, ledger, batchId, { ...written, isExtract, isPassedOn: isStdout }, terminal)
    await target.deliver(written.path, batchId)
    const batch = await findBatch(ledger, batchId)
    const pending = countIn(batch, 'READY') + countIn(batch, 'SENDING')
    if (sinceMs === null) terminal.data(...tieOutLines(written))
    terminal.data(...fileLines(written, isStdout))
    if (isExtract)
      terminal.say(
        `${plural(written.rows, 'row')} of ${batch.rows}${only === null ? '' : ` with status ${only.join(', ')}`}${sinceMs === null ? '' : ` changed since ${given.since}`}. An extract: the reconciliation is written without ${[sinceMs === null ? [] : '--since', only === null ? [] : '--only'].flat().join(' and ')}.`,
      )
    else if (pending > 0)
      terminal.say(
        `${plural(pending, 'row has', 'rows have')} no outcome yet and ${pending === 1 ? 'is' : 'are'} listed as PENDING.${(await ledger.alarm()) === null ? '' : ' This ledger may be an older state: they may have been sent since.'}`,
      )
    terminal.say(...leftOpenLines(leftOpenIn(countIn(batch, 'SENDING'), (await workerNow(app, ledger)) !== null)))
    if (!isExtract) terminal.say(...moneyWarningLines(batch))
    if (purgedAtMs !== null) sayPurged(batchId, purgedAtMs, written.carried, terminal)
    terminal.object({
      ...(await toJsonAlarm(ledger)),
      batch: batchId,
      rows: written.rows,
      read_at: isoOf(written.atMs),
      ...(sinceMs === null && only === null ? toJsonTieOut(written) : {}),
      ...(sinceMs === null ? {} : { since: isoOf(sinceMs) }),
      ...(only === null ? {} : { only }),
      results: written.path,
      summary: written.summaryPath,
      ...toJsonBeside(written),
      pending,
      ...(purgedAtMs === null ? {} : { purged_at: isoOf(purgedAtMs), purged_columns: written.carried }),
    })
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

/** Rows would be missing from the file that everybody takes for the whole. */
function refuseOver(option: 'out' | 'exceptions', file: string | undefined, batchId: BatchId): never {
  throw new Fault(
    'usage',
    `${file} holds the whole reconciliation of batch ${batchId}; an extract would take rows out of it. Name another file with --${option}. Nothing was written.`,
  )
}

/** What was written before the purge may be the last place where the columns of the file stand beside their results. */
function refusePurged(file: string, batchId: BatchId): never {
  throw new Fault(
    'usage',
    `${file} holds the reconciliation of batch ${batchId} as it was written before its cells were purged; written again, it would lose the columns of the file. Name another file with --out. Nothing was written.`,
  )
}

function sayPurged(batchId: BatchId, purgedAtMs: number, columns: readonly string[], terminal: Terminal): void {
  terminal.say(
    `The cells of batch ${batchId} were purged at ${isoOf(purgedAtMs)}: the columns of its file (${columns.join(', ')}) are empty, and so are the texts of the gateway. The columns result_… remain, with reference, status, amounts and transaction ids.`,
  )
}

const STATUSES: readonly ResultStatus[] = [
  ...(['APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT', 'CANCELLED', 'INVALID', 'DUPLICATE', 'PENDING'] as const),
]

function parseOnly(text: string): readonly ResultStatus[] {
  const words = text.split(',').map((word) => toLowerAscii(word.trim()))
  const wanted = STATUSES.filter((status) => words.includes(status.toLowerCase()))
  const unknown = words.filter((word) => !STATUSES.some((status) => status.toLowerCase() === word))
  if (unknown.length === 0) return wanted
  throw new Fault(
    'usage',
    `--only ${text}: write one or more of ${STATUSES.join(',').toLowerCase()}, with commas between them. Nothing was written.`,
  )
}

/** One reconciliation of a file across its corrections, rejects and retries. */
async function familyResults(
  { terminal, isStdout, deliver }: ResultsTarget,
  app: App,
  id: string,
  given: ResultsArguments,
  isExtract: boolean,
): Promise<number> {
  if (isExtract)
    throw new Fault(
      'usage',
      '--family goes with the whole reconciliation, not with --since or --only. Nothing was written.',
    )
  if (given.report !== undefined)
    throw new Fault('usage', '--report is of one batch: leave --family out. Nothing was written.')
  const ledger = await openLedgerAloud(app, terminal, 'looks')
  try {
    const { batchId } = await findBatch(ledger, id)
    const request = { out: given.out, inputPath: null, bom: given.bom ?? false, exceptions: given.exceptions ?? null }
    const { written, newest } = await writeFamilyResults(app, ledger, batchId, request)
    await noteResults(app, ledger, newest, { ...written, isExtract: false, isPassedOn: isStdout }, terminal)
    await deliver(written.path, newest)
    terminal.data(...tieOutLines(written))
    terminal.data(...fileLines(written, isStdout))
    if (newest !== batchId)
      terminal.say(
        `Batch ${newest} is the newest file of this family; every row is told as it ended, in whichever batch.`,
      )
    terminal.object({
      ...{ batch: newest, family_of: batchId, rows: written.rows, read_at: isoOf(written.atMs) },
      ...toJsonTieOut(written),
      ...{ results: written.path, summary: written.summaryPath, ...toJsonBeside(written) },
    })
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}
