// Archiving, with the files that it writes.

import { mkdir } from 'node:fs/promises'
import type { ArchiveRequest } from '../domain/archive.ts'
import type { PurgePlan } from '../domain/purge.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { ArchiveStep } from '../processors/archive-batches.ts'

/** `directory`: made where it is missing, for its owner alone. */
export async function* archiveInto(
  ledger: Ledger,
  directory: string,
  plan: Pick<PurgePlan, 'batches'>,
  request: ArchiveRequest,
): AsyncGenerator<ArchiveStep> {
  const [{ archiveBatches }, { writeArchive }] = await Promise.all([
    import('../processors/archive-batches.ts'),
    import('../results/archive-file.ts'),
  ])
  await mkdir(directory, { recursive: true, mode: 0o700 })
  yield* archiveBatches({ ledger, directory, write: writeArchive }, plan, request)
}
