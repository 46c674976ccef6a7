// What is asked of a file of instructions, what it turned out to hold, and why it is refused. Pure.

import type { BatchView } from './batch.ts'
import type { AboveLimit, DailyLimits } from './daily-limit.ts'
import type {
  Correction,
  Draft,
  DraftReview,
  DraftRow,
  FarDate,
  FaultCause,
  Lookalike,
  QueuedBatch,
  RetryStatus,
  RowFault,
} from './draft.ts'
import type { AccountId, BatchId } from './ids.ts'
import type { ToldToSend } from './ingest.ts'
import { type Fingerprint, parseFingerprint } from './interpretation.ts'
import { type Currency, formatAmount, type Money } from './money.ts'
import type { ReasonRule } from './reason-categories.ts'
import type { ReattemptAsked } from './reattempt.ts'

/** A batch of the same bytes, account and run key that is not over. */
export interface UnfinishedBatch {
  readonly batchId: BatchId
  readonly fingerprint: Fingerprint
  /** It was cancelled and nothing of it is open: only its results were never written. */
  readonly givenUp: boolean
}

/** What stops a batch by itself, as its submitter asked. */
export type Brake = 'canary' | 'max-declined' | 'expires-after'

/** A surveyed file. Every reading of its rows is of the same bytes, or it fails. */
export interface InstructionFile {
  readonly name: string
  readonly sha256: string
  /** It is no file but a batch that a service put into the queue. Absent: a file. */
  readonly queued?: QueuedBatch
  readonly columns: readonly string[]
  readonly fedBack: boolean
  /** Its rows have card details. Their results do not: what failed is run again from the file itself. */
  readonly hasCards?: boolean
  /** Columns whose numbers only look like card numbers, as a person says. */
  readonly notCards?: readonly string[]
  /** See `DraftHeader`. */
  readonly carried?: readonly string[]
  readonly months?: { readonly names: readonly string[]; readonly columns: readonly string[] }
  /** The merchant's order id that goes with a reference, where the row does not name another. */
  readonly xtlOrderIdOf: (reference: string) => string
  rows(): AsyncIterable<readonly DraftRow[]>
}

/** Why a file is no table of instructions. Holds no cell: it may be shown and logged. */
export interface FileRefusal {
  readonly kind: 'refused'
  readonly code: 'card-data' | 'structure'
  readonly line: number | null
  readonly column: string | null
  readonly problem: string
  readonly remedy: string
}

export interface SubmitRequest {
  readonly accountId: AccountId
  readonly runKey: string | null
  /** How its bytes are read. */
  readonly fingerprint: Fingerprint
  readonly sandbox: boolean
  readonly retry: readonly RetryStatus[]
  /** Declined charges that are asked for once more. Absent or null: none. */
  readonly reattempt?: ReattemptAsked | null
  /** Rows that an earlier file holds are not sent, and that is no reason to refuse the file. Absent: false. */
  readonly onlyNew?: boolean
  readonly lookalikeDays: number
  readonly captureTolerance: number
  /** See `DraftHeader`. */
  readonly authorizationDays?: number | null
  readonly refundDays?: number | null
  /** How many rows are meant although their `execute_at` is far from now. Absent: none. */
  readonly allowExecuteAt?: number
  readonly dailyLimits: DailyLimits | null
  /** See `DraftHeader`. */
  readonly reasonRules?: readonly ReasonRule[]
  readonly allowLookalikes: number
  readonly allowAboveLimit: number
  readonly skipInvalid: boolean
  readonly expectCount: number | null
  readonly expectTotals: readonly Money[]
  readonly canaryRows: number | null
  readonly maxDeclinedPercent: number | null
  /** See `DraftHeader`. Absent or null: rows that name no `expires_at` do not expire. */
  readonly expiresAfterMs?: number | null
  readonly nowMs: number
}

/** Why a file is refused although it can be read. */
export type Refusal =
  | { readonly kind: 'bad-rows'; readonly rows: number }
  /** Rows of a results file that are no recorded row; leaving them out would let them come back as new ones. */
  | { readonly kind: 'unidentified'; readonly rows: number }
  /** Most rows are those of earlier files: the file is one of them, mended. */
  | { readonly kind: 'correction'; readonly correction: Correction; readonly rows: number; readonly newRows: number }
  | LookalikesRefused
  | FarDatesRefused
  | AboveLimitRefused
  | Undeclared

