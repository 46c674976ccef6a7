// What a batch's record means to the person or program that waits for it: its state, whether it can still move by itself. What
// holds it up is a code with data; every door has its own words for it.

import { isAwaiting } from './approval.ts'
import type { BatchView, ClockHold } from './batch.ts'
import type { LimitReached } from './daily-limit.ts'
import type { BatchId } from './ids.ts'
import { isFinal, type State } from './states.ts'
import type { GatewayHealth } from './window.ts'
import type { Service } from './worker.ts'

export const BATCH_STATES = [
  'running',
  'waiting',
  'paused',
  'stopped',
  'awaiting_approval',
  'needs_attention',
  'done',
  'cancelled',
] as const

export type BatchState = (typeof BATCH_STATES)[number]

/** Why a batch does not move, or moves slowly. */
export type Why =
  | { readonly code: 'being-cancelled' }
  /** A person or the machine gave the reason. */
  | { readonly code: 'as-said'; readonly reason: string }
  | { readonly code: 'account-stopped'; readonly reason: string; readonly merchant: string }
  | LeftOpen
  /** People must approve it before anything of it is sent. */
  | { readonly code: 'awaiting-approval'; readonly needed: number; readonly given: number; readonly untilMs: number }
  /** `nextTryAtMs`: nothing is sent until then; null: one row at a time is tried, or it answers again. */
  | { readonly code: 'gateway-trouble'; readonly health: GatewayHealth; readonly nextTryAtMs: number | null }
  | Unserved
  | { readonly code: 'other-run' }
  /** The merchant has no configuration here. */
  | { readonly code: 'not-configured'; readonly merchant: string }
  /** Rows behind a row of the same order that is in doubt or held. */
  | { readonly code: 'behind'; readonly rows: number }
  | { readonly code: 'asked-to-wait'; readonly untilMs: number }
  /** `isAll`: nothing is due before; else there are rows that wait for something else. */
  | { readonly code: 'due-later'; readonly atMs: number; readonly isAll: boolean }
  /** What may leave or come on one day has left or come. */
  | ({ readonly code: 'daily-limit' } & LimitReached)
  /** Rows with an `execute_at` wait until the clock and the gateway agree, or a person says that the clock is right. */
  | { readonly code: 'clock'; readonly merchant: string; readonly aheadMs: number }
  | { readonly code: 'no-worker' }
  /** Its worker can hand out no rows: the ledger is in a file, and its Redis is away. */
  | { readonly code: 'without-redis' }
  /** Its rows have card details, which no process has that works now. */
  | { readonly code: 'needs-file'; readonly fileName: string | null }
  | { readonly code: 'in-doubt'; readonly rows: number }
  | { readonly code: 'late-answers'; readonly answers: number; readonly batchId: BatchId }
  /** The command that follows it gave up waiting. */
  | { readonly code: 'no-progress'; readonly seconds: number; readonly trouble: string | null }
  /** Earlier rows of the same orders are in another batch, which is not worked off. */
  | { readonly code: 'waits-for-batch'; readonly batchId: BatchId }

/** Rows that are SENDING where no worker runs: they may have been executed, and are in doubt as soon as a worker starts. */
export interface LeftOpen {
  readonly code: 'left-open'
  readonly rows: number
}

/** A worker reads its configuration once, when it starts. */
export interface Unserved {
  readonly code: 'unserved'
  readonly merchant: string
}

export interface Standing {
  readonly state: BatchState
  /** It waits, and goes on by itself within a minute or when the gateway answers again. */
  readonly goesOn?: true
  /** Why nothing moves; empty where there is nothing to say. */
  readonly why: readonly Why[]
}

/** A row that becomes due within this time is worth waiting for. */
const SOON_MS = 60_000

/** Of the process that works, for one batch. */
export type ServiceNow = Service | 'without-redis'

/** `workerRuns`: whether the worker lock is held. `service`: what its holder does for this batch. */
export function standingOf(
  batch: BatchView,
  nowMs: number,
  workerRuns: boolean,
  service: ServiceNow = 'served',
): Standing {
  const standing = standingAsHeld(batch, nowMs, workerRuns, service)
  const left = leftOpenIn(countIn(batch, 'SENDING'), workerRuns)
  if (left === null) return standing
  return { state: standing.state === 'running' ? 'waiting' : standing.state, why: [...standing.why, left] }
}

/** null: there are none, or a worker waits for them. */
export function leftOpenIn(sending: number, workerRuns: boolean): LeftOpen | null {
  return sending === 0 || workerRuns ? null : { code: 'left-open', rows: sending }
}

