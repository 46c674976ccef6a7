// What was recorded before, in words: what runs again, what does not, and why.

import type { Again, DraftReview } from '../domain/draft.ts'
import { NETWORK_RULES, type NotAsked } from '../domain/reattempt.ts'
import { type State, statusOf } from '../domain/states.ts'
import { plural } from './text.ts'

/** Why a row that is recorded already is not sent with this file. */
const NOT_SENT: Readonly<Record<State, string>> = {
  APPROVED: 'approved: executed, and never again',
  DECLINED: 'declined: the gateway has answered',
  IN_DOUBT: 'in doubt: may have been executed; a person resolves it (tranche in-doubt list)',
  READY: 'pending: its own batch sends it',
  SENDING: 'being sent by its own batch, or left open by a worker that ended (tranche status tells)',
  FAILED: 'failed: certainly not executed',
  CANCELLED: 'cancelled: never sent, or certainly not executed',
  INVALID: 'invalid: never sent',
  DUPLICATE: 'duplicate',
}

/** Why a declined row is not asked for once more, although that was wanted. */
const NOT_ASKED: Readonly<Record<NotAsked, string>> = {
  funds: 'for funds: to ask once more, add funds to --category',
  technical: 'for a technical reason: to ask once more, add technical to --category',
  other: 'for a reason that says nothing: to ask once more, add other to --category',
  card: 'because of the card: it must be replaced first',
  fraud: 'for fraud: the card is not asked again',
  done: 'because it was done already: look up at the gateway who did it',
  data: 'because of the data: correct the row, under a new reference',
  balance: 'because of the balance of its order',
  settlement: 'because of the state of its order',
  limit: `too often: ${limitText()}`,
  'not-a-charge': 'and is no charge of a stored card: it takes a new reference, in a new file',
  'not-certain': 'but was in doubt before: it may have been executed',
  taken: 'and left out: another instruction has its xtl_order_id since, and has paid for it',
}

/** The rules of the networks, in one sentence. */
function limitText(): string {
  const least = new Map<number, number>()
  for (const { days, declines } of NETWORK_RULES) least.set(days, Math.min(declines, least.get(days) ?? declines))
  const limits = [...least].map(([days, declines]) => `${declines} declines of a card in ${plural(days, 'day')}`)
  return `the card networks want no more than ${limits.join(', or ')}`
}

/** How a row would run again, where it may. */
const REMEDIES: Readonly<Partial<Record<State, string>>> = {
  DECLINED:
    '; a charge of a stored card: --retry declined --category funds,technical asks once more; anything else: a new reference, in a new file',
  FAILED: '; to run it again: --retry failed, with the results file',
  CANCELLED:
    '; to run it again: change what its reason names, if anything, then --retry cancelled, with the results file',
  INVALID: '; to run it: correct its cells in the results file, then --retry invalid',
}

/** Nothing where nothing was recorded before. */
export function againLines({ again }: Pick<DraftReview, 'again'>): string[] {
  const retried = again.retried.map(retriedLine)
  const repeated = again.repeated.flatMap(({ state, count }) => {
    const asked = state === 'DECLINED' ? again.notAsked.map(notAskedLine) : []
    const remedy = asked.length > 0 ? '' : (REMEDIES[state] ?? '')
    return [`  not sent: ${plural(count, 'row')} ${NOT_SENT[state]}${remedy}`, ...asked]
  })
  const changed =
    again.changed === 0
      ? []
      : [
          `  of these, ${plural(again.changed, 'row has', 'rows have')} other content now: look at the results, and correct what is wrong there by hand; where the recorded one is still pending, cancel or reject its batch first`,
        ]
  const lines = [...retried, ...repeated, ...changed, ...otherCellsLines(again.otherCells)]
  return lines.length === 0 ? [] : ['Recorded before:', ...lines]
}

function retriedLine({ state, count }: Again['retried'][number]): string {
  const were = count === 1 ? 'was' : 'were'
  if (state === 'DECLINED')
    return `  asked for once more: ${plural(count, 'charge')} that ${were} declined, each under a new reference (REFERENCE~2, ~3 …)`
  return `  sent again: ${plural(count, 'row')} that ${were} ${NOT_SENT[state].replace(/:.*/, '')}`
}

function notAskedLine({ why, count }: Again['notAsked'][number]): string {
  return `    ${plural(count, 'row')} declined ${NOT_ASKED[why]}`
}

/** A second purchase of the same price, or another date of the first. */
function otherCellsLines(rows: number): string[] {
  if (rows === 0) return []
  return [
    `  of these, ${plural(rows, 'row differs', 'rows differ')} from the recorded one in columns that are only carried through: look at result_reason. What is to be executed as well needs a reference of its own; of a column that does not matter say --map "COLUMN=ignore"`,
  ]
}

export function toJsonAgain({ repeated, retried, changed, otherCells, notAsked }: Again): object {
  const counts = (of: Again['repeated']) => {
    const sums: Record<string, number> = {}
    for (const { state, count } of of) sums[statusOf(state)] = count
    return sums
  }
  const kept = Object.fromEntries(notAsked.map(({ why, count }) => [why, count]))
  return { repeated: counts(repeated), retried: counts(retried), changed, other_cells: otherCells, not_asked: kept }
}
