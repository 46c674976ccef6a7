// The reconciliation of a batch, to be taken away.

import { type DownloadWanted, openDownload } from '../../app/downloads.ts'
import { besideResults } from '../../app/report.ts'
import { actorText } from '../../domain/actor.ts'
import type { BatchView } from '../../domain/batch.ts'
import { countIn } from '../../domain/batch-status.ts'
import type { ReportFacts } from '../../domain/report.ts'
import { type Html, html } from '../../present/html.ts'
import { reportPage } from '../../present/report.ts'
import { plural } from '../../present/text.ts'
import type { ConsoleDoor, Pages } from '../door.ts'
import type { PageName } from '../pages-table.ts'
import { batchPath } from '../paths.ts'
import { type Visitor, visitorOf } from '../visit.ts'
import { findBatch, type OfBatch } from './find-batch.ts'

const FILES = [
  ['resultsCsv', { what: 'results', form: 'csv' }, 'Results as CSV'],
  ['resultsXlsx', { what: 'results', form: 'xlsx' }, 'as an Excel workbook'],
  ['resultsJsonl', { what: 'results', form: 'jsonl' }, 'as JSON lines'],
  ['reportHtml', { what: 'report', form: 'html' }, 'the report, to print'],
  ['summaryCsv', { what: 'summary', form: 'csv' }, 'the sums alone'],
] as const satisfies readonly (readonly [PageName, DownloadWanted, string])[]

export function addDownloads(pages: Pages, { app, ledger }: ConsoleDoor): void {
  for (const [page, wanted] of FILES)
    pages.get<OfBatch>(
      `/batches/:batch/${wanted.what}.${wanted.form}`,
      { config: { page } },
      async (request, reply) => {
        const batch = await findBatch({ ledger }, request.params.batch)
        const { actor } = visitorOf(request)
        const page = async (facts: ReportFacts) =>
          reportPage({ ...facts, ...(await besideResults(app, ledger, facts)), by: actorText(actor) })
        const report = wanted.what === 'report' ? { page } : {}
        const file = await openDownload(app, ledger, { ...wanted, ...report, batch, actor, known: null })
        if (file === null) throw new Error('bug: it was asked for whatever the reader has')
        return reply
          .type(file.type)
          .header('content-length', String(file.bytes))
          .header('content-disposition', `attachment; filename="${file.name}"`)
          .send(file.stream)
      },
    )
}

/** A file is of the moment in which it is taken; who may not take it is told so. */
export function downloadsOf(batch: BatchView, visitor: Visitor): Html {
  const open = countIn(batch, 'READY') + countIn(batch, 'SENDING')
  const unfinished =
    open === 0 ? '' : ` ${plural(open, 'row has', 'rows have')} no outcome yet: download again when the batch is done.`
  if (!visitor.may('results'))
    return html`<h2>Results</h2><p>Result files hold names, so they need a permission of their own (results). An administrator gives it.</p>`
  const links = FILES.map(
    ([, { what, form }, name]) => html`<li><a href="${batchPath(batch.batchId)}/${what}.${form}">${name}</a></li>`,
  )
  return html`<h2>Results</h2><p>Every row with what became of it, as of the moment you download it.${unfinished}</p><ul>${links}</ul>`
}
