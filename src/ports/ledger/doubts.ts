// The ledger, for whatever resolves rows in doubt.

import type { Actor } from '../../domain/actor.ts'
import type { DoubtRow, Resolution, Resolved } from '../../domain/doubt.ts'

export interface DoubtLedger {
  /** Every row in doubt, oldest first. */
  doubts(): Promise<readonly DoubtRow[]>
  /** Changes nothing unless it resolves. Durable when it resolves. */
  resolve(resolution: Resolution, actor: Actor, nowMs: number): Promise<Resolved>
}
