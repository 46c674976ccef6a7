// The summary beside the reconciliation: counts and amounts, added up from the very rows that were written.

import type { BatchView } from '../domain/batch.ts'
import { type Decimal, formatDecimal, plus } from '../domain/decimal.ts'
import { OPERATIONS, type Operation } from '../domain/instruction.ts'
import { toUpperAscii } from '../domain/keyword.ts'
import type { Environment } from '../domain/merchant.ts'
import { type Currency, formatAmount, sameAmount } from '../domain/money.ts'
import type { ReconciliationRow } from '../domain/reconciliation.ts'
import { type ResultStatus, resultStatusOf, STATES } from '../domain/states.ts'
import type { Difference, ReasonCount, SummaryLine, WrittenResults } from '../domain/written-results.ts'
import { oneLine } from './cells.ts'
import { type CategoryOfRow, categoriesBy } from './remembered.ts'
import { toTimestamp } from './timestamps.ts'

export const SUMMARY_COLUMNS = [
  'summary_batch',
  'summary_read_at',
  'operation',
  'currency',
  'status',
  'count',
  'requested_amount',
  'answered_currency',
  'answered_count',
  'answered_amount',
  'batch_count',
  'batch_requested_amount',
  'ties_out',
  'audit_head',
] as const

/** What stands under `ties_out` where not all rows of the batch are added up. */
export const EXTRACT = 'extract'

/** Which rows of the batch were left in: what is added up is not the batch. */
export interface Extract {
  readonly what: string
  /** Rows of the whole batch. */
  readonly ofRows: number
}

export interface Tally {
  add(row: ReconciliationRow): void
  lines(): SummaryLine[]
  /** Of DECLINED and FAILED rows, the most frequent first. */
  reasons(): ReasonCount[]
  /** Of approved sales, authorizations, captures and refunds. */
  differences(): WrittenResults['differences']
  /** How many rows ask for something else than the recorded row that they point at. */
  changed(): number
  /** How many rows were submitted again after they had ended. */
  submittedAgain(): number
}

interface Sum {
  readonly operation: Operation | ''
  readonly currency: Currency | ''
  readonly status: ResultStatus
  readonly answeredCurrency: string
  count: number
  requestedMinor: bigint
  changedMinor: bigint
  answeredCount: number
  unreadCount: number
  answered: Decimal
}

/** Holds one sum per line of the summary, never a row. */
export function createTally(categoryOf: CategoryOfRow = categoriesBy([])): Tally {
  const sums = new Map<string, Sum>()
  const reasons = new Map<string, ReasonCount>()
  const differing: Difference[] = []
  let differences = 0
  let submittedAgain = 0
  let changed = 0
  return {
    add(row) {
      if (row.submittedAgain !== null) submittedAgain += 1
      if (row.repeats?.changed === true) changed += 1
      addReason(reasons, row, categoryOf)
      const difference = differenceIn(row)
      if (difference !== null && ++differences <= DIFFERENCES_NAMED) differing.push(difference)
      const sum = sumFor(sums, row)
      sum.count += 1
      const askedMinor = sum.currency === '' ? 0n : (row.amountMinor ?? 0n)
      sum.requestedMinor += askedMinor
      if (row.repeats?.changed === true) sum.changedMinor += askedMinor
      const answered = parseAnswered(row.facts.amount)
      if (answered === null) {
        if ((row.facts.amount ?? '').trim() !== '') sum.unreadCount += 1
        return
      }
      sum.answeredCount += 1
      sum.answered = plus(sum.answered, answered)
    },
    lines: () => [...sums.values()].sort(inReadingOrder).map(toLine),
    reasons: () => [...reasons.values()].sort((a, b) => b.count - a.count || compareText(a.category, b.category)),
    differences: () => ({ rows: differences, first: differing }),
    changed: () => changed,
    submittedAgain: () => submittedAgain,
  }
}

const DIFFERENCES_NAMED = 10

