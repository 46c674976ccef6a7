// The ledger, for whatever shows batches.

import type { BatchView, SharedRows } from '../../domain/batch.ts'
import type { LedgerFigures, OutcomeFigures } from '../../domain/figures.ts'
import type { FoundInstruction } from '../../domain/found.ts'
import type { AccountId, BatchId } from '../../domain/ids.ts'
import type { Environment } from '../../domain/merchant.ts'
import type { KeptRefusal, RefusalsAsked } from '../../domain/message.ts'
import type { Pages } from '../../domain/pages.ts'
import type { Edition, HistoryMove, ReasonTotal, ReconciliationRow } from '../../domain/reconciliation.ts'
import type { Heartbeat } from '../../domain/worker.ts'

/** One read transaction over a batch. Rows and totals are of the same moment. Close it. */
export interface BatchReading {
  readonly atMs: number
  /** Hand it back to `resultsWritten`: it tells stale results from fresh ones. */
  readonly edition: Edition
  /** `LINK:HASH` of the chain over the record, which binds all that the reading shows. */
  readonly auditHead: string
  readonly batch: BatchView
  readonly columns: readonly string[]
  /** In input order. `sinceMs`: only rows that changed at that moment or later, or whose duplicate's original did. */
  rows(sinceMs?: number): Pages<ReconciliationRow>
  close(): Promise<void>
}

export interface SettledOfLate {
  /** That came to an end, or into doubt. */
  readonly rows: number
  /** From when on they were counted: that moment, or the first of the moves among which they were. */
  readonly sinceMs: number
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
  /** The label under which it was used first; null: it has none. */
  readonly environment: Environment | null
  /** By how far the clock was ahead of the gateway's, too far to be believed, and when that was by the same clock; null: it is believed. */
  readonly clockAheadMs: number | null
  readonly clockAheadAtMs: number | null
}

/** What became of batches and rows. Changes nothing but what is known of written results. */
export interface QueryLedger {
  /**
   * Latest first; `open`: only those with a row that waits or is being sent; `unsettled`: those, and every other one that may
   * need a person.
   */
  batches(only?: 'open' | 'unsettled'): Promise<readonly BatchView[]>
  /** The same, as many as are asked for, behind that one; null: from the latest. `accounts`: of these alone; null: of all. */
  batchesAfter(
    after: BatchId | null,
    most: number,
    accounts: readonly AccountId[] | null,
  ): Promise<readonly BatchView[]>
  /** The latest of those whose file's name begins so, in these letters. */
  batchesNamed(fileName: string, most: number): Promise<readonly BatchView[]>
  /** By id or a beginning of one that fits a single batch; null where none fits. */
  batch(idOrPrefix: string): Promise<BatchView | null>
  /** DUPLICATE rows of other batches that nobody sends since this one was cancelled, by batch. */
  leftOutFor(batchId: BatchId): Promise<readonly SharedRows[]>
  openReading(batchId: BatchId, nowMs: number): Promise<BatchReading>
  /** As many rows of the batch as are asked for, behind that row number, in input order; all of one moment. */
  rowsAfter(batchId: BatchId, after: number, most: number): Promise<readonly ReconciliationRow[]>
  /** The same of the newest file that holds most of the batch, across corrections, rejects and retries: every row as it ended. */
  openFamily(batchId: BatchId, nowMs: number): Promise<BatchReading>
  resultsWritten(batchId: BatchId, path: string, edition: Edition): Promise<void>
  /** The commonest reasons for which rows of the batch were declined, failed or came into doubt; of many, not all. */
  reasons(batchId: BatchId): Promise<readonly ReasonTotal[]>
  history(reference: string): Promise<readonly HistoryMove[]>
  /** By any of its ids; in the order of their arrival, up to `FOUND_MOST`. */
  find(id: string): Promise<readonly FoundInstruction[]>
  /** When the first of its batches was recorded; null: it has none. */
  knownSinceMs(): Promise<number | null>
  /** Counted among so many of the latest moves of all batches, at that moment or later. */
  settledOfLate(batchId: BatchId, sinceMs: number, among: number): Promise<SettledOfLate>
  /**
   * The batch for whose earlier rows of the same orders all due rows of this one wait; null where one could be sent now
   * or none is due.
   */
  waitsFor(batchId: BatchId, nowMs: number): Promise<BatchId | null>
  accounts(): Promise<readonly AccountView[]>
  /** Messages that were not taken, latest first; `count`: all that fit, also those beyond `most`. */
  refusals(asked: RefusalsAsked): Promise<{ readonly refusals: readonly KeptRefusal[]; readonly count: number }>
  /** What waits, since when, and what needs a person: cheap enough to be asked every second. */
  figures(): Promise<LedgerFigures>
  /** Of each account, by the tallies: cheap enough to be asked every minute. */
  outcomes(): Promise<readonly OutcomeFigures[]>
  /** Oldest first. A dead worker leaves its last one. */
  heartbeats(): Promise<readonly Heartbeat[]>
}
