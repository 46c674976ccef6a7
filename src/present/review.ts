// What a file holds and why it is refused, in words and as an object.

import { isoOf } from '../domain/batch-status.ts'
import { maskCardData } from '../domain/card-secrets.ts'
import type { DraftReview, Extent, FaultCause, RowFault } from '../domain/draft.ts'
import type { Currency } from '../domain/money.ts'
import type { FarDatesRefused, FileRefusal, Refusal, Reviewed, Undeclared } from '../domain/submission.ts'
import { aboveLimitLine, aboveLimitRefusal } from './above-limit.ts'
import { correctionRefusal, recordedBeforeLines, toJsonCorrection } from './correction.ts'
import { lookalikeLine, lookalikesRefusal, toJsonLookalike } from './lookalikes.ts'
import { toJsonAgain } from './resubmission.ts'
import { amountText, capital, plural, toTable } from './text.ts'
import { toJsonTotals } from './totals.ts'

/** Of a surveyed file, what a person is told of how it is read. */
export interface HowRead {
  readonly warnings: readonly string[]
  /** Columns that were understood under another name than the gateway's. */
  readonly mapped: readonly { readonly written: string; readonly field: string }[]
  readonly columns: {
    readonly mapped: readonly { readonly written: string; readonly field: string }[]
    readonly carried: readonly string[]
  }
  /** Columns that speak of an amount beside the one that is read as the amount. */
  readonly rivals: readonly string[]
  /** Columns that the options say are no field. */
  readonly ignored: readonly string[]
}

export function howReadLines(read: HowRead): string[] {
  return [...noteLines(read), ...columnLines(read)]
}

/** What may decide about money, however little a person wants to read. */
export function noteLines({ warnings }: Pick<HowRead, 'warnings'>): string[] {
  return warnings.map((warning) => `Note: ${warning}`)
}

export function columnLines(read: HowRead): string[] {
  const { mapped, columns, rivals } = read
  const shown = columns.mapped.filter(
    ({ written, field }) => ALWAYS_SHOWN.includes(field) || mapped.some((column) => column.written === written),
  )
  const isRival = rivals.length > 0 && shown.some(({ field }) => field === 'amount')
  return [
    ...(shown.length > 0 ? [`Columns: ${shown.map(readAsText).join(', ')}`] : []),
    ...(isRival ? [rivalsText(rivals)] : []),
    ...unreadLines(read),
  ]
}

function rivalsText(rivals: readonly string[]): string {
  const column = rivals.length === 1 ? columnText(rivals[0] as string) : 'COLUMN'
  return `Not read as the amount, copied to the results: ${namesText(rivals)}. To use one of them: --map "${column}=amount"`
}

/** What moves and whose it is: a person must see where they come from, however the columns are called. */
const ALWAYS_SHOWN = ['amount', 'request_currency', 'request_ref_po_id', 'customer_vault_id']

function readAsText({ written, field }: { readonly written: string; readonly field: string }): string {
  const name = columnText(written)
  return name.toLowerCase() === field ? name : `${name} is read as ${field}`
}

/** A column that was not understood may be one that was meant to be. */
function unreadLines({ ignored, rivals, columns }: HowRead): string[] {
  const told = [...ignored, ...rivals]
  const carried = columns.carried.filter((name) => !told.includes(name))
  if (carried.length === 0) return []
  return [`Unknown columns, copied to the results: ${namesText(carried)}. To use one: --map "COLUMN=FIELD"`]
}

const COLUMNS_NAMED = 30

function namesText(columns: readonly string[]): string {
  const more = columns.length > COLUMNS_NAMED ? ` and ${columns.length - COLUMNS_NAMED} more` : ''
  return `${columns.slice(0, COLUMNS_NAMED).map(columnText).join(', ')}${more}`
}

/** A name as it may be shown on a terminal. */
function columnText(name: string): string {
  return maskCardData(name.trim())
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 60)
}

