// Messages of other services on their way in: what is understood of one, and what becomes of it. Pure.

import type { DraftRow } from './draft.ts'
import type { Held } from './event.ts'
import { Fault } from './fault.ts'
import type { BatchId } from './ids.ts'
import type { Instruction } from './instruction.ts'
import type { Environment } from './merchant.ts'
import type { Acceptable } from './refusal-code.ts'
import { isFinal, type State, statusOf } from './states.ts'

/** Where a service may be told what becomes of its messages. */
export const OUTCOME_QUEUE = /^tranche-outcome-[A-Za-z0-9._-]{1,64}$/

/** The batch of the day, of the hour (both UTC), or one that the message names. */
export type MessageBatch = 'day' | 'hour' | { readonly name: string }

interface TakenRow {
  readonly batchId: BatchId
  readonly rowNo: number
  readonly state: State
}

export type IntakeAnswer =
  | ({ readonly kind: 'accepted'; readonly held?: Held } & TakenRow)
  /** With when it was recorded first. */
  | ({
      readonly kind: 'duplicate'
      readonly recordedAtMs: number
      /** How it was approved otherwise than asked. Absent: it was not. */
      readonly moneyWarning?: string
      readonly held?: Held
    } & TakenRow)
  | { readonly kind: 'refused'; readonly reason: string; readonly looksLike?: EarlierRow | undefined }

/** A recorded row that a refused message may repeat: what it asks for may be done already. */
export interface EarlierRow extends TakenRow {
  readonly reference: string
}

/** As programs read it, over HTTP and beside the failure of a job. */
export function toLooksLike({ reference, batchId, rowNo, state }: EarlierRow): object {
  return { reference, batch: batchId, row: rowNo, state: statusOf(state), final: isFinal(state) }
}

/** For whom a message may be, here. */
export interface Addressees {
  /** The merchants that are there for who asks. */
  readonly names: readonly string[]
  /** Several are configured: each message names its own. */
  readonly areSeveral: boolean
  /** null: no such merchant is configured. */
  readonly accountOf: (merchant: string) => Addressee | null
  /** What the API key of the request is for; null: nothing is known of it. */
  readonly keyEnvironment: Environment | null
}

export interface Addressee {
  /** The identity of its account. */
  readonly accountKey: string
  /** null: nobody has said. */
  readonly environment: Environment | null
}

export type ParsedMessage =
  | {
      readonly kind: 'message'
      readonly merchant: string
      readonly instruction: Instruction
      readonly runKey: string | null
      /** The instruction that it may look like; null: it names none. */
      readonly allowLookalikeOf: string | null
      /** Questions that its producer has answered with yes. */
      readonly accept: readonly Acceptable[]
      /** The batch that it names; null: none. */
      readonly batchName: string | null
      /** The queue that is told what becomes of it; null: none. */
      readonly replyTo: string | null
      /** Its job completes with the outcome. */
      readonly completesWithOutcome: boolean
      /** The message as received: names and values. */
      readonly cells: Readonly<Record<string, string>>
    }
  | RefusedMessage

/** Many instructions that are taken as one batch, or not at all. */
export type ParsedBatch =
  | {
      readonly kind: 'batch'
      readonly merchant: string
      readonly name: string
      readonly runKey: string | null
      /** The queue that is told what becomes of its rows; null: none. */
      readonly replyTo: string | null
      readonly allowLookalikes: number
      readonly allowExecuteAt: number
      readonly allowAboveLimit: number
      /** The same for the same content, in whatever order its fields come. */
      readonly sha256: string
      readonly rows: readonly DraftRow[]
    }
  | RefusedMessage

/** One instruction that is not to be sent any more. */
export type ParsedCancel =
  | { readonly kind: 'cancel'; readonly merchant: string; readonly reference: string; readonly reason: string }
  | RefusedMessage

/** Added to the refusal of a message that a lost state of the ledger may have taken. */
export const MAYBE_EXECUTED =
  'a lost state of the ledger may have executed it: look it up at the gateway before you hand it in again'

