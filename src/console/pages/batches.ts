// One batch: how it stands, and what a person decides about one that waits for approval.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { standingNow } from '../../app/standing.ts'
import { type ApprovalSheet, isAwaiting } from '../../domain/approval.ts'
import type { BatchView } from '../../domain/batch.ts'
import type { Standing } from '../../domain/batch-status.ts'
import type { BatchId } from '../../domain/ids.ts'
import { statusOf } from '../../domain/states.ts'
import { approvalsText, meaningText, sheetLines, totalToType } from '../../present/approval.ts'
import { type Html, html } from '../../present/html.ts'
import { whyWords } from '../../present/standing.ts'
import { amountText } from '../../present/text.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { fieldsOf } from '../forms.ts'
import { lookAround, showScreen } from '../frame.ts'
import { facts, form, idText, moment, note, reasonField, stateText, table } from '../parts.ts'
import { type Visitor, visitorOf } from '../visit.ts'
import { batchPath, linked } from '../ways.ts'

const REASON_LONGEST = 500

type OfBatch = { readonly Params: { readonly batch: string } }

export function addBatchPages(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  pages.get<OfBatch>('/batches/:batch', { config: { page: 'batch' } }, async (request, reply) => {
    const batch = await findBatch(door, request.params.batch)
    const now = await lookAround(door)
    const sheet = isWaiting(batch) ? await ledger.approvalSheet(batch.batchId) : null
    const main = html`${standingOf(standingNow(app, batch, now.workers))}${
      sheet === null ? totalsOf(batch) : waitingOf(request, door, sheet)
    }${factsOf(batch)}`
    return showScreen(door, request, reply, { title: nameOf(batch), main, now })
  })
  pages.post<OfBatch>('/batches/:batch/approve', { config: { page: 'approve' } }, async (request, reply) => {
    const { batchId } = await findBatch(door, request.params.batch)
    const { digest = '', total = '' } = fieldsOf(request)
    const sheet = await ledger.approvalSheet(batchId)
    if (sheet === null) throw new PageError(409, 'This batch needs no approval. Nothing was changed.')
    if (total.trim() !== totalToType(sheet))
      throw new PageError(
        422,
        `The total that you typed is not that of this batch. Nothing was approved: go back, and compare.`,
      )
    await ledger.approve({ ...decisionOf(request, batchId, app.clock.nowMs()), digest })
    return backTo(reply, batchId)
  })
  pages.post<OfBatch>('/batches/:batch/reject', { config: { page: 'reject' } }, async (request, reply) => {
    const { batchId } = await findBatch(door, request.params.batch)
    await ledger.reject(decisionOf(request, batchId, app.clock.nowMs()))
    return backTo(reply, batchId)
  })
}

function backTo(reply: FastifyReply, batchId: BatchId): FastifyReply {
  return reply.redirect(batchPath(batchId), 303)
}

function decisionOf(request: FastifyRequest, batchId: BatchId, nowMs: number) {
  const reason = (fieldsOf(request).reason ?? '').trim()
  if (reason === '' || reason.length > REASON_LONGEST)
    throw new PageError(422, 'Write why, in up to 500 characters; it is kept in the history. Nothing was changed.')
  return { batchId, reason, actor: visitorOf(request).actor, nowMs }
}

/** By its whole id. */
async function findBatch({ ledger }: ConsoleDoor, id: string): Promise<BatchView> {
  const batch = await ledger.batch(id).catch(() => null)
  if (batch !== null && batch.batchId === id) return batch
  throw new PageError(404, 'There is no such batch in this ledger. Nothing was changed.')
}

function isWaiting({ approval, hold }: BatchView): boolean {
  return isAwaiting(approval) && hold !== 'cancelled'
}

function nameOf({ batchId, fileName }: BatchView): string {
  return fileName ?? `Batch ${batchId}`
}

// ───────────────────────────────────────────────────────────── What is shown

function standingOf({ state, why }: Standing): Html {
  const reason = whyWords(why)
  return html`<p>${stateText(state)}${reason === null ? '' : html`: ${linked(reason)}`}</p>`
}

function totalsOf(batch: BatchView): Html {
  const columns = [
    { name: 'Status', kind: 'word' },
    { name: 'Operation' },
    { name: 'Rows', kind: 'number' },
    { name: 'Asked', kind: 'number' },
    { name: 'Currency' },
  ] as const
  const rows = batch.totals.map(({ operation, currency, state, count, amountMinor }) => [
    stateText(statusOf(state)),
    html`${operation === '' ? 'unread' : operation}`,
    html`${count}`,
    html`${amountText(amountMinor, currency)}`,
    html`${currency}`,
  ])
  return table(`What became of its ${batch.rows} rows`, columns, rows)
}

function factsOf(batch: BatchView): Html {
  const { batchId, source, fileName, fileSha256, runKey, merchant, createdAtMs, createdBy } = batch
  return html`<h2>Record</h2>${facts([
    ['Batch', idText(batchId)],
    ['From', html`${source === 'queue' ? 'messages' : fileName}`],
    ['SHA-256', fileSha256 === null ? null : idText(fileSha256)],
    ['Run key', runKey === null ? null : html`${runKey}`],
    ['Merchant', html`${merchant}`],
    ['Recorded', html`${moment(createdAtMs)} by ${createdBy}`],
  ])}`
}

/** Everything in the digest, nothing folded away. Nothing is missing without its reason. */
function waitingOf(request: FastifyRequest, door: ConsoleDoor, sheet: ApprovalSheet): Html {
  const lines = sheetLines(sheet).map((line) => html`${line}\n`)
  return html`<p>It waits for ${approvalsText(sheet)}.</p><pre>${lines}</pre>${formsOf(request, door, sheet)}`
}

function formsOf(request: FastifyRequest, door: ConsoleDoor, sheet: ApprovalSheet): Html {
  const visitor = visitorOf(request)
  if (!visitor.may('approve'))
    return note('plain', html`Your roles do not let you decide on it: that takes an approver.`)
  if (!visitor.isFresh) return note('plain', html`To decide on it, <a href="/step-up">show your password again</a>.`)
  return html`<div class="beside"><section><h2>Approve</h2>${approveForm(request, door, sheet)}</section><section><h2>Reject</h2>${rejectForm(request, door, sheet, visitor)}</section></div>`
}

function approveForm(request: FastifyRequest, door: ConsoleDoor, sheet: ApprovalSheet): Html {
  const { batchId, digest } = sheet
  const fields = html`<input type="hidden" name="digest" value="${digest}"><div class="field"><label>Type ${totalToType(sheet)} <input name="total" required autocomplete="off" maxlength="200"></label></div>${reasonField('It is kept in the history.')}`
  const asked = form(request, door, { action: `${batchPath(batchId)}/approve`, fields, button: 'Approve' })
  return html`<p><strong>${meaningText(sheet)}</strong></p>${asked}`
}

function rejectForm(request: FastifyRequest, door: ConsoleDoor, { batchId }: ApprovalSheet, { person }: Visitor): Html {
  const fields = reasonField('It is kept in the history.')
  const asked = form(request, door, { action: `${batchPath(batchId)}/reject`, fields, button: 'Reject', kind: 'other' })
  return html`<p>None of its rows will be sent. It is kept that ${person.name} rejected it.</p>${asked}`
}
