// The contracts between the rooms. Each is written here once; an adapter keeps it, a conformance suite holds it to it.

import type { ActDetails, ActName, PersonActName } from './acts.ts'
import type { Adoption, Alarm } from './alarm.ts'
import type { Instruction, Operation } from './instruction.ts'
import type { Fingerprint } from './interpretation.ts'
import type { Currency, Money } from './money.ts'
import type { Outcome } from './outcome.ts'
import type { ReasonCategory } from './reason-categories.ts'
import type { Finding } from './resolution.ts'
import type { Cause, State } from './states.ts'
import type { TlsSeen } from './tls.ts'
import type { AnswerFacts } from './verdict.ts'
import type { GatewayHealth } from './window.ts'

export type BatchId = string & { readonly __brand: 'BatchId' }
export type AccountId = number & { readonly __brand: 'AccountId' }
export type RowId = number & { readonly __brand: 'RowId' }

/** A user of the operating system. */
export interface OsUser {
  readonly name: string
  /** null: not known. */
  readonly uid: number | null
}

/** Who acted: what the operating system says, and what was claimed. All of it is kept. */
export interface Actor extends OsUser {
  readonly host: string
  /** The controlling terminal, such as `pts/3`; null: none, as under cron. */
  readonly terminal: string | null
  /** Who logged in, as the kernel keeps it through every change of user; null: not known. */
  readonly login: OsUser | null
  /** Who called sudo, as sudo says in the environment, which its caller could change; null: sudo was not used. */
  readonly sudo: OsUser | null
  /** The name given with `--as`. */
  readonly as: string | null
}

