// The ledger, for whatever records and reads what people did.

import type { LogEntry, LogPosition, PersonAct } from '../../domain/acts.ts'
import type { BatchId } from '../../domain/ids.ts'
import type { Pages } from '../../domain/pages.ts'

export interface ActLedger {
  /**
   * Waits a moment for another program's lock, and for nothing else: what was done stands, whether it could be recorded
   * or not.
   */
  recordAct(act: PersonAct, nowMs: number): Promise<'recorded' | 'full' | 'busy'>
  /** Acts, files that were recorded and what people resolved, oldest first. null: from the first. */
  log(sinceMs: number | null): Pages<LogEntry>
  /** The same, as many as are asked for, behind that one; null: from the first. `batchId`: of that batch alone. */
  logAfter(
    sinceMs: number | null,
    after: LogPosition | null,
    most: number,
    batchId?: BatchId | null,
  ): Promise<readonly LogEntry[]>
}