function standingAsHeld(batch: BatchView, nowMs: number, workerRuns: boolean, service: ServiceNow): Standing {
  const ready = countIn(batch, 'READY')
  const sending = countIn(batch, 'SENDING')
  if (ready + sending === 0) return endedStanding(batch)
  if (batch.hold === 'cancelled') return { state: 'running', why: [{ code: 'being-cancelled' }] }
  if (isPaused(batch)) return { state: 'paused', why: asSaid(batch.holdReason ?? batch.accountHeld) }
  const { accountStopped, merchant } = batch
  if (accountStopped !== null)
    return { state: 'stopped', why: [{ code: 'account-stopped', reason: accountStopped, merchant }] }
  if (batch.approval !== null && waitsForApproval(batch)) {
    const { needed, given, untilMs } = batch.approval
    return { state: 'awaiting_approval', why: [{ code: 'awaiting-approval', needed, given, untilMs }] }
  }
  if (sending > 0) return { state: 'running', why: workerRuns ? troubleIn(batch, nowMs) : [] }
  const isIdle = !workerRuns || service === 'other-run' || service === 'without-redis'
  const idle = isIdle ? notSent(batch, workerRuns ? service : null) : null
  const standing = readyStanding(batch, ready, nowMs, idle)
  if (service !== 'unserved' || standing.state === 'needs_attention') return standing
  return { state: 'waiting', why: [notSent(batch, service)] }
}

/** Why nobody sends what is due of a batch. `service`: of the process that works; null: none does. */
export function notSent(
  batch: Pick<BatchView, 'needsFile' | 'fileName' | 'merchant'>,
  service: ServiceNow | null,
): Why {
  if (service === 'without-redis') return { code: 'without-redis' }
  if (batch.needsFile) return { code: 'needs-file', fileName: batch.fileName }
  if (service === null) return { code: 'no-worker' }
  return service === 'unserved' ? { code: 'unserved', merchant: batch.merchant } : { code: 'other-run' }
}

function asSaid(reason: string | null): Why[] {
  return reason === null ? [] : [{ code: 'as-said', reason }]
}

/** Whether it has rows to send that may not be sent until people approve it. */
export function waitsForApproval(batch: Pick<BatchView, 'approval' | 'counts' | 'hold'>): boolean {
  return isAwaiting(batch.approval) && batch.hold !== 'cancelled' && countIn(batch, 'READY') > 0
}

/** By a person or by the machine: the batch itself, or everything of its account. */
export function isPaused({ hold, accountHeld }: Pick<BatchView, 'hold' | 'accountHeld'>): boolean {
  return hold === 'paused' || (hold === 'none' && accountHeld !== null)
}

/** Nothing is open; what holds the rows that are due? `idle`: why nobody sends them; null: somebody does. */
function readyStanding(batch: BatchView, ready: number, nowMs: number, idle: Why | null): Standing {
  const { accountWaitsUntilMs, blocked, blockedDue, limitReached } = batch
  if (batch.nextDueAtMs === null)
    return { state: 'needs_attention', why: [{ code: 'behind', rows: blocked > 0 ? blocked : ready }] }
  const hold = batch.clockHold !== null && isClockOff(batch.clockHold, nowMs) ? batch.clockHold : null
  const { nextDueAtMs, nextExecuteAtMs } = hold === null ? batch : { ...hold, nextExecuteAtMs: null }
  // No machine ends this: nothing is sent any more whose answer could show that the clock is right again.
  if (nextDueAtMs === null) {
    const clock: Why = { code: 'clock', merchant: batch.merchant, aheadMs: hold?.aheadMs ?? 0 }
    if (blockedDue === 0) return { state: 'waiting', why: [clock] }
    return { state: 'needs_attention', why: [{ code: 'behind', rows: blockedDue }, clock] }
  }
  // A person must act before those can move: what is due later by itself must not hide them.
  if (blockedDue > 0 && isLater(nextExecuteAtMs, nowMs)) {
    const later: Why = { code: 'due-later', atMs: nextExecuteAtMs, isAll: false }
    return { state: 'needs_attention', why: [{ code: 'behind', rows: blockedDue }, later] }
  }
  // It goes on by itself on the next day, and a person may raise the limit: what is due later than that must not hide it.
  if (limitReached !== null && limitReached.untilMs > nowMs && nextDueAtMs > nowMs + SOON_MS)
    return { state: 'waiting', why: [{ code: 'daily-limit', ...limitReached }] }
  if (accountWaitsUntilMs !== null && accountWaitsUntilMs > nowMs + SOON_MS)
    return { state: 'waiting', why: [{ code: 'asked-to-wait', untilMs: accountWaitsUntilMs }] }
  // Of its execute_at only: where the wall clock was set back, a due time may lie ahead that a worker does not wait for.
  if (isLater(nextExecuteAtMs, nowMs))
    return { state: 'waiting', why: [{ code: 'due-later', atMs: nextExecuteAtMs, isAll: true }] }
  if (idle !== null) return { state: 'waiting', why: [idle] }
  if (batch.gatewayHealth !== null) return { state: 'waiting', goesOn: true, why: troubleIn(batch, nowMs) }
  if (nextDueAtMs > nowMs && nextDueAtMs <= nowMs + SOON_MS)
    return { state: 'running', why: [{ code: 'due-later', atMs: nextDueAtMs, isAll: true }] }
  return { state: 'running', why: [] }
}

