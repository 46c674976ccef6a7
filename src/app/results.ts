// The reconciliation of a batch: where it may be written, and writing it.

import type { App } from '../app.ts'
import { sayAlarm } from '../domain/alarm.ts'
import { Fault } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import { asLeftOpen } from '../domain/reconciliation.ts'
import type { ReportRequest } from '../domain/report.ts'
import type { ResultStatus } from '../domain/states.ts'
import { words } from '../domain/words.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { BatchReading } from '../ports/ledger/queries.ts'
import type { IsSameFamily, OutRequest } from '../results/out.ts'
import { openToRead } from './input-file.ts'
import { holdResultsLock, workerNow } from './locks.ts'

export interface ResultsRequest {
  readonly out: string
  readonly inputPath: string | null
  readonly bom: boolean
  /** An extract of the rows that changed since; null or absent: the reconciliation. */
  readonly sinceMs?: number | null
  /** An extract of the rows of these statuses; null or absent: the reconciliation. */
  readonly only?: readonly ResultStatus[] | null
  /** Where the rows that a person must look at go as well; null or absent: nowhere. */
  readonly exceptions?: string | null
  /** A page for people beside them; null or absent: none. */
  readonly report?: ReportRequest | null
  /** The file is handed on at once and then removed: the record must not say where results of the batch are. */
  readonly isPassedOn?: boolean
}

export async function writeBatchResults(app: App, ledger: Ledger, batchId: BatchId, request: ResultsRequest) {
  const isExtract = (request.sinceMs ?? null) !== null || (request.only ?? null) !== null
  const open = () => ledger.openReading(batchId, app.clock.nowMs())
  if (isExtract || request.isPassedOn === true) return (await writeReading(app, ledger, open, request)).written
  const lock = await holdResultsLock(app, batchId)
  try {
    const { written, edition } = await writeReading(app, ledger, open, request)
    await ledger.resultsWritten(batchId, written.path, edition)
    return written
  } finally {
    lock.release()
  }
}

/**
 * Those of a batch, written beside what else is for whoever asks, and noted nowhere. `known`: the edition that the caller has; null: none.
 * null: that one is the newest still.
 */
export async function spoolResults(
  app: App,
  ledger: Ledger,
  batchId: BatchId,
  {
    out,
    known,
    report = null,
  }: { readonly out: string; readonly known: string | null; readonly report?: ReportRequest | null },
) {
  const reading = await ledger.openReading(batchId, app.clock.nowMs())
  const workerRuns = (await workerNow(app, ledger)) !== null
  const { version, lastMove } = reading.edition
  const edition = `${version}-${lastMove}${workerRuns ? '' : '-left'}`
  if (edition === known) return reading.close().then(() => null)
  const request = { out, inputPath: null, bom: false, report }
  const { written } = await writeReading(app, ledger, async () => reading, request)
  return { written, edition }
}

/** Over nothing but what was written so before, whichever file led the family then. */
export async function writeFamilyResults(
  app: App,
  ledger: Ledger,
  batchId: BatchId,
  request: Omit<ResultsRequest, 'sinceMs' | 'only' | 'report'>,
) {
  const openFamily = (of: BatchId) => ledger.openFamily(of, app.clock.nowMs())
  let newest: BatchId = batchId
  const open = async () => {
    const reading = await openFamily(batchId)
    newest = reading.batch.batchId
    return reading
  }
  const isSameFamily = async (led: BatchId) => {
    if (led === newest || (await ledger.batch(led)) === null) return led === newest
    const earlier = await openFamily(led)
    await earlier.close()
    return earlier.batch.batchId === newest
  }
  const { written } = await writeReading(app, ledger, open, { ...request, isSameFamily })
  return { written, newest }
}

async function writeReading(
  app: App,
  ledger: Ledger,
  open: () => Promise<BatchReading>,
  request: ResultsRequest & { readonly isSameFamily?: IsSameFamily },
) {
  const { writeResults } = await import('../results/write.ts')
  const mayBeOlder = (await ledger.alarm()) !== null
  await keepEarlierResults(app, ledger, request)
  const workerRuns = (await workerNow(app, ledger)) !== null
  const reading = tellingLeftOpen(await open(), workerRuns)
  try {
    const { sinceMs = null, only = null, isSameFamily } = request
    if (isSameFamily !== undefined && reading.batch.purgedAtMs !== null) await keepPurgedCells(request)
    const reasonRules = app.config.merchants.get(reading.batch.merchant)?.reasonRules ?? []
    const written = await writeResults(reading, {
      ...request,
      sinceMs,
      only,
      reasonRules,
      mayBeOlder,
      readWorkbook: readWorkbookHead,
    })
    return { written, edition: reading.edition }
  } finally {
    await reading.close()
  }
}

/** The record does not say whether anything waits for the answers to what is being sent. */
function tellingLeftOpen(reading: BatchReading, workerRuns: boolean): BatchReading {
  if (workerRuns) return reading
  return {
    ...reading,
    async *rows(sinceMs) {
      for await (const page of reading.rows(sinceMs)) yield page.map(asLeftOpen)
    },
  }
}

/** Results of a ledger that may be an older state, written over those of the newer one, would call PENDING what was paid. */
async function keepEarlierResults(app: App, ledger: Ledger, request: ResultsRequest): Promise<void> {
  const { out, exceptions = null, report = null } = request
  const alarm = await ledger.alarm()
  if (alarm === null) return
  const { thereAlready } = await import('../results/out.ts')
  const there = await thereAlready(out, [exceptions, report?.path ?? null])
  if (there === null) return
  throw new Fault(
    'stopped',
    words`${sayAlarm(alarm, app.paths.ledger)} ${there} exists and was not written over: it may hold results that this ledger does not know. Keep it, and name another file.`,
  )
}

/** What was written before a purge may be the last place where the columns of the file stand beside their results. */
async function keepPurgedCells({ out, exceptions = null }: ResultsRequest): Promise<void> {
  const { thereAlready } = await import('../results/out.ts')
  const there = await thereAlready(out, [exceptions])
  if (there === null) return
  throw new Fault(
    'usage',
    words`${there} exists and may hold cells that were purged since; written again, it would lose them. Name another file with ${{ set: 'out', to: null }}. Nothing was written.`,
  )
}

/** Faults where results may not go there: over the input, or over anything but an earlier result of the batch. */
export async function checkOut(request: Omit<OutRequest, 'readWorkbook'> & { report?: string | null }) {
  const { checkOutAndReport } = await import('../results/report-file.ts')
  return checkOutAndReport({ ...request, readWorkbook: readWorkbookHead })
}

/** Whether results are there, whosever they are. */
export async function isTaken(out: string): Promise<boolean> {
  const { thereAlready } = await import('../results/out.ts')
  return (await thereAlready(out, [])) !== null
}

/** Faults where so many rows do not fit the form that one of the files would have. Asked before anything is sent. */
export async function checkRoom(
  paths: readonly (string | null | undefined)[],
  rows: number,
  columns: number,
): Promise<void> {
  const [{ formatOf }, { assertFitsWorkbook }] = await Promise.all([
    import('../results/formats.ts'),
    import('../results/workbook-file.ts'),
  ])
  if (paths.some((path) => typeof path === 'string' && formatOf(path) === 'xlsx')) assertFitsWorkbook(rows, columns)
}

async function readWorkbookHead(path: string, count: number) {
  const { firstRecords } = await import('../ingest/workbook/workbook.ts')
  const handle = await openToRead(path)
  try {
    return await firstRecords(handle, count)
  } finally {
    await handle.close()
  }
}
