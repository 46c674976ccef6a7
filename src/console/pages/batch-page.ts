// One batch: how it goes, why nothing moves, what became of its rows, and what was done to it.

import { basename } from 'node:path'
import { topReasonsOf } from '../../app/top-reasons.ts'
import type { LogEntry } from '../../domain/acts.ts'
import type { BatchView } from '../../domain/batch.ts'
import { countIn, type Standing, waitsForApproval } from '../../domain/batch-status.ts'
import { statusOf } from '../../domain/states.ts'
import { spell } from '../../domain/words.ts'
import { type Html, html } from '../../present/html.ts'
import { outcomeBar } from '../../present/outcome-bar.ts'
import { reasonLines } from '../../present/reasons.ts'
import { whyWords } from '../../present/standing.ts'
import { amountText, environmentText, plural } from '../../present/text.ts'
import type { ConsoleDoor, Pages } from '../door.ts'
import { showScreen } from '../frame.ts'
import { facts, idText, moment, NOTHING, note, stateText, table } from '../parts.ts'
import { batchPath } from '../paths.ts'
import { readingText } from '../reading-text.ts'
import { attentionFor } from '../status-line.ts'
import { visitorOf } from '../visit.ts'
import { linked, pageWays } from '../ways.ts'
import { type Deciding, decidingOn } from './approving.ts'
import { type BatchFigures, batchNow, outcomesIn, totalName } from './batch-live.ts'
import { downloadsOf } from './downloads.ts'
import { nameOf, noSuchBatch, type OfBatch } from './find-batch.ts'
import { steeringForms } from './steering.ts'

const EARLIER_SHOWN = 5
const UNDECIDED: Deciding = { shown: NOTHING, typesTotals: false }

/** Their sums would tell the total that is to be typed. */
const NO_DOWNLOADS = html`<h2>Results</h2><p>They can be downloaded once it is decided: they would tell the total before it is typed.</p>`

export function addBatchPages(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  pages.get<OfBatch>('/batches/:batch', { config: { page: 'batch' } }, async (request, reply) => {
    const now = await attentionFor(door)
    const seen = await batchNow(door, request.params.batch, now)
    if (seen === null) throw noSuchBatch()
    const { batch, standing, proposed, figures } = seen
    const deciding = await decisionOn(batch)
    const main = html`${doubtsOf(batch, proposed)}${standingOf(standing, figures)}${deciding.shown}${barOf(batch)}${totalsOf(batch, !deciding.typesTotals)}${await reasonsOf(batch)}${warningsOf(batch)}${steeringForms(request, door, batch, now)}${deciding.typesTotals && visitorOf(request).may('results') ? NO_DOWNLOADS : downloadsOf(batch, visitorOf(request))}${await historyOf(batch)}${factsOf(batch)}`
    const live = { watch: batch.batchId, shape: seen.shape }
    return showScreen(door, request, reply, { title: nameOf(batch), main, now, live })

    async function decisionOn(batch: BatchView): Promise<Deciding> {
      if (!waitsForApproval(batch)) return UNDECIDED
      const { batchId, accountId } = batch
      const sheet = await ledger.approvalSheet(batchId)
      if (sheet === null) return UNDECIDED
      return decidingOn(request, door, sheet, await ledger.batchesAfter(batchId, EARLIER_SHOWN, [accountId]))
    }
  })

  async function reasonsOf(batch: BatchView): Promise<Html> {
    const lines = reasonLines(batch, await topReasonsOf(app, ledger, batch))
    if (lines.length === 0) return NOTHING
    return html`<h2>Reasons</h2><ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`
  }

  async function historyOf({ batchId, createdAtMs }: BatchView): Promise<Html> {
    const found = await ledger.logAfter(createdAtMs, null, ACTS_SHOWN + 1, batchId)
    const more = found.length <= ACTS_SHOWN ? NOTHING : html`<p>Later acts are in the audit.</p>`
    return html`<h2>What was done to it</h2>${table('Acts', ACT_COLUMNS, found.slice(0, ACTS_SHOWN).map(actRow))}${more}`
  }
}

const ACT_COLUMNS = [
  { name: 'When' },
  { name: 'What', kind: 'word' },
  { name: 'Who' },
  { name: 'Why', kind: 'text' },
] as const

