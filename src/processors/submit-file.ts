// From a file to a recorded batch: read to its last row, checked, and only then recorded; or refused whole.

import type { Actor } from '../domain/actor.ts'
import type { BatchView } from '../domain/batch.ts'
import { countIn } from '../domain/batch-status.ts'
import { assertNotInterrupted, type Draft, type Lookalike } from '../domain/draft.ts'
import { assert, Fault } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import { firstOf } from '../domain/pages.ts'
import type { State } from '../domain/states.ts'
import {
  type FirstFindings,
  type InstructionFile,
  type Known,
  knownBatch,
  LONG_AGO_MS,
  type LookalikeCounts,
  type Reviewed,
  refusalsOf,
  type SubmitRequest,
  type Submitted,
  undeclaredIn,
} from '../domain/submission.ts'
import { words } from '../domain/words.ts'
import type { IntakeLedger, WaitingToSubmit } from '../ports/ledger/intake.ts'
import type { QueryLedger } from '../ports/ledger/queries.ts'

export async function reviewFile(
  file: InstructionFile,
  request: SubmitRequest,
  ledger: Pick<IntakeLedger, 'openDraft'>,
  lookOnly = false,
  waiting: WaitingToSubmit = {},
): Promise<Reviewed> {
  const runsAgain = request.retry.length > 0 || (request.reattempt ?? null) !== null
  if (runsAgain && !file.fedBack && file.hasCards !== true && request.runKey === null) {
    throw new Fault(
      'usage',
      words`${{ set: 'retry', to: null }} takes a results file, or the file itself under its run key: this one has no result_reference column and no run key was given. Nothing was recorded and nothing was sent.`,
    )
  }
  if (request.onlyNew === true && file.fedBack) {
    throw new Fault(
      'usage',
      words`${{ set: 'only-new', to: null }} is for a file of instructions: results that are fed back hold no new rows. Nothing was recorded and nothing was sent.`,
    )
  }
  const header = {
    accountId: request.accountId,
    fileName: file.name,
    fileSha256: file.sha256,
    ...(file.queued !== undefined && { queued: file.queued }),
    runKey: request.runKey,
    columns: file.columns,
    notCards: file.notCards ?? [],
    carried: file.carried ?? [],
    ...(file.months !== undefined && { months: file.months }),
    fingerprint: request.fingerprint,
    sandbox: request.sandbox,
    fedBack: file.fedBack,
    retry: request.retry,
    reattempt: request.reattempt ? { ...request.reattempt, xtlOrderIdOf: file.xtlOrderIdOf } : null,
    onlyNew: request.onlyNew ?? false,
    lookalikeDays: request.lookalikeDays,
    captureTolerance: request.captureTolerance,
    authorizationDays: request.authorizationDays ?? null,
    refundDays: request.refundDays ?? null,
    dailyLimits: request.dailyLimits,
    reasonRules: request.reasonRules ?? [],
    lookalikesAllowed: request.allowLookalikes,
    nowMs: request.nowMs,
    canaryRows: request.canaryRows,
    maxDeclinedPercent: request.maxDeclinedPercent,
    expiresAfterMs: request.expiresAfterMs ?? null,
    lookOnly,
  }
  const draft = await ledger.openDraft(header, waiting)
  try {
    for await (const rows of file.rows()) {
      assertNotInterrupted(waiting.signal)
      await draft.add(rows)
    }
    const review = await draft.review()
    if (runsAgain && !file.fedBack && review.again.repeated.length + review.again.retried.length === 0)
      throw nothingToRetryFault(request)
    const { lookalikes, ...counts } = await surveyLookalikes(draft, request.nowMs)
    const causes = await draft.causes(CAUSES_SHOWN)
    const first = { causes, faults: await firstOf(draft.faults(), FAULTS_SHOWN), lookalikes }
    return { draft, review, first, refusals: refusalsOf(review, counts, request) }
  } catch (error) {
    await draft.discard()
    throw error
  }
}

function nothingToRetryFault({ runKey }: SubmitRequest): Fault {
  const where = runKey === null ? '' : ` under the run key ${runKey}`
  return new Fault(
    'usage',
    words`No row of this file is recorded${where}, so that ${{ set: 'retry', to: null }} finds nothing to run again. Nothing was recorded and nothing was sent. Check the run key; to send the file for the first time, leave out ${{ set: 'retry', to: null }}.`,
  )
}

/** What a person reads on a screen. */
const CAUSES_SHOWN = 50
/** Look-alikes named one by one; the rest is counted. */
const LOOKALIKES_SHOWN = 20
/** What a program gets in one object; the file of rejects has them all. */
const FAULTS_SHOWN = 1000

