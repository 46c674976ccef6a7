// What waits for a person, over the whole ledger: what a monitor asks for. Pure.

import type { Alarm } from './alarm.ts'
import type { BatchView, Total } from './batch.ts'
import { countIn, isClockOff, standingOf, type Why, waitsForApproval } from './batch-status.ts'
import type { LimitReached } from './daily-limit.ts'
import { diskCheck } from './health.ts'
import type { BatchId } from './ids.ts'
import type { IntakeTrouble } from './intake-queue.ts'
import type { State } from './states.ts'
import type { Endpoint } from './webhook.ts'
import { serviceOf, type WorkerView } from './worker.ts'

export type Attention =
  | { readonly code: 'alarm'; readonly alarm: Alarm }
  | { readonly code: 'in-doubt'; readonly rows: number }
  /** That rows in doubt be sent again: another person has to confirm or refuse it. */
  | { readonly code: 'proposals'; readonly rows: number }
  /** Rows that were being sent when their worker ended: in doubt as soon as another starts. */
  | { readonly code: 'left-open'; readonly rows: number }
  | { readonly code: 'late-answers'; readonly batchId: BatchId; readonly answers: number }
  /** The account is stopped, or held for its doubts. */
  | { readonly code: 'stopped' | 'held'; readonly merchant: string; readonly reason: string }
  /** By how far the clock was ahead of the gateway's at the last answer: what depends on it waits, or is asked about. */
  | { readonly code: 'clock'; readonly merchant: string; readonly aheadMs: number }
  | { readonly code: 'paused'; readonly batchId: BatchId; readonly reason: string | null }
  | {
      readonly code: 'awaiting-approval'
      readonly batchId: BatchId
      readonly fileName: string | null
      readonly needed: number
      readonly given: number
      /** What the approval would let go. */
      readonly totals: readonly Total[]
    }
  /** It goes on by itself on the next day, unless a person raises the limit before. */
  | ({ readonly code: 'daily-limit'; readonly batchId: BatchId } & LimitReached)
  /** It is told nothing more. */
  | { readonly code: 'endpoint-disabled'; readonly endpoint: Endpoint }
  /** Rows that were left out as bad or expired unsent, refunds that were declined because their orders have too little left, and rows that were approved otherwise than asked: nobody has mended or looked at them. */
  | {
      readonly code: 'bad-rows' | 'expired' | 'short-refunds' | 'other-money'
      readonly batchId: BatchId
      readonly fileName: string | null
      readonly rows: number
    }
  /** Rows that no batch sends: it left them out because batch `by` was to send them, and that one was cancelled. */
  | {
      readonly code: 'left-out'
      readonly batchId: BatchId
      readonly fileName: string | null
      readonly by: BatchId
      readonly rows: number
    }
  /** They lie in `rejected` of an inbox. */
  | { readonly code: 'refused-files'; readonly folder: string; readonly files: number }
  | { readonly code: 'silent'; readonly worker: WorkerView }
  /** Below the least that a commit is sure of. */
  | { readonly code: 'disk'; readonly freeBytes: number }
  /** The configured one does not answer. `stops`: nothing is sent meanwhile. */
  | { readonly code: 'redis'; readonly stops: boolean }
  /** Messages of services that nobody takes, or that another ledger takes. */
  | { readonly code: 'intake'; readonly trouble: IntakeTrouble }
  /** Outcomes that services asked for in queues, and that no process has told them. */
  | { readonly code: 'outcomes'; readonly waitMs: number }
  /** Rows that are due, and nobody who sends them. */
  | { readonly code: 'unsent'; readonly batchId: BatchId; readonly why: Why }

/** What the ledger and the lock show. */
export interface Seen {
  readonly alarm: Alarm | null
  readonly batches: readonly BatchView[]
  readonly accounts: readonly {
    readonly name: string
    readonly stopped: string | null
    readonly held: string | null
    readonly clockAheadMs?: number | null
    readonly clockAheadAtMs?: number | null
  }[]
  readonly workers: readonly WorkerView[]
  /** Of webhooks; absent: none of them is asked for. */
  readonly endpoints?: readonly Endpoint[]
  /** Proposals to send a row again; absent: none. */
  readonly proposals?: number
  /** By inbox; absent: none of them is asked for. */
  readonly refused?: readonly { readonly folder: string; readonly files: number }[]
  /** Since when outcomes for queues wait; null or absent: none do, or they are not asked for. */
  readonly untoldSinceMs?: number | null
  /** In the data directory; null or absent: not known. */
  readonly freeBytes?: number | null
  readonly nowMs: number
}

export function attentionIn(seen: Seen): readonly Attention[] {
  return [...listed(seen)]
}

