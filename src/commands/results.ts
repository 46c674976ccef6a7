// tranche results BATCH --out FILE: the reconciliation of a batch, finished or not.

import { type App, openRecordToRead, writeBatchResults } from '../app.ts'
import { countIn } from '../domain/progress.ts'
import { findBatch } from './status.ts'
import { EXIT, plural, type Terminal } from './terminal.ts'

export interface ResultsArguments {
  readonly out: string
  readonly bom?: boolean
}

export async function results(app: App, id: string, given: ResultsArguments, terminal: Terminal): Promise<number> {
  const ledger = await openRecordToRead(app)
  try {
    const { batchId } = await findBatch(ledger, id)
    const written = await writeBatchResults(app, ledger, batchId, {
      out: given.out,
      inputPath: null,
      bom: given.bom ?? false,
    })
    const batch = await findBatch(ledger, batchId)
    const pending = countIn(batch, 'READY') + countIn(batch, 'SENDING')
    terminal.data(`Results: ${written.path}`)
    terminal.data(`Summary: ${written.summaryPath}`)
    if (pending > 0) terminal.say(`${plural(pending, 'row is', 'rows are')} not settled yet and stand as PENDING.`)
    terminal.object({
      batch: batchId,
      rows: written.rows,
      results: written.path,
      summary: written.summaryPath,
      pending,
    })
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}
