// The sentences that tie results to the rows they came from: how many were read, what became of them, and of the money.

import { type Decimal, formatDecimal, minus, plus, trimmed } from '../domain/decimal.ts'
import type { Operation } from '../domain/instruction.ts'
import { type Currency, exponentOf, parseCurrency } from '../domain/money.ts'
import type { ResultStatus } from '../domain/states.ts'
import type { Difference, SummaryLine, WrittenResults } from '../domain/written-results.ts'
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

/** What this file asks of rows that were recorded with another content: it is no sum that anything was recorded with. */
const CHANGED = 'recorded otherwise and not sent'

/** Operations that move no money: their sums must not pass for sums that did. */
const MOVES_NONE: Readonly<
  Partial<Record<Operation, { readonly asked: string; readonly approved: string; readonly why: string }>>
> = {
  AUTH: { asked: 'asked', approved: 'authorized', why: 'An authorization moves no money.' },
  CANCEL: { asked: 'declared', approved: 'released', why: 'A cancellation moves no money.' },
}

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
  const groups = groupsOf(written)
  const [only] = groups
  const lines =
    only !== undefined && groups.length === 1
      ? [`${rows}; ${moneyText(only)}`]
      : [
          `${rows}.`,
          ...groups.map((group) => `${group.operation === '' ? 'Bad rows' : group.operation}: ${moneyText(group)}`),
        ]
  const unknown = countOf(written, ({ status, currency }) => status === 'INVALID' && currency === '')
  const asides = [
    unknown === 0
      ? null
      : `${plural(unknown, 'invalid row has', 'invalid rows have')} no amount that could be read, and no part in these sums.`,
    changedText(written.changed ?? 0),
    written.submittedAgain === 0 ? null : submittedAgainText(written.submittedAgain),
  ]
  return [...lines, ...differenceLines(written), ...asides.filter((aside) => aside !== null)]
}

function changedText(rows: number): string | null {
  if (rows === 0) return null
  const [asks, was] = rows === 1 ? ['asks', 'it was'] : ['ask', 'they were']
  return `${rows} of the rows recorded before ${asks} for something else now, and ${was} not sent: see result_reason.`
}

/** "Not moved" is true of this batch only. */
function submittedAgainText(rows: number): string {
  const [verb, whose] = rows === 1 ? ['stands', 'its'] : ['stand', 'their']
  return `${rows} of these rows ${verb} in another batch as well, and ${whose} money may have moved there: see result_warning.`
}

function countOf({ summary }: WrittenResults, fits: (line: SummaryLine) => boolean): number {
  return summary.reduce((sum, line) => (fits(line) ? sum + line.count : sum), 0)
}

function reasonsText({ reasons }: WrittenResults, status: ResultStatus): string {
  const own = reasons.filter((reason) => reason.status === status && reason.category !== 'other')
  return own.length === 0 ? '' : ` (${own.map(({ category, count }) => `${count} ${category}`).join(', ')})`
}

/** All rows of one operation and currency. */
interface Group {
  readonly operation: Operation | ''
  readonly currency: Currency
  readonly lines: readonly SummaryLine[]
}

function groupsOf({ summary }: WrittenResults): Group[] {
  const groups = new Map<string, Group>()
  for (const line of summary) {
    const { operation, currency } = line
    if (currency === '') continue
    const key = `${operation}|${currency}`
    groups.set(key, { operation, currency, lines: [...(groups.get(key)?.lines ?? []), line] })
  }
  return [...groups.values()]
}

/** What was asked ties out by what was asked; what was approved is the gateway's sum, and where the two differ both are told. */
function moneyText(group: Group): string {
  const { operation, currency, lines } = group
  const {
    asked: verb,
    approved: released,
    why,
  } = (operation !== '' && MOVES_NONE[operation]) || {
    ...{ asked: 'asked', approved: 'approved', why: null },
  }
  const parts = new Map<string, bigint>()
  const add = (word: string, amountMinor: bigint) => parts.set(word, (parts.get(word) ?? 0n) + amountMinor)
  for (const { status, requestedMinor, changedMinor = 0n } of lines) {
    if (changedMinor === 0n || requestedMinor !== changedMinor) add(MONEY[status], requestedMinor - changedMinor)
    if (changedMinor > 0n) add(CHANGED, changedMinor)
  }
  const asked = [...parts.values()].reduce((sum, part) => sum + part, 0n)
  const answered = answeredText(group, released)
  const named = [...new Set<string>([...Object.values(MONEY), CHANGED])].flatMap((word) => {
    const part = parts.get(word)
    if (part === undefined) return []
    const name = word === 'approved' ? (answered === null ? released : 'in approved rows') : word
    return [`${amountText(part, currency)} ${why !== null && name === 'not moved' ? 'not approved' : name}`]
  })
  const equation = `${amountText(asked, currency)} ${currency} ${verb} = ${named.join(' + ')}`
  const approved = answered === null ? [] : [`The gateway ${answered}.`]
  return [`${equation}.`, ...approved, ...(why === null ? [] : [why])].join(' ')
}

