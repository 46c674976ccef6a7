// What a batch is called.

import { randomBytes } from 'node:crypto'
import type { BatchId } from '../domain/ids.ts'

/** Date and five letters or digits without look-alikes: short to read out, and never all digits. */
export function newBatchId(nowMs: number): BatchId {
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789'
  const random = [...randomBytes(5)].map((byte) => letters[byte % letters.length]).join('')
  return `${new Date(nowMs).toISOString().slice(2, 10).replaceAll('-', '')}-${random}` as BatchId
}
