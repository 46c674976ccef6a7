// The ledger, for taking personal data out of it.

import type { PurgePlan, PurgeRequest, PurgeStep } from '../../domain/purge.ts'

export interface PurgeLedger {
  /** Looks only. */
  toPurge(beforeMs: number): Promise<PurgePlan>
  /**
   * Takes cells, details and texts out, a short transaction at a time; others may write between two of
   * them. Changes nothing that decides what is sent. Broken off, it goes on when it is called again.
   */
  purge(request: PurgeRequest): AsyncIterable<PurgeStep>
  /** What was purged still stands in the write-ahead log until this has answered true; false: it could not be cleared now. */
  clearLog(): Promise<boolean>
}
