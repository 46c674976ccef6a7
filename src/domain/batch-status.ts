// What a batch's record means to the person or program that waits for it: its state, whether it can still move by itself.

import type { BatchView } from './batch.ts'
import type { State } from './states.ts'
import type { GatewayHealth } from './window.ts'

export type BatchState = 'running' | 'waiting' | 'paused' | 'stopped' | 'needs_attention' | 'done' | 'cancelled'

export interface Standing {
  readonly state: BatchState
  /** It waits, and goes on by itself within a minute or when the gateway answers again. */
  readonly goesOn?: true
  /** Why nothing moves, and what to do; null where there is nothing to say. */
  readonly reason: string | null
}

/** A row that becomes due within this time is worth waiting for. */
const SOON_MS = 60_000

/** `workerRuns`: whether the worker lock is held. `isServed`: whether its holder sends for the merchant of the batch. */
export function standingOf(batch: BatchView, nowMs: number, workerRuns: boolean, isServed = true): Standing {
  const standing = standingAsHeld(batch, nowMs, workerRuns, isServed)
  const left = leftOpenText(countIn(batch, 'SENDING'), workerRuns)
  if (left === null) return standing
  const state = standing.state === 'running' ? 'waiting' : standing.state
  return { state, reason: standing.reason === null ? left : `${standing.reason}; ${left}` }
}

/**
 * What a person must know of rows that are SENDING where no worker runs: nothing waits for their answers, and they are in
 * doubt as soon as a worker starts. null: there are none, or a worker waits for them.
 */
export function leftOpenText(sending: number, workerRuns: boolean): string | null {
  if (sending === 0 || workerRuns) return null
  const [rows, them] = sending === 1 ? ['1 row was', 'it'] : [`${sending} rows were`, 'them']
  return `${rows} being sent when the worker ended and may have been executed. No worker is running: start one (tranche worker), or run the same file again, to bring ${them} into doubt`
}

function standingAsHeld(batch: BatchView, nowMs: number, workerRuns: boolean, isServed: boolean): Standing {
  const ready = countIn(batch, 'READY')
  const sending = countIn(batch, 'SENDING')
  const trouble = batch.gatewayHealth === null || !workerRuns ? null : troubleText(batch.gatewayHealth, nowMs)
  if (ready + sending === 0) return endedStanding(batch)
  if (batch.hold === 'cancelled') return { state: 'running', reason: 'being cancelled' }
  if (isPaused(batch)) return { state: 'paused', reason: batch.holdReason ?? batch.accountHeld }
  if (batch.accountStopped !== null) {
    const mend = `The rows that wait were not executed. Correct it, restart a running worker, then: tranche resume --merchant ${batch.merchant} --reason TEXT`
    return { state: 'stopped', reason: `${batch.accountStopped}. ${mend}` }
  }
  if (sending > 0) return { state: 'running', reason: trouble }
  const standing = readyStanding(batch, ready, nowMs, workerRuns)
  if (isServed || standing.state === 'needs_attention') return standing
  return { state: 'waiting', reason: unservedText(batch.merchant) }
}

/** A worker reads its configuration once, when it starts. */
export function unservedText(merchant: string): string {
  return `the running worker was started without merchant ${merchant} and sends none of its rows. Restart that worker with the configuration that names ${merchant}; it sends them then`
}

/** By a person or by the machine: the batch itself, or everything of its account. */
export function isPaused({ hold, accountHeld }: Pick<BatchView, 'hold' | 'accountHeld'>): boolean {
  return hold === 'paused' || (hold === 'none' && accountHeld !== null)
}

/** Nothing is open; what holds the rows that are due? */
function readyStanding(batch: BatchView, ready: number, nowMs: number, workerRuns: boolean): Standing {
  const { nextDueAtMs, nextExecuteAtMs, accountWaitsUntilMs } = batch
  if (nextDueAtMs === null) {
    return { state: 'needs_attention', reason: behindText(batch.blocked > 0 ? batch.blocked : ready) }
  }
  // A person must act before those can move: what is due later by itself must not hide them.
  if (batch.blockedDue > 0 && isLater(nextExecuteAtMs, nowMs)) {
    const later = `what else is left is due later, the next row at ${isoOf(nextExecuteAtMs)}`
    return { state: 'needs_attention', reason: `${behindText(batch.blockedDue)}; ${later}` }
  }
  if (accountWaitsUntilMs !== null && accountWaitsUntilMs > nowMs + SOON_MS) {
    return {
      state: 'waiting',
      reason: `the gateway asked to wait until ${isoOf(accountWaitsUntilMs)}; a worker goes on then, and so does the same command, run again`,
    }
  }
  // Of its execute_at only: where the wall clock was set back, a due time may lie ahead that a worker does not wait for.
  if (isLater(nextExecuteAtMs, nowMs)) {
    return { state: 'waiting', reason: `the next row is due at ${isoOf(nextExecuteAtMs)}` }
  }
  if (!workerRuns) return { state: 'waiting', reason: 'no worker is running. Start one: tranche worker' }
  if (batch.gatewayHealth !== null) {
    return { state: 'waiting', goesOn: true, reason: troubleText(batch.gatewayHealth, nowMs) }
  }
  return { state: 'running', reason: null }
}

