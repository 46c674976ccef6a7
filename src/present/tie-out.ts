// The sentence that ties results to the rows they came from: how many were read, what became of them, and of the money.

import type { Operation } from '../domain/instruction.ts'
import type { Currency } from '../domain/money.ts'
import type { ResultStatus } from '../domain/states.ts'
import type { WrittenResults } from '../domain/written-results.ts'
import { amountText, plural } from './text.ts'

const WORDS = {
  APPROVED: 'approved',
  DECLINED: 'declined',
  FAILED: 'failed',
  IN_DOUBT: 'in doubt',
  PENDING: 'pending',
  CANCELLED: 'cancelled',
  INVALID: 'invalid',
  DUPLICATE: 'recorded before',
} as const satisfies Record<ResultStatus, string>

/** What a status means for the money that was asked for. */
const MONEY = {
  APPROVED: 'approved',
  DECLINED: 'not moved',
  FAILED: 'not moved',
  CANCELLED: 'not moved',
  INVALID: 'not moved',
  IN_DOUBT: 'in doubt',
  PENDING: 'pending',
  DUPLICATE: 'recorded before',
} as const satisfies Record<ResultStatus, string>

/**
 * What became of the rows and of the money that they ask for, for each operation and currency. Results that do not tie out
 * are not written.
 */
export function tieOutLines(written: WrittenResults): string[] {
  const counts = (Object.keys(WORDS) as ResultStatus[]).flatMap((status) => {
    const count = countOf(written, ({ status: other }) => other === status)
    return count === 0 ? [] : [`${count} ${WORDS[status]}${reasonsText(written, status)}`]
  })
  const rows = `${plural(written.rowsRead, 'row')} read, ${written.rows} in the results${counts.length === 0 ? '' : `: ${counts.join(', ')}`}`
  const sums = moneySums(written)
  const [only] = sums
  const lines =
    only !== undefined && sums.length === 1
      ? [`${rows}; ${only.text}.`]
      : [`${rows}.`, ...sums.map(({ operation, text }) => `${operation === '' ? 'Bad rows' : operation}: ${text}.`)]
  const unknown = countOf(written, ({ status, currency }) => status === 'INVALID' && currency === '')
  const asides = [
    unknown === 0
      ? null
      : `${plural(unknown, 'invalid row has', 'invalid rows have')} no amount that could be read, and no part in these sums.`,
    written.submittedAgain === 0 ? null : submittedAgainText(written.submittedAgain),
  ]
  return [...lines, ...asides.filter((aside) => aside !== null)]
}

/** "Not moved" is true of this batch only. */
function submittedAgainText(rows: number): string {
  const [verb, whose] = rows === 1 ? ['was', 'its'] : ['were', 'their']
  return `${rows} of these rows ${verb} submitted again in another batch, and ${whose} money may have moved there: see result_warning.`
}

function countOf({ summary }: WrittenResults, fits: (line: WrittenResults['summary'][number]) => boolean): number {
  return summary.reduce((sum, line) => (fits(line) ? sum + line.count : sum), 0)
}

function reasonsText({ reasons }: WrittenResults, status: ResultStatus): string {
  const own = reasons.filter((reason) => reason.status === status)
  return own.length === 0 ? '' : ` (${own.map(({ category, count }) => `${count} ${category}`).join(', ')})`
}

function moneySums({ summary }: WrittenResults): { operation: Operation | ''; text: string }[] {
  const groups = new Map<string, { operation: Operation | ''; currency: Currency; parts: Map<string, bigint> }>()
  for (const { operation, currency, status, requestedMinor } of summary) {
    if (currency === '') continue
    const key = `${operation}|${currency}`
    const group = groups.get(key) ?? { operation, currency, parts: new Map<string, bigint>() }
    group.parts.set(MONEY[status], (group.parts.get(MONEY[status]) ?? 0n) + requestedMinor)
    groups.set(key, group)
  }
  return [...groups.values()].map(({ operation, currency, parts }) => {
    const asked = [...parts.values()].reduce((sum, part) => sum + part, 0n)
    const named = [...new Set(Object.values(MONEY))].flatMap((word) => {
      const part = parts.get(word)
      return part === undefined ? [] : [`${amountText(part, currency)} ${word}`]
    })
    return { operation, text: `${amountText(asked, currency)} ${currency} asked = ${named.join(' + ')}` }
  })
}

/** The same for programs. */
export function toJsonTieOut(written: WrittenResults): object {
  return {
    ...{ rows_read: written.rowsRead, rows_written: written.rows, ties_out: true, reasons: written.reasons },
    submitted_again: written.submittedAgain,
  }
}
