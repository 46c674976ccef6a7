// How instructions get to the ledger, and outcomes back.

import type { Listening, OutcomeHandler } from './event.ts'
import type { Batch, Instruction, Submitted, SubmittedBatch } from './instruction.ts'

export interface Transport {
  submit(instruction: Instruction): Promise<Submitted>
  submitBatch(batch: Batch): Promise<SubmittedBatch>
  cancel(reference: string, reason: string, merchant?: string): Promise<void>
  onOutcome(handler: OutcomeHandler): Listening
  close(): Promise<void>
}

/** How long an answer is waited for. */
export const WITHIN_MS = 30_000
/** How long an event waits whose handler failed. */
export const AGAIN_MS = 1_000
