// From a file to a recorded batch: read to its last row, checked, and only then recorded; or refused whole.

import { Fault } from '../domain/fault.ts'
import type { Actor, IntakeLedger } from '../domain/ports.ts'
import {
  type InstructionFile,
  knownBatch,
  type Reviewed,
  refusalsOf,
  type SubmitRequest,
  type Submitted,
} from '../domain/submission.ts'

export async function reviewFile(
  file: InstructionFile,
  request: SubmitRequest,
  ledger: Pick<IntakeLedger, 'openDraft'>,
  lookOnly = false,
): Promise<Reviewed> {
  if (request.retry.length > 0 && !file.fedBack) {
    throw new Fault(
      'usage',
      '--retry takes a results file: this file has no result_reference column. Nothing was recorded and nothing was sent.',
    )
  }
  const draft = await ledger.openDraft({
    accountId: request.accountId,
    fileName: file.name,
    fileSha256: file.sha256,
    runKey: request.runKey,
    columns: file.columns,
    notCards: file.notCards ?? [],
    fingerprint: request.fingerprint,
    sandbox: request.sandbox,
    fedBack: file.fedBack,
    retry: request.retry,
    lookalikeDays: request.lookalikeDays,
    nowMs: request.nowMs,
    canaryRows: request.canaryRows,
    maxDeclinedPercent: request.maxDeclinedPercent,
    lookOnly,
  })
  try {
    for await (const rows of file.rows()) await draft.add(rows)
    const review = await draft.review()
    return { draft, review, refusals: refusalsOf(review, request) }
  } catch (error) {
    await draft.discard()
    throw error
  }
}

/**
 * A refused draft is left open for its faults to be shown: discard it. `onReviewed` sees the draft of an unknown file
 * before anything of it is recorded; if that fails, nothing is.
 */
export async function submitFile(
  file: InstructionFile,
  request: SubmitRequest,
  actor: Actor,
  ledger: IntakeLedger,
  onReviewed: (reviewed: Reviewed) => Promise<void> = async () => {},
): Promise<Submitted> {
  const { accountId, runKey } = request
  const findKnown = async () =>
    knownBatch(await ledger.findUnfinished({ accountId, fileSha256: file.sha256, runKey }), request)
  const known = await findKnown()
  if (known !== null) return known
  const reviewed = await reviewFile(file, request, ledger)
  // Only now no other submit is under way: one of the same file may have ended in the meantime.
  const recordedMeanwhile = await findKnown()
  if (recordedMeanwhile !== null) {
    await reviewed.draft.discard()
    return recordedMeanwhile
  }
  try {
    await onReviewed(reviewed)
  } catch (error) {
    await reviewed.draft.discard()
    throw error
  }
  if (reviewed.refusals.length > 0) return { kind: 'refused', reviewed }
  return { kind: 'recorded', batchId: await reviewed.draft.record(actor), review: reviewed.review }
}