export interface Clock {
  /** Wall clock, epoch milliseconds. */
  nowMs(): number
  /** Never runs backwards; stands still while a virtual machine is suspended. */
  monotonicMs(): number
  /** Resolves early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** What pino offers and no more. Lines are scrubbed before they are written. */
export interface Log {
  debug(details: object, message: string): void
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

// ───────────────────────────────────────────────────────────── Gateway

/** The last word before the first byte: null to go, or why not. Called synchronously when the connection stands. */
export type Fence = () => 'fence' | 'pace' | null

export type Reached =
  /** `tls` is null over plain HTTP. */
  | { readonly kind: 'reached'; readonly tls: TlsSeen | null }
  /** In words. */
  | { readonly kind: 'not-reached'; readonly why: string }

export interface Gateway {
  /**
   * Sends one instruction once. Never rejects and never sends again by itself: whatever happens is an outcome.
   * The fence is asked exactly once, after the connection stands and before the first byte; if it refuses, or is never
   * asked, not one byte left. `abandon` ends an attempt that has not started yet; a started one is awaited.
   */
  send(instruction: Instruction, fence: Fence, abandon: AbortSignal): Promise<Outcome>
  /** Whether something accepts connections at the address. Sends no request. */
  reach(): Promise<Reached>
  close(): Promise<void>
}

// ───────────────────────────────────────────────────────────── Dispatch

export interface Slice {
  readonly batchId: BatchId
  /** The most rows to take. */
  readonly rows: number
}

/** Hands out work; remembers nothing that matters. Losing everything in it costs a tick. */
export interface Dispatch {
  /** Puts slices of a batch into places `0 … places-1` of that batch; a place that is taken stays as it is. */
  offer(slice: Slice, places: number): Promise<void>
  /** Called whenever a slice has ended, with the rows it worked on, so that its place can be filled before the next tick. */
  onFreed(listener: (batchId: BatchId, rows: number) => void): void
  /** Takes no new slices; resolves when the running ones have ended, or after `withinMs`. */
  close(withinMs: number): Promise<void>
}

// ───────────────────────────────────────────────────────────── Ledger: working off

/** A row that may be sent, with all that sending needs. */
export interface DueRow {
  readonly rowId: RowId
  readonly batchId: BatchId
  readonly accountId: AccountId
  readonly rowNo: number
  /** Attempts so far; the claim makes it one more. */
  readonly attempt: number
  readonly everInDoubt: boolean
  /** How often this row was answered 403. */
  readonly forbiddenCount: number
  readonly instruction: Instruction
}

export interface Claim {
  readonly rowId: RowId
  /** The attempt number seen in the due row: the claim is refused when the row has moved since. */
  readonly attempt: number
  readonly nowMs: number
  readonly sendByMs: number
  readonly answerByMs: number
}

export type ClaimAnswer =
  | { readonly kind: 'claimed'; readonly attempt: number }
  /** The row is not READY and due, its batch or account is held, its account stopped, or an earlier row of its order is open. */
  | { readonly kind: 'not-free' }
  /** The claim could not be written. Nothing is claimed; `full` is a disk without space. */
  | { readonly kind: 'not-written'; readonly why: 'full' | 'busy' }

/** What became of a claimed attempt. */
export interface Settlement {
  readonly rowId: RowId
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
  readonly facts: AnswerFacts | null
  readonly warning: string | null
  /** The warning is about money: pauses the batch the first time. */
  readonly warnsOfMoney: boolean
  /** For READY: the earliest moment of the next claim. */
  readonly dueAtMs: number
  /** The row was answered 403. */
  readonly forbidden: boolean
  /** Until when the gateway asked the whole account to wait; null where it did not. */
  readonly askedToWaitUntilMs: number | null
}

export interface Settled {
  /** Where the row stands now. READY becomes CANCELLED in a cancelled batch; a transaction id seen before makes IN_DOUBT. */
  readonly state: State
  /** Batches that this settlement paused, with the reason. */
  readonly paused: string | null
}

/** A batch in which something could be sent now. */
export interface WorkableBatch {
  readonly batchId: BatchId
  readonly accountId: AccountId
  /** Rows due, counted no further than asked. */
  readonly due: number
}

export interface WorkLedger {
  /** On start, by the holder of the worker lock only: whatever is SENDING belonged to a dead process and becomes IN_DOUBT. */
  sweep(nowMs: number): Promise<number>
  /**
   * While working, by the holder of the worker lock only: rows past their answer-by that are in nobody's hand. None should
   * be there; a bug between claim and settle would leave one, and its batch would never end.
   */
  sweepForgotten(nowMs: number, inFlight: ReadonlySet<RowId>): Promise<number>
  /**
   * On start, and when the wall clock was set back: rows that would rest for more than a minute, or have not been due since
   * they came, are due now. What waits for its `execute_at` goes on waiting. `seenMs` is the latest time that the caller saw.
   * Resolves to their number.
   */
  endOverlongRests(nowMs: number, seenMs: number): Promise<number>
  /** How the way to an account is, for people; null: nothing to tell. */
  recordHealth(accountId: AccountId, condition: GatewayHealth | null): Promise<void>
  /**
   * On start, after the sweep: how long a request in doubt may still be executed, as this worker says. It holds for every
   * command that resolves. Where rows are in doubt already, it becomes no shorter: they may have been sent under a longer one.
   */
  keepDoubtRest(restMs: number): Promise<void>
  /** Finishes what a cancel left: READY rows of cancelled batches become CANCELLED, in short transactions. */
  finishCancelling(nowMs: number): Promise<number>
  /** Open batches with due rows, longest waiting first; `only` narrows to one. */
  workable(nowMs: number, countTo: number, only?: BatchId): Promise<readonly WorkableBatch[]>
  /** Due rows whose order is free, by due time and then file order, leaving out `except`. */
  dueRows(batchId: BatchId, nowMs: number, limit: number, except: ReadonlySet<RowId>): Promise<readonly DueRow[]>
  /**
   * Resolves only after the commit that holds it. Concurrent claims and settlements share commits. Rejects only where its
   * own write throws, which is a bug: nothing of it is written then.
   */
  claim(claim: Claim): Promise<ClaimAnswer>
  /** Resolves only when it is durable; kept and tried again until it is (a full disk is waited out). Rejects as a claim does. */
  settle(settlement: Settlement): Promise<Settled>
  /** Nothing of the account is claimed until `resumeAccount`. */
  stopAccount(accountId: AccountId, reason: string, nowMs: number): Promise<void>
}

// ───────────────────────────────────────────────────────────── Ledger: taking in

/** One thing wrong with one row, in words a person can act on. */
export interface RowFault {
  readonly rowNo: number
  /** Line of the file where the row begins, from 1. */
  readonly line: number
  readonly column: string | null
  /** The cell as written, masked and cut; null where no one cell is to blame. */
  readonly value: string | null
  readonly problem: string
  readonly remedy: string
}

/** A row of a file as read: an instruction, or the faults that kept it from being one. */
export interface DraftRow {
  readonly rowNo: number
  readonly line: number
  /** The cells as they were (masked where they must be), in the order of the header. */
  readonly cells: readonly string[]
  /** The reference it has or would have. */
  readonly reference: string
  readonly instruction: Instruction | null
  readonly faults: readonly RowFault[]
  /** Of a row with faults: its amount where that could be read all the same; `unread` where it could not. Control totals want it. */
  readonly money?: Money | 'unread' | null
  /** For results fed back: which recorded row this line came from. */
  readonly cameFrom: { readonly batchId: string; readonly rowNo: number } | null
}

export type RetryStatus = 'FAILED' | 'CANCELLED' | 'INVALID'

export interface DraftHeader {
  readonly accountId: AccountId
  readonly fileName: string
  readonly fileSha256: string
  readonly runKey: string | null
  readonly columns: readonly string[]
  /** Columns whose numbers only look like card numbers, as a person says: kept as an act of theirs. */
  readonly notCards?: readonly string[]
  /** How its bytes are read. */
  readonly fingerprint: Fingerprint
  readonly sandbox: boolean
  /** Results fed back: recorded rows are looked up, nothing new is sent except what `retry` names. */
  readonly fedBack: boolean
  readonly retry: readonly RetryStatus[]
  /** For how many days a row that was sent under another run key counts as a look-alike. */
  readonly lookalikeDays: number
  readonly nowMs: number
  /** The draft will not be recorded: nobody else's submit is waited for, and nothing in the ledger is touched. */
  readonly lookOnly?: boolean
  /** Only so many rows are sent before a person has looked; null: all. */
  readonly canaryRows: number | null
  /** Pauses the batch when more than this share of the last 100 answered rows was declined; null: never. */
  readonly maxDeclinedPercent: number | null
}

export interface Total {
  /** Empty for rows that could not be read as an instruction. */
  readonly operation: Operation | ''
  /** Empty where there is no amount. */
  readonly currency: Currency | ''
  readonly count: number
  readonly amountMinor: bigint
}

/** Rows that are recorded already, by the state of the row that each is. */
export interface Again {
  /** Not sent: they point at the recorded row. */
  readonly repeated: readonly { readonly state: State; readonly count: number }[]
  /** Of results fed back: they run again, as `retry` asked. */
  readonly retried: readonly { readonly state: State; readonly count: number }[]
}

export interface DraftReview {
  readonly rows: number
  /** Rows that would be sent. */
  readonly accepted: number
  readonly duplicate: number
  readonly invalid: number
  /** Accepted rows that look like an earlier row of this file or a recorded one under another reference. */
  readonly lookalikes: number
  /** Accepted rows whose order has a recorded row in doubt: they wait until a person has resolved it. */
  readonly heldByDoubt: number
  /** Bad rows of results fed back of which nobody can say what recorded row they were. */
  readonly unidentified: number
  readonly again: Again
  /** Of the accepted rows. */
  readonly totals: readonly Total[]
  /** Over all rows with an amount that could be read, whatever becomes of them; the operation is empty where it is not known. */
  readonly totalsRead: readonly Total[]
  /** Rows whose amount could not be read: what the file adds up to is not known then. */
  readonly amountsUnread: number
  /** Smallest and largest amount of each of `totals`. */
  readonly extents: readonly Extent[]
  /** Faults, not rows: a row may have several. */
  readonly faults: number
}

/** The first row with the smallest amount of its operation and currency, and the first with the largest. */
export interface Extent {
  readonly operation: Operation
  readonly currency: Currency
  readonly smallest: { readonly line: number; readonly amountMinor: bigint }
  readonly largest: { readonly line: number; readonly amountMinor: bigint }
}

/** One line about what is wrong: one fault, or the trouble that many rows share. */
export interface FaultCause {
  readonly rows: number
  readonly firstLine: number
  readonly lastLine: number
  /** The rows stand one after another in the file. */
  readonly together: boolean
  readonly column: string | null
  /** As of the first row; null where no one cell is to blame. */
  readonly value: string | null
  /** All rows have this value. */
  readonly sameValue: boolean
  readonly problem: string
  readonly remedy: string
}

/** A row that cannot be sent as written, whole, with everything that is wrong with it. */
export interface Reject extends Pick<DraftRow, 'rowNo' | 'line' | 'cells' | 'reference' | 'cameFrom'> {
  readonly faults: readonly RowFault[]
}

export interface Lookalike {
  readonly rowNo: number
  readonly line: number
  readonly reference: string
  /** Null batch: the earlier row is in the same file. */
  readonly like: {
    readonly batchId: string | null
    readonly rowNo: number
    readonly reference: string
    readonly state: State | null
  }
  /** It is that very row, to run again, which had ended when an older state was put back: it may have run in what was lost. */
  readonly lost: boolean
  /**
   * The row repeats or exceeds what is refunded before it of its order, whose sale is not recorded, or names another
   * currency; earlier rows of the file count. null: it is like one row. No currency: it was refunded in several, and the amount is no sum.
   */
  readonly refundedBefore: { readonly amountMinor: bigint; readonly currency: Currency | null } | null
  /** Of the recorded row, where the money is not what its state tells: answered APPROVED after it had ended, for one. */
  readonly moneyWarning: string | null
}

/** A file being read. Lives outside the record until `record`; leaving it without is the same as `discard`. */
export interface Draft {
  add(rows: readonly DraftRow[]): Promise<void>
  /** After the last row: finds clashes within the file and with what is recorded, and counts. */
  review(): Promise<DraftReview>
  /** Every fault, in file order, clashes included. */
  faults(): Iterable<RowFault>
  /** The same for a screen, no more than `limit` lines: what many rows share is said once, at the first of them. */
  causes(limit: number): readonly FaultCause[]
  /** Every row with a fault, in file order. */
  rejects(): Iterable<Reject>
  lookalikes(): Iterable<Lookalike>
  /** Copies the rows in short transactions and makes the batch visible in the last one. */
  record(actor: Actor): Promise<BatchId>
  discard(): Promise<void>
}

/** A message of another service, checked and understood. */
export interface IntakeMessage {
  readonly accountId: AccountId
  readonly instruction: Instruction
  readonly runKey: string | null
  readonly allowLookalike: boolean
  readonly lookalikeDays: number
  /** The message as received, for the results: names and values. */
  readonly cells: Readonly<Record<string, string>>
  readonly nowMs: number
}

export type IntakeAnswer =
  | {
      readonly kind: 'accepted' | 'duplicate'
      readonly batchId: BatchId
      readonly rowNo: number
      readonly state: State
    }
  | { readonly kind: 'refused'; readonly reason: string }

/** A batch of the same bytes, account and run key that is not over. */
export interface UnfinishedBatch {
  readonly batchId: BatchId
  readonly fingerprint: Fingerprint
  /** It was cancelled and nothing of it is open: only its results were never written. */
  readonly givenUp: boolean
}

/** What stops a batch by itself, as its submitter asked. */
export type Brake = 'canary' | 'max-declined'

export interface IntakeLedger {
  /** The account of this address and user; made on first use. A second name for a known account is a fault. */
  account(name: string, url: string, username: string, nowMs: number): Promise<AccountId>
  /** One submit at a time: deletes what a dead one left, then begins. Faults with `stopped` while another is under way. */
  openDraft(header: DraftHeader): Promise<Draft>
  /** The batch of the same bytes, account and run key that is unfinished or whose results were never written. */
  findUnfinished(header: Pick<DraftHeader, 'accountId' | 'fileSha256' | 'runKey'>): Promise<UnfinishedBatch | null>
  /** Of the brakes that are asked for, those that the batch was not recorded with. It cannot take them any more. */
  otherBrakes(
    batchId: BatchId,
    asked: Pick<DraftHeader, 'canaryRows' | 'maxDeclinedPercent'>,
  ): Promise<readonly Brake[]>
  /** Into the day's queue batch of the account. Idempotent by account and reference. Durable when it resolves. */
  recordMessage(message: IntakeMessage): Promise<IntakeAnswer>
  /** Keeps a message that was not taken, with the reasons. Idempotent by `sourceId`. */
  recordRefusal(refusal: {
    sourceId: string
    accountName: string
    reasons: readonly string[]
    text: string
    /** What it held, or may have held, of cards: an act tells of it. null: nothing. */
    cards: string | null
    nowMs: number
  }): Promise<void>
}

// ───────────────────────────────────────────────────────────── Ledger: reading and steering

export type Hold = 'none' | 'paused' | 'cancelled'

export interface BatchTotal extends Total {
  readonly state: State
}

/** A batch as the record has it. */
export interface BatchView {
  readonly batchId: BatchId
  readonly source: 'file' | 'queue'
  readonly accountId: AccountId
  readonly merchant: string
  readonly fileName: string | null
  readonly fileSha256: string | null
  readonly runKey: string | null
  /** How its bytes were read. */
  readonly fingerprint: Fingerprint
  readonly sandbox: boolean
  readonly createdAtMs: number
  readonly createdBy: string
  readonly hold: Hold
  readonly holdReason: string | null
  readonly accountStopped: string | null
  /** Why everything of the account waits until a person has looked; null: it does not. */
  readonly accountHeld: string | null
  /** Until when the gateway asked this account to wait; null where it did not. */
  readonly accountWaitsUntilMs: number | null
  /** How the way to the gateway is, as the worker last said; null: nothing to tell. */
  readonly gatewayHealth: GatewayHealth | null
  readonly rows: number
  readonly counts: Readonly<Partial<Record<State, number>>>
  readonly totals: readonly BatchTotal[]
  /** APPROVED rows with a warning about money. */
  readonly moneyWarnings: number
  /** DUPLICATE rows that point at such a row. */
  readonly duplicateMoneyWarnings: number
  /** For DUPLICATE rows: how many point at a row of each state now. */
  readonly duplicateOf: Readonly<Partial<Record<State, number>>>
  /** Earliest due time of a READY row that nothing but time holds back; null where there is none. */
  readonly nextDueAtMs: number | null
  /** The `execute_at` of that row. Nothing else that a row waits for takes more than a minute. */
  readonly nextExecuteAtMs: number | null
  /** READY rows that wait for an earlier row of their order which cannot move by itself (IN_DOUBT, or held). */
  readonly blocked: number
  /** Those of them that do not wait for their own `execute_at` as well: they are due, or will be within a minute. */
  readonly blockedDue: number
  /** True answers that came when their rows were settled otherwise, and that nobody has looked at since. */
  readonly lateAnswers: number
  readonly resultsPath: string | null
  /** Rows changed after the results were written. */
  readonly resultsStale: boolean
  /** When cells and texts of its rows were taken out of the record; null: they are there. */
  readonly purgedAtMs: number | null
}

/** A row as the reconciliation tells it. */
export interface ReconciliationRow {
  readonly rowNo: number
  readonly line: number
  readonly cells: readonly string[]
  readonly reference: string | null
  readonly state: State
  /** The row that a DUPLICATE points at, and whether its answer raised a warning; null for every other row. */
  readonly repeats: { readonly state: State; readonly warned: boolean } | null
  readonly operation: Operation | null
  readonly amountMinor: bigint | null
  readonly currency: Currency | null
  readonly reason: string | null
  /** What the reason counted as when it was purged; null: the reason is there, or an earlier version purged it. */
  readonly categoryKept: ReasonCategory | null
  readonly facts: AnswerFacts
  readonly warning: string | null
  readonly attempts: number
  readonly sentAtMs: number | null
  readonly completedAtMs: number | null
}

/** How far the record had come when it was read. */
export interface Edition {
  /** Changes of the batch so far. */
  readonly version: number
  /** The newest move of the whole ledger: the rows that duplicates point at are in other batches. */
  readonly lastMove: number
}

/** One read transaction over a batch. Rows and totals are of the same moment. Close it. */
export interface BatchReading {
  readonly atMs: number
  /** Hand it back to `resultsWritten`: it tells stale results from fresh ones. */
  readonly edition: Edition
  readonly batch: BatchView
  readonly columns: readonly string[]
  /** In input order. `sinceMs`: only rows that changed at that moment or later, or whose duplicate's original did. */
  rows(sinceMs?: number | undefined): Iterable<ReconciliationRow>
  close(): Promise<void>
}

export interface HistoryMove {
  readonly batchId: BatchId
  readonly rowNo: number
  readonly attempt: number
  readonly from: State | null
  readonly to: State
  readonly cause: string
  readonly atMs: number
  readonly by: string
  /** null: the machine, or an earlier version recorded it. */
  readonly actor: Actor | null
  readonly httpStatus: number | null
  readonly answerText: string | null
  readonly reason: string | null
}

export interface DoubtRow {
  readonly batchId: BatchId
  readonly rowNo: number
  readonly merchant: string
  readonly attempt: number
  readonly sentAtMs: number | null
  /** null: it may have been sent without this ledger, which is an older state that was put back. */
  readonly claimedAtMs: number | null
  /** When its request may have left at the latest; the rest of a doubt counts from here. */
  readonly leftByMs: number
  /** How long it rests, as the worker that sent it said; 0: an earlier version sent it. */
  readonly restMs: number
  /** Other rows that wait for this one, because they name the same order. */
  readonly holdsUp: number
  readonly reason: string | null
  readonly instruction: Instruction
}

/** What a person found out about a row in doubt, or orders. */
export interface Resolution {
  readonly reference: string
  /** null: whichever account has the doubt. */
  readonly merchant: string | null
  /** The attempt that was looked up: another one is not judged. null: the only one; of a row that was sent before, `not-executed` and `send-again` are refused. */
  readonly attempt: number | null
  /** The row that was looked up: another one is not judged, though the reference be its own. null: whichever has it. */
  readonly row: { readonly batchId: string; readonly rowNo: number } | null
  readonly finding: Finding
  /** As found at the gateway. It can settle one row only. */
  readonly transactionId: string | null
  readonly reason: string
  /** `not-executed` and `send-again` are refused for so long after the request left, or for longer if the worker that sent it said so. */
  readonly restMs: number
}

export type Resolved =
  | {
      readonly kind: 'resolved'
      readonly batchId: BatchId
      readonly rowNo: number
      readonly state: State
      readonly hold: Hold
    }
  /** It stands already where the finding would move it. */
  | { readonly kind: 'already'; readonly batchId: BatchId; readonly rowNo: number; readonly state: State }
  | {
      readonly kind: 'refused'
      readonly why:
        | 'unknown'
        | 'ambiguous'
        | 'not-in-doubt'
        | 'other-attempt'
        | 'other-row'
        | 'too-early'
        | 'transaction-taken'
        | 'cancelled'
      /** What it means and what to do, one sentence. */
      readonly reason: string
    }

export interface DoubtLedger {
  /** Every row in doubt, oldest first. */
  doubts(): Promise<readonly DoubtRow[]>
  /** Changes nothing unless it resolves. Durable when it resolves. */
  resolve(resolution: Resolution, actor: Actor, nowMs: number): Promise<Resolved>
}

export interface AccountView {
  readonly accountId: AccountId
  /** Of the merchant. */
  readonly name: string
  readonly url: string
  readonly username: string
  readonly stopped: string | null
  /** Too many doubts, in words; null: it is not held. */
  readonly held: string | null
  /** As a person turned the rate dial; null: as configured. */
  readonly ratePerSecond: number | null
}

export interface Wishes {
  /** Of the merchant. */
  readonly name: string
  /** Grows with every resume of the account or one of its batches: whoever rests may start again. */
  readonly resumes: number
  /** As a person turned the rate dial; null: as configured. */
  readonly ratePerSecond: number | null
}

export interface BookLedger {
  /** Latest first; `open`: only those with a row that is not settled. */
  batches(only?: 'open'): Promise<readonly BatchView[]>
  /** By id or a beginning of one that fits a single batch; null where none fits. */
  batch(idOrPrefix: string): Promise<BatchView | null>
  openReading(batchId: BatchId, nowMs: number): Promise<BatchReading>
  resultsWritten(batchId: BatchId, path: string, edition: Edition): Promise<void>
  history(reference: string): Promise<readonly HistoryMove[]>
  /** Rows of the batch that came to an end, or into doubt, at that moment or later; of the latest moves only. */
  settledSince(batchId: BatchId, sinceMs: number): Promise<number>
  /**
   * The batch for whose earlier rows of the same orders all due rows of this one wait; null where one could be sent now
   * or none is due.
   */
  waitsFor(batchId: BatchId, nowMs: number): Promise<BatchId | null>
  accounts(): Promise<readonly AccountView[]>
  pause(batchId: BatchId, reason: string, actor: Actor, nowMs: number): Promise<void>
  /** A person has looked: the hold of its account ends with that of the batch. */
  resume(batchId: BatchId, reason: string, actor: Actor, nowMs: number): Promise<void>
  /** READY rows become CANCELLED; open requests are awaited by whoever has them. */
  cancel(batchId: BatchId, reason: string, actor: Actor, nowMs: number): Promise<void>
  resumeAccount(accountId: AccountId, reason: string, actor: Actor, nowMs: number): Promise<void>
  /** Turns the rate dial: requests per second, which hold instead of the configured rate; null: as configured. */
  setRate(accountId: AccountId, ratePerSecond: number | null, actor: Actor, nowMs: number): Promise<void>
  /** What people asked of the worker for this account; it looks at every tick. */
  wishes(accountId: AccountId): Promise<Wishes>
}

// ───────────────────────────────────────────────────────────── Ledger: acts

/** What a person did beside the rows: kept for an auditor, and nothing of it decides what is sent. */
export interface PersonAct {
  readonly what: PersonActName
  readonly actor: Actor
  readonly batchId?: BatchId | null
  readonly accountId?: AccountId | null
  readonly reason?: string | null
  /** Names of files and columns, and counts. Never a value of a cell. */
  readonly details?: ActDetails
  /** Kept once, however often it is met: the act is known by its details. */
  readonly once?: boolean
}

export interface ActLedger {
  /**
   * Waits a moment for another program's lock, and for nothing else: what was done stands, whether it could be recorded
   * or not.
   */
  recordAct(act: PersonAct, nowMs: number): Promise<'recorded' | 'full' | 'busy'>
  /** Acts, files that were recorded and what people resolved, oldest first, a page in hand at a time. null: from the first. */
  log(sinceMs: number | null): Iterable<LogEntry>
}

export interface LogEntry {
  readonly atMs: number
  /** An act; `submit`: a file was recorded as a batch; `resolve`: a person spoke of a row in doubt. */
  readonly what: ActName | 'submit' | 'resolve'
  readonly by: string
  /** null: the machine, or an earlier version recorded it. */
  readonly actor: Actor | null
  readonly batchId: BatchId | null
  readonly merchant: string | null
  /** Of the row that was resolved, as the four after it; null for everything else. */
  readonly reference: string | null
  readonly rowNo: number | null
  readonly attempt: number | null
  readonly from: State | null
  readonly to: State | null
  readonly reason: string | null
  readonly details: ActDetails | null
}

// ───────────────────────────────────────────────────────────── Ledger: personal data that goes

export interface PurgeRequest {
  /** Of batches that were over, and refusals that were made, before that moment. */
  readonly beforeMs: number
  readonly reason: string
  readonly actor: Actor
  readonly nowMs: number
  /** What a reason counts as, by the rules of that merchant: the word stays where the text goes. */
  readonly categoryOf: (merchant: string, reason: string) => ReasonCategory
}

export interface PurgePlan {
  /** Rows that are still to be purged. */
  readonly batches: readonly { readonly batchId: BatchId; readonly rows: number }[]
  /**
   * Old enough and left as they are: rows are open or in doubt; an answer came late and has not been looked at; or their results,
   * as they are now, were never written.
   */
  readonly left: readonly { readonly batchId: BatchId; readonly why: 'open' | 'late-answers' | 'results' }[]
  /** Messages that were not taken and whose text is still kept. */
  readonly refusals: number
}

export interface PurgeStep {
  /** null: of refused messages. */
  readonly batchId: BatchId | null
  readonly rows: number
}

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

// ───────────────────────────────────────────────────────────── Ledger: copies

/** What a copy holds. */
export interface Backup {
  readonly path: string
  /** The moment that it shows. */
  readonly atMs: number
  readonly rows: number
  readonly batches: number
  readonly bytes: number
}

/** Where several hosts see the newest epoch of a ledger: a Redis that they share. */
export interface EpochRegister {
  /** null: it knows none. */
  newest(): Promise<string | null>
  /** Sets it where it still holds `expected`; false: another host was first. */
  replace(expected: string | null, next: string): Promise<boolean>
}

/** What a look at every page of the ledger has shown. */
export type Inspection =
  | { readonly kind: 'sound'; readonly bytes: number }
  /** In SQLite's words. */
  | { readonly kind: 'damaged'; readonly found: string }
  /** It is so large that a look takes longer than a person waits without a word. */
  | { readonly kind: 'not-looked'; readonly bytes: number }

/** One thing in the record that does not fit with another. */
export interface Disagreement {
  /** The table, the reference or the link of the chain. */
  readonly where: string
  /** What does not fit, what it means for the money and what to do: a sentence or two. */
  readonly means: string
}

export interface CopyLedger {
  /**
   * Whether the record agrees with itself, from one read transaction that holds up no writer. `head`: one that was written
   * down earlier is compared as well; null: none.
   */
  audit(head: string | null): Iterable<Disagreement>
  /** How many batches an earlier version recorded, which kept no digest of what was submitted. */
  unbound(): Promise<number>
  /** The end of the chain over all that was recorded, as `LINK:HASH`. Written down elsewhere, it proves what was here. */
  head(): Promise<string>
  /** Whether its pages can be read and fit together. Holds up no writer; `any`: however long it takes. */
  inspect(howLarge: 'seconds' | 'any'): Promise<Inspection>
  /** null: this is the ledger that it remembers to be. Looks only. */
  alarm(): Promise<Alarm | null>
  /**
   * By whoever sends: what was copied before is an older state from now on. Faults with `stopped` on an alarm. `register`:
   * what other hosts see too, where they share anything.
   */
  renewEpoch(register?: EpochRegister | null): Promise<void>
  /** A consistent copy in a file that must not exist. Holds up no writer. The copy sends nothing until it is adopted. */
  backup(path: string, nowMs: number): Promise<Backup>
  /**
   * Takes this file over, by the holder of the worker lock. `restored`: what is READY or SENDING becomes IN_DOUBT first;
   * broken off, it goes on when it is called again. Resolves to the rows that this call brought into doubt.
   */
  adopt(how: Adoption, reason: string, actor: Actor, nowMs: number): Promise<number>
  /** When the newest thing in this ledger happened; null: nothing did. */
  lastRecordAtMs(): Promise<number | null>
  /** The account of that name has another address or user from now on. By the holder of the worker lock. */
  moveAccount(name: string, url: string, username: string, reason: string, actor: Actor, nowMs: number): Promise<void>
}

/** The record. Everything that matters is in it before anyone is told. */
export interface Ledger extends WorkLedger, IntakeLedger, DoubtLedger, BookLedger, ActLedger, PurgeLedger, CopyLedger {
  /** Random, made with the ledger; part of every name in Redis. */
  readonly ledgerId: string
  close(): Promise<void>
}
