// The page of a check: what would be sent, what is wrong, how the file was read, and its rows.

import type { CheckFound } from '../../app/check-found.ts'
import { foundIn, sumsIn } from '../../app/check-found.ts'
import type { Check } from '../../app/checks.ts'
import type { IngestProgress } from '../../domain/ingest.ts'
import { type Html, html } from '../../present/html.ts'
import { amountText, plural } from '../../present/text.ts'
import type { DetailsPage, FoundRow } from '../check-details.ts'
import { causeText, headText, refusalText, refusedText } from '../check-words.ts'
import { facts, moment, NOTHING, note, table } from '../parts.ts'
import { batchPath, checkPath } from '../paths.ts'

const NOTHING_YET = 'Nothing has been recorded and nothing has been sent.'

/** Until the file is read to its end. `progress`: null: none was reported yet. */
export function openText(check: Check, place: number | null, progress: IngestProgress | null): Html {
  const { state, file, startedAtMs } = check
  const before =
    place === null || place === 0 ? 'It is the next one.' : `${plural(place, 'file comes', 'files come')} before it.`
  const what = state === 'queued' ? html`Waiting to be read. ${before}` : html`${readingText(progress)}`
  const rows = progress === null ? NOTHING : firstRows(progress)
  return html`<p role="status">${what} ${file.bytes} bytes, since ${moment(startedAtMs)}. This page reloads by itself.</p><p>${NOTHING_YET}</p>${rows}`
}

function readingText(progress: IngestProgress | null): string {
  if (progress === null) return 'Reading the file.'
  const { rows, of } = progress
  return rows < of ? `Reading row ${rows} of ${of}.` : `All ${of} rows read. Comparing them with the record.`
}

/** Each row judged alone; whether it can be sent is known at the end. */
function firstRows({ first }: IngestProgress): Html {
  const columns = [
    { name: 'Line', kind: 'number' },
    { name: 'Reference', kind: 'text' },
    { name: 'Operation' },
    { name: 'Amount', kind: 'number' },
    { name: 'Currency' },
    { name: 'Order or customer' },
    { name: 'Row alone', kind: 'word' },
  ] as const
  const rows = first.map((row) => [
    ...[html`${row.line}`, html`${row.reference}`, html`${row.operation ?? '–'}`, html`${row.amount ?? '–'}`],
    ...[html`${row.currency ?? ''}`, html`${row.order_id ?? row.vault_id ?? ''}`, html`${row.bad ? 'bad' : 'good'}`],
  ])
  return html`<h2 id="rows">First rows</h2>${table('As read', columns, rows)}`
}

const MENDED = html`<p><a href="/new">Hand in the mended file</a></p>`

export function refusedNote(check: Check): Html {
  return html`<div class="note refused" role="alert" tabindex="-1" autofocus><p>${refusedText(check)}</p></div>${MENDED}`
}

export function foundShown(check: Check, isHandedIn: boolean): Html {
  const found = foundIn(check)
  if (found === null) return NOTHING
  const { totals } = sumsIn(found)
  return html`${firstCause(found)}<p class="head">${headText(found, totals)}</p>${isHandedIn ? NOTHING : html`<p>${NOTHING_YET}</p>`}${refusalsOf(found)}${totalsOf(found)}${countsOf(found)}`
}

/** Where nothing can be sent, what is wrong comes first. */
function firstCause({ accepted, causes }: CheckFound): Html {
  const [first] = causes
  if (accepted > 0 || first === undefined) return NOTHING
  return html`<div class="note refused" role="alert" tabindex="-1" autofocus><p>${causeText(first)}</p></div>`
}

function refusalsOf({ refusals }: CheckFound): Html {
  return html`${refusals.map((refusal) => note('warn', html`<p>${refusalText(refusal)}</p>`))}`
}

function totalsOf(found: CheckFound): Html {
  const { totals, extents } = sumsIn(found)
  if (totals.length === 0) return NOTHING
  const columns = [
    { name: 'Operation' },
    { name: 'Rows', kind: 'number' },
    { name: 'Amount', kind: 'number' },
    { name: 'Currency' },
    { name: 'Smallest', kind: 'number' },
    { name: 'Largest', kind: 'number' },
  ] as const
  const rows = totals.map(({ operation, currency, count, amountMinor }) => {
    const extent = extents.find((one) => one.operation === operation && one.currency === currency)
    const at = (one: { readonly line: number; readonly amountMinor: bigint } | undefined) =>
      one === undefined ? NOTHING : html`${amountText(one.amountMinor, currency)} (line ${one.line})`
    return [
      ...[html`${operation}`, html`${count}`, html`${amountText(amountMinor, currency)}`, html`${currency}`],
      ...[at(extent?.smallest), at(extent?.largest)],
    ]
  })
  return table('What can be sent', columns, rows)
}

