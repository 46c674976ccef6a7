// From a file to a batch: what the file is to this ledger, and recording it.

import type { Actor } from '../domain/actor.ts'
import type { BatchId } from '../domain/ids.ts'
import type { InstructionFile, Known, Reviewed, SubmitRequest, Submitted } from '../domain/submission.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { CheckOut } from '../processors/find-batch.ts'
import type { Submitting } from '../processors/submit-file.ts'
import { systemClock } from './clock.ts'

export interface Submission {
  /** Compares with the record, and records nothing. */
  review(file: InstructionFile, request: SubmitRequest): Promise<Reviewed>
  submit(file: InstructionFile, request: SubmitRequest, actor: Actor, submitting?: Submitting): Promise<Submitted>
  /** The batch that this file is already, or whose finished results stand where `checkOut` looks; null: it is new. */
  findSame(file: InstructionFile, request: SubmitRequest, checkOut: CheckOut): Promise<Known | null>
  /** `batchId`: what this file is. */
  holdAgainst(batchId: BatchId, file: InstructionFile, request: SubmitRequest): Promise<Known>
}

export async function prepareSubmission(ledger: Ledger): Promise<Submission> {
  const [{ holdAgainst, reviewFile, submitFile }, { findSame }, { createSpans }] = await Promise.all([
    import('../processors/submit-file.ts'),
    import('../processors/find-batch.ts'),
    import('../observability/spans.ts'),
  ])
  const spans = createSpans(systemClock)
  return {
    review: (file, request) => reviewFile(file, request, ledger, true),
    submit: (file, request, actor, submitting) =>
      spans.within(
        'batch.submit',
        () => submitFile(file, request, actor, ledger, submitting),
        (submitted) => ('batchId' in submitted ? { 'tranche.batch': submitted.batchId } : {}),
      ),
    findSame: (file, request, checkOut) => findSame(file, request, checkOut, ledger),
    holdAgainst: (batchId, file, request) => holdAgainst(batchId, file, request, ledger),
  }
}
