// What a verdict writes: one clause for each, and whether it stops the account. Pure.

import type { Outcome } from '../domain/outcome.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { DueRow, Settlement } from '../ports/ledger/work.ts'
import type { Forbidden } from '../throttle/refusals.ts'

interface Attempted {
  readonly attempt: number
  readonly outcome: Outcome
  readonly verdict: Verdict
  /** null: the answer was no 403. */
  readonly forbidden: Forbidden | null
  readonly atMs: number
  /** How long the account backs off from now. */
  readonly backoffMs: number
}

interface Written {
  readonly settlement: Settlement
  /** Why the whole account stops; null where it goes on. */
  readonly stops: string | null
}

/** How long a row that was answered 403 waits, times its refusals so far. */
const FORBIDDEN_WAIT_MS = 10_000

export function settlementOf(row: DueRow, attempted: Attempted): Written {
  const { attempt, outcome, verdict, atMs } = attempted
  const seen = { ...seenIn(outcome), rowId: row.rowId, attempt, atMs, dueAtMs: atMs }
  switch (verdict.kind) {
    case 'approved': {
      const { facts, warnings } = verdict
      const warnsOfMoney = warnings.some(({ aboutMoney }) => aboutMoney)
      const warning = textOf(warnings)
      return goesOn({ ...seen, to: 'APPROVED', cause: 'answer', reason: null, facts, warning, warnsOfMoney })
    }
    case 'declined': {
      const { facts, reason, warnings } = verdict
      return goesOn({ ...seen, to: 'DECLINED', cause: 'answer', reason, facts, warning: textOf(warnings) })
    }
    case 'failed':
      return goesOn({ ...seen, to: 'FAILED', cause: 'answer', reason: verdict.reason })
    case 'in-doubt':
      return goesOn({ ...seen, to: 'IN_DOUBT', cause: 'doubt', reason: verdict.reason, facts: verdict.facts })
    case 'unsent': {
      const { reason, retryAfterMs } = verdict
      const askedToWaitUntilMs = retryAfterMs === null ? null : atMs + retryAfterMs
      const dueAtMs = atMs + attempted.backoffMs
      return goesOn({ ...seen, to: 'READY', cause: 'unsent', reason, dueAtMs, askedToWaitUntilMs })
    }
    case 'stop-account':
      return { settlement: { ...seen, to: 'READY', cause: 'unsent', reason: verdict.reason }, stops: verdict.reason }
    case 'forbidden':
      return forbiddenOf(row, { ...seen, reason: verdict.reason, forbidden: true }, attempted.forbidden ?? 'wait')
  }
}

function goesOn(settlement: Settlement): Written {
  return { settlement, stops: null }
}

function forbiddenOf(
  row: DueRow,
  seen: Omit<Settlement, 'to' | 'cause'> & { readonly reason: string },
  means: Forbidden,
): Written {
  const count = row.forbiddenCount + 1
  const { reason, atMs } = seen
  switch (means) {
    case 'wait':
      return goesOn({ ...seen, to: 'READY', cause: 'unsent', dueAtMs: atMs + count * FORBIDDEN_WAIT_MS })
    case 'give-up-row': {
      const given = `${reason}, ${count} times while others passed`
      // Certain of these attempts only: an earlier one may be what was executed.
      if (row.everInDoubt) {
        const doubt = `${given}, but an earlier attempt was in doubt`
        return goesOn({ ...seen, to: 'IN_DOUBT', cause: 'doubt', reason: doubt })
      }
      return goesOn({ ...seen, to: 'FAILED', cause: 'answer', reason: given })
    }
    case 'stop-account':
      return { settlement: { ...seen, to: 'READY', cause: 'unsent' }, stops: `${reason}, and nothing else passes` }
  }
}

/** What the attempt showed, whatever it means. */
function seenIn(
  outcome: Outcome,
): Omit<Settlement, 'rowId' | 'attempt' | 'to' | 'cause' | 'atMs' | 'dueAtMs' | 'reason'> {
  const nothing = { facts: null, warning: null, warnsOfMoney: false, forbidden: false, askedToWaitUntilMs: null }
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