const CHANGED_TEXT =
  'left out as they stand in this file. Correct what was sent by hand; where the recorded row is still pending, cancel or reject its batch first, and submit this one under a new reference.'

function countsOf({ given, again, held_by_doubt: held, cancelled_before: cancelled, ...found }: CheckFound): Html {
  const repeated = Object.entries(again.repeated).map(([status, count]) => `${count} ${status.replaceAll('_', ' ')}`)
  const text = (value: string | null) => (value === null ? null : html`${value}`)
  const shown = (value: unknown) => (value === undefined ? null : html`${String(value).replaceAll('=', ' ')}`)
  return facts([
    ['Expected rows', given.expectCount === undefined ? null : html`${String(given.expectCount)}, found ${found.rows}`],
    ['Expected totals', shown(given.expectTotal)],
    ['Run key', shown(given.runKey)],
    ['Stops after the first', shown(given.canary)],
    ['Pauses when more are declined', given.maxDeclined === undefined ? null : html`${String(given.maxDeclined)} %`],
    ['Recorded already, not sent again', text(repeated.length === 0 ? null : repeated.join(', '))],
    ['Of these with other content now', again.changed === 0 ? null : html`${again.changed}: ${CHANGED_TEXT}`],
    [
      'Cancelled in an earlier batch, new here',
      cancelled.length === 0
        ? null
        : html`${cancelled.map(({ batch, rows }) => html`${rows} of <a href="${batchPath(batch)}">${batch}</a> `)}`,
    ],
    ['Wait for a row in doubt of the same order', held === 0 ? null : html`${held}`],
    ['Amounts that cannot be read', found.amounts_unread === 0 ? null : html`${found.amounts_unread}`],
  ])
}

export function faultsOf({ id }: Check, { causes, invalid, faults_total: all }: CheckFound): Html {
  if (causes.length === 0) return NOTHING
  const columns = [
    { name: 'Lines' },
    { name: 'Rows', kind: 'number' },
    { name: 'Column', kind: 'text' },
    { name: 'Value', kind: 'text' },
    { name: 'What is wrong', kind: 'text' },
    { name: 'What to do', kind: 'text' },
  ] as const
  const rows = causes.map((cause) => [
    html`${cause.first_line === cause.last_line ? cause.first_line : `${cause.first_line}–${cause.last_line}`}`,
    html`${cause.rows}`,
    html`${cause.column ?? '–'}`,
    html`${cause.value === null ? '–' : cause.same_value ? cause.value : `${cause.value}, and others`}`,
    html`${cause.problem}`,
    html`${cause.remedy}`,
  ])
  const shown = causes.reduce((sum, cause) => sum + cause.rows, 0)
  const more =
    all > shown ? html`<p>${plural(all - shown, 'more fault')}: they are in the file of bad rows.</p>` : NOTHING
  return html`<h2 id="faults">Faults</h2>${table('One line for each cause', columns, rows)}${more}<p><a href="${checkPath(id)}/rejects.csv">Download the ${plural(invalid, 'bad row')}</a>, each with what is wrong with it.</p>${MENDED}`
}

export function rowsOf(id: string, { details_columns: names }: CheckFound, page: DetailsPage<FoundRow>): Html {
  const columns = [
    { name: 'Line', kind: 'number' },
    { name: 'Would be', kind: 'word' },
    { name: 'Reference', kind: 'text' },
    { name: 'Operation' },
    { name: 'Amount', kind: 'number' },
    { name: 'Currency' },
    { name: 'Order or customer' },
    ...names.map((name) => ({ name: `“${name}”`, kind: 'text' as const })),
  ] as const
  const rows = page.items.map((row) => [
    html`${row.line}`,
    html`${FATES[row.status] ?? row.status}`,
    html`${row.reference}`,
    html`${row.operation ?? '–'}`,
    html`${row.amount ?? '–'}`,
    html`${row.currency ?? ''}`,
    html`${row.order_id ?? row.vault_id ?? ''}`,
    ...names.map((_, i) => html`${row.cells[i] ?? ''}`),
  ])
  const first = page.isFirst ? NOTHING : html`<a href="${checkPath(id)}#rows">First rows</a>`
  const next = page.next === null ? NOTHING : html`<a href="${checkPath(id)}?rows=${page.next}#rows">Next 100 rows</a>`
  return html`<h2 id="rows">Rows</h2>${table('As they were understood, and in quotation marks as they stand in the file', columns, rows)}<p class="pages">${first}${next}</p>`
}

const FATES: Readonly<Record<string, string>> = {
  accepted: 'sent',
  duplicate: 'recorded already',
  invalid: 'bad',
  left_out: 'left out',
}