/** What the gateway did, of the approved rows; null: it approved just what was asked, or named no amounts. */
function answeredText({ operation, currency, lines }: Group, released: string): string | null {
  const approved = lines.filter(({ status }) => status === 'APPROVED')
  const counted = approved.filter(({ answeredCount }) => answeredCount > 0)
  const unread = approved.reduce((sum, { unreadCount = 0 }) => sum + unreadCount, 0)
  if ((counted.length === 0 && unread === 0) || operation === 'CANCEL') return null
  const sums = new Map<string, Decimal>()
  for (const { answeredCurrency, answered } of counted) {
    const code = answeredCurrency === '' ? currency : answeredCurrency
    sums.set(code, plus(sums.get(code) ?? NOTHING, answered))
  }
  const unnamed = approved.reduce((sum, { count, answeredCount }) => sum + count - answeredCount, 0) - unread
  const own = sums.get(currency)
  const asked = {
    digits: counted.reduce((sum, line) => sum + line.requestedMinor, 0n),
    decimals: exponentOf(currency),
  }
  const isAsAsked = sums.size === 1 && own !== undefined && minus(own, asked).digits === 0n
  if (unnamed === 0 && unread === 0 && isAsAsked) return null
  const texts = [...sums].map(([code, sum]) => `${formatDecimal(trimmed(sum, decimalsIn(code, currency)))} ${code}`)
  return [
    ...(texts.length === 0 ? [] : [`${released} ${texts.join(' and ')}`]),
    ...(unnamed === 0 ? [] : [`named no amount for ${plural(unnamed, 'row')}`]),
    ...(unread === 0 ? [] : [`named an amount that cannot be read for ${plural(unread, 'row')}`]),
  ].join(' and ')
}

const NOTHING: Decimal = { digits: 0n, decimals: 0 }

/** Of what is no currency, as many as the currency that was asked for has. */
function decimalsIn(code: string, asked: Currency): number {
  return exponentOf(parseCurrency(code) ?? asked)
}

/** The rows for which the gateway names other money than was asked. */
function differenceLines({ differences: { rows, first } }: WrittenResults): string[] {
  if (rows === 0) return []
  const more = rows - first.length
  const named = first.map(differenceText)
  return [`Other than asked: ${named.join('; ')}${more === 0 ? '' : `; and ${plural(more, 'more row')}`}.`]
}

function differenceText({
  rowNo,
  reference,
  askedAmount,
  currency,
  answeredAmount,
  answeredCurrency,
}: Difference): string {
  const answered = `${answeredAmount} ${answeredCurrency === '' ? currency : answeredCurrency}`
  return `row ${rowNo} (${reference}) ${answered} for ${askedAmount} ${currency}`
}

/** The same for programs. */
export function toJsonTieOut(written: WrittenResults): object {
  return {
    ...{ rows_read: written.rowsRead, rows_written: written.rows, ties_out: true, reasons: written.reasons },
    approved: written.summary.filter(({ status }) => status === 'APPROVED').map(toJsonApproved),
    changed_rows: written.changed ?? 0,
    differing_rows: written.differences.rows,
    differences: written.differences.first.map(toJsonDifference),
    submitted_again: written.submittedAgain,
  }
}

function toJsonApproved(line: SummaryLine): object {
  return {
    ...{ operation: line.operation, currency: line.currency, count: line.count, asked_amount: line.requestedAmount },
    ...{ answered_currency: line.answeredCurrency, answered_count: line.answeredCount },
    answered_amount: line.answeredAmount,
  }
}

function toJsonDifference({ rowNo, reference, askedAmount, currency, ...answered }: Difference): object {
  return {
    ...{ row: rowNo, reference, asked_amount: askedAmount, currency },
    ...{ answered_amount: answered.answeredAmount, answered_currency: answered.answeredCurrency },
  }
}