/** In the order in which people are told. */
function* listed(seen: Seen): Generator<Attention> {
  const { alarm, batches, accounts, workers, endpoints = [], proposals = 0, refused = [], nowMs } = seen
  const { untoldSinceMs = null, freeBytes = null } = seen
  const sum = (state: State) => batches.reduce((rows, batch) => rows + countIn(batch, state), 0)
  const [inDoubt, leftOpen] = [sum('IN_DOUBT'), workers.length === 0 ? sum('SENDING') : 0]
  if (alarm !== null) yield { code: 'alarm', alarm }
  if (freeBytes !== null && !diskCheck(freeBytes).ok) yield { code: 'disk', freeBytes }
  if (inDoubt > 0) yield { code: 'in-doubt', rows: inDoubt }
  if (proposals > 0) yield { code: 'proposals', rows: proposals }
  if (leftOpen > 0) yield { code: 'left-open', rows: leftOpen }
  for (const { batchId, lateAnswers: answers } of batches)
    if (answers > 0) yield { code: 'late-answers', batchId, answers }
  for (const { name: merchant, clockAheadMs: aheadMs = null, clockAheadAtMs: atMs } of accounts)
    if (aheadMs !== null && isClockOff({ atMs: atMs ?? 0 }, nowMs)) yield { code: 'clock', merchant, aheadMs }
  for (const { name: merchant, stopped, held } of accounts) {
    if (stopped !== null) yield { code: 'stopped', merchant, reason: stopped }
    if (held !== null) yield { code: 'held', merchant, reason: held }
  }
  for (const batch of batches)
    if (isPausedMidway(batch)) yield { code: 'paused', batchId: batch.batchId, reason: batch.holdReason }
  for (const { batchId, fileName, approval, totals } of batches.filter(waitsForApproval)) {
    if (approval === null) continue
    const { needed, given } = approval
    const asked = totals.filter(({ state }) => state === 'READY')
    yield { code: 'awaiting-approval', batchId, fileName, needed, given, totals: asked }
  }
  for (const endpoint of endpoints) if (endpoint.disabledAtMs !== null) yield { code: 'endpoint-disabled', endpoint }
  for (const worker of workers) if (worker.state === 'silent') yield { code: 'silent', worker }
  for (const { batchId, limitReached } of batches)
    if (limitReached !== null && limitReached.untilMs > nowMs) yield { code: 'daily-limit', batchId, ...limitReached }
  if (untoldSinceMs !== null && untoldSinceMs <= nowMs - UNTOLD_MS)
    yield { code: 'outcomes', waitMs: nowMs - untoldSinceMs }
  for (const batch of batches) {
    const why = whyUnsent(batch, workers, nowMs)
    if (why !== undefined) yield { code: 'unsent', batchId: batch.batchId, why }
  }
  for (const batch of batches) yield* toMendIn(batch)
  for (const one of refused) if (one.files > 0) yield { code: 'refused-files', ...one }
}

/** It is told of as paused, and why. */
function isPausedMidway(batch: BatchView): boolean {
  return batch.hold === 'paused' && countIn(batch, 'READY') + countIn(batch, 'SENDING') > 0
}

/** What a person has to mend or to look at in a batch, until they say that they have. */
export function toMendIn(batch: BatchView): readonly Attention[] {
  const { batchId, fileName, badRows, expired, shortRefunds, moneyUnseen, hold } = batch
  const toMend = [
    ['bad-rows', badRows],
    ['expired', hold === 'cancelled' ? 0 : expired],
    ['short-refunds', hold === 'paused' ? 0 : shortRefunds],
    ['other-money', isPausedMidway(batch) ? 0 : moneyUnseen],
  ] as const
  const leftOut = batch.leftOut.map(({ batchId: by, rows }) => ({
    ...{ code: 'left-out' as const, batchId, fileName, by, rows },
  }))
  return [...toMend.flatMap(([code, rows]) => (rows > 0 ? [{ code, batchId, fileName, rows }] : [])), ...leftOut]
}

/** Longer than a Redis takes to fail over, and than a process to be replaced. */
const UNTOLD_MS = 60_000
/** Longer than the pause between two workers of a crontab. */
const UNSENT_MS = 900_000

/** What is held, or waits for something else, is told of as that. */
function whyUnsent(batch: BatchView, [worker]: readonly WorkerView[], nowMs: number): Why | undefined {
  if (batch.nextDueAtMs === null || batch.nextDueAtMs > nowMs - UNSENT_MS) return undefined
  const service = worker === undefined ? 'served' : serviceOf(worker, batch)
  return standingOf(batch, nowMs, worker !== undefined, service).why.find(({ code }) => NOT_SENT.includes(code))
}

const NOT_SENT: readonly Why['code'][] = ['no-worker', 'unserved', 'other-run', 'needs-file']