/** The amount of a cancellation is declared and never sent: nothing can differ from it. */
function differenceIn({ state, operation, amountMinor, currency, facts, rowNo, reference }: ReconciliationRow) {
  if (state !== 'APPROVED' || operation === null || operation === 'CANCEL') return null
  if (amountMinor === null || currency === null || facts.amount === null) return null
  const answeredCurrency = answeredCurrencyOf(facts.currency)
  if (sameAmount(facts.amount, { amountMinor, currency }) && (answeredCurrency === '' || answeredCurrency === currency))
    return null
  const askedAmount = requestedText(amountMinor, currency)
  const answeredAmount = oneLine(facts.amount).slice(0, 40)
  return { rowNo, reference: reference ?? '', operation, askedAmount, currency, answeredAmount, answeredCurrency }
}

function addReason(reasons: Map<string, ReasonCount>, row: ReconciliationRow, categoryOf: CategoryOfRow): void {
  if (row.state !== 'DECLINED' && row.state !== 'FAILED') return
  const category = categoryOf(row)
  if (category === '') return
  const key = `${row.state} ${category}`
  reasons.set(key, { status: row.state, category, count: (reasons.get(key)?.count ?? 0) + 1 })
}

/** All rows of one operation and currency: as added up here, and as the ledger has counted them all along. */
interface Group {
  readonly count: number
  readonly requestedMinor: bigint
}

/** What the rows of a reading add up to, held against what the ledger says of the whole batch. */
export interface TieOut {
  /** Every row is there, and for each operation and currency the sums over all statuses are the batch's own. */
  readonly isTrue: boolean
  readonly rows: number
  ofBatch(operation: Operation | '', currency: Currency | ''): Group
}

export function tieOut(lines: readonly SummaryLine[], batch: Pick<BatchView, 'rows' | 'totals'>): TieOut {
  const added = groupsOf(lines)
  const counted = groupsOf(batch.totals.map(({ amountMinor, ...total }) => ({ ...total, requestedMinor: amountMinor })))
  const same = (key: string) =>
    added.get(key)?.count === counted.get(key)?.count &&
    added.get(key)?.requestedMinor === counted.get(key)?.requestedMinor
  const rows = lines.reduce((sum, line) => sum + line.count, 0)
  return {
    isTrue: rows === batch.rows && [...added.keys(), ...counted.keys()].every(same),
    rows: batch.rows,
    ofBatch: (operation, currency) => counted.get(`${operation}|${currency}`) ?? { count: 0, requestedMinor: 0n },
  }
}

function groupsOf(
  lines: readonly (Group & { readonly operation: Operation | ''; readonly currency: Currency | '' })[],
): Map<string, Group> {
  const groups = new Map<string, Group>()
  for (const { operation, currency, count, requestedMinor } of lines) {
    const key = `${operation}|${currency}`
    const group = groups.get(key)
    groups.set(key, {
      count: (group?.count ?? 0) + count,
      requestedMinor: (group?.requestedMinor ?? 0n) + requestedMinor,
    })
  }
  return groups
}

function sumFor(sums: Map<string, Sum>, row: ReconciliationRow): Sum {
  const operation = row.operation ?? ''
  const currency = row.amountMinor === null ? '' : (row.currency ?? '')
  const status = resultStatusOf(row.state)
  const answeredCurrency = answeredCurrencyOf(row.facts.currency)
  const key = [operation, currency, status, answeredCurrency].join('|')
  const known = sums.get(key)
  if (known !== undefined) return known
  const opened: Sum = {
    operation,
    currency,
    status,
    answeredCurrency,
    count: 0,
    requestedMinor: 0n,
    changedMinor: 0n,
    answeredCount: 0,
    unreadCount: 0,
    answered: { digits: 0n, decimals: 0 },
  }
  sums.set(key, opened)
  return opened
}

/** Whatever else a gateway may put there shares one line, so that the number of lines stays bounded. */
function answeredCurrencyOf(text: string | null): string {
  const code = toUpperAscii((text ?? '').trim())
  return code === '' || /^[A-Z]{3}$/.test(code) ? code : '???'
}

/** What every record of a summary names. */
export interface SummaryOf {
  readonly batchMark: string
  readonly readAtMs: number
  /** Of the chain over the record, at that moment: kept outside the ledger, it proves later what was recorded up to then. */
  readonly auditHead: string
  /** Of the account; null: nobody has said. */
  readonly environment: Environment | null
  /** An alarm of the ledger says so; absent: nothing does. */
  readonly mayBeOlder?: boolean
}

