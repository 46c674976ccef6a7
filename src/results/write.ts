// Writes the reconciliation of a batch and its summary: row by row, complete or not at all.

import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Options, stringify } from 'csv-stringify/sync'
import { assert } from '../domain/fault.ts'
import type { BatchReading } from '../domain/ports.ts'
import type { ReasonRule } from '../domain/reason-categories.ts'
import { layoutOf, toHeaderCells, toResultCells } from './cells.ts'
import { checkOut, temporaryPathFor, toOutFault } from './out.ts'
import {
  openTally,
  type ReasonCount,
  SUMMARY_COLUMNS,
  type SummaryLine,
  type Tally,
  type TieOut,
  tieOut,
  toSummaryRecords,
} from './summary.ts'

export interface ResultsRequest {
  readonly out: string
  readonly inputPath: string | null
  /** A byte order mark in front, without which Excel takes UTF-8 for the machine's old code page. */
  readonly bom: boolean
  /** Only rows that changed at this moment or later: an extract, not the reconciliation of the batch. null: all. */
  readonly sinceMs: number | null
  /** The merchant's own categories of reasons. */
  readonly reasonRules: readonly ReasonRule[]
}

export interface WrittenResults {
  readonly path: string
  readonly summaryPath: string
  readonly rows: number
  /** The moment that they show. */
  readonly atMs: number
  readonly summary: readonly SummaryLine[]
  readonly reasons: readonly ReasonCount[]
  /** Rows of the batch; an extract has fewer. */
  readonly rowsRead: number
}

/** Rows turned into text at a time; more are no faster and leave more behind for the collector. */
const ROWS_PER_WRITE = 100

// With a record delimiter of its own, csv-stringify leaves cells with a lone CR or LF unquoted, and readers would see two
// rows. A cell that begins with a byte order mark is quoted too, else the first one would be taken for the file's own. So
// is one with another separator in it: a spreadsheet that parts cells there as well would find a formula behind it.
export const CSV: Options = { record_delimiter: '\r\n', quoted_match: /[\r\n;\t|]|^\uFEFF/ }

/** The reading stays open; whoever opened it closes it. A failure leaves what was there before as it was. */
export async function writeResults(reading: BatchReading, request: ResultsRequest): Promise<WrittenResults> {
  const { batchId, sandbox } = reading.batch
  const { out, inputPath } = request
  const { path, summaryPath } = await checkOut({ out, inputPath, batchId, sandbox })
  const tally = openTally(request.reasonRules)
  const staged: string[] = []
  try {
    const rows = await stage(path, staged, request.bom, (file) => writeRows(file, reading, request, tally))
    const summary = tally.lines()
    const isExtract = request.sinceMs !== null
    const tied = tieOut(summary, reading.batch)
    assert(isExtract || tied.isTrue, `the rows of ${batchId} do not add up to what the ledger says of it`)
    await stage(summaryPath, staged, request.bom, (file) => writeSummary(file, reading, summary, tied, isExtract))
    // The summary goes first: wherever new results stand, their summary stands beside them.
    await rename(staged[1] as string, summaryPath)
    await rename(staged[0] as string, path)
    await syncDirectory(dirname(path))
    const { atMs, batch } = reading
    return { path, summaryPath, rows, atMs, summary, reasons: tally.reasons(), rowsRead: batch.rows }
  } catch (error) {
    await Promise.allSettled(staged.map((temporary) => rm(temporary, { force: true })))
    throw toOutFault(error, path)
  }
}

/** Fills a temporary file beside the target and makes it durable, so that a rename can only show a whole file. */
export async function stage<T>(path: string, staged: string[], bom: boolean, fill: (file: FileHandle) => Promise<T>) {
  const temporary = temporaryPathFor(path)
  const file = await open(temporary, 'wx')
  staged.push(temporary)
  try {
    if (bom) await file.appendFile('\uFEFF')
    const filled = await fill(file)
    await file.sync()
    return filled
  } finally {
    await file.close()
  }
}

/** Every row of the reading once, in input order, or no results at all; of an extract, those that changed. */
async function writeRows(
  file: FileHandle,
  reading: BatchReading,
  { sinceMs, reasonRules }: ResultsRequest,
  tally: Tally,
): Promise<number> {
  const layout = layoutOf(reading, reasonRules)
  let pending = [toHeaderCells(layout)]
  let rows = 0
  let lastRowNo = Number.NEGATIVE_INFINITY
  for (const row of reading.rows(sinceMs ?? undefined)) {
    assert(row.rowNo > lastRowNo, `row ${row.rowNo} of ${reading.batch.batchId} comes after row ${lastRowNo}`)
    lastRowNo = row.rowNo
    rows += 1
    tally.add(row)
    pending.push(toResultCells(row, layout))
    if (pending.length < ROWS_PER_WRITE) continue
    await file.appendFile(stringify(pending, CSV))
    pending = []
  }
  await file.appendFile(stringify(pending, CSV))
  const isWhole = rows === reading.batch.rows
  assert(isWhole || sinceMs !== null, `${reading.batch.batchId} has ${reading.batch.rows} rows and ${rows} were read`)
  return rows
}

async function writeSummary(
  file: FileHandle,
  reading: BatchReading,
  lines: readonly SummaryLine[],
  tied: TieOut,
  isExtract: boolean,
): Promise<void> {
  const { batchMark } = layoutOf(reading)
  const records = toSummaryRecords(lines, batchMark, reading.atMs, tied, isExtract)
  await file.appendFile(stringify([[...SUMMARY_COLUMNS], ...records], CSV))
}

/** Makes the renames themselves durable. Some file systems cannot; the files are whole there all the same. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'EINVAL' && code !== 'ENOTSUP') throw error
  } finally {
    await directory.close()
  }
}
