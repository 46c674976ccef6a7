// What pages of one batch have in common.

import type { BatchView } from '../../domain/batch.ts'
import { Fault } from '../../domain/fault.ts'
import type { Ledger } from '../../ports/ledger/ledger.ts'
import { type ConsoleDoor, PageError } from '../door.ts'

export type OfBatch = { readonly Params: { readonly batch: string } }

/** By its whole id. null: there is none. */
export async function batchOf(ledger: Pick<Ledger, 'batch'>, id: string): Promise<BatchView | null> {
  // The beginning of several is a fault of whoever asks; that the ledger cannot be read is not.
  const batch = await ledger.batch(id).catch((error: unknown) => {
    if (error instanceof Fault && error.code === 'usage') return null
    throw error
  })
  return batch?.batchId === id ? batch : null
}

export async function findBatch({ ledger }: Pick<ConsoleDoor, 'ledger'>, id: string): Promise<BatchView> {
  const batch = await batchOf(ledger, id)
  if (batch !== null) return batch
  throw noSuchBatch()
}

export function noSuchBatch(): PageError {
  return new PageError(
    404,
    'There is no such batch in this ledger. Nothing was changed. Check the id, or search for the name of the file.',
  )
}

export function nameOf({ batchId, fileName }: Pick<BatchView, 'batchId' | 'fileName'>): string {
  return fileName ?? `Batch ${batchId}`
}