/** What the file holds is not what was declared of it. */
export type Undeclared =
  | { readonly kind: 'count'; readonly expected: number; readonly found: number }
  | { readonly kind: 'total'; readonly expected: string; readonly found: string; readonly difference: string }
  /** Rows with an unreadable amount; `found` leaves them out. */
  | { readonly kind: 'total-unknown'; readonly expected: string; readonly found: string; readonly unread: number }
  /** Declared totals cover all the money of the file. */
  | { readonly kind: 'currency'; readonly found: string; readonly rows: number }

export interface LookalikesRefused extends LookalikeCounts {
  readonly kind: 'lookalikes'
  readonly found: number
  readonly allowed: number
  /** Rows that would be sent. */
  readonly accepted: number
  /** Ways on that were taken already. */
  readonly isOnlyNew: boolean
  readonly hasRunKey: boolean
}

/** Rows with an `execute_at` more than a day ago, or more than 400 days ahead. */
export interface FarDatesRefused extends FarDate {
  readonly kind: 'execute-at'
  readonly found: number
  readonly allowed: number
}

export interface AboveLimitRefused {
  readonly kind: 'above-limit'
  readonly found: number
  readonly allowed: number
  readonly above: readonly AboveLimit[]
}

/** A sale that was approved longer ago may be another month's; whether it is, time alone does not tell. */
export const LONG_AGO_MS = 30 * 86_400_000

/** When most of what a file asks for was done, or will be, by what was recorded before. */
export interface DoneLongAgo {
  readonly atMs: number
  readonly days: number
  readonly batchId: BatchId
  readonly rows: number
}

/** Before that it is so long ago that another month may be meant. What was recorded today is an order that came twice. */
export function longAgoMs({ nowMs, lookalikeDays }: Pick<SubmitRequest, 'nowMs' | 'lookalikeDays'>): number {
  return nowMs - Math.max(1, lookalikeDays) * 86_400_000
}

/** What of a file is recorded before. A time is null where there are no such rows. */
export interface Repeated {
  readonly sent: number
  readonly duplicates: number
  readonly lastMs: number | null
  /** Sales of long ago. */
  readonly oldSales: number
  readonly lastOldMs: number | null
}

/**
 * When the last was done of what must be told; null: nothing must. A list that grows has old rows and new ones as well (`isGrowing`): it
 * is taken for no other month's. Of refunds and captures it is always so, since no order is refunded every month.
 */
export function repeatsAt(repeated: Repeated, sinceMs: number, isGrowing: boolean): number | null {
  const { sent, duplicates, lastMs, oldSales, lastOldMs } = repeated
  if (sent === 0 && lastMs !== null && lastMs < sinceMs) return lastMs
  return !isGrowing && oldSales * 2 >= sent + duplicates ? lastOldMs : null
}

export function doneLongAgo(done: Omit<DoneLongAgo, 'days'>, nowMs: number): DoneLongAgo {
  return { ...done, days: Math.floor((nowMs - done.atMs) / 86_400_000) }
}

/** A batch that was over when its file came again: then nothing of it was sent. */
export function metAgain(batch: BatchView, request: Pick<SubmitRequest, 'nowMs' | 'lookalikeDays'>): BatchView {
  const { batchId, createdAtMs, rows } = batch
  if (batch.doneLongAgo !== null || createdAtMs >= longAgoMs(request)) return batch
  return { ...batch, doneLongAgo: doneLongAgo({ batchId, atMs: createdAtMs, rows }, request.nowMs) }
}

/** Which of the look-alikes are of a kind that a person has to know of. */
export interface LookalikeCounts {
  /** Rows that are like one row of an earlier file or message, or have its target and another amount. */
  readonly recorded: number
  /** Rows that have the target of a recorded row and ask for another amount. */
  readonly changed: number
  /** Rows that may have run in a record that was lost. */
  readonly lost: number
  /** Rows that are alike to none, and do not fit what is known of their target. */
  readonly questions: number
  /** Rows that are like one row of a batch of long ago, by that batch. */
  readonly longAgo: ReadonlyMap<string, { readonly rows: number; readonly handedInMs: number }>
  /** Rows that are like a row still to be sent, by its batch. */
  readonly stillToSend: ReadonlyMap<string, number>
}

