// Writes the reconciliation of a batch and its summary: row by row, complete or not at all.

import type { FileHandle } from 'node:fs/promises'
import { assert } from '../domain/fault.ts'
import type { ReasonRule } from '../domain/reason-categories.ts'
import type { ReconciliationRow } from '../domain/reconciliation.ts'
import type { ReportRequest } from '../domain/report.ts'
import { type ResultStatus, resultStatusOf } from '../domain/states.ts'
import type { WrittenResults } from '../domain/written-results.ts'
import type { BatchReading } from '../ports/ledger/queries.ts'
import { isException, type Layout, layoutOf, toHeaderCells, toResultCells } from './cells.ts'
import { formatOf, type ResultsFile, toCsvText } from './formats.ts'
import { type IsSameFamily, toOutFault, type WorkbookHead } from './out.ts'
import { categoriesBy } from './remembered.ts'
import { checkOutAndReport } from './report-file.ts'
import { createReportCollector, type ReportCollector } from './report-rows.ts'
import { openResultsFile } from './results-file.ts'
import { Staged } from './stage.ts'
import { createTally, type Extract, SUMMARY_COLUMNS, type Tally, tieOut, toSummaryRecords } from './summary.ts'
import { toTimestamp } from './timestamps.ts'
import { assertFitsWorkbook } from './workbook-file.ts'

export interface ResultsRequest {
  readonly out: string
  readonly inputPath: string | null
  /** A byte order mark in front, without which Excel takes UTF-8 for the machine's old code page. */
  readonly bom: boolean
  /** Only rows that changed at this moment or later: an extract, not the reconciliation of the batch. null: all. */
  readonly sinceMs: number | null
  /** Only rows of these statuses: an extract likewise. null or absent: all. */
  readonly only?: readonly ResultStatus[] | null
  /** Rows that a person must look at go there as well; null or absent: nowhere. Not with an extract. */
  readonly exceptions?: string | null
  /** A page for people beside them; null or absent: none. Not with an extract. */
  readonly report?: ReportRequest | null
  /** Without it no workbook is known again, and none is written over. */
  readonly readWorkbook?: WorkbookHead | undefined
  /** The merchant's own categories of reasons. */
  readonly reasonRules: readonly ReasonRule[]
  /** The reading is of a family. Absent: of one batch. */
  readonly isSameFamily?: IsSameFamily | undefined
  /** The ledger may be an older state than what happened. */
  readonly mayBeOlder?: boolean
}

