// What the shell is told: by a batch, by a fault.

import type { BatchView } from '../domain/batch.ts'
import { countIn, type Ending } from '../domain/batch-status.ts'
import { Fault, type FaultCode } from '../domain/fault.ts'
import type { State } from '../domain/states.ts'

/** A caller that finds several applies the precedence. */
export const EXIT = {
  approved: 0,
  failure: 1,
  usage: 2,
  notAllApproved: 3,
  awaitingApproval: 4,
  inDoubt: 5,
  stopped: 6,
  refused: 7,
  /** As sysexits.h has it (EX_TEMPFAIL), for what starts programs again: the same call may do a moment later. */
  unavailable: 75,
  interrupted: 130,
} as const

const EXIT_OF_FAULT = {
  usage: EXIT.usage,
  config: EXIT.usage,
  unavailable: EXIT.unavailable,
  refused: EXIT.refused,
  stopped: EXIT.stopped,
  full: EXIT.failure,
  storage: EXIT.failure,
  interrupted: EXIT.interrupted,
} as const satisfies Record<FaultCode, number>

export function exitCodeOfError(error: unknown): number {
  return error instanceof Fault ? EXIT_OF_FAULT[error.code] : EXIT.failure
}

/**
 * 6 cannot go on · 5 in doubt · 4 nothing of it is sent before people approve it · 3 some not approved, left out because they ask for something else than what was recorded, done long ago, let pass
 * by a number that may be a constant, or approved with a warning about money · 0 all approved.
 */
export function exitCodeOf(batch: BatchView, ending: Ending): 0 | 3 | 4 | 5 | 6 {
  const either = (...states: State[]) =>
    states.some((state) => countIn(batch, state) + (batch.duplicateOf[state] ?? 0) > 0)
  const openElsewhere = (batch.duplicateOf.READY ?? 0) + (batch.duplicateOf.SENDING ?? 0) > 0
  const awaits = ending.kind === 'stuck' && ending.state === 'awaiting_approval'
  if ((ending.kind === 'stuck' && !awaits) || openElsewhere) return 6
  if (either('IN_DOUBT') || batch.lateAnswers > 0) return 5
  if (awaits) return 4
  const otherwise = batch.duplicatesChanged + batch.moneyWarnings + batch.duplicateMoneyWarnings
  const isTold = batch.doneLongAgo !== null || batch.numberBefore !== null
  return either('DECLINED', 'FAILED', 'INVALID', 'CANCELLED') || otherwise > 0 || isTold ? 3 : 0
}
