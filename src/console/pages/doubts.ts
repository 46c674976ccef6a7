// The worklist of doubts, and one of them: what to look up at the gateway, and what was seen here.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AttentionNow } from '../../app/attention.ts'
import { restUntilMsOf, wordsOnSending } from '../../app/doubts.ts'
import { noteDownload } from '../../app/downloads.ts'
import { toWorklistCsv } from '../../app/worklist.ts'
import { cardText } from '../../domain/card.ts'
import { type DoubtRow, standingProposal } from '../../domain/doubt.ts'
import { attentionWords } from '../../present/attention.ts'
import { toDoubtRecord } from '../../present/doubts.ts'
import { type Html, html } from '../../present/html.ts'
import { amountText, plural } from '../../present/text.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { showScreen } from '../frame.ts'
import { facts, idText, moment, NOTHING, note, table } from '../parts.ts'
import { batchPath, doubtPath, instructionPath, merchantPath } from '../paths.ts'
import { attentionFor } from '../status-line.ts'
import { type Visitor, visitorOf } from '../visit.ts'
import { linked } from '../ways.ts'
import { movesTable, wordsTable } from './moves.ts'
import { questionOf } from './resolving.ts'
import { proposalNote, sendingAgainOf } from './sending-again.ts'
import { uploadForm } from './worklist-shown.ts'

const SHOWN_MOST = 500

interface OfRow {
  readonly Params: { readonly row: string }
}

export function addDoubtPages(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  pages.get('/doubts', { config: { page: 'doubts' } }, async (request, reply) => {
    const [doubts, now] = [await ledger.doubts(), await attentionFor(door)]
    const main = html`${besideOf(now, doubts.length, app.paths.ledger)}${listOf(door, doubts)}${fileOf(visitorOf(request), doubts.length)}${fromFile(door, request, doubts.length)}`
    return showScreen(door, request, reply, { title: 'Doubts', section: 'Doubts', main, now })
  })
  pages.get('/doubts.csv', { config: { page: 'doubtsCsv' } }, async (request, reply) =>
    sendWorklist(door, request, reply),
  )
  pages.get<OfRow>('/doubts/:row', { config: { page: 'doubt' } }, async (request, reply) => {
    const doubt = (await ledger.doubts()).find(({ rowId }) => String(rowId) === request.params.row)
    if (doubt === undefined)
      throw new PageError(
        404,
        'This row is not in doubt: somebody resolved it, an answer came after all, or there is no such row. There is nothing to look up. Its history is found by its reference.',
      )
    const { reference } = doubt.instruction
    const main = html`${proposalNote(door, doubt, '')}${await shownOf(door, doubt, visitorOf(request))}${questionOf(request, door, doubt)}${await sendingAgainOf(request, door, doubt)}`
    return showScreen(door, request, reply, { title: `In doubt: ${reference}`, section: 'Doubts', main })
  })
}

/** The same file as at the command line; that it was taken is kept. */
async function sendWorklist(
  { ledger, app }: ConsoleDoor,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const doubts = await ledger.doubts()
  const text = await toWorklistCsv(doubts.map(toDoubtRecord))
  const details = { kind: 'worklist', file: 'doubts.csv', rows: doubts.length }
  await noteDownload(app, ledger, { actor: visitorOf(request).actor, batchId: null, details })
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', 'attachment; filename="doubts.csv"')
    .send(text)
}

// ───────────────────────────────────────────────────────────── The list

const BESIDE: readonly string[] = ['left-open', 'late-answers', 'held']

/** What goes with doubts: merchants that are held for them, rows that will be some. */
function besideOf({ attention }: AttentionNow, doubts: number, ledgerPath: string): Html {
  const found = attention.filter(({ code }) => BESIDE.includes(code))
  const cards = found.map((one) => html`<li class="doubt">${linked(attentionWords(one, ledgerPath).says)}</li>`)
  const none = doubts === 0 ? html`<p>No row is in doubt.</p>` : NOTHING
  return html`${none}${cards.length === 0 ? NOTHING : html`<ul class="cards">${cards}</ul>`}`
}

const COLUMNS = [
  { name: 'Reference', kind: 'word' },
  { name: 'Merchant' },
  { name: 'Operation' },
  { name: 'Amount', kind: 'number' },
  { name: 'Look it up by', kind: 'word' },
  { name: 'Sent' },
  { name: 'May be recorded as not executed from' },
  { name: 'Holds up', kind: 'word' },
  { name: 'Reason', kind: 'text' },
] as const

function listOf(door: ConsoleDoor, doubts: readonly DoubtRow[]): Html {
  if (doubts.length === 0) return NOTHING
  const rows = doubts.slice(0, SHOWN_MOST).map((doubt) => rowOf(door, doubt))
  const more =
    doubts.length <= SHOWN_MOST ? NOTHING : html`<p>These are the oldest ${SHOWN_MOST} of ${doubts.length}.</p>`
  return html`<p>${plural(doubts.length, 'row')} may have been executed, and nothing sends ${doubts.length === 1 ? 'it' : 'them'} again by itself. Look ${doubts.length === 1 ? 'it' : 'each one'} up at the gateway, then say what you found.</p>${proposedOf(door, doubts)}${table('Rows in doubt, the oldest first', COLUMNS, rows)}${more}`
}

const PROPOSED = [
  { name: 'Reference', kind: 'word' },
  { name: 'Amount', kind: 'number' },
  { name: 'Proposed by' },
  { name: 'When' },
  { name: 'Lapses' },
  { name: 'Why', kind: 'text' },
] as const

