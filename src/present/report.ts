// The report on a batch: one page, whole in itself, for people who were not at the terminal. Its figures are those of the
// results that are written with it.

import type { BatchView } from '../domain/batch.ts'
import { countIn, isoOf, isPaused } from '../domain/batch-status.ts'
import { maskCardData } from '../domain/card-secrets.ts'
import { type Instruction, isVaultOperation } from '../domain/instruction.ts'
import { REPORT_MARK, type ReportFacts, type ReportRow, type ReportRows } from '../domain/report.ts'
import type { ResultStatus } from '../domain/states.ts'
import type { TopReason } from '../domain/top-reasons.ts'
import { shortUsername } from '../domain/username.ts'
import type { WrittenResults } from '../domain/written-results.ts'
import { type Html, html } from './html.ts'
import { classOf, outcomeBar, wordOf } from './outcome-bar.ts'
import { REPORT_STYLE } from './report-style.ts'
import { amountText, plural } from './text.ts'
import { tieOutLines } from './tie-out.ts'

export interface ReportPage extends ReportFacts {
  readonly tops: readonly TopReason[]
  /** At the gateway; null: it is not known any more. */
  readonly account: { readonly url: string; readonly username: string } | null
  /** By row, what a person looks a doubt up by. */
  readonly lookUp: ReadonlyMap<number, Pick<Instruction, 'orderId' | 'vaultId' | 'xtlOrderId'>>
  /** Who had this report written. */
  readonly by: string
}

/** In the order of the bar, with what each means for the money. */
const STATUSES = {
  APPROVED: 'The gateway approved it.',
  DECLINED: 'The gateway declined it. No money moved.',
  FAILED: 'Certainly not executed: refused as wrong, or a person found that it was not.',
  IN_DOUBT: 'Sent, without an answer that can be relied on. It may have been executed.',
  CANCELLED: 'Cancelled here before it was sent.',
  INVALID: 'Left out: it could not be sent as it was written.',
  DUPLICATE: 'Recorded before, and not sent again.',
  PENDING: 'No outcome yet.',
} as const satisfies Record<ResultStatus, string>

const statuses = Object.keys(STATUSES) as ResultStatus[]

