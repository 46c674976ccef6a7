// What makes the machine stop and wait for a person: too many doubts, an answer that is not what was asked, too many
// declines, the end of a canary; and what a person's order does to a batch. Pure.

import type { Hold } from '../../domain/batch.ts'
import {
  type Answered,
  isOverLimit,
  type RecentAnswers,
  type ShortRefunds,
  whyTooShort,
} from '../../domain/decline-limit.ts'
import { Fault } from '../../domain/fault.ts'
import type { State } from '../../domain/states.ts'
import { words } from '../../domain/words.ts'

/** So many doubts that no person has looked at hold the account: something is wrong beyond one row. */
const DOUBTS_BEFORE_HOLD = 10

/** What became of the requests of a worker that ended. It counts as one doubt, however many were open. */
export const WORKER_ENDED = 'the worker ended while requests were open'

export interface AccountDoubts {
  /** Since a person last looked, with the latest one. */
  readonly newDoubts: number
  /** null: it is not held. */
  readonly heldReason: string | null
}

/** Why the account is held from now on; null: it is not, or is so already. `because`: why the last ones are, if by no answer. */
export function holdForDoubts({ newDoubts, heldReason }: AccountDoubts, because: string | null): string | null {
  if (newDoubts < DOUBTS_BEFORE_HOLD || heldReason !== null) return null
  const last = because === null ? '' : `, the last ones because ${because}`
  return `at least ${newDoubts} rows came into doubt${last}; everything of this account is paused until a person has looked`
}

export interface BatchHold {
  readonly hold: Hold
  /** null: there is none. */
  readonly reason: string | null
}

/** The first warning about money pauses a batch that goes on; null where it does not. */
export function pauseForMoney(
  batch: { readonly hold: Hold; readonly moneyWarned: boolean },
  rowNo: number,
  warning: string | null,
): string | null {
  if (batch.hold !== 'none' || batch.moneyWarned) return null
  return `row ${rowNo}: ${warning ?? 'the answer differs from what was asked'}; the file may be wrong about every row like it`
}

/** Why a batch is paused in which a row asks for what was executed after all. */
export function pauseForAlike(row: { readonly rowNo: number; readonly executed: string }): string {
  return `row ${row.rowNo} asks for the same as ${row.executed}, which was executed after all: cancel this batch unless both are meant`
}

/** How a settled row counts against the limit of declines; null: it does not. */
export function countedAnswer(to: State): Answered | null {
  if (to === 'APPROVED') return 'approved'
  return to === 'DECLINED' || to === 'FAILED' ? 'declined' : null
}

/** Too many declines pause a batch that goes on; null where there are not too many. */
export function pauseForDeclines(hold: Hold, recent: RecentAnswers, maxPercent: number): string | null {
  if (hold !== 'none' || !isOverLimit(recent, maxPercent)) return null
  return `more than ${maxPercent} % of the last 100 answered rows were declined or refused`
}

/** Orders that have too little left say that the list is wrong, whatever limit was asked for. null: the batch goes on. */
export function pauseForShortRefunds(hold: Hold, short: ShortRefunds, answered: number): string | null {
  const which = hold === 'none' ? whyTooShort(short, answered) : null
  if (which === null) return null
  return `${which} were declined because their orders have too little left: the amounts may stand beside other orders than theirs`
}

/** Once none of the first rows is to be sent any more, whatever became of them, the batch waits for a person. */
export function pauseAfterCanary(rows: number): string {
  const were = rows === 1 ? 'the first row was' : `the first ${rows} rows were`
  return `${were} run as a canary: compare their results with what was expected`
}

/**
 * Why the batch is held once it is paused; null: it is cancelled, and stays so. One that a person has paused meanwhile says
 * both: who resumes it must know what was to be looked at.
 */
export function holdReasonAfterPause({ hold, reason: before }: BatchHold, reason: string): string | null {
  if (hold === 'cancelled') return null
  return hold === 'paused' && before !== null ? `${before}; ${reason}` : reason
}

// ───────────────────────────────────────────────────────────── A person's orders

export interface SteeringStep {
  readonly act: 'pause' | 'resume' | 'cancel'
  /** A person can look at what was answered late or otherwise in a cancelled batch, and it stays cancelled. */
  readonly setsHold: boolean
  /** A person has looked: what counts towards a pause begins again, for the batch and for its account. */
  readonly restarts: boolean
}

const ACTS = { none: 'resume', paused: 'pause', cancelled: 'cancel' } as const satisfies Record<Hold, string>

/** What the order to bring a batch to that hold does; or why it cannot be done. */
export function steeringStep(
  batch: { readonly batchId: string; readonly hold: Hold; readonly toLookAt: number },
  to: Hold,
): SteeringStep | Fault {
  const restarts = to === 'none'
  const isCancelled = batch.hold === 'cancelled'
  const looks = isCancelled && restarts && batch.toLookAt > 0
  if (isCancelled && to !== 'cancelled' && !looks) {
    return new Fault(
      'usage',
      words`Batch ${batch.batchId} was cancelled; that cannot be undone. Submit its results with ${{ set: 'retry', to: 'cancelled' }}.`,
    )
  }
  return { act: ACTS[to], setsHold: !looks, restarts }
}

/** What counts towards a pause, of a batch and of its account, after a person has resumed either. */
export function batchRestarted(refundsAnswered: number) {
  const shortRefunds: ShortRefunds = { since: refundsAnswered, at: [] }
  return { recentAnswers: '', shortRefunds: JSON.stringify(shortRefunds), lateAnswers: 0, moneyWarned: 0 }
}
export const ACCOUNT_RESTARTED = { newDoubts: 0, heldReason: null, waitUntilMs: null } as const