function actRow({ atMs, what, by, reason, reference, to, details }: LogEntry): readonly Html[] {
  const row = what.endsWith('-send-again') ? ` of row ${details?.row ?? ''}` : ''
  const file = what === 'export' ? ` of ${basename(String(details?.file ?? ''))}` : ''
  const of = reference === null ? row + file : ` ${reference} as ${to}`
  return [moment(atMs), html`${what.replaceAll('-', ' ')}${of}`, html`${by}`, html`${reason}`]
}

const ACTS_SHOWN = 50

/** What must be seen first. */
function doubtsOf(batch: BatchView, proposed: number): Html {
  const inDoubt = countIn(batch, 'IN_DOUBT')
  if (inDoubt === 0) return NOTHING
  const waits =
    proposed === 0
      ? NOTHING
      : html`. It is proposed to send ${plural(proposed, 'row')} once more: <a href="/doubts">another person confirms or refuses that</a>.`
  const [verb, them] = inDoubt === 1 ? ['row is', 'it'] : ['rows are', 'them']
  return note(
    'doubt',
    html`<strong>${inDoubt} ${verb} in doubt.</strong> The gateway may have executed ${them}. Nothing sends ${them} again by itself. <a href="/doubts">Look ${them} up</a>${waits}`,
  )
}

function standingOf({ state, why }: Standing, { outcomes }: BatchFigures): Html {
  const reason = whyWords(why)
  return html`<p>${stateText(state)} · <span data-live="outcomes">${outcomes}</span></p>${reason === null ? NOTHING : html`<p>Why: ${linked(reason)}${/[.?!]$/.test(spell(reason, pageWays)) ? '' : '.'}</p>`}`
}

function barOf(batch: BatchView): Html {
  const parts = outcomesIn(batch)
  return parts.length === 0 ? NOTHING : outcomeBar(parts, batch.rows)
}

function totalsOf(batch: BatchView, hasAmounts: boolean): Html {
  const columns = [
    { name: 'Status', kind: 'word' },
    { name: 'Operation' },
    { name: 'Rows', kind: 'number' },
    ...(hasAmounts ? ([{ name: 'Asked', kind: 'number' }] as const) : []),
    { name: 'Currency' },
  ] as const
  const rows = batch.totals.map((total) => {
    const { operation, currency, state, count, amountMinor } = total
    const name = totalName(total)
    const status = statusOf(state)
    const wanted = status === 'SENDING' ? 'PENDING' : status
    return [
      html`<a href="${batchPath(batch.batchId)}/rows?status=${wanted}">${stateText(status)}</a>`,
      html`${operation === '' ? 'not readable' : operation}`,
      html`<span data-live="count-${name}">${count}</span>`,
      ...(hasAmounts ? [html`<span data-live="amount-${name}">${amountText(amountMinor, currency)}</span>`] : []),
      html`${currency}`,
    ]
  })
  return html`${table(`What became of its ${plural(batch.rows, 'row')}`, columns, rows)}<p><a href="${batchPath(batch.batchId)}/rows">All rows</a></p>`
}

function warningsOf({ batchId, moneyWarnings, lateAnswers }: BatchView): Html {
  const warned = html`<a href="${batchPath(batchId)}/rows?warned=1">Look at the rows with a warning</a>`
  const lines = [
    ...(moneyWarnings === 0
      ? []
      : [
          html`${plural(moneyWarnings, 'approved row differs', 'approved rows differ')} from what was asked, in the amount or the currency for example. ${warned}.`,
        ]),
    ...(lateAnswers === 0
      ? []
      : [
          html`${plural(lateAnswers, 'answer')} came after another outcome had been recorded for the row: money may have moved although it says it did not. ${warned}, then resume the batch.`,
        ]),
  ]
  return lines.length === 0 ? NOTHING : note('warn', html`${lines.map((line) => html`<p>${line}</p>`)}`)
}

function factsOf(batch: BatchView): Html {
  const { batchId, source, fileName, fileSha256, runKey, merchant, environment, createdAtMs, createdBy, fingerprint } =
    batch
  const reading = fingerprint === '' ? '' : readingText(fingerprint)
  return html`<h2>Record</h2>${facts([
    ['Batch', idText(batchId)],
    ['From', html`${source === 'queue' ? 'messages' : fileName}`],
    ['SHA-256', fileSha256 === null ? null : idText(fileSha256)],
    ['Read with', reading === '' ? null : html`${reading}`],
    ['Run key', runKey === null ? null : html`${runKey}`],
    ['Merchant', html`${merchant}`],
    ['Environment', environment === null ? null : html`${environmentText(environment)}`],
    ['Recorded', html`${moment(createdAtMs)} by ${createdBy}`],
  ])}`
}
