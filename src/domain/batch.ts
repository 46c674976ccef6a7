// A batch as it is shown: what it is, what became of its rows, why it does not move.

import type { Approval } from './approval.ts'
import type { LimitReached } from './daily-limit.ts'
import type { AccountId, BatchId } from './ids.ts'
import type { Operation } from './instruction.ts'
import type { Fingerprint } from './interpretation.ts'
import type { Environment } from './merchant.ts'
import type { Currency } from './money.ts'
import type { State } from './states.ts'
import type { DoneLongAgo } from './submission.ts'
import type { GatewayHealth } from './window.ts'

export interface Total {
  /** Empty for rows that could not be read as an instruction. */
  readonly operation: Operation | ''
  /** Empty where there is no amount. */
  readonly currency: Currency | ''
  readonly count: number
  readonly amountMinor: bigint
}

export type Hold = 'none' | 'paused' | 'cancelled'

export interface BatchTotal extends Total {
  readonly state: State
}

/** Rows of an earlier batch that DUPLICATE rows point at and that are not over: in doubt, or still to be sent. */
export interface OpenOriginals {
  readonly batchId: BatchId
  readonly fileName: string | null
  readonly state: State
  readonly count: number
}

/** Rows of one batch that another one has as well. */
export interface SharedRows {
  readonly batchId: BatchId
  readonly rows: number
}

/** The clock differs from the gateway's, by the last answer: rows with an `execute_at` wait. */
export interface ClockHold {
  /** Less than 0: the clock is behind. */
  readonly aheadMs: number
  /** By the clock that differs. */
  readonly atMs: number
  /** Earliest due time of a READY row that waits neither for the clock nor for anything but time; null: there is none. */
  readonly nextDueAtMs: number | null
}

/** A batch as the record has it. */
export interface BatchView {
  readonly batchId: BatchId
  readonly source: 'file' | 'queue'
  readonly accountId: AccountId
  readonly merchant: string
  /** Of its account; null: nobody has said. */
  readonly environment: Environment | null
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
  /** null: it needs none. */
  readonly approval: Approval | null
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
  /** INVALID rows that nobody has mended or looked at. */
  readonly badRows: number
  /** Rows that expired unsent, and that nobody has handed in again or looked at. */
  readonly expired: number
  /** Refunds that were declined because their orders have too little left, since a person last looked. Ten stand for more. */
  readonly shortRefunds: number
  /** APPROVED rows with a warning about money. */
  readonly moneyWarnings: number
  /** Those of them that nobody has looked at. */
  readonly moneyUnseen: number
  /** DUPLICATE rows that point at such a row. */
  readonly duplicateMoneyWarnings: number
  /** For DUPLICATE rows: how many point at a row of each state now. */
  readonly duplicateOf: Readonly<Partial<Record<State, number>>>
  /** DUPLICATE rows that no batch sends, since the batch that was to send them was cancelled, by that batch; nobody has looked. */
  readonly leftOut: readonly SharedRows[]
  /** Those of them that ask for something else than the row they point at: not done as written. */
  readonly duplicatesChanged: number
  /** Most of it was recorded before, longer ago than look-alikes count: another month may be meant. null: not so. */
  readonly doneLongAgo: DoneLongAgo | null
  /** The last batch whose look-alikes were let pass by the same number, where it may be a constant of a script. null: none was, or not so. */
  readonly numberBefore: { readonly batchId: BatchId; readonly rows: number; readonly atMs: number } | null
  /** Those of them that are not over, by batch. */
  readonly openOriginals: readonly OpenOriginals[]
  /** The limit of a day that keeps rows of it waiting for the next; null: none does. */
  readonly limitReached: LimitReached | null
  /** Earliest due time of a READY row that nothing but time holds back; null where there is none. */
  readonly nextDueAtMs: number | null
  /** The `execute_at` of that row. Nothing else that a row waits for takes more than a minute. */
  readonly nextExecuteAtMs: number | null
  /** null: the clock is believed, or nothing waits. */
  readonly clockHold: ClockHold | null
  /** READY rows that wait for an earlier row of their order which cannot move by itself (IN_DOUBT, or held). */
  readonly blocked: number
  /** Those of them that do not wait for their own `execute_at` as well: they are due, or will be within a minute. */
  readonly blockedDue: number
  /** It has rows with card details: only a process that reads its file can send them. */
  readonly needsFile: boolean
  /** True answers that came after their rows were settled otherwise and that still await review. */
  readonly lateAnswers: number
  readonly resultsPath: string | null
  /** Rows changed after the results were written. */
  readonly resultsStale: boolean
  /** When cells and texts of its rows were taken out of the record; null: they are there. */
  readonly purgedAtMs: number | null
}

/** As programs read it: messages come over HTTP as well as through a queue. */
export function sourceOf({ source }: Pick<BatchView, 'source'>): 'file' | 'messages' {
  return source === 'queue' ? 'messages' : 'file'
}
