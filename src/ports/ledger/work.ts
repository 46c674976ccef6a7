// The ledger, for whatever sends: what is due, claims, settlements. Its caller is the owner of what it claims. How an engine
// keeps owners apart is its own: one worker at a time under a lock, or several with a lease each.

import type { DailyLimits, LimitedAmount } from '../../domain/daily-limit.ts'
import type { AccountId, BatchId, RowId } from '../../domain/ids.ts'
import type { Instruction } from '../../domain/instruction.ts'
import type { ReasonCategory, ReasonRule } from '../../domain/reason-categories.ts'
import type { Cause, State } from '../../domain/states.ts'
import type { AnswerFacts } from '../../domain/verdict.ts'
import type { GatewayHealth } from '../../domain/window.ts'
import type { Heartbeat } from '../../domain/worker.ts'

/** A row that may be sent, with all that sending needs. */
export interface DueRow {
  readonly rowId: RowId
  readonly batchId: BatchId
  readonly accountId: AccountId
  readonly merchant: string
  readonly rowNo: number
  /** Attempts so far; the claim makes it one more. */
  readonly attempt: number
  readonly everInDoubt: boolean
  /** How often this row was answered 403. */
  readonly forbiddenCount: number
  /** Another row of its order was executed or may have been, or its sale or authorization is known. */
  readonly sharesOrder: boolean
  readonly instruction: Instruction
}

export interface Claim {
  readonly rowId: RowId
  /** The attempt number seen in the due row: the claim is refused when the row has moved since. */
  readonly attempt: number
  /** As the due row says. It is held against its order first, and becomes CANCELLED where it no longer fits. */
  readonly sharesOrder: boolean
  /** As the due row says; null: never. Too late, it becomes CANCELLED. */
  readonly expiresAtMs: number | null
  /** What it counts towards the limit of a day. Where it does not fit, its row waits for the next day. null: nothing limits it. */
  readonly limited: LimitedAmount | null
  /** The merchant's own, by which earlier declines of its card are read. */
  readonly reasonRules: readonly ReasonRule[]
  readonly nowMs: number
  readonly sendByMs: number
  readonly answerByMs: number
}

export type ClaimAnswer =
  | { readonly kind: 'claimed'; readonly attempt: number }
  /** The row is not READY and due, or too late, its batch or account is held, its account stopped, an earlier row of its order is open, or the limit of the day is reached. */
  | { readonly kind: 'not-free' }
  /** The claim could not be written. Nothing is claimed; `full` is a disk without space. */
  | { readonly kind: 'not-written'; readonly why: 'full' | 'busy' }

/** By which a row is known in every history of the ledger: where an older state was put back, its id may be another row's. */
export interface RowName {
  readonly merchant: string
  readonly batchId: BatchId
  readonly rowNo: number
  readonly reference: string
}

/** What became of a claimed attempt. */
export interface Settlement {
  readonly rowId: RowId
  readonly row: RowName
  /** The attempt that the claim answered with. A settlement changes nothing when the row has moved on. */
  readonly attempt: number
  readonly to: 'APPROVED' | 'DECLINED' | 'FAILED' | 'IN_DOUBT' | 'READY'
  readonly cause: Extract<Cause, 'answer' | 'unsent' | 'doubt'>
  readonly atMs: number
  /** When the first byte left; null where none did. */
  readonly sentAtMs: number | null
  readonly httpStatus: number | null
  /** The answer as received, masked, one line; kept in the history. */
  readonly answerText: string | null
  /** For people: the gateway's text or ours, one line; null for a plain approval. */
  readonly reason: string | null
  /** What the words of a refusal say, by the merchant's own rules as well; null: nothing was refused. */
  readonly category: ReasonCategory | null
  readonly facts: AnswerFacts | null
  readonly warning: string | null
  /** The warning is about money: pauses the batch the first time. */
  readonly warnsOfMoney: boolean
  /** For READY: the earliest moment of the next claim. */
  readonly dueAtMs: number
  /** The row was answered 403. */
  readonly forbidden: boolean
  /** Its claim counted towards the limit of a day: what was certainly not executed is given back. */
  readonly limited: boolean
  /** Until when the gateway asked the whole account to wait; null where it did not. */
  readonly askedToWaitUntilMs: number | null
}

export interface Settled {
  /** Where the row stands now. READY becomes CANCELLED in a cancelled batch; a transaction id seen before, or a refusal that says it was done already, makes IN_DOUBT. */
  readonly state: State
  /** Batches that this settlement paused, with the reason. */
  readonly paused: string | null
}

/** What a worker says of the accounts that it could send for. */
export interface AccountsAsked {
  /** For these it is configured. */
  readonly lanes: ReadonlySet<AccountId>
  /** Something could be sent there now. */
  readonly due: ReadonlySet<AccountId>
  /** Their gateways have not answered for long. */
  readonly failing: ReadonlySet<AccountId>
  /** It has become their sender, and nothing could leave yet. */
  readonly quiet: ReadonlySet<AccountId>
  /** Requests that it has open there. */
  readonly openIn: (accountId: AccountId) => number
  /** It works off this batch only. */
  readonly only: BatchId | null
  /** It has the file of that batch, with card details. */
  readonly hasFile: boolean
  /** It takes none any more, and gives back what it has. */
  readonly isEnding: boolean
}