export function reviewLines(review: DraftReview): string[] {
  const asRead = asReadText(review)
  const parts = [
    `${plural(review.rows, 'row')}: ${review.accepted} to be sent`,
    `${review.duplicate} recorded already`,
    `${review.invalid} bad`,
    plural(review.lookalikes, 'look-alike'),
  ]
  return [
    ...totalLines(review),
    ...(asRead === null ? [] : [asRead]),
    parts.join(', '),
    ...review.aboveLimit.map(aboveLimitLine),
    ...recordedBeforeLines(review),
  ]
}

/** Rows that are not sent until a person has done something, whatever else is done with the file. */
export function heldLines({ heldByDoubt, declinedCards }: DraftReview): string[] {
  return [
    ...(heldByDoubt === 0
      ? []
      : [
          `${plural(heldByDoubt, 'row names', 'rows name')} an order with another row in doubt: ${heldByDoubt === 1 ? 'it waits' : 'they wait'} until that one is resolved (tranche in-doubt list).`,
        ]),
    ...(declinedCards === 0
      ? []
      : [
          `${plural(declinedCards, 'row charges', 'rows charge')} a card that was declined for fraud, or as often as the card networks allow: as things are, ${declinedCards === 1 ? 'it is' : 'they are'} cancelled and not sent. It takes another card or a vault update.`,
        ]),
  ]
}

/** Rows that may be too late for their order. They are sent all the same. */
export function lateLines({ late: { captures, refunds } }: DraftReview): string[] {
  return [
    ...(captures.rows === 0
      ? []
      : [
          `Note: ${plural(captures.rows, 'capture')} would leave after ${captures.rows === 1 ? 'its' : 'their'} authorization ended (${plural(captures.days ?? 0, 'day')})`,
        ]),
    ...(refunds.rows === 0
      ? []
      : [
          `Note: ${plural(refunds.rows, 'refund is of a sale', 'refunds are of sales')} older than ${plural(refunds.days ?? 0, 'day')}`,
        ]),
  ]
}

/** What a person holds against the list that the file was made from: sums, and the amounts that stand out. */
export function totalLines({ totals, extents }: Pick<DraftReview, 'totals' | 'extents'>): string[] {
  const rows = totals.map(({ operation, currency, count, amountMinor }) => {
    const extent = extents.find((one) => one.operation === operation && one.currency === currency)
    const at = (word: string, { line, amountMinor: minor }: Extent['smallest']) =>
      `${word} ${amountText(minor, currency)} (line ${line})`
    return [
      `  ${operation}`,
      plural(count, 'row'),
      amountText(amountMinor, currency),
      currency,
      extent === undefined ? '' : at('smallest', extent.smallest),
      extent === undefined ? '' : at('largest', extent.largest),
    ]
  })
  return toTable(rows, [1, 2])
}

/** The sums that control totals are held against; null: they are those of the rows to be sent. */
function asReadText({ rows, accepted, totalsRead, amountsUnread }: DraftReview): string | null {
  if (rows === accepted) return null
  const sums = new Map<Currency, { count: number; amountMinor: bigint }>()
  for (const { currency, count, amountMinor } of totalsRead) {
    if (currency === '') continue
    const sum = sums.get(currency) ?? { count: 0, amountMinor: 0n }
    sums.set(currency, { count: sum.count + count, amountMinor: sum.amountMinor + amountMinor })
  }
  const parts = [...sums]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(
      ([currency, { count, amountMinor }]) =>
        `${amountText(amountMinor, currency)} ${currency} in ${plural(count, 'row')}`,
    )
  const unread = amountsUnread === 0 ? [] : [`${plural(amountsUnread, 'amount')} that cannot be read`]
  return `The whole file as read: ${[plural(rows, 'row'), ...parts, ...unread].join(', ')}`
}

