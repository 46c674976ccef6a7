// The ledger, for whatever resolves rows in doubt.

import type { Actor } from '../../domain/actor.ts'
import type { DoubtRow, Foreseen, Resolution, Resolved } from '../../domain/doubt.ts'

export interface DoubtLedger {
  /** Every row in doubt, oldest first. */
  doubts(): Promise<readonly DoubtRow[]>
  /** What `resolve` would answer to each, if those before it had been recorded; in the same order. For rows in doubt, not for corrections. */
  foresee(resolutions: readonly Resolution[], actor: Actor, nowMs: number): Promise<readonly Foreseen[]>
  /** Changes nothing unless it resolves. Durable when it resolves. */
  resolve(resolution: Resolution, actor: Actor, nowMs: number): Promise<Resolved>
}
