// The ledger, for whatever shows batches and steers them.

import type { Actor } from '../../domain/actor.ts'
import type { BatchView } from '../../domain/batch.ts'
import type { AccountId, BatchId } from '../../domain/ids.ts'
import type { Edition, HistoryMove, ReconciliationRow } from '../../domain/reconciliation.ts'

/** One read transaction over a batch. Rows and totals are of the same moment. Close it. */
export interface BatchReading {
  readonly atMs: number
  /** Hand it back to `resultsWritten`: it tells stale results from fresh ones. */
  readonly edition: Edition
  readonly batch: BatchView
  readonly columns: readonly string[]
  /** In input order. `sinceMs`: only rows that changed at that moment or later, or whose duplicate's original did. */
  rows(sinceMs?: number | undefined): Iterable<ReconciliationRow>
  close(): Promise<void>
}

export interface AccountView {
  readonly accountId: AccountId
  /** Of the merchant. */
  readonly name: string
  readonly url: string
  readonly username: string
  readonly stopped: string | null
  /** Too many doubts, in words; null: it is not held. */
  readonly held: string | null
  /** As a person turned the rate dial; null: as configured. */
  readonly ratePerSecond: number | null
}

export interface Wishes {
  /** Of the merchant. */
  readonly name: string
  /** Grows with every resume of the account or one of its batches: whoever rests may start again. */
  readonly resumes: number
  /** As a person turned the rate dial; null: as configured. */
  readonly ratePerSecond: number | null
}

export interface BookLedger {
  /** Latest first; `open`: only those with a row that is not settled. */
  batches(only?: 'open'): Promise<readonly BatchView[]>
  /** By id or a beginning of one that fits a single batch; null where none fits. */
  batch(idOrPrefix: string): Promise<BatchView | null>
  openReading(batchId: BatchId, nowMs: number): Promise<BatchReading>
  resultsWritten(batchId: BatchId, path: string, edition: Edition): Promise<void>
  history(reference: string): Promise<readonly HistoryMove[]>
  /** Rows of the batch that came to an end, or into doubt, at that moment or later; of the latest moves only. */
  settledSince(batchId: BatchId, sinceMs: number): Promise<number>
  /**
   * The batch for whose earlier rows of the same orders all due rows of this one wait; null where one could be sent now
   * or none is due.
   */
  waitsFor(batchId: BatchId, nowMs: number): Promise<BatchId | null>
  accounts(): Promise<readonly AccountView[]>
  pause(batchId: BatchId, reason: string, actor: Actor, nowMs: number): Promise<void>
  /** A person has looked: the hold of its account ends with that of the batch. */
  resume(batchId: BatchId, reason: string, actor: Actor, nowMs: number): Promise<void>
  /** READY rows become CANCELLED; open requests are awaited by whoever has them. */
  cancel(batchId: BatchId, reason: string, actor: Actor, nowMs: number): Promise<void>
  resumeAccount(accountId: AccountId, reason: string, actor: Actor, nowMs: number): Promise<void>
  /** Turns the rate dial: requests per second, which hold instead of the configured rate; null: as configured. */
  setRate(accountId: AccountId, ratePerSecond: number | null, actor: Actor, nowMs: number): Promise<void>
  /** What people asked of the worker for this account; it looks at every tick. */
  wishes(accountId: AccountId): Promise<Wishes>
}
