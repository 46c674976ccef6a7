// Executes one slice. Each due row: health check → permit → card, where it has one → reservation → claim → send → verdict →
// settle. The permit is free for the next row when the settlement is handed in.

import { type CardDetails, type CardMask, formatCardMask, maskOf } from '../domain/card.ts'
import { type DailyLimits, limitedBy } from '../domain/daily-limit.ts'
import type { AccountId, BatchId, RowId } from '../domain/ids.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { ReasonRule } from '../domain/reason-categories.ts'
import { type Judging, signalOf, type Verdict, verdictOn } from '../domain/verdict.ts'
import type { AttemptSeen } from '../ports/attempts.ts'
import type { CardReader } from '../ports/cards.ts'
import type { Clock } from '../ports/clock.ts'
import type { Slice } from '../ports/dispatch.ts'
import type { Fence, Gateway } from '../ports/gateway.ts'
import type { DueRow, Settled, WorkLedger } from '../ports/ledger/work.ts'
import type { AccountLimiter } from '../throttle/limiter.ts'
import type { Reservation } from '../throttle/pacer.ts'
import type { Permit } from '../throttle/permits.ts'
import type { Refused } from '../throttle/refusals.ts'
import { createSendDeadline, fenceOf } from '../throttle/send-deadline.ts'
import { settlementOf } from './settlement.ts'

/** What a request says of who sends it. */
export interface Credentials {
  /** One-way, and of this ledger alone. It takes a while: it is made where an account is stopped. */
  digest(): string
}

/** Everything that sends for one account. */
export interface AccountLane {
  readonly gateway: Gateway
  readonly credentials: {
    /** Those of the next request. */
    current(): Credentials
    /** Looks whether others are configured by now. */
    renew(): void
  }
  readonly limiter: AccountLimiter
  /** null: no day is limited. */
  readonly dailyLimits: DailyLimits | null
  readonly timeoutMs: number
  readonly notExecutedStatus: readonly number[]
  readonly deleteAnswer: Judging['deleteAnswer']
  /** What refusals mean, by the merchant's own rules. */
  readonly reasonRules: readonly ReasonRule[]
}

export type OnSettled = (row: DueRow, verdict: Verdict, settled: Settled, seen: AttemptSeen) => void

export interface SliceParts {
  readonly ledger: Pick<WorkLedger, 'dueRows' | 'claim' | 'tenure' | 'settle' | 'stopAccount' | 'recordClock'>
  readonly clock: Clock
  /** undefined: no configured merchant has this account; its rows stay READY. */
  readonly laneOf: (accountId: AccountId) => AccountLane | undefined
  /** Rows that a slice of this process is executing. */
  readonly inFlight: Set<RowId>
  readonly onSettled: OnSettled
  /** Reads the card details of rows again from their file; null: this process has none, and rows that need it stay READY. */
  readonly cards: CardFile | null
}

/** The file of the one batch that is worked off. */
export interface CardFile {
  readonly batchId: BatchId
  readonly reader: CardReader
  /** It is not the file that was checked: nothing more of it may be sent. */
  readonly onChanged: () => void
}

/** What a row must have before it is claimed. */
interface Admission {
  readonly slice: Slice
  readonly lane: AccountLane
  readonly permit: Permit
  readonly reservation: Reservation
}

/** Batches take turns: after this long a slice starts no more rows, and those not reached stay as they are. */
const TURN_MS = 2_000
/** How long after the deadline of its request a claim's answer-by is. */
const ANSWER_MARGIN_MS = 5_000

/** Resolves to the number of rows that were claimed. Never waits for what is not due; never sends after `stop`. */
export async function executeSlice(slice: Slice, parts: SliceParts, stop: AbortSignal): Promise<number> {
  const { clock, inFlight } = parts
  const due = await parts.ledger.dueRows(slice.batchId, clock.nowMs(), slice.rows, inFlight)
  const rows = due.filter((row) => !inFlight.has(row.rowId)) // another slice may have taken some while this one waited
  for (const row of rows) inFlight.add(row.rowId)
  const over = new AbortController()
  const signal = AbortSignal.any([stop, over.signal])
  const ended = new AbortController()
  // With a reason: without one, an error with its stack would be made for every slice.
  void clock.sleep(TURN_MS, ended.signal).then(() => over.abort('the turn is over'))
  try {
    // A bug in one row leaves the others to their end: their requests are open, and a stop waits for this slice.
    const executed = await Promise.allSettled(rows.map((row) => executeRow(row, slice, parts, signal, stop)))
    const broken = executed.find((row) => row.status === 'rejected')
    if (broken !== undefined) throw broken.reason
    return executed.filter((row) => row.status === 'fulfilled' && row.value).length
  } finally {
    ended.abort('the slice has ended')
  }
}

/** Resolves to whether the row was claimed. */
async function executeRow(
  row: DueRow,
  slice: Slice,
  parts: SliceParts,
  signal: AbortSignal,
  stop: AbortSignal,
): Promise<boolean> {
  let permit: Permit | null = null
  try {
    const lane = parts.laneOf(row.accountId)
    if (lane === undefined || signal.aborted || !lane.limiter.isOpen()) return false
    permit = await lane.limiter.acquire(signal)
    if (permit === null) return false
    const card = row.instruction.card === null ? null : await cardFor(row, row.instruction.card, parts.cards)
    if (card === 'none-here') return false
    const reservation = await lane.limiter.reserve(signal)
    if (reservation === null) return false
    try {
      return await claimAndSend(row, card, { slice, lane, permit, reservation }, parts, stop)
    } finally {
      reservation.cancel()
    }
  } finally {
    permit?.release()
    parts.inFlight.delete(row.rowId)
  }
}