export function reportPage(facts: ReportPage): string {
  const { batch, written } = facts
  const name = nameOf(facts)
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="${REPORT_MARK}" content="${batch.sandbox ? 'SANDBOX-' : ''}${batch.batchId}">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${batch.sandbox ? 'SANDBOX: ' : batch.environment === 'test' ? 'TEST: ' : ''}${name}: what became of it</title>
${REPORT_STYLE}
</head>
<body>
<main>
<header>
<h1>${name}</h1>
<p class="quiet">What became of batch <span class="mono">${batch.batchId}</span>, as it was recorded at ${timeText(written.atMs)}</p>
</header>
${bannersOf(facts)}
<h2>Outcome</h2>
${outcomeOf(written)}
<h2>Asked for, and what became of it</h2>
<ul>${tieOutLines(written).map((line) => html`<li>${line}</li>`)}</ul>
${totalsOf(written)}
${reasonsOf(facts)}
${doubtsOf(facts)}
${warnedOf(facts)}
<h2>Record</h2>
${recordOf(facts)}
<footer>Written by Tranche together with the results, from the same reading of the record. This page loads nothing and runs nothing. Card numbers are masked.</footer>
</main>
</body>
</html>
`
  return page.toString()
}

function nameOf({ batch }: ReportFacts): string {
  return batch.fileName === null ? `Batch ${batch.batchId}` : maskCardData(batch.fileName)
}

function timeText(atMs: number): string {
  return `${isoOf(atMs).slice(0, 19).replace('T', ' ')} UTC`
}

const none = html``

// ───────────────────────────────────────────────────────────── What must be seen first

function bannersOf({ batch, doubts }: ReportFacts): Html {
  const open = countIn(batch, 'READY') + countIn(batch, 'SENDING')
  return html`${batch.sandbox ? SANDBOX : batch.environment === 'test' ? TEST : none}${open > 0 ? unfinishedBanner(batch, open) : none}${doubts.count > 0 ? doubtBanner(doubts.count) : none}`
}

const SANDBOX = html`<p class="banner sandbox"><strong>SANDBOX</strong>A rehearsal on a private gateway. No money moved, and nothing in here is a record of any.</p>`

const TEST = html`<p class="banner sandbox"><strong>TEST</strong>The account is configured as a test account.</p>`

function unfinishedBanner(batch: BatchView, open: number): Html {
  const hold = isPaused(batch)
    ? html`The batch is paused: ${maskCardData(batch.holdReason ?? 'no reason was given')}. `
    : none
  const next = batch.sandbox
    ? none
    : html` When the rest is done: <code>tranche results ${batch.batchId} --out FILE --report FILE.html</code>`
  return html`<p class="banner"><strong>Not finished: ${plural(open, 'row has', 'rows have')} no outcome yet</strong>${hold}What is below is true of the moment it was written.${next}</p>`
}

function doubtBanner(count: number): Html {
  const them = count === 1 ? 'it' : 'them'
  return html`<p class="banner doubt"><strong>${plural(count, 'row is', 'rows are')} in doubt</strong>The gateway may have executed ${them}. Nothing sends ${them} again; a person must look ${them} up. <a href="#doubts">What to do</a></p>`
}

// ───────────────────────────────────────────────────────────── Figures

function outcomeOf(written: WrittenResults): Html {
  const parts = statuses.map((status) => ({ status, count: countOf(written, status) })).filter(({ count }) => count > 0)
  if (parts.length === 0) return html`<p>The file has no row.</p>`
  const table = tableOf(
    [
      ['Outcome', 'word'],
      ['Rows', 'number'],
      ['Share', 'number'],
      ['What it means', 'text'],
    ],
    parts.map(({ status, count }) => [keyed(status), String(count), shareText(count, written.rows), STATUSES[status]]),
    ['All', String(written.rows), '', ''],
  )
  return html`<figure><figcaption>${plural(written.rows, 'row')} by outcome</figcaption>${outcomeBar(parts, written.rows)}</figure>
${table}`
}

function countOf({ summary }: WrittenResults, status: ResultStatus): number {
  return summary.reduce((sum, line) => sum + (line.status === status ? line.count : 0), 0)
}

/** Never 100 % nor 0 % of what is not all or none. */
function shareText(count: number, rows: number): string {
  if (count === rows) return '100 %'
  const percent = (count / rows) * 100
  return percent < 0.1 ? '< 0.1 %' : percent > 99.9 ? '> 99.9 %' : `${percent.toFixed(1)} %`
}

function totalsOf(written: WrittenResults): Html {
  return tableOf(
    [
      ['Operation', 'word'],
      ['Currency', 'word'],
      ['Outcome', 'word'],
      ['Rows', 'number'],
      ['Asked', 'number'],
      ['Answered by the gateway', 'number'],
    ],
    written.summary.map((line) => [
      line.operation === '' ? '(unread)' : line.operation,
      line.currency,
      keyed(line.status),
      String(line.count),
      line.requestedAmount,
      `${line.answeredAmount} ${line.answeredCurrency}`.trim(),
    ]),
    ['All', '', '', String(written.rows), '', ''],
  )
}

function keyed(status: ResultStatus): Html {
  return html`<span class="key ${classOf(status)}"></span>${wordOf(status)}`
}

type Column = readonly [name: string, kind: 'word' | 'number' | 'text' | 'id']

/** On a narrow screen each cell has the name of its column beside it. */
function tableOf(
  columns: readonly Column[],
  rows: readonly (readonly (Html | string)[])[],
  total: readonly string[] | null = null,
): Html {
  const head = columns.map(([name, kind]) => html`<th scope="col" class="${kind}">${name}</th>`)
  const toRow = (row: readonly (Html | string)[]) =>
    html`<tr>${row.map((cell, i) => {
      const [name, kind] = columns[i] as Column
      return html`<td class="${kind}${cell === '' ? ' empty' : ''}" data-name="${name}"><span>${cell}</span></td>`
    })}</tr>`
  const foot = total === null ? none : html`<tfoot>${toRow(total)}</tfoot>`
  return html`<div class="table"><table><thead><tr>${head}</tr></thead><tbody>${rows.map(toRow)}</tbody>${foot}</table></div>`
}

// ───────────────────────────────────────────────────────────── Why

const REASONS_MOST = 15

function reasonsOf({ written, tops }: ReportPage): Html {
  const refused = tops.filter(({ status }) => status !== 'IN_DOUBT')
  if (written.reasons.length === 0 && refused.length === 0) return none
  const kinds = tableOf(
    [
      ['Outcome', 'word'],
      ['Kind of reason', 'word'],
      ['Rows', 'number'],
    ],
    written.reasons.map(({ status, category, count }) => [keyed(status), category, String(count)]),
  )
  const shown = refused.slice(0, REASONS_MOST)
  const texts = tableOf(
    [
      ['Reason', 'text'],
      ['Kind', 'word'],
      ['Outcome', 'word'],
      ['Rows', 'number'],
    ],
    shown.map(({ status, reason, category, count }) => [
      maskCardData(reason),
      category ?? '',
      keyed(status),
      String(count),
    ]),
  )
  const rarer = refused.length - shown.length
  const more =
    rarer > 0 ? html`<p class="quiet">… and ${rarer} rarer ones. The results have the reason of every row.</p>` : none
  return html`<h2>Why rows were declined or failed</h2>
${kinds}
${shown.length === 0 ? none : html`<h3>The commonest reasons</h3>${texts}${more}`}`
}

// ───────────────────────────────────────────────────────────── Rows that a person must look at

const ROW_COLUMNS: readonly Column[] = [
  ['Row', 'word'],
  ['Reference', 'id'],
  ['Operation', 'word'],
  ['Asked', 'number'],
]

function rowCells({ rowNo, reference, operation, amountMinor, currency }: ReportRow): string[] {
  const asked = amountMinor === null || currency === null ? '' : `${amountText(amountMinor, currency)} ${currency}`
  return [String(rowNo), reference ?? '', operation ?? '', asked]
}

const NO_IDS = { orderId: null, vaultId: null, xtlOrderId: null }

function doubtsOf({ batch, doubts, lookUp }: ReportPage): Html {
  if (doubts.count === 0) return none
  const next = batch.sandbox
    ? html`<p>In earnest a person would now look ${doubts.count === 1 ? 'it' : 'them'} up at the gateway.</p>`
    : html`<p>Look each one up at the gateway, write down what you found, then have the results written again:</p>
<pre><code>tranche in-doubt list --out doubts.csv
tranche in-doubt resolve --file doubts.csv --reason TEXT
tranche results ${batch.batchId} --out FILE --report FILE.html</code></pre>`
  const table = tableOf(
    [
      ...ROW_COLUMNS,
      ...([['Order id', 'id'] as const, ['Vault id', 'id'], ['Merchant order id', 'id']] satisfies Column[]),
      ...([['Sent', 'word'] as const, ['What happened', 'text']] satisfies Column[]),
    ],
    doubts.rows.map((row) => {
      const { orderId, vaultId, xtlOrderId } = lookUp.get(row.rowNo) ?? NO_IDS
      const sent = row.sentAtMs === null ? '' : timeText(row.sentAtMs)
      return [...rowCells(row), orderId ?? '', vaultId ?? '', xtlOrderId ?? '', sent, row.text]
    }),
  )
  return html`<h2 id="doubts">In doubt</h2>
${next}
${table}${moreText(doubts)}`
}

function warnedOf({ warned }: ReportFacts): Html {
  if (warned.count === 0) return none
  const table = tableOf(
    [...ROW_COLUMNS, ['Answered', 'number'], ['Warning', 'text']],
    warned.rows.map((row) => [...rowCells(row), row.answered, row.text]),
  )
  return html`<h2>Approved, with a warning</h2>
${table}${moreText(warned)}`
}

function moreText({ rows, count }: ReportRows): Html {
  const left = count - rows.length
  return left > 0 ? html`<p class="quiet">… and ${left} more. The results have all of them.</p>` : none
}

// ───────────────────────────────────────────────────────────── Record

function recordOf({ batch, written, account, by }: ReportPage): Html {
  const isVault = written.summary.some(({ operation }) => operation !== '' && isVaultOperation(operation))
  const entries: readonly (readonly [string, string | null, 'mono'?])[] = [
    ['Batch', batch.batchId, 'mono'],
    [batch.source === 'file' ? 'File' : 'From', batch.fileName === null ? batch.source : maskCardData(batch.fileName)],
    ['SHA-256 of the file', batch.fileSha256, 'mono'],
    ['Run key', batch.runKey],
    ['Gateway account', batch.sandbox ? 'a private sandbox' : `merchant ${batch.merchant}`],
    ['Environment', batch.environment],
    ['Gateway', batch.sandbox || account === null ? null : `${shortUsername(account.username)} at ${account.url}`],
    ['Kind', isVault ? 'cards of the customer vault' : null],
    ['Recorded', `${timeText(batch.createdAtMs)} by ${batch.createdBy}`],
    ['Read', timeText(written.atMs)],
    ['Report written by', by],
    ['Results', fileNameOf(written.path)],
    ['Exceptions', written.exceptions === null ? null : fileNameOf(written.exceptions.path)],
    ['Cells purged', batch.purgedAtMs === null ? null : timeText(batch.purgedAtMs)],
  ]
  const shown = entries.flatMap(([name, value, mono]) =>
    value === null ? [] : [html`<dt>${name}</dt><dd${mono === undefined ? none : html` class="mono"`}>${value}</dd>`],
  )
  return html`<dl>${shown}</dl>`
}

/** Where it is, only its owner knows: a page is sent on. */
function fileNameOf(path: string): string {
  return maskCardData(path.slice(path.lastIndexOf('/') + 1))
}