/** Every kind of trouble; then what stands in the way as a whole. `allAt` is where every single fault can be seen. */
export function refusalLines({ first, review, refusals }: Omit<Reviewed, 'draft'>, allAt: string): string[] {
  const more = review.faults - first.causes.reduce((sum, { rows }) => sum + rows, 0)
  const moreAlike = review.lookalikes - first.lookalikes.length
  return [
    ...first.causes.map(causeLine),
    ...(more > 0 ? [`… and ${plural(more, 'more error')}; ${allAt}`] : []),
    ...first.lookalikes.map(lookalikeLine),
    ...(moreAlike > 0 ? [`… and ${plural(moreAlike, 'more look-alike')}`] : []),
    ...refusals.map(refusalLine),
  ]
}

/** For a file at hand. */
export function allErrorsOf(path: string): string {
  const named = maskCardData(path)
  return `all of them, with the same options: tranche check ${named} --rejects ${named.replace(/\.csv$/i, '')}.rejects.csv`
}

/** A file that is no table of instructions, or no worklist. */
export function structuralFaultLine(fault: StructuralFault, path: string): string {
  const where = [fault.line === null ? null : `line ${fault.line}`, fault.column].filter((part) => part !== null)
  const at = where.length === 0 ? '' : ` (${where.join(', ')})`
  return `${maskCardData(path)} is refused${at}: ${fault.problem}. ${capital(fault.remedy)}.`
}

type StructuralFault = Pick<FileRefusal, 'line' | 'column' | 'problem' | 'remedy'>

export function faultLine({ line, ...fault }: RowFault): string {
  return causeLine({ ...fault, rows: 1, firstLine: line, lastLine: line, together: true, sameValue: true })
}

function causeLine(cause: FaultCause): string {
  const { rows, firstLine, lastLine, together, column, value, sameValue, problem, remedy } = cause
  const lines = together
    ? `lines ${firstLine}–${lastLine}`
    : `the first in line ${firstLine}, the last in line ${lastLine}`
  const rowsText = rows === 1 ? `line ${firstLine}` : `${plural(rows, 'row')} (${lines})`
  const valueText = value === null ? '' : sameValue ? ` "${value}"` : `, such as "${value}"`
  return `${rowsText}${column === null ? '' : `, ${column}`}${valueText}: ${problem}. ${capital(remedy)}.`
}

function refusalLine(refusal: Refusal): string {
  switch (refusal.kind) {
    case 'bad-rows':
      return `${plural(refusal.rows, 'row')} cannot be sent as written, so nothing of the file is. Correct the file, or the bad rows alone (--rejects FILE), or leave ${refusal.rows === 1 ? 'it' : 'them'} out with --skip-invalid.`
    case 'unidentified':
      return `${plural(refusal.rows, 'line')} of this results file cannot be told for a recorded row, and --skip-invalid does not leave such lines out: they might have been executed under another reference. Use an intact file (tranche results BATCH --out FILE), or take the lines out.`
    case 'correction':
      return correctionRefusal(refusal.correction, refusal.rows, refusal.newRows)
    case 'lookalikes':
      return lookalikesRefusal(refusal)
    case 'execute-at':
      return farDatesRefusal(refusal)
    case 'above-limit':
      return aboveLimitRefusal(refusal)
    default:
      return undeclaredLine(refusal)
  }
}

function farDatesRefusal({ found, line, executeAtMs }: FarDatesRefused): string {
  const them = found === 1 ? 'it is' : 'every one of them is'
  return `${plural(found, 'row has', 'rows have')} an execute_at more than a day ago, which would be sent at once, or more than 400 days ahead (the first in line ${line}: ${isoOf(executeAtMs)}). Correct the year or the day. Only if ${them} meant, add --allow-execute-at ${found}.`
}