function behindText(rows: number): string {
  return `${rows} ${rows === 1 ? 'row waits' : 'rows wait'} behind a row of the same order that is in doubt or held (tranche in-doubt list)`
}

function isLater(executeAtMs: number | null, nowMs: number): executeAtMs is number {
  return executeAtMs !== null && executeAtMs > nowMs + SOON_MS
}

/** Since when, why, and what happens next. */
function troubleText({ sinceMs, why, failures, openMost, backoffUntilMs }: GatewayHealth, nowMs: number): string {
  const begun = `trouble at the gateway since ${isoOf(sinceMs)} (${why})`
  if (failures === 0 && backoffUntilMs === null) {
    return `${begun}; it answers again, and up to ${openMost} ${openMost === 1 ? 'request is' : 'requests are'} open at a time, more with every answer`
  }
  const next =
    backoffUntilMs === null || backoffUntilMs <= nowMs
      ? 'one row at a time is tried until it answers'
      : `nothing is sent until ${isoOf(backoffUntilMs)}, then one row is tried`
  return `${begun}; ${next}. It goes on by itself`
}

function endedStanding(batch: BatchView): Standing {
  const inDoubt = countIn(batch, 'IN_DOUBT')
  const { lateAnswers, batchId } = batch
  if (inDoubt + lateAnswers > 0) {
    const reasons = [
      inDoubt === 0
        ? null
        : `${inDoubt} ${inDoubt === 1 ? 'row is' : 'rows are'} in doubt: look ${inDoubt === 1 ? 'it' : 'them'} up at the gateway (tranche in-doubt list)`,
      lateAnswers === 0
        ? null
        : `${lateAnswers} ${lateAnswers === 1 ? 'answer' : 'answers'} came after the row had been settled otherwise: see result_warning; when you have looked: tranche resume ${batchId} --reason TEXT`,
    ]
    return { state: 'needs_attention', reason: reasons.filter((reason) => reason !== null).join('; ') }
  }
  return batch.hold === 'cancelled' && countIn(batch, 'CANCELLED') > 0
    ? { state: 'cancelled', reason: batch.holdReason }
    : { state: 'done', reason: null }
}

/** Why a batch moves no further by itself; null while it does. */
export type Ending =
  | { readonly kind: 'finished' }
  /** Everything that is left waits for its `execute_at`. */
  | { readonly kind: 'later'; readonly nextDueAtMs: number }
  /** A person must act first. */
  | { readonly kind: 'stuck'; readonly reason: string }

export function endingOf(batch: BatchView, nowMs: number, isServed = true): Ending | null {
  const { state, reason, goesOn } = standingOf(batch, nowMs, true, isServed)
  if (goesOn === true) return null
  switch (state) {
    case 'done':
    case 'cancelled':
      return { kind: 'finished' }
    case 'needs_attention':
      return countIn(batch, 'READY') === 0 ? { kind: 'finished' } : { kind: 'stuck', reason: reason ?? state }
    case 'paused':
    case 'stopped':
      // Open requests are awaited: their answers belong in the results.
      return countIn(batch, 'SENDING') > 0 ? null : { kind: 'stuck', reason: reason ?? state }
    case 'waiting':
      // What is due later is no less so for the gateway's asking to wait in the meantime.
      return isServed && isLater(batch.nextExecuteAtMs, nowMs)
        ? { kind: 'later', nextDueAtMs: batch.nextExecuteAtMs }
        : { kind: 'stuck', reason: reason ?? state }
    case 'running':
      return null
  }
}

export function countIn(batch: Pick<BatchView, 'counts'>, state: State): number {
  return batch.counts[state] ?? 0
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