/** Whether the clock still is the one that differed: one that was set back since, by more than a minute, is another. */
export function isClockOff({ atMs }: Pick<ClockHold, 'atMs'>, nowMs: number): boolean {
  return atMs <= nowMs + SOON_MS
}

function isLater(executeAtMs: number | null, nowMs: number): executeAtMs is number {
  return executeAtMs !== null && executeAtMs > nowMs + SOON_MS
}

function troubleIn({ gatewayHealth: health }: BatchView, nowMs: number): Why[] {
  if (health === null) return []
  const { backoffUntilMs } = health
  const nextTryAtMs = backoffUntilMs !== null && backoffUntilMs > nowMs ? backoffUntilMs : null
  return [{ code: 'gateway-trouble', health, nextTryAtMs }]
}

function endedStanding(batch: BatchView): Standing {
  const inDoubt = countIn(batch, 'IN_DOUBT')
  const { lateAnswers, batchId } = batch
  const why: Why[] = [
    ...(inDoubt === 0 ? [] : [{ code: 'in-doubt', rows: inDoubt } as const]),
    ...(lateAnswers === 0 ? [] : [{ code: 'late-answers', answers: lateAnswers, batchId } as const]),
  ]
  if (why.length > 0) return { state: 'needs_attention', why }
  return batch.hold === 'cancelled' && countIn(batch, 'CANCELLED') > 0
    ? { state: 'cancelled', why: asSaid(batch.holdReason) }
    : { state: 'done', why: [] }
}

/** Why a batch moves no further by itself; null while it does. */
export type Ending =
  | { readonly kind: 'finished' }
  /** Everything that is left waits for its `execute_at`. */
  | { readonly kind: 'later'; readonly nextDueAtMs: number }
  /** A person must act first. */
  | { readonly kind: 'stuck'; readonly state: BatchState; readonly why: readonly Why[] }

export function endingOf(batch: BatchView, nowMs: number, isServed = true): Ending | null {
  const { state, why, goesOn } = standingOf(batch, nowMs, true, isServed ? 'served' : 'unserved')
  if (goesOn === true) return null
  const stuck: Ending = { kind: 'stuck', state, why }
  switch (state) {
    case 'done':
    case 'cancelled':
      return { kind: 'finished' }
    case 'needs_attention':
      return countIn(batch, 'READY') === 0 ? { kind: 'finished' } : stuck
    case 'paused':
    case 'stopped':
      // Open requests are awaited: their answers belong in the results.
      return countIn(batch, 'SENDING') > 0 ? null : stuck
    case 'awaiting_approval':
      return stuck
    case 'waiting':
      // What is due later is no less so for the gateway's asking to wait in the meantime.
      return isServed &&
        isLater(batch.nextExecuteAtMs, nowMs) &&
        !why.some(({ code }) => code === 'daily-limit' || code === 'clock')
        ? { kind: 'later', nextDueAtMs: batch.nextExecuteAtMs }
        : stuck
    case 'running':
      return null
  }
}

/** Of a batch that moves no more, though nothing but time holds it up: the command that waits for it gives up. */
export function givenUp(
  { gatewayHealth }: Pick<BatchView, 'gatewayHealth'>,
  afterMs: number,
  trouble: string | null = null,
): Ending {
  const seconds = Math.round(afterMs / 1000)
  const why: Why = { code: 'no-progress', seconds, trouble: trouble ?? gatewayHealth?.why ?? null }
  return { kind: 'stuck', state: 'waiting', why: [why] }
}

export function countIn(batch: Pick<BatchView, 'counts'>, state: State): number {
  return batch.counts[state] ?? 0
}

/** Rows that came to an end, or into doubt. */
export function settledIn(batch: BatchView): number {
  return (Object.keys(batch.counts) as State[])
    .filter((state) => isFinal(state) || state === 'IN_DOUBT')
    .reduce((sum, state) => sum + countIn(batch, state), 0)
}

/** Nothing of it is left to send. */
export function isOver(batch: BatchView): boolean {
  return settledIn(batch) === batch.rows
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
