// What pages of one batch have in common.

import type { FastifyReply } from 'fastify'
import type { BatchView } from '../../domain/batch.ts'
import type { BatchId } from '../../domain/ids.ts'
import { type ConsoleDoor, PageError } from '../door.ts'
import { batchPath } from '../ways.ts'

export type OfBatch = { readonly Params: { readonly batch: string } }

/** By its whole id. */
export async function findBatch({ ledger }: Pick<ConsoleDoor, 'ledger'>, id: string): Promise<BatchView> {
  const batch = await ledger.batch(id).catch(() => null)
  if (batch !== null && batch.batchId === id) return batch
  throw noSuchBatch()
}

export function noSuchBatch(): PageError {
  return new PageError(404, 'There is no such batch in this ledger. Nothing was changed.')
}

export function nameOf({ batchId, fileName }: Pick<BatchView, 'batchId' | 'fileName'>): string {
  return fileName ?? `Batch ${batchId}`
}

export function backTo(reply: FastifyReply, batchId: BatchId): FastifyReply {
  return reply.redirect(batchPath(batchId), 303)
}
