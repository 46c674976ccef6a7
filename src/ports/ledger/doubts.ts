// The ledger, for whatever resolves rows in doubt.

import type { Actor } from '../../domain/actor.ts'
import type { DoubtRow, Foreseen, ProposalRefusal, Resolution, Resolved } from '../../domain/doubt.ts'
import type { BatchId } from '../../domain/ids.ts'

export interface DoubtLedger {
  /** Every row in doubt, oldest first. */
  doubts(): Promise<readonly DoubtRow[]>
  /** What `resolve` would answer to each, if those before it had been recorded; in the same order. For rows in doubt, not for corrections. */
  foresee(resolutions: readonly Resolution[], actor: Actor, nowMs: number): Promise<readonly Foreseen[]>
  /**
   * Changes nothing unless it resolves or proposes, and is durable then. `send-again` takes two people where approvals are in force:
   * the first one's word is `proposed`, and the same word of another one confirms it.
   */
  resolve(resolution: Resolution, actor: Actor, nowMs: number): Promise<Resolved>
  /** That stand now, by the merchant and the batch of the row. */
  proposals(nowMs: number): Promise<readonly { readonly merchant: string; readonly batchId: BatchId }[]>
  /** By any person, also the one who proposed. False: there is no such proposal any more, and nothing was changed. */
  refuseProposal(refusal: ProposalRefusal, actor: Actor, nowMs: number): Promise<boolean>
}
