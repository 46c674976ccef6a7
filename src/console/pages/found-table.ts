// Rows that were found, of whatever merchant and batch: a line each, with the way to its page.

import type { FoundInstruction } from '../../domain/found.ts'
import { statusOf } from '../../domain/states.ts'
import { FOUND_BY } from '../../present/found.ts'
import { type Html, html } from '../../present/html.ts'
import { amountText } from '../../present/text.ts'
import { moment, stateText, table } from '../parts.ts'
import { batchPath, instructionPath } from '../paths.ts'

const COLUMNS = [
  { name: 'Reference' },
  { name: 'Found by' },
  { name: 'Merchant' },
  { name: 'Operation' },
  { name: 'Asked', kind: 'number' },
  { name: 'Currency' },
  { name: 'Status', kind: 'word' },
  { name: 'Batch' },
  { name: 'Row', kind: 'number' },
  { name: 'Ended' },
] as const

export function foundTable(caption: string, found: readonly FoundInstruction[]): Html {
  return table(caption, COLUMNS, found.map(rowOf))
}

function rowOf(one: FoundInstruction): readonly Html[] {
  return [
    html`<a class="id" href="${instructionPath(one.reference, one)}">${one.reference}</a>`,
    html`${FOUND_BY[one.by]}`,
    html`${one.merchant}`,
    html`${one.operation ?? 'not readable'}`,
    html`${one.amountMinor === null ? '' : amountText(one.amountMinor, one.currency ?? '')}`,
    html`${one.currency}`,
    stateText(statusOf(one.state)),
    html`<a href="${batchPath(one.batchId)}">${one.batchId}</a>`,
    html`${one.rowNo}`,
    moment(one.state === 'IN_DOUBT' ? null : one.completedAtMs),
  ]
}
