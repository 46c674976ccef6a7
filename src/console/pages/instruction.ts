// One instruction: what was asked, what was answered, what became of it, and every move.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AttentionNow } from '../../app/attention.ts'
import { wordsOnSending } from '../../app/doubts.ts'
import { noteDownload } from '../../app/downloads.ts'
import { standingNow } from '../../app/standing.ts'
import type { BatchView } from '../../domain/batch.ts'
import type { DoubtRow } from '../../domain/doubt.ts'
import type { FoundInstruction } from '../../domain/found.ts'
import { toIdentifier } from '../../domain/identifier.ts'
import { plainId } from '../../domain/instruction.ts'
import { sameAmount } from '../../domain/money.ts'
import type { HistoryMove } from '../../domain/reconciliation.ts'
import { statusOf } from '../../domain/states.ts'
import { fateText } from '../../present/fate.ts'
import { type Html, html } from '../../present/html.ts'
import { whyWords } from '../../present/standing.ts'
import { amountText } from '../../present/text.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { showScreen } from '../frame.ts'
import { facts, idText, moment, NOTHING, note, stateText, table } from '../parts.ts'
import { batchPath, doubtPath, instructionPath, merchantPath } from '../paths.ts'
import { attentionFor } from '../status-line.ts'
import { visitorOf } from '../visit.ts'
import { linked } from '../ways.ts'
import { nameOf } from './find-batch.ts'
import { foundTable } from './found-table.ts'
import { movesTable, wordsTable } from './moves.ts'
import { proposalNote } from './sending-again.ts'

interface Asking {
  readonly Querystring: {
    readonly [Name in 'reference' | 'merchant' | 'batch' | 'row' | 'cells']?: string | readonly string[]
  }
}

export function addInstructionPages(pages: Pages, door: ConsoleDoor): void {
  pages.get<Asking>('/instructions', { config: { page: 'instruction' } }, async (request, reply) => {
    const { reference, merchant, batch, row, cells } = request.query
    const found = typeof reference === 'string' ? await door.ledger.find(toIdentifier(reference)) : []
    const known = found.filter(({ by }) => by === 'reference')
    const meant = known.filter(
      (one) =>
        (merchant === undefined || one.merchant === merchant) &&
        (batch === undefined || one.batchId === batch) &&
        (row === undefined || String(one.rowNo) === row),
    )
    const [first] = meant
    if (first === undefined) throw new PageError(404, 'There is no such instruction in this ledger.')
    if (meant.some((one) => one.merchant !== first.merchant)) return showChoice(door, request, reply, meant)
    const chosen = chosenOf(meant) ?? first
    return showInstruction(door, request, reply, chosen, { known, readsCells: cells === '1' })
  })
}

/** In doubt before settled, and the latest before what it took the place of: as the ledger takes a reference. */
function chosenOf(meant: readonly FoundInstruction[]): FoundInstruction | undefined {
  return (
    meant.find(({ state }) => state === 'IN_DOUBT') ??
    meant.findLast(({ state }) => state !== 'DUPLICATE' && state !== 'INVALID')
  )
}

function showChoice(
  door: ConsoleDoor,
  request: FastifyRequest,
  reply: FastifyReply,
  meant: readonly FoundInstruction[],
): Promise<FastifyReply> {
  const main = html`<p>Several merchants have an instruction of this reference. Which is meant?</p>${foundTable('Rows of this reference', meant)}`
  return showScreen(door, request, reply, { title: meant[0]?.reference ?? '', main })
}

interface Beside {
  /** Every row of its reference. */
  readonly known: readonly FoundInstruction[]
  /** Its cells were asked for. */
  readonly readsCells: boolean
}