/** Before the row is claimed, and no earlier than it has a permit: as few details as may be are in memory. */
async function cardFor(row: DueRow, mask: CardMask, cards: CardFile | null): Promise<CardDetails | 'none-here'> {
  // A slice of another batch may still come: its rows are numbered in a file of their own.
  if (cards?.batchId !== row.batchId) return 'none-here'
  const card = await cards.reader.cardOf(row.rowNo)
  if (card !== 'changed' && formatCardMask(maskOf(card)) === formatCardMask(mask)) return card
  cards.onChanged()
  return 'none-here'
}

async function claimAndSend(
  row: DueRow,
  card: CardDetails | null,
  { slice, lane, permit, reservation }: Admission,
  { ledger, clock, onSettled }: SliceParts,
  stop: AbortSignal,
): Promise<boolean> {
  const { expiresAtMs } = row.instruction
  const sendDeadline = createSendDeadline(clock, expiresAtMs)
  const askedAtMs = clock.monotonicMs()
  const nowMs = clock.nowMs()
  const limited = limitedBy(lane.dailyLimits, row, nowMs)
  const maySend = ledger.tenure(row.accountId)
  const claim = await ledger.claim({
    rowId: row.rowId,
    attempt: row.attempt,
    sharesOrder: row.sharesOrder,
    expiresAtMs,
    limited,
    reasonRules: lane.reasonRules,
    nowMs,
    sendByMs: sendDeadline.sendByMs,
    answerByMs: sendDeadline.sendByMs + lane.timeoutMs + ANSWER_MARGIN_MS,
  })
  if (claim.kind !== 'claimed') return false

  const claimedAtMs = clock.monotonicMs()
  const { fence, startedAtMs } = timedFence(fenceOf(sendDeadline, reservation, maySend), clock)
  const credentials = lane.credentials.current()
  const outcome = await lane.gateway.send(row.instruction, fence, stop, card)
  const overAtMs = clock.monotonicMs()
  const verdict = verdictOn(outcome, {
    instruction: row.instruction,
    everInDoubt: row.everInDoubt,
    notExecutedStatus: lane.notExecutedStatus,
    deleteAnswer: lane.deleteAnswer,
  })
  lane.limiter.record(signalOf(verdict), verdict.kind === 'unsent' ? verdict.retryAfterMs : null, failureIn(verdict))
  const { settlement, stops } = settlementOf(row, {
    ...{ attempt: claim.attempt, outcome, verdict, refused: refusedIn(row, outcome, verdict, lane.limiter, clock) },
    ...{ atMs: clock.nowMs(), backoffMs: lane.limiter.backoffLeftMs(), limited: limited !== null },
    reasonRules: lane.reasonRules,
  })
  const told = tellClock(outcome, lane, row.accountId, ledger)
  // The stop goes first, into the same commit: the row must not be claimed again in between. So nothing is awaited before it.
  const refused = stops === null ? null : credentials.digest()
  const stopping = stops === null ? null : ledger.stopAccount(row.accountId, stops, clock.nowMs(), refused)
  const settling = ledger.settle(settlement)
  // The request is over. A later claim is never written before this settlement, so no more rows are SENDING than there are permits.
  permit.release()
  if (stopping !== null || told !== null) await Promise.all([settling, stopping, told])
  const settled = await settling
  const times = { askedAtMs, claimedAtMs, startedAtMs: startedAtMs(), overAtMs, settledAtMs: clock.monotonicMs() }
  onSettled(row, verdict, settled, { slice, attempt: claim.attempt, outcome, ...times })
  return true
}

/** Before the settlement, for the same reason as a stop. null: nothing is news. */
function tellClock(
  outcome: Outcome,
  { limiter: { clockWatch } }: AccountLane,
  accountId: AccountId,
  ledger: SliceParts['ledger'],
): Promise<void> | null {
  if (outcome.kind !== 'answered' || outcome.gatewayAtMs == null) return null
  const aheadMs = outcome.answeredAtMs - outcome.gatewayAtMs
  return clockWatch.isNews(aheadMs) ? ledger.recordClock(accountId, aheadMs, outcome.answeredAtMs) : null
}

/** Notes when the first byte may go, and does nothing else there. */
function timedFence(fence: Fence, clock: Clock): { fence: Fence; startedAtMs: () => number | null } {
  let startedAtMs: number | null = null
  return {
    fence() {
      const why = fence()
      if (why === null) startedAtMs = clock.monotonicMs()
      return why
    },
    startedAtMs: () => startedAtMs,
  }
}

/** What a 403 or a 429 means depends on what else passes; null: the answer was neither. */
function refusedIn(
  row: DueRow,
  outcome: Outcome,
  verdict: Verdict,
  { refusals }: AccountLimiter,
  clock: Clock,
): Refused | null {
  switch (verdict.kind) {
    case 'forbidden':
      return refusals.forbidden(row.rowId, row.forbiddenCount + 1)
    case 'unsent':
      return verdict.signal === 'throttled' ? refusals.throttled(row.rowId, clock.nowMs()) : null
    case 'approved':
    case 'declined':
    case 'failed':
      if (outcome.kind === 'answered') refusals.passed(row.rowId, outcome.sentAtMs)
      return null
    case 'in-doubt':
    case 'stop-account':
      return null
  }
}

/** In words, for people who ask why nothing moves. */
function failureIn(verdict: Verdict): string | null {
  return verdict.kind === 'unsent' || verdict.kind === 'in-doubt' ? verdict.reason : null
}
