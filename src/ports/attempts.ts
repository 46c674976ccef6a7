// One attempt as it went, for who measures and traces it. Made where it is executed, told when it is over.

import type { Outcome } from '../domain/outcome.ts'
import type { Slice } from './dispatch.ts'

/** Times are monotonic milliseconds. */
export interface AttemptSeen {
  readonly slice: Slice
  readonly attempt: number
  readonly outcome: Outcome
  /** The claim was handed to the ledger. */
  readonly askedAtMs: number
  /** It was durable. */
  readonly claimedAtMs: number
  /** The fence let the first byte go; null: none left. */
  readonly startedAtMs: number | null
  /** The gateway had answered, or would not. */
  readonly overAtMs: number
  /** What became of it was durable. */
  readonly settledAtMs: number
}