/** A message as a door receives it. */
export interface ReceivedMessage {
  readonly jobName: string
  readonly payload: unknown
  /** Always names this message: a refusal is kept once under it. */
  readonly sourceId: string
  /** When its producer put it into the queue, epoch milliseconds by the producer's clock. Absent: it came by no queue. */
  readonly queuedAtMs?: number | undefined
  /** A parent job waits for its completion. */
  readonly hasParent?: boolean | undefined
  /** It was recorded, and its job waits for the outcome. */
  readonly isAwaited?: boolean | undefined
  /** Why the queue could not read it. Absent: it could. */
  readonly unread?: RefusedMessage | undefined
}

export interface RefusedMessage {
  readonly kind: 'refused'
  /** In words for the producer; no card number is in them. */
  readonly reasons: readonly string[]
  /** Why the message must not be kept: the queue overwrites it. null: it may be. */
  readonly withheld: string | null
  /** The merchant that is not configured here, where nothing else is wrong with the message. Absent: there is more, or none. */
  readonly unknownMerchant?: string | undefined
  /** Absent: nothing that is recorded is like it. */
  readonly looksLike?: EarlierRow | undefined
  /** Of a batch: what is asked about its instructions, for programs. Absent: nothing. */
  readonly questions?: readonly object[]
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

/** It was recorded when it came first. Whatever is wrong with reading it now, it must not be told as refused. */
export class NotReadAgain extends Fault {
  constructor(reasons: readonly string[]) {
    super(
      'unavailable',
      `A message that was recorded cannot be looked up by it again (${reasons.join('; ')}). Its job waits; its row is sent all the same. Put the configuration back as it was when it was recorded.`,
    )
    this.name = 'NotReadAgain'
  }
}

/** The merchant of a message is not configured here, and the ledger knows it: another worker may take it, and so may this one once it is told of it. */
export class KnownElsewhere extends Fault {
  readonly merchant: string

  constructor(merchant: string) {
    super(
      'unavailable',
      `Merchant "${merchant}" is in the ledger and not in the configuration of this worker: its messages wait for a worker that has it.`,
    )
    this.name = 'KnownElsewhere'
    this.merchant = merchant
  }
}

/** As the job's result. */
export type MessageResult = Exclude<IntakeAnswer, { kind: 'refused' }> | TakenBatch | CancelledRow | RefusedMessage

export interface CancelledRow extends TakenRow {
  readonly kind: 'cancelled'
}

/** Of a job that completes with the outcome: `later`: there is none yet; `failed`: nothing that waits for its execution may go on. */
export function completionOf(state: State): 'now' | 'later' | 'failed' {
  if (state === 'APPROVED') return 'now'
  return isFinal(state) ? 'failed' : 'later'
}

/** The rows of a batch that were recorded before it: they are not sent again. */
export interface Duplicates {
  readonly rows: number
  /** When the first of them was recorded; null: there are none. */
  readonly firstAtMs: number | null
}

interface BatchTaken {
  readonly batchId: BatchId
  readonly rows: number
  readonly held?: Held
  readonly duplicates?: Duplicates
}

/** `repeated`: it is the batch that was recorded under its name before. */
export type TakenBatch = BatchTaken &
  ({ readonly kind: 'recorded' } | { readonly kind: 'repeated'; readonly recordedAtMs: number })

/** What was handed in again after it had been recorded, by whatever hands it in regularly: under the same name it is not done again. */
export function whyNotAgain(taken: MessageResult, dueAtMs: number): string | null {
  if ((taken.kind !== 'duplicate' && taken.kind !== 'repeated') || taken.recordedAtMs >= dueAtMs) return null
  const at = new Date(taken.recordedAtMs).toISOString()
  return `duplicate: it was recorded at ${at} (batch ${taken.batchId}), and is not done again. What comes regularly needs a reference, or a batch name, of its own each time`
}
