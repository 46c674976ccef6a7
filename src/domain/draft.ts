// A file on its way in: its rows as read, and what the record says of them. Invisible until it is recorded.

import type { Actor } from './actor.ts'
import type { Total } from './batch.ts'
import type { AboveLimit, DailyLimits } from './daily-limit.ts'
import { Fault } from './fault.ts'
import type { AccountId, BatchId } from './ids.ts'
import type { Instruction, Operation } from './instruction.ts'
import type { Fingerprint } from './interpretation.ts'
import type { Currency, Money } from './money.ts'
import type { Pages } from './pages.ts'
import type { ReasonRule } from './reason-categories.ts'
import type { NotAsked, Reattempt } from './reattempt.ts'
import type { State } from './states.ts'
import { words } from './words.ts'

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
  /** This program made the reference, from the bytes of the file; false: whoever wrote the file gave it. */
  readonly made: boolean
  readonly instruction: Instruction | null
  readonly faults: readonly RowFault[]
  /** Of a row with faults: its amount where that could be read all the same; `unread` where it could not. Control totals want it. */
  readonly money?: Money | 'unread' | null
  /** Of a row with faults: what else could be read. Results fed back are compared with what is recorded. */
  readonly said?: Said
  /** For results fed back: which recorded row this line came from. */
  readonly cameFrom: { readonly batchId: string; readonly rowNo: number } | null
}

export interface Said {
  readonly operation: Operation | null
  /** First six and last four digits of a masked number: `411111-1111`. */
  readonly card: string | null
}

export type RetryStatus = 'FAILED' | 'CANCELLED' | 'INVALID'

export interface QueuedBatch {
  /** As its producer calls it. */
  readonly name: string
  /** See `IntakeMessage`. */
  readonly queuedAtMs?: number | undefined
  /** The queue that is told what becomes of its rows. Absent or null: none. */
  readonly replyTo?: string | null
}

export interface DraftHeader {
  readonly accountId: AccountId
  readonly fileName: string
  readonly fileSha256: string
  /** It is no file but a batch that a service put into the queue. Absent: a file. */
  readonly queued?: QueuedBatch
  readonly runKey: string | null
  readonly columns: readonly string[]
  /** Columns whose numbers only look like card numbers, as a person says: kept as an act of theirs. */
  readonly notCards?: readonly string[]
  /** Columns that are only carried through, and about which nobody said that they do not matter. Absent: none. */
  readonly carried?: readonly string[]
  /** Where a file may say of which month it is: its name and that of its sheet, and columns of months. Absent: nowhere. */
  readonly months?: { readonly names: readonly string[]; readonly columns: readonly string[] }
  /** How its bytes are read. */
  readonly fingerprint: Fingerprint
  readonly sandbox: boolean
  /** Results fed back: recorded rows are looked up, nothing new is sent except what `retry` names. */
  readonly fedBack: boolean
  readonly retry: readonly RetryStatus[]
  /** Declined charges that are asked for once more, each under a new reference. Absent or null: none. */
  readonly reattempt?: Reattempt | null
  /** Rows that an earlier file holds are not sent, whatever their reference. Absent: false. */
  readonly onlyNew?: boolean
  /** How many look-alikes a person let pass. Absent: none. */
  readonly lookalikesAllowed?: number
  /** For how many days a row that was sent under another run key counts as a look-alike. */
  readonly lookalikeDays: number
  /** Per cent by which the captures of an order may exceed its authorization. */
  readonly captureTolerance: number
  /** Captures later after their authorization, and refunds later after their sale, are told. Absent or null: they are not. */
  readonly authorizationDays?: number | null
  readonly refundDays?: number | null
  /** Rows that name no `expires_at` expire so long after they were handed in, or after their `execute_at`. Absent or null: they do not. */
  readonly expiresAfterMs?: number | null
  /** Absent or null: no day is limited. */
  readonly dailyLimits?: DailyLimits | null
  /** The merchant's own, by which earlier declines are read. Absent: none. */
  readonly reasonRules?: readonly ReasonRule[]
  readonly nowMs: number
  /** The draft will not be recorded: it waits for no other submit and touches nothing in the ledger. */
  readonly lookOnly?: boolean
  /** Only so many rows are sent before a person has looked; null: all. */
  readonly canaryRows: number | null
  /** Pauses the batch when more than this share of the last 100 answered rows was declined; null: never. */
  readonly maxDeclinedPercent: number | null
}

/** Rows that are recorded already, by the state of the row that each is. */
export interface Again {
  /** Not sent: they point at the recorded row. */
  readonly repeated: readonly { readonly state: State; readonly count: number }[]
  /** They run again, as `retry` asked, or are asked for once more. */
  readonly retried: readonly { readonly state: State; readonly count: number }[]
  /** Of the repeated ones: those that have another content now. They are left out where only new rows are wanted. */
  readonly changed: number
  /** Of the repeated ones: those whose content is the same and whose other cells are not. Counted where only new rows are wanted. */
  readonly otherCells: number
  /** Of the repeated ones: declined rows that were to be asked for once more and must not be. */
  readonly notAsked: readonly { readonly why: NotAsked; readonly count: number }[]
}

/** A file that holds rows of earlier files under other references: the original of one of those, mended. Those rows are not sent. */
export interface Correction {
  readonly rows: number
  /** Of those: in files of more than 30 days ago. The next month's charges may ask for the same. */
  readonly rowsOfLongAgo: number
  /** The one with the most of them first. */
  readonly batches: readonly EarlierBatch[]
}

