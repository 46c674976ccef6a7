// Finished batches go out of the ledger, oldest first: each is written to a file and found whole there before anything of it is taken.

import { join } from 'node:path'
import type { ArchiveFile, ArchiveRequest, RecordLine } from '../domain/archive.ts'
import type { BatchId } from '../domain/ids.ts'
import type { Pages } from '../domain/pages.ts'
import type { PurgePlan } from '../domain/purge.ts'
import type { PurgeLedger } from '../ports/ledger/purge.ts'
import type { QueryLedger } from '../ports/ledger/queries.ts'

export interface ArchiveParts {
  readonly ledger: Pick<PurgeLedger, 'purge'> & Pick<QueryLedger, 'openRecord'>
  /** Of the folder that the files go into. */
  readonly directory: string
  /** Resolves when the file is whole and on the disk. `path`: without its ending. */
  readonly write: (path: string, lines: Pages<RecordLine>) => Promise<ArchiveFile>
}

export type ArchiveStep = { readonly batchId: BatchId } & (
  | { readonly kind: 'written'; readonly file: ArchiveFile }
  | { readonly kind: 'taken'; readonly rows: number }
)

/** Broken off, it goes on when it is called again: what is in a file already is not written once more. */
export async function* archiveBatches(
  { ledger, directory, write }: ArchiveParts,
  { batches }: Pick<PurgePlan, 'batches'>,
  request: ArchiveRequest,
): AsyncGenerator<ArchiveStep> {
  for (const { batchId, begun } of batches) {
    if (begun === 'archived') {
      for await (const { rows } of ledger.purge({ ...request, only: batchId })) yield { batchId, kind: 'taken', rows }
      continue
    }
    const record = await ledger.openRecord(batchId)
    const file = await write(join(directory, batchId), record.lines()).finally(record.close)
    yield { batchId, kind: 'written', file }
    const archived = { batchId, version: record.version, file }
    for await (const { rows } of ledger.purge({ ...request, only: batchId, archived }))
      yield { batchId, kind: 'taken', rows }
  }
}
