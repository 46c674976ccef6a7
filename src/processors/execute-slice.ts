// Executes one slice. Each due row: health check → permit → reservation → claim → send → verdict → settle.

import type { AccountId, RowId } from '../domain/ids.ts'
import type { Outcome } from '../domain/outcome.ts'
import { signalOf, type Verdict, verdictOn } from '../domain/verdict.ts'
import type { Clock } from '../ports/clock.ts'
import type { Slice } from '../ports/dispatch.ts'
import type { Gateway } from '../ports/gateway.ts'
import type { DueRow, Settled, Settlement, WorkLedger } from '../ports/ledger/work.ts'
import type { AccountLimiter } from '../throttle/limiter.ts'
import type { Reservation } from '../throttle/pacer.ts'
import { createSendDeadline, fenceOf } from '../throttle/send-deadline.ts'

/** Everything that sends for one account. */
export interface AccountLane {
  readonly gateway: Gateway
  readonly limiter: AccountLimiter
  readonly timeoutMs: number
  readonly notExecutedStatus: readonly number[]
}

export interface SliceParts {
  readonly ledger: Pick<WorkLedger, 'dueRows' | 'claim' | 'settle' | 'stopAccount'>
  readonly clock: Clock
  /** undefined: no configured merchant has this account; its rows stay READY. */
  readonly laneOf: (accountId: AccountId) => AccountLane | undefined
  /** Rows that a slice of this process is executing. */
  readonly inFlight: Set<RowId>
  readonly onSettled: (row: DueRow, verdict: Verdict, settled: Settled) => void
}

/** Batches take turns: after this long a slice starts no more rows, and those not reached stay as they are. */
const TURN_MS = 2_000
/** How long after the deadline of its request a claim's answer-by is. */
const ANSWER_MARGIN_MS = 5_000
/** How long a row that was answered 403 waits, times its refusals so far. */
const FORBIDDEN_WAIT_MS = 10_000

/** Resolves to the number of rows that were claimed. Never waits for what is not due; never sends after `stop`. */
export async function executeSlice(slice: Slice, parts: SliceParts, stop: AbortSignal): Promise<number> {
  const { ledger, clock, inFlight } = parts
  const due = await ledger.dueRows(slice.batchId, clock.nowMs(), slice.rows, inFlight)
  const rows = due.filter((row) => !inFlight.has(row.rowId)) // another slice may have taken some while this one waited
  for (const row of rows) inFlight.add(row.rowId)
  const over = new AbortController()
  const signal = AbortSignal.any([stop, over.signal])
  const ended = new AbortController()
  void clock.sleep(TURN_MS, ended.signal).then(() => over.abort())
  try {
    // A bug in one row leaves the others to their end: their requests are open, and a stop waits for this slice.
    const executed = await Promise.allSettled(
      rows.map((row) => executeRow(row, parts, signal, stop).finally(() => inFlight.delete(row.rowId))),
    )
    const broken = executed.find((row) => row.status === 'rejected')
    if (broken !== undefined) throw broken.reason
    return executed.filter((row) => row.status === 'fulfilled' && row.value).length
  } finally {
    ended.abort()
  }
}

/** Resolves to whether the row was claimed. */
async function executeRow(row: DueRow, parts: SliceParts, signal: AbortSignal, stop: AbortSignal): Promise<boolean> {
  const lane = parts.laneOf(row.accountId)
  if (lane === undefined || signal.aborted || !lane.limiter.isOpen()) return false
  const permit = await lane.limiter.acquire(signal)
  if (permit === null) return false
  try {
    const reservation = await lane.limiter.reserve(signal)
    return (
      reservation !== null &&
      (await claimAndSend(row, lane, reservation, parts, stop).finally(() => reservation.cancel()))
    )
  } finally {
    permit.release()
  }
}

async function claimAndSend(
  row: DueRow,
  lane: AccountLane,
  reservation: Reservation,
  { ledger, clock, onSettled }: SliceParts,
  stop: AbortSignal,
): Promise<boolean> {
  const sendDeadline = createSendDeadline(clock)
  const claim = await ledger.claim({
    rowId: row.rowId,
    attempt: row.attempt,
    nowMs: clock.nowMs(),
    sendByMs: sendDeadline.sendByMs,
    answerByMs: sendDeadline.sendByMs + lane.timeoutMs + ANSWER_MARGIN_MS,
  })
  if (claim.kind !== 'claimed') return false

  const outcome = await lane.gateway.send(row.instruction, fenceOf(sendDeadline, reservation), stop)
  const verdict = verdictOn(outcome, {
    instruction: row.instruction,
    everInDoubt: row.everInDoubt,
    notExecutedStatus: lane.notExecutedStatus,
  })
  lane.limiter.record(signalOf(verdict), verdict.kind === 'unsent' ? verdict.retryAfterMs : null, failureIn(verdict))
  const { settlement, stops } = settlementOf(row, claim.attempt, outcome, verdict, lane.limiter, clock.nowMs())
  // The stop goes first, into the same commit: the row must not be claimed again in between.
  const stopping = stops === null ? null : ledger.stopAccount(row.accountId, stops, clock.nowMs())
  const [settled] = await Promise.all([ledger.settle(settlement), stopping])
  onSettled(row, verdict, settled)
  return true
}