/** The first of what was found in the rows of a file: as much as a person or a program is shown. */
export interface FirstFindings {
  readonly causes: readonly FaultCause[]
  readonly faults: readonly RowFault[]
  readonly lookalikes: readonly Lookalike[]
}

/** A file read to its end. The draft is open: record it or discard it. */
export interface Reviewed {
  readonly draft: Draft
  readonly review: DraftReview
  readonly first: FirstFindings
  readonly refusals: readonly Refusal[]
}

export function refusalsOf(review: DraftReview, likes: LookalikeCounts, request: SubmitRequest): Refusal[] {
  const refusals: Refusal[] = []
  if (review.invalid > 0 && !request.skipInvalid) refusals.push({ kind: 'bad-rows', rows: review.invalid })
  if (review.unidentified > 0) refusals.push({ kind: 'unidentified', rows: review.unidentified })
  const { correction, rows, accepted: newRows } = review
  if (correction !== null && request.onlyNew !== true) refusals.push({ kind: 'correction', correction, rows, newRows })
  if (review.lookalikes !== request.allowLookalikes && review.lookalikes > 0) {
    refusals.push({
      kind: 'lookalikes',
      found: review.lookalikes,
      allowed: request.allowLookalikes,
      accepted: newRows,
      isOnlyNew: request.onlyNew === true,
      hasRunKey: request.runKey !== null,
      ...likes,
    })
  }
  const above = review.aboveLimit.reduce((sum, { rows: found }) => sum + found, 0)
  if (above !== request.allowAboveLimit && above > 0)
    refusals.push({ kind: 'above-limit', found: above, allowed: request.allowAboveLimit, above: review.aboveLimit })
  return [...refusals, ...farDatesIn(review, request), ...undeclaredIn(review, request)]
}

function farDatesIn(
  { farDates: { rows, first } }: DraftReview,
  { allowExecuteAt = 0 }: SubmitRequest,
): FarDatesRefused[] {
  return first === null || rows === allowExecuteAt
    ? []
    : [{ kind: 'execute-at', found: rows, allowed: allowExecuteAt, ...first }]
}

/** What a file, or the batch that it became, holds: every row as read, whatever became of it. */
type Held = Pick<DraftReview, 'rows' | 'totalsRead' | 'amountsUnread'>

/** What was declared is what is in the file. */
export function undeclaredIn(
  held: Held,
  { expectCount, expectTotals }: Pick<SubmitRequest, 'expectCount' | 'expectTotals'>,
): Undeclared[] {
  const isOther = expectCount !== null && expectCount !== held.rows
  const count = isOther ? [{ kind: 'count' as const, expected: expectCount, found: held.rows }] : []
  return [...count, ...refusalsByTotal(held, expectTotals)]
}

function refusalsByTotal(review: Held, expectedTotals: readonly Money[]): Undeclared[] {
  if (expectedTotals.length === 0) return []
  const refusals: Undeclared[] = []
  const unread = review.amountsUnread
  for (const expected of expectedTotals) {
    const { money: found } = sumOf(review, expected.currency)
    const named = { expected: written(expected), found: written(found) }
    const amountMinor = found.amountMinor - expected.amountMinor
    if (unread > 0) refusals.push({ kind: 'total-unknown', ...named, unread })
    else if (amountMinor !== 0n)
      refusals.push({ kind: 'total', ...named, difference: differenceText(amountMinor, expected.currency) })
  }
  const declared = expectedTotals.map(({ currency }) => currency)
  const others = new Set(review.totalsRead.flatMap(({ currency }) => (currency === '' ? [] : [currency])))
  for (const currency of declared) others.delete(currency)
  for (const currency of others) {
    const { money, rows } = sumOf(review, currency)
    refusals.push({ kind: 'currency', found: written(money), rows })
  }
  return refusals
}

function sumOf(review: Held, currency: Currency): { money: Money; rows: number } {
  const totals = review.totalsRead.filter((total) => total.currency === currency)
  return {
    money: { amountMinor: totals.reduce((sum, total) => sum + total.amountMinor, 0n), currency },
    rows: totals.reduce((sum, total) => sum + total.count, 0),
  }
}

function differenceText(amountMinor: bigint, currency: Currency): string {
  const size = amountMinor < 0n ? -amountMinor : amountMinor
  return `${formatAmount({ amountMinor: size, currency })} ${currency} too ${amountMinor < 0n ? 'little' : 'much'}`
}