async function showInstruction(
  door: ConsoleDoor,
  request: FastifyRequest,
  reply: FastifyReply,
  found: FoundInstruction,
  { known, readsCells }: Beside,
): Promise<FastifyReply> {
  const { app, ledger } = door
  const { reference, batchId, rowNo, state, merchant, asked } = found
  const [moves, batch, now] = [await ledger.history(reference), await ledger.batch(batchId), await attentionFor(door)]
  const own = moves.filter((move) => isOf(found, move))
  const doubt = state === 'IN_DOUBT' ? await doubtNow() : null
  const standing = batch === null || state !== 'READY' ? null : whyWords(standingNow(app, batch, now.workers).why)
  const waits = standing === null ? NOTHING : html`<p>Its batch: ${linked(standing)}.</p>`
  const main = html`${noteOn(doubt)}${fateOf(found, own, now)}${waits}<h2>Asked and answered</h2>${comparedOf(found)}<h2>What happened</h2>${movesTable(own)}${wordsTable(await wordsOnSending(ledger, found, own), doubt, app.clock.nowMs())}${originOf(found, batch)}${await cellsOf(door, request, found, readsCells)}${await orderOf()}${await othersOf()}`
  return showScreen(door, request, reply, { title: reference, main, now })

  async function doubtNow(): Promise<DoubtRow | null> {
    return (await ledger.doubts()).find((one) => one.batchId === batchId && one.rowNo === rowNo) ?? null
  }

  function noteOn(row: DoubtRow | null): Html {
    if (row === null) return NOTHING
    const asked = html`<strong>In doubt.</strong> <a href="${doubtPath(row.rowId)}">Look it up at the gateway, and say what you found</a>`
    return html`${note('doubt', asked)}${proposalNote(door, row, doubtPath(row.rowId))}`
  }

  async function orderOf(): Promise<Html> {
    if (asked.orderId === null) return NOTHING
    const same = (await ledger.find(asked.orderId)).filter(
      (one) => one.by === 'order' && one.merchant === merchant && !(one.batchId === batchId && one.rowNo === rowNo),
    )
    return same.length === 0
      ? NOTHING
      : html`<h2>The same order</h2>${foundTable('Other rows of the order, as far as this ledger knows', same)}`
  }

  async function othersOf(): Promise<Html> {
    const others = known.filter((one) => one !== found && one.merchant === merchant)
    const again = await askedAgain()
    if (others.length + again.length === 0) return NOTHING
    const lines = again.map(({ atMs, reason }) => html`<li>${moment(atMs)}: ${reason}</li>`)
    return html`<h2>The same reference</h2>${others.length === 0 ? NOTHING : foundTable('Other rows of this reference', others)}<ul>${lines}</ul>`
  }

  /** Under other references: a declined charge that was handed in once more. */
  async function askedAgain(): Promise<readonly HistoryMove[]> {
    const elsewhere = moves.filter((move) => !known.some((one) => isOf(one, move)))
    const merchants = await Promise.all(elsewhere.map(async (move) => (await ledger.batch(move.batchId))?.merchant))
    return elsewhere.filter((_, i) => merchants[i] === merchant)
  }
}

/** They hold names, so it takes the role for results, and that they were read is kept in the record. */
async function cellsOf(
  { app, ledger }: ConsoleDoor,
  request: FastifyRequest,
  found: FoundInstruction,
  readsThem: boolean,
): Promise<Html> {
  const { actor, may } = visitorOf(request)
  const { reference, batchId, rowNo } = found
  if (!may('results')) return NOTHING
  const title = html`<h2>As in the file</h2>`
  if (!readsThem) {
    const path = `${instructionPath(reference, found)}&cells=1`
    return html`${title}<p><a href="${path}">Show the cells of its row</a>. That you read them is kept in the record.</p>`
  }
  const reading = await ledger.openReading(batchId, app.clock.nowMs())
  await reading.close()
  const [row] = await ledger.rowsAfter(batchId, rowNo - 1, 1)
  await noteDownload(app, ledger, { actor, batchId, details: { kind: 'cells', file: reference, row: rowNo } })
  const cells = row?.cells ?? []
  if (cells.every((cell) => cell === '')) return html`${title}<p>It has no cells, or they were purged.</p>`
  return html`${title}${facts(reading.columns.map((name, i) => [name, html`${cells[i] ?? ''}`]))}`
}