/** In words, for people who ask why nothing moves. */
function failureIn(verdict: Verdict): string | null {
  return verdict.kind === 'unsent' || verdict.kind === 'in-doubt' ? verdict.reason : null
}

interface Written {
  readonly settlement: Settlement
  /** Why the whole account stops; null where it goes on. */
  readonly stops: string | null
}

/** One clause per verdict: what it writes, and whether it stops the account. */
function settlementOf(
  row: DueRow,
  attempt: number,
  outcome: Outcome,
  verdict: Verdict,
  limiter: AccountLimiter,
  atMs: number,
): Written {
  const seen = { ...seenIn(outcome), rowId: row.rowId, attempt, atMs, dueAtMs: atMs }
  const write = (settlement: Settlement, stops: string | null = null): Written => ({ settlement, stops })
  switch (verdict.kind) {
    case 'approved': {
      limiter.refusals.passed()
      const { facts, warnings } = verdict
      const warnsOfMoney = warnings.some(({ aboutMoney }) => aboutMoney)
      const warning = textOf(warnings)
      return write({ ...seen, to: 'APPROVED', cause: 'answer', reason: null, facts, warning, warnsOfMoney })
    }
    case 'declined': {
      limiter.refusals.passed()
      const { facts, reason, warnings } = verdict
      return write({ ...seen, to: 'DECLINED', cause: 'answer', reason, facts, warning: textOf(warnings) })
    }
    case 'failed':
      limiter.refusals.passed()
      return write({ ...seen, to: 'FAILED', cause: 'answer', reason: verdict.reason })
    case 'in-doubt':
      return write({ ...seen, to: 'IN_DOUBT', cause: 'doubt', reason: verdict.reason, facts: verdict.facts })
    case 'unsent': {
      const { reason, retryAfterMs } = verdict
      const askedToWaitUntilMs = retryAfterMs === null ? null : atMs + retryAfterMs
      return write({
        ...seen,
        to: 'READY',
        cause: 'unsent',
        reason,
        dueAtMs: atMs + limiter.backoffLeftMs(),
        askedToWaitUntilMs,
      })
    }
    case 'stop-account':
      return write({ ...seen, to: 'READY', cause: 'unsent', reason: verdict.reason }, verdict.reason)
    case 'forbidden':
      return writeForbidden(row, { ...seen, reason: verdict.reason, forbidden: true }, limiter, write)
  }
}

function writeForbidden(
  row: DueRow,
  seen: Omit<Settlement, 'to' | 'cause'> & { readonly reason: string },
  limiter: AccountLimiter,
  write: (settlement: Settlement, stops?: string | null) => Written,
): Written {
  const count = row.forbiddenCount + 1
  const { reason, atMs } = seen
  switch (limiter.refusals.judge(row.rowId, count)) {
    case 'wait':
      return write({ ...seen, to: 'READY', cause: 'unsent', dueAtMs: atMs + count * FORBIDDEN_WAIT_MS })
    case 'give-up-row': {
      const given = `${reason}, ${count} times while others passed`
      // Certain of these attempts only: an earlier one may be what was executed.
      if (row.everInDoubt)
        return write({
          ...seen,
          to: 'IN_DOUBT',
          cause: 'doubt',
          reason: `${given}, but an earlier attempt was in doubt`,
        })
      return write({ ...seen, to: 'FAILED', cause: 'answer', reason: given })
    }
    case 'stop-account':
      return write({ ...seen, to: 'READY', cause: 'unsent' }, `${reason}, and nothing else passes`)
  }
}

/** What the attempt showed, whatever it means. */
function seenIn(
  outcome: Outcome,
): Omit<Settlement, 'rowId' | 'attempt' | 'to' | 'cause' | 'atMs' | 'dueAtMs' | 'reason'> {
  const nothing = { facts: null, warning: null, warnsOfMoney: false, forbidden: false, askedToWaitUntilMs: null }
  switch (outcome.kind) {
    case 'unsent':
      return { ...nothing, sentAtMs: null, httpStatus: null, answerText: null }
    case 'lost':
      return { ...nothing, sentAtMs: outcome.sentAtMs, httpStatus: outcome.httpStatus, answerText: null }
    case 'answered':
      return { ...nothing, sentAtMs: outcome.sentAtMs, httpStatus: outcome.httpStatus, answerText: outcome.text }
  }
}

function textOf(warnings: readonly { readonly text: string }[]): string | null {
  return warnings.length === 0 ? null : warnings.map(({ text }) => text).join('; ')
}
