// The reconciliation of a batch, as a file to be sent: written beside what else is, so that a slow reader holds up nobody.

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { App } from '../app.ts'
import type { Actor } from '../domain/actor.ts'
import type { BatchView } from '../domain/batch.ts'
import { Fault } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import type { ReportRequest } from '../domain/report.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { spoolResults } from './results.ts'
import { openTemporaryFolder } from './temporary-folder.ts'

export const DOWNLOAD_TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  jsonl: 'application/jsonl; charset=utf-8',
  /** A page that is taken away is never one of this server. */
  html: 'application/octet-stream',
} as const

export interface DownloadWanted {
  readonly form: keyof typeof DOWNLOAD_TYPES
  readonly what: 'results' | 'summary' | 'report'
}

interface DownloadAsked extends DownloadWanted {
  readonly batch: BatchView
  readonly actor: Actor
  /** The edition that the reader has; null: none. */
  readonly known: string | null
  /** The page that is downloaded, where it is one. */
  readonly page?: ReportRequest['page']
}

export interface Download {
  readonly name: string
  readonly type: string
  readonly bytes: number
  readonly edition: string
  /** Read it: what it is read from goes away with it. */
  readonly stream: Readable
}

/** One at a time: each reads the whole batch. */
let writing: Promise<unknown> = Promise.resolve()
let waiting = 0
const WAITING_MOST = 20

/** null: the reader has it already. That it was downloaded is kept in the record. */
export async function openDownload(app: App, ledger: Ledger, asked: DownloadAsked): Promise<Download | null> {
  if (waiting >= WAITING_MOST)
    throw new Fault(
      'unavailable',
      'Too many files are being written at once. Nothing was changed. Try again in a moment.',
    )
  waiting += 1
  const turn = writing
    .catch(() => {})
    .then(() => write(app, ledger, asked))
    .finally(() => {
      waiting -= 1
    })
  writing = turn
  return turn
}

async function write(
  app: App,
  ledger: Ledger,
  { form, what, batch: { batchId, sandbox }, actor, known, page }: DownloadAsked,
): Promise<Download | null> {
  const folder = openTemporaryFolder('tranche-download-', app.io.env)
  try {
    const mark = sandbox ? 'SANDBOX-' : ''
    const name = `${mark}${batchId}.${what}.${form}`
    const out = join(folder.path, `${mark}${batchId}.results.${page === undefined ? form : 'csv'}`)
    const report = page === undefined ? null : { path: join(folder.path, name), page }
    const spooled = await spoolResults(app, ledger, batchId, { out, known, report })
    if (spooled === null) {
      folder.close()
      return null
    }
    const { written } = spooled
    const path = report?.path ?? (what === 'results' ? written.path : written.summaryPath)
    const details = { kind: what, file: name, rows: spooled.written.rows }
    await noteDownload(app, ledger, { actor, batchId, details })
    const { size } = await stat(path)
    const stream = createReadStream(path)
    void finished(stream, { writable: false })
      .catch(() => {})
      .finally(folder.close)
    return { name, type: DOWNLOAD_TYPES[form], bytes: size, edition: spooled.edition, stream }
  } catch (error) {
    folder.close()
    throw error
  }
}

interface Downloaded {
  readonly actor: Actor
  /** null: of no batch. */
  readonly batchId: BatchId | null
  readonly details: { readonly kind: string; readonly file: string; readonly [detail: string]: string | number }
}

/** Who took what away is kept; where it cannot be, they get it all the same, and the log says so. */
export async function noteDownload(
  { clock, log }: Pick<App, 'clock' | 'log'>,
  ledger: Pick<Ledger, 'recordAct'>,
  { actor, batchId, details }: Downloaded,
): Promise<void> {
  const noted = await ledger.recordAct({ what: 'export', actor, batchId, details }, clock.nowMs())
  if (noted !== 'recorded') log.warn({ why: noted }, 'a download was not noted in the record')
}