function isOf(found: FoundInstruction, move: HistoryMove): boolean {
  return found.batchId === move.batchId && found.rowNo === move.rowNo
}

function fateOf(
  { state, warning, reason }: FoundInstruction,
  moves: readonly HistoryMove[],
  { workers }: AttentionNow,
): Html {
  const lastCause = moves.at(-1)?.cause ?? null
  return html`<p class="standing">${stateText(statusOf(state))}</p><p><strong>${fateText({ state, warning, lastCause, workerRuns: workers.some(({ isLost }) => !isLost) })}</strong></p>${
    reason === null ? NOTHING : html`<p>Why: ${reason}</p>`
  }${warning === null ? NOTHING : note('warn', html`<strong>Warning:</strong> ${warning}`)}`
}

// ───────────────────────────────────────────────────────────── What was asked beside what was answered

interface Compared {
  readonly name: string
  readonly asked: string | null
  readonly answered: string | null
  readonly differs: boolean
}

function comparedOf(found: FoundInstruction): Html {
  const columns = [{ name: '' }, { name: 'Asked' }, { name: 'Answered' }, { name: 'Difference' }]
  const shown = pairsOf(found).filter(({ asked, answered }) => asked !== null || answered !== null)
  const rows = shown.map(({ name, asked, answered, differs }) => [
    html`${name}`,
    idText(asked),
    idText(answered),
    differs ? html`<strong class="failed">differs</strong>` : NOTHING,
  ])
  return table('As it was handed in, and as the gateway wrote it', columns, rows)
}

function pairsOf({ operation, amountMinor, currency, asked, answered, ...found }: FoundInstruction): Compared[] {
  const ids = (name: string, one: string | null, other: string | null): Compared => ({
    ...{ name, asked: one, answered: other },
    differs: one !== null && other !== null && plainId(one) !== plainId(other),
  })
  const money = amountMinor === null || currency === null ? null : { amountMinor, currency }
  return [
    { name: 'Operation', asked: operation, answered: null, differs: false },
    {
      ...{ name: 'Amount', asked: money === null ? null : amountText(money.amountMinor, money.currency) },
      answered: answered.amount,
      differs: money !== null && answered.amount !== null && !sameAmount(answered.amount, money),
    },
    {
      ...{ name: 'Currency', asked: currency, answered: answered.currency },
      differs: currency !== null && answered.currency !== null && answered.currency.trim().toUpperCase() !== currency,
    },
    ids('Order id', asked.orderId, answered.orderId),
    ids('Vault id', asked.vaultId, answered.vaultId),
    ids('Merchant order id', found.xtlOrderId, answered.xtlOrderId),
    { name: 'Transaction id', asked: null, answered: found.transactionId, differs: false },
    { name: 'Record id', asked: null, answered: found.recordId, differs: false },
  ]
}

// ───────────────────────────────────────────────────────────── Where it is from, and what is beside it

function originOf(
  { reference, merchant, batchId, rowNo, line, attempts, sentAtMs, completedAtMs, state }: FoundInstruction,
  batch: BatchView | null,
): Html {
  const from = batch === null ? batchId : nameOf(batch)
  return html`<h2>Record</h2>${facts([
    ['Reference', idText(reference)],
    ['Merchant', html`<a href="${merchantPath(merchant)}">${merchant}</a>`],
    ['Batch', html`<a href="${batchPath(batchId)}">${from}</a>, row ${rowNo}`],
    ['Line of the file', batch?.source === 'file' ? html`${line}` : null],
    ['Attempts', html`${attempts}`],
    ['Sent', moment(sentAtMs)],
    ['Ended', moment(state === 'IN_DOUBT' ? null : completedAtMs)],
  ])}`
}