async function surveyLookalikes(
  draft: Draft,
  nowMs: number,
): Promise<LookalikeCounts & Pick<FirstFindings, 'lookalikes'>> {
  const lookalikes: Lookalike[] = []
  const longAgo = new Map<string, { rows: number; handedInMs: number }>()
  const stillToSend = new Map<string, number>()
  let lost = 0
  let recorded = 0
  let changed = 0
  let questions = 0
  for await (const page of draft.lookalikes()) {
    lookalikes.push(...page.slice(0, LOOKALIKES_SHOWN - lookalikes.length))
    for (const { reference, like, refundedBefore, changedFrom, question, lost: isLost } of page) {
      if (question !== null) questions += 1
      if (isLost) lost += 1
      if (changedFrom !== null) changed += 1
      if (like.batchId === null || refundedBefore !== null || question !== null) continue
      if (!isLost || like.reference !== reference) recorded += 1
      if (like.atMs !== null && like.atMs < nowMs - LONG_AGO_MS) {
        longAgo.set(like.batchId, { rows: (longAgo.get(like.batchId)?.rows ?? 0) + 1, handedInMs: like.atMs })
      }
      if (!isToSend(like.state)) continue
      stillToSend.set(like.batchId, (stillToSend.get(like.batchId) ?? 0) + 1)
    }
  }
  return { lookalikes, recorded, changed, lost, questions, longAgo, stillToSend }
}

function isToSend(state: State | null): boolean {
  return state === 'READY' || state === 'SENDING'
}

type KnowingLedger = Pick<IntakeLedger, 'findUnfinished' | 'otherBrakes'> & Pick<QueryLedger, 'batch'>

/** The batch that this file is already, of those that are not over; null: it is new. */
export async function findKnown(
  file: InstructionFile,
  request: SubmitRequest,
  ledger: KnowingLedger,
): Promise<Known | null> {
  const { accountId, runKey, fingerprint } = request
  const found = knownBatch(
    await ledger.findUnfinished({ accountId, fileSha256: file.sha256, runKey, fingerprint }),
    request,
  )
  return found?.kind === 'known' ? holdAgainst(found.batchId, file, request, ledger) : found
}

/** A batch goes on as it was recorded: what would restrain it now and was not asked for then is never passed over. */
export async function holdAgainst(
  batchId: BatchId,
  file: InstructionFile,
  request: SubmitRequest,
  ledger: KnowingLedger,
): Promise<Known> {
  const batch = await ledger.batch(batchId)
  assert(batch !== null, `batch ${batchId} is gone`)
  const { rows, totals: totalsRead } = batch
  const open = countIn(batch, 'READY') + countIn(batch, 'SENDING')
  const amountsUnread = await amountsUnreadIn(file, batch, request)
  const refusals = undeclaredIn({ rows, totalsRead, amountsUnread }, request)
  if (refusals.length > 0) return { kind: 'holds-other', batchId, rows, open, refusals }
  const brakes = await ledger.otherBrakes(batchId, request)
  return brakes.length > 0 ? { kind: 'braked-otherwise', batchId, brakes, open } : { kind: 'known', batchId }
}

/** The record does not say whether a bad row had an amount; the file does. */
async function amountsUnreadIn(
  file: InstructionFile,
  batch: BatchView,
  { expectTotals }: SubmitRequest,
): Promise<number> {
  if (expectTotals.length === 0 || countIn(batch, 'INVALID') === 0) return 0
  let unread = 0
  for await (const rows of file.rows()) unread += rows.filter(({ money }) => money === 'unread').length
  return unread
}

export interface Submitting extends Pick<WaitingToSubmit, 'onWait'> {
  /** Sees the draft of an unknown file before anything of it is recorded; if it fails, nothing is. */
  readonly onReviewed?: (reviewed: Reviewed) => Promise<void>
  /** Told to stop before the batch is visible: nothing is recorded. */
  readonly signal?: AbortSignal
}

/** A refused draft is left open for its faults to be shown: discard it. */
export async function submitFile(
  file: InstructionFile,
  request: SubmitRequest,
  actor: Actor,
  ledger: IntakeLedger & KnowingLedger,
  { onReviewed, signal, onWait }: Submitting = {},
): Promise<Submitted> {
  const known = await findKnown(file, request, ledger)
  if (known !== null) return known
  const reviewed = await reviewFile(file, request, ledger, false, { signal, onWait })
  // Only now no other submit is under way: one of the same file may have ended in the meantime.
  const recordedMeanwhile = await findKnown(file, request, ledger)
  if (recordedMeanwhile !== null) {
    await reviewed.draft.discard()
    return recordedMeanwhile
  }
  try {
    await onReviewed?.(reviewed)
  } catch (error) {
    await reviewed.draft.discard()
    throw error
  }
  if (reviewed.refusals.length > 0) return { kind: 'refused', reviewed }
  const { draft, review, first } = reviewed
  return { kind: 'recorded', batchId: await draft.record(actor, signal), review, lookalikes: first.lookalikes }
}
