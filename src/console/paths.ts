// Where pages are: the one place that puts an id into a path, and the one that reads where somebody was on their way to.

import type { RowId } from '../domain/ids.ts'

/** Where somebody was on their way to: a path of ours, whatever was written there. */
export function pathIn(text: string | undefined): string {
  return text !== undefined && /^\/(?![/\\])[\w/%.~?=&-]{0,300}$/.test(text) ? text : '/'
}

export function batchPath(batchId: string): string {
  return `/batches/${encodeURIComponent(batchId)}`
}

/** A reference may be any text, also "..", which no path can hold. Of one row: two merchants, or two files, may have one reference. null: of whichever has it. */
export function instructionPath(
  reference: string,
  row: { readonly batchId: string; readonly rowNo: number } | null,
): string {
  const path = `/instructions?reference=${encodeURIComponent(reference)}`
  return row === null ? path : `${path}&batch=${encodeURIComponent(row.batchId)}&row=${row.rowNo}`
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

/** Where the password is shown again, and where the person goes on then. */
export function stepUpPath(to: string): string {
  return `/step-up?to=${encodeURIComponent(to)}`
}
