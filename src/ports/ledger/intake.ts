// The ledger, for whatever hands in files and messages.

import type { DailyLimits } from '../../domain/daily-limit.ts'
import type { Draft, DraftHeader } from '../../domain/draft.ts'
import type { AccountId, BatchId } from '../../domain/ids.ts'
import type { Instruction } from '../../domain/instruction.ts'
import type { Duplicates, EarlierRow, IntakeAnswer, MessageBatch } from '../../domain/message.ts'
import type { Acceptable } from '../../domain/refusal-code.ts'
import type { Brake, UnfinishedBatch } from '../../domain/submission.ts'

/** A message of another service, checked and understood. */
export interface IntakeMessage {
  readonly accountId: AccountId
  readonly instruction: Instruction
  readonly runKey: string | null
  /** The reference of the instruction that it may look like; null: of none. */
  readonly allowLookalikeOf: string | null
  /** Questions that its producer has answered with yes. */
  readonly accept: readonly Acceptable[]
  readonly lookalikeDays: number
  readonly captureTolerance: number
  /** Absent: as by default. */
  readonly authorizationDays?: number
  /** null: no day is limited. */
  readonly dailyLimits: DailyLimits | null
  /** It is meant, though it is above the limit of a whole day. */
  /** Which batch takes it. */
  readonly into: MessageBatch
  /** The message as received, for the results: names and values. */
  readonly cells: Readonly<Record<string, string>>
  /** The queue that is told what becomes of it. Absent or null: none asked. */
  readonly replyTo?: string | null
  /** The key with which it came. Absent: with none, as from a queue. */
  readonly keyId?: string
  /** What is kept if it is refused, which makes the refusal final. Absent: handed in again, it is judged again. */
  readonly ifRefused?: RefusedPayload
  /**
   * When its producer put it into the queue, epoch milliseconds by the producer's clock. Where an older state of the ledger was adopted
   * since, the message comes into doubt. Absent: it came by no queue.
   */
  readonly queuedAtMs?: number | undefined
  /** It comes to a rehearsal, where no money moves. Absent: it does not. */
  readonly sandbox?: boolean
  readonly nowMs: number
}

/** What is kept of a message that was not taken, beside the reasons. */
export interface RefusedPayload {
  readonly sourceId: string
  readonly accountName: string
  readonly text: string
  /** What it held, or may have held, of cards: an act tells of it. null: nothing. */
  readonly cards: string | null
  /** See `IntakeMessage`. */
  readonly queuedAtMs?: number | undefined
  /** What its producer calls it, and the queue that is told. Absent or null: it did not say. */
  readonly reference?: string | null
  /** Under which references it would be recorded, its run key included: many of a batch. */
  readonly recordedAs?: readonly string[]
  readonly batchName?: string | null
  readonly replyTo?: string | null
}

/** A batch that other services named. */
export interface NamedBatch {
  readonly batchId: BatchId
  readonly rows: number
  /** Of the content that was handed in as one; null: its messages come one by one. */
  readonly contentSha256: string | null
  readonly recordedAtMs: number
}

/** What is wanted while another submit is under way. */
export interface WaitingToSubmit {
  /** Told to stop: it waits no longer. */
  readonly signal?: AbortSignal | undefined
  /** Called once, when the wait is worth a word. null: who submits could not be read. */
  readonly onWait?: ((other: { readonly pid: number; readonly host: string } | null) => void) | undefined
}

export interface IntakeLedger {
  /**
   * The account of this address and user; made on first use. A second name for a known account is a fault, as is a known user name at another
   * address, unless a person says that it is an account of its own.
   */
  account(name: string, url: string, username: string, nowMs: number, ownAccount?: boolean): Promise<AccountId>
  /** One submit at a time: deletes what a dead one left, then begins. Faults with `stopped` if another does not come to an end. */
  openDraft(header: DraftHeader, waiting?: WaitingToSubmit): Promise<Draft>
  /**
   * The batch of the same bytes, account and run key that is unfinished or whose results were never written: one that was read in the
   * same way before any other, then the newest.
   */
  findUnfinished(
    header: Pick<DraftHeader, 'accountId' | 'fileSha256' | 'runKey' | 'fingerprint'>,
  ): Promise<UnfinishedBatch | null>
  /** Of the brakes that are asked for, those that the batch was not recorded with. It cannot take them any more. */
  otherBrakes(
    batchId: BatchId,
    asked: Pick<DraftHeader, 'canaryRows' | 'maxDeclinedPercent' | 'expiresAfterMs'>,
  ): Promise<readonly Brake[]>
  /**
   * Into the queue batch that it names, or that of the day or hour. Idempotent by account and reference. Durable when it resolves.
   * With `ifRefused` a refusal is kept in the transaction that decides it, and is the answer whenever the message comes again.
   */
  recordMessage(message: IntakeMessage): Promise<IntakeAnswer>
  /** The batch of the account that has this name, whatever became of it; null: none has. */
  namedBatch(accountId: AccountId, name: string): Promise<NamedBatch | null>
  /** Rows of the batch that were recorded before it. */
  duplicatesIn(batchId: BatchId): Promise<Duplicates>
  /** From now on this queue is told, too, what becomes of the rows of the batch. */
  askForOutcomes(batchId: BatchId, queue: string): Promise<void>
  /** How the account has spelled that run key so far, if otherwise; null: it has not. */
  knownSpelling(accountId: AccountId, runKey: string, nowMs: number): Promise<string | null>
  /**
   * Keeps a message that was not taken, with the reasons. Idempotent by `sourceId`. Resolves to what its producer is told: the reasons,
   * with a warning where a lost state may have executed the message, and what is recorded beside it.
   */
  recordRefusal(
    refusal: RefusedPayload & {
      readonly reasons: readonly string[]
      /** What the message may repeat. Absent: nothing that is recorded. */
      readonly looksLike?: EarlierRow | undefined
      readonly nowMs: number
    },
  ): Promise<{ readonly reasons: readonly string[]; readonly looksLike?: EarlierRow | undefined }>
  /** Why the message was refused when it came before; null: it was not. */
  refusedBefore(sourceId: string): Promise<readonly string[] | null>
  /** Folders from which an inbox took files into this ledger. */
  inboxes(): Promise<readonly string[]>
  keepInbox(path: string): Promise<void>
  /** Which ledger had the queue when this one looked last; null: it never looked. */
  queueOwner(queue: string): Promise<string | null>
  keepQueueOwner(queue: string, ledgerId: string): Promise<void>
}
