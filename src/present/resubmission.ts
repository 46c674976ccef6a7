// What was recorded before, in words: what runs again, what does not, and why.

import type { Again, DraftReview } from '../domain/draft.ts'
import { type State, statusOf } from '../domain/states.ts'
import { plural } from './text.ts'

/** Why a row that is recorded already is not sent with this file. */
const NOT_SENT: Readonly<Record<State, string>> = {
  APPROVED: 'approved: executed, and never again',
  DECLINED: 'declined: the gateway has answered; to ask it once more, write a new file with new references',
  IN_DOUBT: 'in doubt: may have been executed; a person resolves it (tranche in-doubt list)',
  READY: 'pending: its own batch sends it',
  SENDING: 'being sent by its own batch, or left open by a worker that ended (tranche status tells)',
  FAILED: 'failed: certainly not executed',
  CANCELLED: 'cancelled: never sent, or certainly not executed',
  INVALID: 'invalid: never sent',
  DUPLICATE: 'duplicate',
}

/** How a row would run again, where it may. */
const REMEDIES: Readonly<Partial<Record<State, string>>> = {
  FAILED: '; to run it again: --retry failed, with the results file',
  CANCELLED: '; to run it again: --retry cancelled, with the results file',
  INVALID: '; to run it: correct its cells in the results file, then --retry invalid',
}

/** Nothing where nothing was recorded before. */
export function againLines({ again }: Pick<DraftReview, 'again'>): string[] {
  const retried = again.retried.map(
    ({ state, count }) =>
      `  sent again: ${plural(count, 'row')} that ${count === 1 ? 'was' : 'were'} ${NOT_SENT[state].replace(/:.*/, '')}`,
  )
  const repeated = again.repeated.map(
    ({ state, count }) => `  not sent: ${plural(count, 'row')} ${NOT_SENT[state]}${REMEDIES[state] ?? ''}`,
  )
  const changed =
    again.changed === 0
      ? []
      : [
          `  of these, ${plural(again.changed, 'row has', 'rows have')} other content now: look at the results, and correct what is wrong there by hand`,
        ]
  const lines = [...retried, ...repeated, ...changed]
  return lines.length === 0 ? [] : ['Recorded before:', ...lines]
}

export function toJsonAgain({ repeated, retried, changed }: Again): object {
  const counts = (of: Again['repeated']) => {
    const sums: Record<string, number> = {}
    for (const { state, count } of of) sums[statusOf(state)] = count
    return sums
  }
  return { repeated: counts(repeated), retried: counts(retried), changed }
}
