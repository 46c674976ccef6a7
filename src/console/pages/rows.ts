// The rows of a batch, in the order of the file, a page at a time.

import { type RowsAsked, rowsPage } from '../../app/paging.ts'
import type { BatchView } from '../../domain/batch.ts'
import type { BatchId } from '../../domain/ids.ts'
import type { ReconciliationRow } from '../../domain/reconciliation.ts'
import { type ResultStatus, statusOf } from '../../domain/states.ts'
import { type Html, html } from '../../present/html.ts'
import { amountText } from '../../present/text.ts'
import type { ConsoleDoor, Pages } from '../door.ts'
import { showScreen } from '../frame.ts'
import { moment, NOTHING, stateText, table } from '../parts.ts'
import { batchPath, instructionPath } from '../paths.ts'
import { findBatch, nameOf, type OfBatch } from './find-batch.ts'

const SHOWN = 100
const STATUSES: readonly ResultStatus[] = [
  ...(['APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT'] as const),
  ...(['CANCELLED', 'INVALID', 'DUPLICATE', 'PENDING'] as const),
]

const CHOICES: readonly { readonly only: NonNullable<RowsAsked>; readonly query: string; readonly name: string }[] = [
  ...STATUSES.map((status) => ({ only: status, query: `status=${status}`, name: status.replace('_', ' ') })),
  { only: 'warned', query: 'warned=1', name: 'With a warning' },
]
type Choice = (typeof CHOICES)[number]

type Asked = OfBatch & {
  readonly Querystring: { readonly status?: string; readonly warned?: string; readonly after?: string }
}

export function addRowPages(pages: Pages, door: ConsoleDoor): void {
  const { ledger } = door
  pages.get<Asked>('/batches/:batch/rows', { config: { page: 'rows' } }, async (request, reply) => {
    const batch = await findBatch(door, request.params.batch)
    const { status, warned } = request.query
    const chosen = CHOICES.find(({ only }) => only === (warned === '1' ? 'warned' : status)) ?? null
    const after = /^\d{1,9}$/.test(request.query.after ?? '') ? Number(request.query.after) : 0
    const { data, next } = await rowsPage(ledger, batch.batchId, { after, limit: SHOWN, only: chosen?.only ?? null })
    const main = html`${choicesOf(batch, chosen)}${rowsOf(batch.batchId, data, chosen, next !== null)}${pagesOf(batch, chosen, after, next)}`
    return showScreen(door, request, reply, { title: `Rows of ${nameOf(batch)}`, main })
  })
}

function choicesOf({ batchId }: BatchView, chosen: Choice | null): Html {
  const path = `${batchPath(batchId)}/rows`
  const link = (name: string, href: string, isNow: boolean) =>
    isNow
      ? html`<li><a href="${href}" aria-current="page">${name}</a></li>`
      : html`<li><a href="${href}">${name}</a></li>`
  const choices = CHOICES.map((one) => link(one.name, `${path}?${one.query}`, one === chosen))
  return html`<p><a href="${batchPath(batchId)}">Back to the batch</a></p><nav aria-label="Which rows"><ul class="pages">${link('All', path, chosen === null)}${choices}</ul></nav>`
}

function rowsOf(batchId: BatchId, rows: readonly ReconciliationRow[], chosen: Choice | null, hasMore: boolean): Html {
  if (rows.length === 0 && hasMore)
    return html`<p>None of the rows that were looked at ${fitsText(chosen)}: go on to the next rows.</p>`
  if (rows.length === 0) return html`<p>${chosen === null ? 'It has no rows' : `No row ${fitsText(chosen)}`} here.</p>`
  const columns = [
    { name: 'Row', kind: 'number' },
    { name: 'Line', kind: 'number' },
    { name: 'Reference' },
    { name: 'Operation' },
    { name: 'Asked', kind: 'number' },
    { name: 'Currency' },
    { name: 'Status', kind: 'word' },
    { name: 'Reason', kind: 'text' },
    { name: 'Ended' },
  ] as const
  return table(
    'As in the file, and what became of them',
    columns,
    rows.map((row) => rowOf(batchId, row)),
  )
}

function fitsText(chosen: Choice | null): string {
  if (chosen === null) return 'fits'
  return chosen.only === 'warned' ? 'has a warning' : `is ${chosen.name}`
}

function rowOf(batchId: BatchId, row: ReconciliationRow): readonly Html[] {
  const { rowNo, line, reference, operation, amountMinor, currency, state, reason, warning, completedAtMs } = row
  return [
    html`${rowNo}`,
    html`${line}`,
    reference === null
      ? NOTHING
      : html`<a class="id" href="${instructionPath(reference, { batchId, rowNo })}">${reference}</a>`,
    html`${operation}`,
    html`${amountMinor === null ? '' : amountText(amountMinor, currency ?? '')}`,
    html`${currency}`,
    stateText(statusOf(state)),
    html`${reason}${warning === null ? NOTHING : html` <strong>${warning}</strong>`}`,
    moment(state === 'IN_DOUBT' ? null : completedAtMs),
  ]
}

function pagesOf({ batchId }: BatchView, chosen: Choice | null, after: number, next: number | null): Html {
  const path = `${batchPath(batchId)}/rows`
  const filter = chosen === null ? '' : `${chosen.query}&`
  const first = after === 0 ? NOTHING : html`<a href="${path}?${filter}">From the first</a>`
  const more =
    next === null
      ? html`<span>No more rows</span>`
      : html`<a rel="next" href="${path}?${filter}after=${next}">Next rows</a>`
  return html`<p class="pages">${first}${more}</p>`
}