function written(money: Money): string {
  return `${money.currency}=${formatAmount(money)}`
}

/** What would be sent is what a person was told: as many rows, and the same sum of each operation and currency. */
export function isAsTold({ accepted, totals }: Pick<DraftReview, 'accepted' | 'totals'>, told: ToldToSend): boolean {
  const found = totals.map(({ operation, currency, count, amountMinor }) =>
    sumText({ operation, currency, count, amount: currency === '' ? '' : formatAmount({ amountMinor, currency }) }),
  )
  const wanted = told.totals.map(sumText)
  return accepted === told.rows && JSON.stringify(found.toSorted()) === JSON.stringify(wanted.toSorted())
}

function sumText({ operation, currency, count, amount }: ToldToSend['totals'][number]): string {
  return [operation, currency, count, amount].join(' ')
}

/**
 * What a person answers for who says that both are meant: the two rows, the reason why they were asked, and whether the other is in trouble. The file is known by its
 * bytes and recorded rows by their numbers, so that this says which rows they are. Plain letters and digits.
 */
export function pairOf({
  rowNo,
  like,
  lost,
  changedFrom,
  refundedBefore,
  besideVoid,
  question,
  moneyWarning,
}: Lookalike): string {
  const sumOfPair = changedFrom ?? refundedBefore
  const why = lost
    ? 'lost'
    : changedFrom !== null
      ? 'changed'
      : refundedBefore !== null
        ? 'refunded'
        : besideVoid
          ? 'void'
          : (question?.code ?? 'same')
  const sum = sumOfPair === null ? [] : [sumOfPair.amountMinor, sumOfPair.currency ?? 'several']
  // That it is in doubt, or that money differs, is what somebody looks at before they tick.
  const trouble = [like.state === 'IN_DOUBT' ? 'doubt' : [], moneyWarning === null ? [] : 'warned'].flat()
  return [rowNo, like.batchId ?? 'file', like.rowNo, why, ...sum, ...trouble].join(' ')
}

/** The bytes are those of a batch that reads them otherwise. */
export interface ReadOtherwise {
  readonly kind: 'read-otherwise'
  readonly batchId: BatchId
  /** Of that batch. */
  readonly fingerprint: Fingerprint
}

/** The file is a batch that was recorded without a brake that is asked for now. */
export interface BrakedOtherwise {
  readonly kind: 'braked-otherwise'
  readonly batchId: BatchId
  readonly brakes: readonly Brake[]
  /** Rows of it that are not settled. */
  readonly open: number
}

/** The file is a batch that does not hold what is declared of it now. */
export interface HoldsOther {
  readonly kind: 'holds-other'
  readonly batchId: BatchId
  readonly rows: number
  readonly open: number
  readonly refusals: readonly Undeclared[]
}

/** The same file was submitted before: it is that batch, or what stands against going on with it. */
export type Known = { readonly kind: 'known'; readonly batchId: BatchId } | ReadOtherwise | BrakedOtherwise | HoldsOther

export interface RecordedFile extends Pick<FirstFindings, 'lookalikes'> {
  readonly kind: 'recorded'
  readonly batchId: BatchId
  readonly review: DraftReview
}

export type Submitted = RecordedFile | Known | { readonly kind: 'refused'; readonly reviewed: Reviewed }

/**
 * Which batch this file is already, of those that are not over; null: it is new. To run rows of it again is another order, and is in
 * the way of none, as a batch is that was given up.
 */
export function knownBatch(
  known: UnfinishedBatch | null,
  request: SubmitRequest,
): { readonly kind: 'known'; readonly batchId: BatchId } | ReadOtherwise | null {
  if (known === null) return null
  const { batchId, fingerprint } = known
  if (fingerprint === request.fingerprint) return { kind: 'known', batchId }
  if (known.givenUp || runsAgain(request) || runsAgain(parseFingerprint(fingerprint))) return null
  return { kind: 'read-otherwise', batchId, fingerprint }
}

function runsAgain({
  retry = [],
  reattempt,
}: {
  readonly retry?: readonly RetryStatus[] | undefined
  readonly reattempt?: ReattemptAsked | readonly string[] | null | undefined
}): boolean {
  return retry.length > 0 || (reattempt ?? null) !== null
}
