// What was found out about the texts of earlier rows, for those that follow. A gateway gives few reasons, many times, and
// looking for card data in a text, or for its category, costs more than all else of a row.

import { categoryOfRow, type ReasonCategory, type ReasonRule } from '../domain/reason-categories.ts'
import type { ReconciliationRow } from '../domain/reconciliation.ts'

/** Reasons that name a row differ from row to row: these must not fill the memory. */
const TEXTS_MOST = 256
const LONGEST = 2_000

/** The same function, with its latest answers kept. */
export function remembering<Answer>(answerTo: (text: string | null) => Answer): (text: string | null) => Answer {
  const toNothing = answerTo(null)
  const known = new Map<string, Answer>()
  return (text) => {
    if (text === null) return toNothing
    const before = known.get(text)
    if (before !== undefined) return before
    const answer = answerTo(text)
    if (known.size >= TEXTS_MOST) known.clear()
    if (text.length <= LONGEST) known.set(text, answer)
    return answer
  }
}

export type CategoryOfRow = (row: Pick<ReconciliationRow, 'state' | 'reason' | 'categoryKept'>) => ReasonCategory | ''

/** `categoryOfRow` by the merchant's own rules. */
export function categoriesBy(rules: readonly ReasonRule[]): CategoryOfRow {
  const ofRefused = remembering((reason) => categoryOfRow({ state: 'DECLINED', reason }, rules))
  return (row) => {
    const { state, reason, categoryKept } = row
    const isRefused = state === 'DECLINED' || state === 'FAILED'
    return isRefused && categoryKept === null ? ofRefused(reason) : categoryOfRow(row, rules)
  }
}