export interface EarlierBatch {
  readonly batchId: BatchId
  readonly fileName: string | null
  readonly createdAtMs: number
  /** Rows of it that the file holds. */
  readonly rows: number
  /** Of those rows. */
  readonly totals: readonly (Total & { readonly state: State })[]
}

export interface DraftReview {
  /** Accepted rows that are above the limit of a whole day. */
  readonly aboveLimit: readonly AboveLimit[]
  readonly rows: number
  /** Rows that would be sent. */
  readonly accepted: number
  readonly duplicate: number
  readonly invalid: number
  /** Accepted rows that look like an earlier row of this file or a recorded one under another reference. */
  readonly lookalikes: number
  /** Accepted rows whose order has a recorded row in doubt: they wait until a person has resolved it. */
  readonly heldByDoubt: number
  /** Accepted charges, due at once, of cards that were declined for fraud or too often: they would be cancelled. */
  readonly declinedCards: number
  /** Bad rows of results fed back that match no recorded row. */
  readonly unidentified: number
  readonly again: Again
  /** null: it holds none, or too few to be told from chance. */
  readonly correction: Correction | null
  /** Accepted rows that earlier files held, and that were cancelled there before they were sent; by batch. */
  readonly cancelledBefore: readonly { readonly batchId: BatchId; readonly rows: number }[]
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
  /** Accepted rows whose `execute_at` is so far from when the file was handed in that a person is asked about it. */
  readonly farDates: { readonly rows: number; readonly first: FarDate | null }
  /** Accepted captures that would leave after their authorization ended, and refunds of old sales, where the record knows these. */
  readonly late: { readonly captures: Late; readonly refunds: Late }
}

export interface FarDate {
  readonly line: number
  readonly executeAtMs: number
}

export interface Late {
  readonly rows: number
  /** As the merchant is configured; null: it is not, and none are counted. */
  readonly days: number | null
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
  readonly operation: Operation
  /** null: the operation has none. */
  readonly money: Money | null
  /** Of its order or customer. */
  readonly orderId: string | null
  /** Null batch: the earlier row is in the same file. */
  readonly like: {
    readonly batchId: string | null
    readonly rowNo: number
    /** null: it is in a batch. */
    readonly line: number | null
    readonly reference: string
    readonly state: State | null
    readonly money: Money | null
    readonly orderId: string | null
    /** When its batch was handed in; null: it is in the same file. */
    readonly atMs: number | null
  }
  /** The recorded row has the same target and is not in the file: the amount that it was recorded with. null: it is alike. */
  readonly changedFrom: { readonly amountMinor: bigint; readonly currency: Currency } | null
  /** The recorded row, or this very one that is to run again, had ended when an older state was put back: it may have run in what was lost. */
  readonly lost: boolean
  /**
   * The row repeats or exceeds what is refunded before it of its order, whose sale is not recorded, or names another
   * currency; earlier rows of the file count. null: it is like one row. No currency: it was refunded in several, and the amount is no sum.
   */
  readonly refundedBefore: { readonly amountMinor: bigint; readonly currency: Currency | null } | null
  /** The row voids an order that the other row captures or refunds, or the other way round. */
  readonly besideVoid: boolean
  /** What else the row is asked about with the other one: a code, and what it does, for the middle of a sentence. null: it is alike. */
  readonly question: { readonly code: string; readonly text: string } | null
  /** Of the recorded row, where the money is not what its state tells: answered APPROVED after it had ended, for one. */
  readonly moneyWarning: string | null
}

/**
 * What would become of a row, where the file is not refused: `duplicate` is recorded already under its reference; `left_out` is a row of
 * an earlier file, or asks for something else than the recorded row of its reference where only new rows are wanted.
 */
export type CheckedStatus = 'accepted' | 'duplicate' | 'invalid' | 'left_out'

/** A row of a reviewed draft, as it was understood. */
export interface CheckedRow extends Pick<DraftRow, 'rowNo' | 'line' | 'reference'> {
  readonly status: CheckedStatus
  /** null here and below: it has none, or it could not be read. */
  readonly operation: Operation | null
  readonly amountMinor: bigint | null
  readonly currency: Currency | null
  readonly orderId: string | null
  readonly vaultId: string | null
  /** Not before this moment, epoch milliseconds; null: as soon as it is recorded. */
  readonly dueAtMs: number | null
  /** `cells` of the row, as a list in JSON: there may be a million of them, and they are only handed on. */
  readonly cellsJson: string
}

/** A file being read. Lives outside the record until `record`; leaving it without is the same as `discard`. */
export interface Draft {
  add(rows: readonly DraftRow[]): Promise<void>
  /** After the last row: finds clashes within the file and with what is recorded, and counts. */
  review(): Promise<DraftReview>
  /** Every fault, in file order, clashes included. */
  faults(): Pages<RowFault>
  /** The same for a screen, no more than `limit` lines: what many rows share is said once, at the first of them. */
  causes(limit: number): Promise<readonly FaultCause[]>
  /** Every row with a fault, in file order. */
  rejects(): Pages<Reject>
  lookalikes(): Pages<Lookalike>
  /** Every row of a reviewed draft, in file order. */
  rows(): Pages<CheckedRow>
  /** Copies the rows in short transactions and makes the batch visible in the last one. `signal`: as long as it is not. */
  record(actor: Actor, signal?: AbortSignal): Promise<BatchId>
  discard(): Promise<void>
}

/** A person who was told that the run stops must find no batch: a worker would send it. */
export function assertNotInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true)
    throw new Fault(
      'interrupted',
      words`Interrupted. Nothing was recorded and nothing was sent. To start over: ${{ act: 'run-again', what: 'command' }}.`,
    )
}