/**
 * The summary's records under its header, the total of all rows last; then what it is an extract of, the label of the account, and that more may have happened. Beside
 * each line stands what the ledger says of all rows of its operation and currency; an extract ties out to nothing.
 */
export function toSummaryRecords(
  lines: readonly SummaryLine[],
  { batchMark, readAtMs, auditHead, environment, mayBeOlder = false }: SummaryOf,
  tied: TieOut,
  extract: Extract | null = null,
): string[][] {
  const rows = lines.reduce((sum, line) => sum + line.count, 0)
  const answered = lines.reduce((sum, line) => sum + line.answeredCount, 0)
  const front = [batchMark, toTimestamp(readAtMs)]
  const ties = extract !== null ? EXTRACT : tied.isTrue ? 'yes' : 'no'
  const end = [ties, auditHead]
  const told = (what: string, said: string, ofRows: string) => [
    ...front,
    what,
    '',
    said,
    ofRows,
    '',
    '',
    '',
    '',
    '',
    '',
    ...end,
  ]
  return [
    ...lines.map((line) => {
      const whole = tied.ofBatch(line.operation, line.currency)
      return [
        ...front,
        line.operation,
        line.currency,
        line.status,
        String(line.count),
        line.requestedAmount,
        line.answeredCurrency,
        String(line.answeredCount),
        line.answeredAmount,
        String(whole.count),
        requestedText(whole.requestedMinor, line.currency),
        ...end,
      ]
    }),
    [...front, 'TOTAL', '', '', String(rows), '', '', String(answered), '', String(tied.rows), '', ...end],
    ...(extract === null ? [] : [told('EXTRACT', extract.what, String(extract.ofRows))]),
    ...(environment === null ? [] : [told('ENVIRONMENT', environment, '')]),
    ...(mayBeOlder ? [told('LEDGER', 'may be an older state: PENDING rows may have been sent since', '')] : []),
  ]
}

function requestedText(amountMinor: bigint, currency: Currency | ''): string {
  return currency === '' ? '' : formatAmount({ amountMinor, currency })
}

function toLine(sum: Sum): SummaryLine {
  const { operation, currency, status, count, requestedMinor, answeredCurrency, answeredCount } = sum
  const requestedAmount = requestedText(requestedMinor, currency)
  const answeredAmount = answeredCount === 0 ? '' : formatDecimal(sum.answered)
  const asked = { operation, currency, status, count, requestedAmount, requestedMinor }
  const changed = sum.changedMinor === 0n ? {} : { changedMinor: sum.changedMinor }
  const unread = sum.unreadCount === 0 ? {} : { unreadCount: sum.unreadCount }
  return { ...asked, ...changed, ...unread, answeredCurrency, answeredCount, answeredAmount, answered: sum.answered }
}

function inReadingOrder(a: Sum, b: Sum): number {
  return (
    operationPlace(a.operation) - operationPlace(b.operation) ||
    compareText(a.currency, b.currency) ||
    statusPlace(a.status) - statusPlace(b.status) ||
    compareText(a.answeredCurrency, b.answeredCurrency)
  )
}

function operationPlace(operation: Operation | ''): number {
  return operation === '' ? OPERATIONS.length : OPERATIONS.indexOf(operation)
}

function statusPlace(status: ResultStatus): number {
  return status === 'PENDING' ? STATES.length : STATES.indexOf(status)
}

/** By code unit: the order of the lines must not depend on the machine's language. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Longer numbers than any amount has are not added up: an answer must not be able to fill the memory. */
const ANSWERED_AMOUNT = /^(-?\d{1,30})(?:\.(\d{1,30}))?$/

function parseAnswered(text: string | null): Decimal | null {
  const match = ANSWERED_AMOUNT.exec(text?.trim() ?? '')
  if (match === null) return null
  const decimals = match[2] ?? ''
  return { digits: BigInt(`${match[1]}${decimals}`), decimals: decimals.length }
}
