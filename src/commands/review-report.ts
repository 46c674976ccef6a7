// What a file holds and why it is refused, in words and as an object.

import type { OpenedFile } from '../app.ts'
import { maskPans } from '../domain/pan.ts'
import type { DraftReview, RowFault } from '../domain/ports.ts'
import type { Refusal, Reviewed } from '../domain/submission.ts'
import { amountText, plural, type Terminal, toJsonTotals, toTable } from './terminal.ts'

/** Look-alikes named one by one; the rest is counted. */
const LOOKALIKES_SHOWN = 20

export function sayHow(opened: OpenedFile & { kind: 'file' }, terminal: Terminal): void {
  for (const warning of opened.warnings) terminal.say(`Note: ${warning}`)
  if (opened.mapped.length > 0) {
    terminal.say(
      `Columns: ${opened.mapped.map(({ written, field }) => `${columnText(written)} is read as ${field}`).join(', ')}`,
    )
  }
}

/** A column that was not understood may be one that was meant to be. */
export function sayCarried(opened: OpenedFile & { kind: 'file' }, terminal: Terminal): void {
  const { carried } = opened.columns
  if (carried.length === 0) return
  const names = carried.slice(0, COLUMNS_NAMED).map(columnText).join(', ')
  const more = carried.length > COLUMNS_NAMED ? ` and ${carried.length - COLUMNS_NAMED} more` : ''
  terminal.say(`Not understood, carried through: ${names}${more}. If one of them is meant, say --map "COLUMN=FIELD".`)
}

const COLUMNS_NAMED = 30

/** A name as it may be shown on a terminal. */
function columnText(name: string): string {
  return maskPans(name.trim())
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 60)
}

export function showReview(review: DraftReview, terminal: Terminal): void {
  const rows = review.totals.map(({ operation, currency, count, amountMinor }) => [
    `  ${operation}`,
    plural(count, 'row'),
    amountText(amountMinor, currency),
    currency,
  ])
  for (const line of toTable(rows, [1, 2])) terminal.data(line)
  const parts = [
    `${plural(review.rows, 'row')}: ${review.accepted} to be sent`,
    `${review.duplicate} recorded already`,
    `${review.invalid} bad`,
    plural(review.lookalikes, 'look-alike'),
  ]
  terminal.data(parts.join(', '))
  if (review.heldByDoubt > 0)
    terminal.say(
      `${plural(review.heldByDoubt, 'row names', 'rows name')} an order of which another row is in doubt: ${review.heldByDoubt === 1 ? 'it waits' : 'they wait'} until that one is resolved (tranche in-doubt list).`,
    )
}

/** Every bad row; then what stands in the way as a whole. To stdout for a check, to stderr for a refusal. */
export function showRefusals(reviewed: Reviewed, terminal: Terminal, write: (line: string) => void): void {
  for (const fault of reviewed.draft.faults()) write(faultLine(fault))
  showLookalikes(reviewed, terminal, write)
  for (const refusal of reviewed.refusals) write(refusalLine(refusal))
}

function showLookalikes(reviewed: Reviewed, terminal: Terminal, write: (line: string) => void): void {
  if (terminal.json || reviewed.review.lookalikes === 0) return
  let shown = 0
  for (const { line, reference, like } of reviewed.draft.lookalikes()) {
    if (shown++ === LOOKALIKES_SHOWN) break
    const where =
      like.batchId === null
        ? `row ${like.rowNo} of this file`
        : `row ${like.rowNo} of batch ${like.batchId}, ${like.state}`
    write(`line ${line}: ${reference} has the same operation, amount and target as ${like.reference} (${where})`)
  }
  const more = reviewed.review.lookalikes - shown
  if (more > 0) write(`… and ${plural(more, 'more look-alike')}`)
}

export function faultLine({ line, column, value, problem, remedy }: RowFault): string {
  const where = column === null ? `line ${line}` : `line ${line}, ${column}`
  return `${where}${value === null ? '' : ` "${value}"`}: ${problem}. ${capital(remedy)}.`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function refusalLine(refusal: Refusal): string {
  switch (refusal.kind) {
    case 'bad-rows':
      return `${plural(refusal.rows, 'row')} cannot be sent as written. Correct the file, or leave them out with --skip-invalid.`
    case 'lookalikes':
      return `${plural(refusal.found, 'row looks', 'rows look')} like one that is in this file or recorded already. If they are meant, add --allow-lookalikes ${refusal.found}.`
    case 'count':
      return `The file has ${plural(refusal.found, 'row')}, ${refusal.expected} were expected (--expect-count).`
    case 'total':
      return `The file adds up to ${refusal.found}, ${refusal.expected} was expected (--expect-total).`
  }
}

export function toJsonReview(review: DraftReview): object {
  return {
    rows: review.rows,
    accepted: review.accepted,
    duplicate: review.duplicate,
    invalid: review.invalid,
    totals: toJsonTotals(review.totals),
  }
}

export function toJsonRefusals(reviewed: Reviewed): object {
  return {
    lookalikes: reviewed.review.lookalikes,
    refusals: reviewed.refusals.map((refusal) => ({ ...refusal, message: refusalLine(refusal) })),
    faults: Array.from(reviewed.draft.faults(), ({ rowNo, ...fault }) => ({ row: rowNo, ...fault })),
  }
}