export function undeclaredLine(refusal: Undeclared): string {
  switch (refusal.kind) {
    case 'count':
      return `The file has ${plural(refusal.found, 'row')}, ${refusal.expected} were expected (--expect-count): ${countText(refusal.found - refusal.expected)}. Check that it is the right file, and complete.`
    case 'total':
      return `The file adds up to ${refusal.found}, ${refusal.expected} was expected (--expect-total): ${refusal.difference}. Check that it is the right file, and complete.`
    case 'total-unknown':
      return `What the file adds up to is not known: ${plural(refusal.unread, 'row has an amount', 'rows have an amount')} that cannot be read. The others add up to ${refusal.found}, ${refusal.expected} was expected (--expect-total). Correct ${refusal.unread === 1 ? 'that row' : 'those rows'} first.`
    case 'currency':
      return `The file also asks for ${refusal.found}, in ${plural(refusal.rows, 'row')}, and no total was expected in that currency. If ${refusal.rows === 1 ? 'it is' : 'they are'} meant, add --expect-total ${refusal.found}.`
  }
}

function countText(difference: number): string {
  return difference < 0 ? `${-difference} too few` : `${difference} too many`
}

/** How the text of a file was understood. */
export interface TextRead {
  readonly encoding: string | null
  readonly delimiter: string | null
  readonly decimal: string | null
  readonly sheet: string | null
  readonly headerRow: number | undefined
  readonly warnings: readonly string[]
}

export function toJsonReading({ encoding, delimiter, decimal, sheet, headerRow = 1, warnings }: TextRead): object {
  return { encoding, delimiter, decimal, sheet, header_row: headerRow, warnings }
}

export function toJsonReview(review: DraftReview): object {
  return {
    rows: review.rows,
    accepted: review.accepted,
    duplicate: review.duplicate,
    invalid: review.invalid,
    totals: toJsonTotals(review.totals),
    again: toJsonAgain(review.again),
    correction: toJsonCorrection(review.correction),
    late_captures: review.late.captures.rows,
    old_refunds: review.late.refunds.rows,
    cancelled_before: review.cancelledBefore.map(({ batchId, rows }) => ({ batch: batchId, rows })),
  }
}

/** What a check adds to the counts: what a person would look at. */
export function toJsonDetails({ totalsRead, extents, amountsUnread }: DraftReview): object {
  const at = ({ line, amountMinor }: Extent['smallest'], currency: Currency) => ({
    line,
    amount: amountText(amountMinor, currency),
  })
  return {
    totals_read: toJsonTotals(totalsRead),
    amounts_unread: amountsUnread,
    extents: extents.map(({ operation, currency, smallest, largest }) => ({
      operation,
      currency,
      smallest: at(smallest, currency),
      largest: at(largest, currency),
    })),
  }
}

export function toJsonRefusals({ first, review, refusals }: Reviewed): object {
  return {
    lookalikes: review.lookalikes,
    above_limit: review.aboveLimit.reduce((sum, { rows }) => sum + rows, 0),
    lookalike_rows: first.lookalikes.map(toJsonLookalike),
    refusals: refusals.map(toJsonRefusal),
    faults: first.faults.map(toJsonFault),
    faults_total: review.faults,
  }
}

export function toJsonFault({ rowNo, ...fault }: RowFault): object {
  return { row: rowNo, ...fault }
}

export function toJsonCause({ firstLine, lastLine, sameValue, ...cause }: FaultCause): object {
  return { ...cause, first_line: firstLine, last_line: lastLine, same_value: sameValue }
}

function toJsonRefusal(refusal: Refusal): object {
  const message = refusalLine(refusal)
  if (refusal.kind === 'correction')
    return { kind: refusal.kind, known: refusal.correction.rows, new: refusal.newRows, message }
  if (refusal.kind === 'execute-at') {
    const { kind, found, allowed, line, executeAtMs } = refusal
    return { kind, found, allowed, line, execute_at: isoOf(executeAtMs), message }
  }
  if (refusal.kind !== 'lookalikes' && refusal.kind !== 'above-limit') return { ...refusal, message }
  return { kind: refusal.kind, found: refusal.found, allowed: refusal.allowed, message }
}
