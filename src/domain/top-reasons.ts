// Why rows were declined, failed or came into doubt: the commonest reasons, with counts and categories.

import { categoryOfReason, type ReasonCategory, type ReasonRule } from './reason-categories.ts'
import type { ReasonTotal } from './reconciliation.ts'

/** Rows whose reasons differ in numbers alone are of one reason. */
export interface TopReason {
  readonly status: ReasonTotal['state']
  readonly reason: string
  /** null: the gateway has not answered. */
  readonly category: ReasonCategory | null
  readonly count: number
}

const STATUSES = ['DECLINED', 'FAILED', 'IN_DOUBT'] as const

const REASON_CHARS = 120

/** `rules`: the merchant's own categories. The commonest of each status first. */
export function topReasons(totals: readonly ReasonTotal[], rules: readonly ReasonRule[]): TopReason[] {
  const found = new Map<string, TopReason>()
  for (const total of totals) {
    const reason = total.categoryKept === null ? withoutNumbers(total.reason ?? '') : 'text purged'
    const key = `${total.state} ${reason}`
    const before = found.get(key)
    const category = before === undefined ? categoryOf(total, rules) : before.category
    found.set(key, { status: total.state, reason, category, count: (before?.count ?? 0) + total.count })
  }
  return STATUSES.flatMap((status) =>
    [...found.values()].filter((top) => top.status === status).sort((a, b) => b.count - a.count),
  )
}

function categoryOf({ state, reason, categoryKept }: ReasonTotal, rules: readonly ReasonRule[]): ReasonCategory | null {
  return state === 'IN_DOUBT' ? null : (categoryKept ?? categoryOfReason(reason ?? '', rules))
}

/** Ids, moments and amounts are of one row; codes of three digits say why. What is true of every doubt is not said of each. */
export function withoutNumbers(reason: string): string {
  const text = reason
    .replace(/; it may have been executed.*$/, '')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
    .replace(/\d{4,}/g, '…')
    .trim()
  if (text === '') return 'no reason given'
  return text.length > REASON_CHARS ? `${text.slice(0, REASON_CHARS - 1)}…` : text
}
