// How pages spell what a person can do next: a link where a page does it, else the command for the machine of the ledger.

import type { RowId } from '../domain/ids.ts'
import { type Setting, type SettingName, settingValue, type Text, type Way } from '../domain/words.ts'
import { commandLine } from '../present/command-line.ts'
import { type Html, html } from '../present/html.ts'

/** For a sentence that stands in text. */
export function pageWays(way: Way): string {
  return pageOf(way)?.name ?? fieldOf(way) ?? commandLine(way)
}

/** The same sentence with its links. */
export function linked(text: Text): Html {
  if (typeof text === 'string') return html`${text}`
  return html`${text.parts.map((part) => (typeof part === 'string' ? html`${part}` : linkOf(part)))}`
}

function linkOf(way: Way): Html {
  const page = pageOf(way)
  if (page !== null) return html`<a href="${page.href}">${page.name}</a>`
  const field = fieldOf(way)
  return field === null ? html`<code>${commandLine(way)}</code>` : html`${field}`
}

/** What a file is read with, as the fields of its form are called. */
const FIELDS: Partial<Readonly<Record<SettingName, string>>> = {
  currency: 'Currency',
  decimal: 'Decimal sign',
  'header-row': 'Line of the column names',
  map: 'Columns',
  merchant: 'Merchant',
  'not-a-card': 'Columns with numbers that are no card numbers',
  'only-new': 'Only rows that no earlier file holds',
  operation: 'Operation',
  'run-key': 'Run key',
  sheet: 'Sheet',
  sign: 'Amounts have a minus',
  timezone: 'Time zone',
}

/** null: no form has it. */
function fieldOf(way: Way): string | null {
  const name = 'act' in way ? undefined : FIELDS[way.set]
  if (name === undefined) return null
  const value = settingValue(way as Setting)
  return value === null ? `“${name}”` : `“${name}: ${value.replace('=', ' → ')}”`
}

/** null: no page does it. */
function pageOf(way: Way): { readonly href: string; readonly name: string } | null {
  if (!('act' in way)) return null
  switch (way.act) {
    case 'approve-batch':
    case 'show-batch':
      return { href: batchPath(way.batchId), name: `the page of batch ${way.batchId}` }
    case 'resume-batch':
      return { href: batchPath(way.batchId), name: `resume batch ${way.batchId}` }
    case 'cancel-batch':
      return { href: batchPath(way.batchId), name: `cancel batch ${way.batchId}` }
    case 'list-doubts':
      return { href: '/doubts', name: 'Doubts' }
    case 'resume-merchant':
      return { href: merchantPath(way.merchant), name: `resume merchant ${way.merchant}` }
    case 'show-history':
      return { href: `/find?q=${encodeURIComponent(way.reference)}`, name: `the history of ${way.reference}` }
    case 'write-results':
      return way.batchId === null ? null : { href: batchPath(way.batchId), name: `results of batch ${way.batchId}` }
    default:
      return null
  }
}

/** Where somebody was on their way to: a path of ours, whatever was written there. */
export function pathIn(text: string | undefined): string {
  return text !== undefined && /^\/(?![/\\])[\w/%.~?=&-]{0,300}$/.test(text) ? text : '/'
}

export function batchPath(batchId: string): string {
  return `/batches/${encodeURIComponent(batchId)}`
}

/** Of one row: two merchants, or two files, may have one reference. null: of whichever has it. */
export function instructionPath(
  reference: string,
  row: { readonly batchId: string; readonly rowNo: number } | null,
): string {
  const path = `/instructions/${encodeURIComponent(reference)}`
  return row === null ? path : `${path}?batch=${encodeURIComponent(row.batchId)}&row=${row.rowNo}`
}

export function doubtPath(rowId: RowId): string {
  return `/doubts/${rowId}`
}

/** Of a worklist that was filled in. */
export function worklistPath(file: string): string {
  return `/doubts/worklists/${encodeURIComponent(file)}`
}

export function checkPath(check: string): string {
  return `/checks/${encodeURIComponent(check)}`
}

export function merchantPath(merchant: string): string {
  return `/merchants/${encodeURIComponent(merchant)}`
}
