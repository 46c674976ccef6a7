// Messages of other services on their way in: what is understood of one, and what becomes of it. Pure.

import type { BatchId } from './ids.ts'
import type { Instruction } from './instruction.ts'
import type { State } from './states.ts'

export type IntakeAnswer =
  | {
      readonly kind: 'accepted' | 'duplicate'
      readonly batchId: BatchId
      readonly rowNo: number
      readonly state: State
    }
  | { readonly kind: 'refused'; readonly reason: string }

export type ParsedMessage =
  | {
      readonly kind: 'message'
      readonly merchant: string
      readonly instruction: Instruction
      readonly runKey: string | null
      readonly allowLookalike: boolean
      /** The message as received: names and values. */
      readonly cells: Readonly<Record<string, string>>
    }
  | RefusedMessage

export interface RefusedMessage {
  readonly kind: 'refused'
  /** In words for the producer; no card number is in them. */
  readonly reasons: readonly string[]
  /** Why the message must not be kept: the queue overwrites it. null: it may be. */
  readonly withheld: string | null
}

/** A message that was not taken, as the ledger keeps it. A purge takes its reasons and its text. */
export interface KeptRefusal {
  /** `queue/job id/time of the job`. */
  readonly sourceId: string
  /** `unknown`: the message named no merchant that is configured. */
  readonly merchant: string
  readonly reasons: readonly string[]
  /** The message as JSON, cut; or why it is withheld. */
  readonly text: string
  readonly atMs: number
}

/** Which refusals are asked for. null: whenever, of any merchant. */
export interface RefusalsAsked {
  readonly sinceMs: number | null
  readonly merchant: string | null
  readonly most: number
}

/** As the job's result. */
export type MessageResult = Exclude<IntakeAnswer, { kind: 'refused' }> | RefusedMessage
