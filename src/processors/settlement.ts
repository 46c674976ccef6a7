// What a verdict writes: one clause for each, and whether it stops the account. Pure.

import type { Outcome } from '../domain/outcome.ts'
import { categoryOfReason, type ReasonRule } from '../domain/reason-categories.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { DueRow, RowName, Settlement } from '../ports/ledger/work.ts'
import { REFUSALS_BEFORE_GIVING_UP, type Refused } from '../throttle/refusals.ts'

interface Attempted {
  readonly attempt: number
  readonly outcome: Outcome
  readonly verdict: Verdict
  /** null: neither 403 nor 429. */
  readonly refused: Refused | null
  readonly atMs: number
  /** How long the account backs off from now. */
  readonly backoffMs: number
  /** Its claim counted towards the limit of a day. */
  readonly limited: boolean
  /** The merchant's own. */
  readonly reasonRules: readonly ReasonRule[]
}

interface Written {
  readonly settlement: Settlement
  /** Why the whole account stops; null where it goes on. */
  readonly stops: string | null
}

/** How long a row that was answered 403 waits, times its refusals so far. */
const FORBIDDEN_WAIT_MS = 10_000
/** Longer than the window of a limit per minute: a row that is told 429 behind it as well is meant itself. */
const WAIT_APART_MS = 60_000

export function settlementOf(row: DueRow, attempted: Attempted): Written {
  const { attempt, outcome, verdict, atMs, limited, reasonRules } = attempted
  const seen = { ...seenIn(outcome), rowId: row.rowId, row: nameOf(row), attempt, atMs, dueAtMs: atMs, limited }
  switch (verdict.kind) {
    case 'approved': {
      const { facts, warnings } = verdict
      const warnsOfMoney = warnings.some(({ aboutMoney }) => aboutMoney)
      const warning = textOf(warnings)
      return goesOn({ ...seen, to: 'APPROVED', cause: 'answer', reason: null, facts, warning, warnsOfMoney })
    }
    case 'declined': {
      const { facts, reason, warnings } = verdict
      const category = categoryOfReason(reason, reasonRules)
      return goesOn({ ...seen, to: 'DECLINED', cause: 'answer', reason, category, facts, warning: textOf(warnings) })
    }
    case 'failed': {
      const { reason } = verdict
      return goesOn({ ...seen, to: 'FAILED', cause: 'answer', reason, category: categoryOfReason(reason, reasonRules) })
    }
    case 'in-doubt':
      return goesOn({ ...seen, to: 'IN_DOUBT', cause: 'doubt', reason: verdict.reason })
    case 'unsent': {
      const { reason, retryAfterMs } = verdict
      const askedToWaitUntilMs = retryAfterMs === null ? null : atMs + retryAfterMs
      const waiting = { ...seen, reason, askedToWaitUntilMs }
      if (attempted.refused === 'give-up-row') return goesOn(givenUp(row, waiting))
      const waitMs = attempted.refused === 'wait-apart' ? WAIT_APART_MS : attempted.backoffMs
      return goesOn({ ...waiting, to: 'READY', cause: 'unsent', dueAtMs: atMs + waitMs })
    }
    case 'stop-account':
      return { settlement: { ...seen, to: 'READY', cause: 'unsent', reason: verdict.reason }, stops: verdict.reason }
    case 'forbidden':
      return forbiddenOf(row, { ...seen, reason: verdict.reason, forbidden: true }, attempted.refused ?? 'wait')
  }
}

function nameOf({ merchant, batchId, rowNo, instruction: { reference } }: DueRow): RowName {
  return { merchant, batchId, rowNo, reference }
}

function goesOn(settlement: Settlement): Written {
  return { settlement, stops: null }
}

type Refusal = Omit<Settlement, 'to' | 'cause'> & { readonly reason: string }

function forbiddenOf(row: DueRow, seen: Refusal, means: Refused): Written {
  const { reason, atMs } = seen
  switch (means) {
    case 'wait':
    case 'wait-apart':
      return goesOn({
        ...{ ...seen, to: 'READY', cause: 'unsent' },
        dueAtMs: atMs + (row.forbiddenCount + 1) * FORBIDDEN_WAIT_MS,
      })
    case 'give-up-row':
      return goesOn(givenUp(row, seen))
    case 'stop-account':
      return { settlement: { ...seen, to: 'READY', cause: 'unsent' }, stops: `${reason}, and nothing else passes` }
  }
}

function givenUp({ everInDoubt }: DueRow, seen: Refusal): Settlement {
  const reason = `${seen.reason}, ${REFUSALS_BEFORE_GIVING_UP} times while others passed`
  // Certain of these attempts only: an earlier one may be what was executed.
  if (everInDoubt)
    return { ...seen, to: 'IN_DOUBT', cause: 'doubt', reason: `${reason}, but an earlier attempt was in doubt` }
  return { ...seen, to: 'FAILED', cause: 'answer', reason }
}

/** What the attempt showed, whatever it means. */
function seenIn(
  outcome: Outcome,
): Omit<Settlement, 'rowId' | 'row' | 'attempt' | 'to' | 'cause' | 'atMs' | 'dueAtMs' | 'reason' | 'limited'> {
  const nothing = {
    category: null,
    facts: null,
    warning: null,
    warnsOfMoney: false,
    forbidden: false,
    askedToWaitUntilMs: null,
  }
  switch (outcome.kind) {
    case 'unsent':
      return { ...nothing, sentAtMs: null, httpStatus: null, answerText: null }
    case 'lost':
      return { ...nothing, sentAtMs: outcome.sentAtMs, httpStatus: outcome.httpStatus, answerText: null }
    case 'answered':
      return { ...nothing, sentAtMs: outcome.sentAtMs, httpStatus: outcome.httpStatus, answerText: outcome.text }
  }
}

function textOf(warnings: readonly { readonly text: string }[]): string | null {
  return warnings.length === 0 ? null : warnings.map(({ text }) => text).join('; ')
}
