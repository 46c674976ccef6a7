// The commonest reasons of a batch, in lines.

import type { BatchView } from '../domain/batch.ts'
import { countIn } from '../domain/batch-status.ts'
import type { ReasonCategory } from '../domain/reason-categories.ts'
import type { TopReason } from '../domain/top-reasons.ts'

const STATUSES = [
  ['DECLINED', 'declined'],
  ['FAILED', 'failed'],
  ['IN_DOUBT', 'in doubt'],
] as const

const SHOWN = 3

/** A line for each status that has any. */
export function reasonLines(batch: Pick<BatchView, 'counts'>, tops: readonly TopReason[]): string[] {
  return STATUSES.flatMap(([status, word]) => {
    const own = tops.filter((top) => top.status === status)
    if (own.length === 0) return []
    const total = countIn(batch, status)
    const shown = own
      .slice(0, SHOWN)
      .map(({ count, reason, category }) => `${count === total ? '' : `${count} × `}${reason}${inBrackets(category)}`)
    const rest = total - own.slice(0, SHOWN).reduce((sum, { count }) => sum + count, 0)
    const others = rest > 0 ? [`${rest} more`] : []
    return [`${total} ${word}: ${[...shown, ...others].join('; ')}.`]
  })
}

function inBrackets(category: ReasonCategory | null): string {
  return category === null || category === 'other' ? '' : ` (${category})`
}