/** The reading stays open; its opener closes it. A failure leaves what was there before as it was. */
export async function writeResults(reading: BatchReading, request: ResultsRequest): Promise<WrittenResults> {
  const { batchId, sandbox } = reading.batch
  const { out, inputPath, exceptions = null, report = null, readWorkbook, isSameFamily } = request
  const extract = extractOf(reading, request)
  assert(extract === null || (exceptions ?? report) === null, 'an extract has nothing of the whole beside it')
  const { path, summaryPath, exceptionsPath, reportPath } = await checkOutAndReport({
    ...{ out, inputPath, batchId, sandbox, exceptions, readWorkbook, isExtract: extract !== null },
    ...{ report: report?.path ?? null, isSameFamily },
  })
  const categoryOf = categoriesBy(request.reasonRules)
  const layout = layoutOf(reading, categoryOf, isSameFamily !== undefined)
  if (formatOf(path) === 'xlsx' && extract === null) assertFitsWorkbook(reading.batch.rows, layout.columns.length)
  const staged = new Staged()
  const openRowsAt = async (at: string) => openRows(await staged.open(at), at, layout, request.bom)
  try {
    // The results first, so that they are shown last: wherever new ones stand, what belongs to them stands beside them.
    const results = await openRowsAt(path)
    const aside = exceptionsPath === undefined ? null : await openRowsAt(exceptionsPath)
    const tally = createTally(categoryOf)
    const listed = createReportCollector()
    const { rows, apart } = await writeRows(reading, request, layout, { results, aside, tally, listed })
    const summary = tally.lines()
    const tied = tieOut(summary, reading.batch)
    assert(extract !== null || tied.isTrue, `the rows of ${batchId} do not add up to what the ledger says of it`)
    const of = {
      batchMark: layout.batchMark,
      readAtMs: reading.atMs,
      auditHead: reading.auditHead,
      environment: reading.batch.environment,
      mayBeOlder: request.mayBeOlder ?? false,
    }
    const records = [[...SUMMARY_COLUMNS], ...toSummaryRecords(summary, of, tied, extract)]
    for (const file of [results, aside]) await file?.finish(records)
    await (await staged.open(summaryPath)).appendFile(toCsvText(records, request.bom))
    const written: WrittenResults = {
      ...{ path, summaryPath, rows, atMs: reading.atMs, summary },
      ...(reportPath === undefined ? {} : { report: reportPath }),
      ...{
        reasons: tally.reasons(),
        differences: tally.differences(),
        submittedAgain: tally.submittedAgain(),
        changed: tally.changed(),
        rowsRead: reading.batch.rows,
        carried: layout.carried.map((i) => layout.columns[i] as string),
      },
      exceptions: exceptionsPath === undefined ? null : { path: exceptionsPath, rows: apart },
    }
    if (report !== null && reportPath !== undefined) {
      const page = await report.page({ batch: reading.batch, written, ...listed.found() })
      await (await staged.open(reportPath)).appendFile(page)
    }
    await staged.finish()
    return written
  } catch (error) {
    await staged.discard()
    throw toOutFault(error, path)
  }
}

/** null: all rows are asked for. */
function extractOf({ batch }: BatchReading, { sinceMs, only = null }: ResultsRequest): Extract | null {
  if (sinceMs === null && only === null) return null
  const what = [
    only === null ? 'rows' : only.join(' '),
    sinceMs === null ? '' : `changed since ${toTimestamp(sinceMs)}`,
  ]
  return { what: what.join(' ').trim(), ofRows: batch.rows }
}

async function openRows(file: FileHandle, path: string, layout: Layout, bom: boolean): Promise<ResultsFile> {
  const columns = { names: toHeaderCells(layout), carried: layout.carried.length }
  return openResultsFile(formatOf(path), file, columns, bom)
}

/** Every row of the reading once, in input order, or no results at all; of an extract, those that were asked for. */
async function writeRows(
  reading: BatchReading,
  { sinceMs, only = null }: ResultsRequest,
  layout: Layout,
  into: { results: ResultsFile; aside: ResultsFile | null; tally: Tally; listed: ReportCollector },
): Promise<{ rows: number; apart: number }> {
  let lastRowNo = Number.NEGATIVE_INFINITY
  let rows = 0
  let rowsAside = 0
  for await (const page of reading.rows(sinceMs ?? undefined)) {
    for (const { rowNo } of page) {
      assert(rowNo > lastRowNo, `row ${rowNo} of ${reading.batch.batchId} comes after row ${lastRowNo}`)
      lastRowNo = rowNo
    }
    const wanted = only === null ? page : page.filter(({ state }) => only.includes(resultStatusOf(state)))
    for (const row of wanted) {
      into.tally.add(row)
      into.listed.add(row)
    }
    rows += await addTo(into.results, wanted, layout)
    if (into.aside !== null) rowsAside += await addTo(into.aside, wanted.filter(isException), layout)
  }
  const isWhole = rows === reading.batch.rows
  const isExtract = sinceMs !== null || only !== null
  assert(isWhole || isExtract, `${reading.batch.batchId} has ${reading.batch.rows} rows and ${rows} were read`)
  return { rows, apart: rowsAside }
}

async function addTo(file: ResultsFile, rows: readonly ReconciliationRow[], layout: Layout): Promise<number> {
  if (rows.length > 0) await file.add(rows.map((row) => toResultCells(row, layout)))
  return rows.length
}
