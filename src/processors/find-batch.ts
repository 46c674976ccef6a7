// The batch that a file is already, where its results are asked for at a certain place.

import type { BatchId } from '../domain/ids.ts'
import type { InstructionFile, Known, SubmitRequest } from '../domain/submission.ts'
import type { IntakeLedger } from '../ports/ledger/intake.ts'
import type { QueryLedger } from '../ports/ledger/queries.ts'
import { findKnown, holdAgainst } from './submit-file.ts'

/** Faults where the results of that batch may not be written there; null: of a new one. */
export type CheckOut = (batch: {
  readonly batchId: BatchId | null
  readonly isKnown?: (batchId: string) => Promise<boolean>
}) => Promise<{ readonly exceptionsPath?: string | undefined }>

type FindingLedger = Pick<IntakeLedger, 'findUnfinished' | 'otherBrakes'> & Pick<QueryLedger, 'batch' | 'batches'>

/**
 * The batch that this file is already: unfinished, or never written, or the very one whose finished results stand there (cron
 * fired twice). null: it is new. Refuses a wrong place before anything is recorded.
 */
export async function findSame(
  file: InstructionFile,
  request: SubmitRequest,
  checkOut: CheckOut,
  ledger: FindingLedger,
): Promise<Known | null> {
  const known = await findKnown(file, request, ledger)
  if (known?.kind === 'read-otherwise') return known
  if (known !== null) {
    await checkOut({ batchId: known.batchId })
    return known
  }
  try {
    await checkOut({ batchId: null, isKnown: async (id) => (await ledger.batch(id)) !== null })
    return null
  } catch (error) {
    const finished = request.retry.length > 0 ? null : await findWritten(file.sha256, request, checkOut, ledger)
    if (finished === null) throw error
    return holdAgainst(finished, file, request, ledger)
  }
}

async function findWritten(
  sha256: string,
  request: SubmitRequest,
  checkOut: CheckOut,
  ledger: FindingLedger,
): Promise<BatchId | null> {
  for (const batch of await ledger.batches()) {
    if (batch.fileSha256 !== sha256 || batch.accountId !== request.accountId || batch.runKey !== request.runKey)
      continue
    // Another sheet of the workbook, or another operation: what stands there says nothing of what is asked now.
    if (batch.fingerprint !== request.fingerprint) continue
    // Written again, they would have lost the columns of the file.
    if (batch.purgedAtMs !== null) continue
    const isIts = await checkOut({ batchId: batch.batchId }).then(
      ({ exceptionsPath }) => exceptionsPath === undefined || exceptionsPath !== batch.resultsPath,
      () => false,
    )
    if (isIts) return batch.batchId
  }
  return null
}
