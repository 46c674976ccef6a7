// Personal data of finished batches that leaves the record.

import type { Actor } from './actor.ts'
import type { BatchId } from './ids.ts'
import type { ReasonCategory } from './reason-categories.ts'

export interface PurgeRequest {
  /** Of batches that were over, and refusals that were made, before that moment. */
  readonly beforeMs: number
  readonly reason: string
  readonly actor: Actor
  readonly nowMs: number
  /** What a reason counts as, by the rules of that merchant: the word stays where the text goes. */
  readonly categoryOf: (merchant: string, reason: string) => ReasonCategory
}

export interface PurgePlan {
  /** Rows that are still to be purged. */
  readonly batches: readonly { readonly batchId: BatchId; readonly rows: number }[]
  /**
   * Old enough and left as they are: rows are open or in doubt; an answer came late and has not been looked at; or their results,
   * as they are now, were never written.
   */
  readonly left: readonly { readonly batchId: BatchId; readonly why: 'open' | 'late-answers' | 'results' }[]
  /** Messages that were not taken and whose text is still kept. */
  readonly refusals: number
}

export interface PurgeStep {
  /** null: of refused messages. */
  readonly batchId: BatchId | null
  readonly rows: number
}