export interface Sending {
  /** Another one for each time that this worker became the sender. */
  readonly tenure: number
  /** Requests that other workers may have open there. */
  readonly openElsewhere: number
}

/** A batch in which something could be sent now. */
export interface WorkableBatch {
  readonly batchId: BatchId
  readonly accountId: AccountId
  /** Rows due, counted no further than asked. */
  readonly due: number
}

export interface WorkLedger {
  /** On start, before the owner claims anything: what is SENDING and has no living owner becomes IN_DOUBT. Resolves to their number. */
  sweep(nowMs: number): Promise<number>
  /**
   * While working: the owner's own rows past their answer-by for which it has no request open. None should be there; a bug
   * between claim and settle would leave one, and its batch would never end.
   */
  sweepForgotten(nowMs: number, inFlight: ReadonlySet<RowId>): Promise<number>
  /**
   * While working: what an owner that has fallen silent was sending, past its answer-by, becomes IN_DOUBT. Resolves to their number; 0
   * where there is one owner at a time.
   */
  sweepLost(nowMs: number): Promise<number>
  /**
   * Whether what the owner has claimed is still its own, for all that it knows: asked right before a first byte leaves. It answers at
   * once. Where owners have a lease, one that the ledger has not answered for a while may have been given up.
   */
  maySend(): boolean
  /**
   * On start, and when the wall clock was set back: rows that would rest for more than a minute, or have not been due since
   * they came, are due now. What waits for its `execute_at` goes on waiting. `seenMs` is the latest time that the caller saw.
   * Resolves to their number.
   */
  endOverlongRests(nowMs: number, seenMs: number): Promise<number>
  /** The health of the account's gateway, for people; null: nothing to tell. */
  recordHealth(accountId: AccountId, condition: GatewayHealth | null): Promise<void>
  /** Tells people that this worker lives, and what it does. Where workers have leases, renews its own; rejects where the ledger cannot be reached. */
  beat(heartbeat: Heartbeat): Promise<void>
  /**
   * On start, after the sweep: how long a request in doubt may still be executed, as this worker says. It holds for every
   * command that resolves. Where rows are in doubt already, it becomes no shorter: they may have been sent under a longer one.
   */
  keepDoubtRest(restMs: number): Promise<void>
  /**
   * On start, of each account that this worker sends for: what is limited from now on. Rows that wait for another limit are due now, and what
   * counts is added up from the record again: a worker that knew no limit may have sent meanwhile.
   */
  applyLimits(accountId: AccountId, limits: DailyLimits | null, nowMs: number): Promise<void>
  /** Finishes what a cancel left: READY rows of cancelled batches become CANCELLED, in short transactions. */
  finishCancelling(nowMs: number): Promise<number>
  /** READY rows that are past their `expires_at` become CANCELLED, also where nothing may be claimed. Resolves to their number. */
  cancelExpired(nowMs: number): Promise<number>
  /**
   * Open batches with due rows, longest waiting first; `only` narrows to one. Without it those are left out whose rows have
   * card details: only who reads their file can send them. Rejects with a fault where nothing may be handed out for a while.
   */
  workable(nowMs: number, countTo: number, only?: BatchId): Promise<readonly WorkableBatch[]>
  /** Due rows whose order is free, by due time and then file order, leaving out `except`. */
  dueRows(batchId: BatchId, nowMs: number, limit: number, except: ReadonlySet<RowId>): Promise<readonly DueRow[]>
  /**
   * Resolves only after the commit that holds it. Concurrent claims and settlements share commits. Rejects only where its
   * own write throws, which is a bug: nothing of it is written then.
   */
  claim(claim: Claim): Promise<ClaimAnswer>
  /**
   * Resolves only when it is durable; kept and tried again until it is (a full disk is waited out). Rejects as a claim does.
   * No claim that is asked for after it is written before it.
   */
  settle(settlement: Settlement): Promise<Settled>
  /** Whether several workers share it, on a server. Each account has one of them as its sender, who alone claims rows of it. */
  readonly isShared: boolean
  /**
   * Asked again and again while working, where a ledger is shared: takes accounts, and gives them back. Resolves to those of which this worker
   * is the sender. Rejects where the ledger cannot be reached now.
   */
  keepAccounts(asked: AccountsAsked): Promise<ReadonlyMap<AccountId, Sending>>
  /**
   * Before a claim is asked for: whether it may still leave, asked right before its first byte. It may not once the account was taken by
   * another, or given back, whoever has it then.
   */
  tenure(accountId: AccountId): () => boolean
  /**
   * By how far the clock is ahead of the account's gateway. Where they are far apart, rows with an `execute_at` are not claimed, and rows that
   * look alike are asked about whatever their age, until an answer agrees or a person says that the clock is right.
   */
  recordClock(accountId: AccountId, aheadMs: number, nowMs: number): Promise<void>
  /** Nothing of the account is claimed until `resumeAccount`. `refused`: the digest of the credentials that the gateway refused; null: it refused others. */
  stopAccount(accountId: AccountId, reason: string, nowMs: number, refused?: string | null): Promise<void>
  /**
   * The account goes on, where it was stopped for its credentials and no request was refused with these, nor tried with them since a person
   * resumed it, and none is open. Resolves to whether it does: once for each digest.
   */
  tryCredentials(accountId: AccountId, digest: string, nowMs: number): Promise<boolean>
}
