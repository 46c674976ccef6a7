// tranche results BATCH --out FILE: the reconciliation of a batch, finished or not.

import { type App, checkOut, momentOf, openRecordToRead, writeBatchResults } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import { countIn, isoOf } from '../domain/progress.ts'
import { findBatch } from './status.ts'
import { EXIT, plural, type Terminal } from './terminal.ts'
import { tieOutLines, toJsonTieOut } from './tie-out.ts'

export interface ResultsArguments {
  readonly out: string
  readonly bom?: boolean
  readonly since?: string
}

export async function results(app: App, id: string, given: ResultsArguments, terminal: Terminal): Promise<number> {
  const sinceMs = given.since === undefined ? null : await parseSince(given.since)
  const ledger = await openRecordToRead(app)
  try {
    const { batchId, resultsPath, sandbox } = await findBatch(ledger, id)
    // By whatever name: a link to it, or a directory with two names, is the same file.
    const target = sinceMs === null ? null : await checkOut({ out: given.out, inputPath: null, batchId, sandbox })
    if (target !== null && target.path === resultsPath) {
      throw new Fault(
        'usage',
        `${given.out} holds the whole reconciliation of batch ${batchId}; an extract would take rows out of it. Name another file with --out.`,
      )
    }
    const written = await writeBatchResults(app, ledger, batchId, {
      ...{ out: given.out, inputPath: null, bom: given.bom ?? false, sinceMs },
    })
    const batch = await findBatch(ledger, batchId)
    const pending = countIn(batch, 'READY') + countIn(batch, 'SENDING')
    if (sinceMs === null) for (const line of tieOutLines(written)) terminal.data(line)
    terminal.data(`Results: ${written.path}`)
    terminal.data(`Summary: ${written.summaryPath}`)
    if (sinceMs !== null)
      terminal.say(
        `${plural(written.rows, 'row')} of ${batch.rows} changed since ${given.since}. An extract: the reconciliation is written without --since.`,
      )
    else if (pending > 0) terminal.say(`${plural(pending, 'row is', 'rows are')} not settled yet and stand as PENDING.`)
    terminal.object({
      batch: batchId,
      rows: written.rows,
      read_at: isoOf(written.atMs),
      ...(sinceMs === null ? toJsonTieOut(written) : { since: isoOf(sinceMs) }),
      results: written.path,
      summary: written.summaryPath,
      pending,
    })
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

async function parseSince(text: string): Promise<number> {
  const atMs = await momentOf(text)
  if (atMs !== null) return atMs
  throw new Fault(
    'usage',
    `--since ${text}: write a moment with its offset, such as 2026-11-21T09:00:00Z or 2026-11-21T10:00:00+01:00. Nothing was written.`,
  )
}