/** What waits for an approver. */
function proposedOf({ app }: ConsoleDoor, doubts: readonly DoubtRow[]): Html {
  const rows = doubts.flatMap((doubt) => {
    const proposal = standingProposal(doubt, app.clock.nowMs())
    if (proposal === null) return []
    const { by, atMs, untilMs, reason } = proposal
    return [[linkTo(doubt), html`${amountOf(doubt)}`, html`${by}`, moment(atMs), moment(untilMs), html`${reason}`]]
  })
  if (rows.length === 0) return NOTHING
  const more = rows.length <= SHOWN_MOST ? NOTHING : html`<p>These are ${SHOWN_MOST} of ${rows.length}.</p>`
  const them = rows.length === 1 ? 'it' : 'each of them'
  return html`<p>It is proposed to send ${plural(rows.length, 'row')} once more. Another person confirms or refuses ${them}.</p>${table('Proposed to be sent once more', PROPOSED, rows.slice(0, SHOWN_MOST))}${more}`
}

function linkTo({ rowId, instruction: { reference } }: DoubtRow): Html {
  return html`<a class="id" href="${doubtPath(rowId)}">${reference}</a>`
}

function amountOf({ instruction: { money } }: DoubtRow): string {
  return money === null ? '' : `${amountText(money.amountMinor, money.currency)} ${money.currency}`
}

function rowOf({ app }: ConsoleDoor, doubt: DoubtRow): readonly Html[] {
  const { operation, orderId, vaultId, xtlOrderId } = doubt.instruction
  const restUntilMs = restUntilMsOf(doubt, app)
  const ids = [
    ['order', orderId],
    ['vault', vaultId],
    ['merchant order', xtlOrderId],
  ] as const
  return [
    linkTo(doubt),
    html`${doubt.merchant}`,
    html`${operation}`,
    html`${amountOf(doubt)}`,
    html`${ids.map(([name, id]) => (id === null ? NOTHING : html`<div>${name} ${idText(id)}</div>`))}`,
    moment(doubt.sentAtMs ?? doubt.claimedAtMs),
    restUntilMs <= app.clock.nowMs() ? html`now` : moment(restUntilMs),
    html`${doubt.holdsUp === 0 ? '' : plural(doubt.holdsUp, 'row')}`,
    html`${doubt.reason}`,
  ]
}

function fileOf(visitor: Visitor, doubts: number): Html {
  if (doubts === 0) return NOTHING
  if (!visitor.may('results'))
    return html`<p>The worklist as a file holds names, so it needs a permission of its own (results). An administrator gives it.</p>`
  return html`<p><a href="/doubts.csv">The worklist as a file</a>. Its last three columns are for what you find.</p>`
}

function fromFile(door: ConsoleDoor, request: FastifyRequest, doubts: number): Html {
  return doubts === 0 || !visitorOf(request).may('operate') ? NOTHING : uploadForm(request, door)
}

// ───────────────────────────────────────────────────────────── One of them

async function shownOf({ app, ledger }: ConsoleDoor, doubt: DoubtRow, visitor: Visitor): Promise<Html> {
  const { merchant, batchId, rowNo, attempt, sentAtMs, claimedAtMs, leftByMs, holdsUp, reason, instruction } = doubt
  const { reference, operation, money, orderId, vaultId, xtlOrderId, card } = instruction
  const amount = money === null ? null : html`${amountText(money.amountMinor, money.currency)} ${money.currency}`
  const moves = await ledger.history(reference)
  const own = moves.filter((move) => move.batchId === batchId && move.rowNo === rowNo)
  return html`<h2>What to look up</h2>${facts([
    ['Merchant', html`<a href="${merchantPath(merchant)}">${merchant}</a>`],
    ['Operation', html`${operation}`],
    ['Amount', amount],
    ['Order id', orderId === null ? null : idText(orderId)],
    ['Vault id', vaultId === null ? null : idText(vaultId)],
    ['Merchant order id', xtlOrderId === null ? null : idText(xtlOrderId)],
    ['Card', card === null ? null : html`${cardText(card)}`],
    ['Holder', card === null ? null : holderOf(doubt, visitor)],
    [
      'Sent',
      sentAtMs === null ? html`it was not seen whether it left; ${moment(leftByMs)} at the latest` : moment(sentAtMs),
    ],
    ['Reference', idText(reference)],
  ])}<h2>What was seen here</h2>${facts([
    ['Reason', html`${reason}`],
    ['Attempt', html`${attempt}`],
    ['Begun', moment(claimedAtMs)],
    ['Holds up', holdsUp === 0 ? null : html`${plural(holdsUp, 'row')} of the same order`],
    ['Batch', html`<a href="${batchPath(batchId)}">${batchId}</a>, row ${rowNo}`],
    ['All of it', html`<a href="${instructionPath(reference, doubt)}">the instruction, with what is beside it</a>`],
  ])}${movesTable(own)}${wordsTable(await wordsOnSending(ledger, doubt, own), doubt, app.clock.nowMs())}${attempt === 1 ? NOTHING : note('warn', html`It was sent ${attempt} times. What you find must be of attempt ${attempt}: compare the time.`)}`
}

function holderOf({ instruction: { details } }: DoubtRow, visitor: Visitor): Html | null {
  const name = [details.first_name, details.last_name].join(' ').trim()
  if (name === '') return null
  return visitor.may('results') ? html`${name}` : html`shown with the permission for results, as it is a name`
}
