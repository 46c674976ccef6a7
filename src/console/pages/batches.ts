// Batches: which there are, how one stands, and what a person decides about one that waits for approval.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { workersNow } from '../../app/locks.ts'
import { standingNow } from '../../app/standing.ts'
import { type ApprovalSheet, isAwaiting } from '../../domain/approval.ts'
import type { BatchView } from '../../domain/batch.ts'
import { isoOf, type Standing } from '../../domain/batch-status.ts'
import type { BatchId } from '../../domain/ids.ts'
import { approvalsText, meaningText, sheetLines, totalToType } from '../../present/approval.ts'
import { type Html, html } from '../../present/html.ts'
import { whyText } from '../../present/standing.ts'
import { plural } from '../../present/text.ts'
import { totalLines } from '../../present/totals.ts'
import { secretIn } from '../cookie.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { fieldsOf, newFormToken } from '../forms.ts'
import { showPage } from '../page.ts'
import { type Visitor, visitorOf } from '../visit.ts'

const SHOWN_MOST = 50
const REASON_LONGEST = 500

type OfBatch = { readonly Params: { readonly batch: string } }

export function addBatchPages(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  pages.get('/', { config: { page: 'overview' } }, async (request, reply) => {
    const { person, may } = visitorOf(request)
    if (!may('view'))
      return showPage(reply, 'Batches', html`${whoText(person.name)}<p>Your roles do not let you see batches.</p>`)
    const workers = await workersNow(app, ledger)
    const rowsOf = (batches: readonly BatchView[]) =>
      batches.map((batch) => batchRow(batch, standingNow(app, batch, workers)))
    // However old they are.
    const waiting = rowsOf((await ledger.batches('open')).filter(isWaiting))
    const latest = rowsOf(await ledger.batchesAfter(null, SHOWN_MOST, null))
    return showPage(reply, 'Batches', overview(person.name, waiting, latest))
  })
  pages.get<OfBatch>('/batches/:batch', { config: { page: 'batch' } }, async (request, reply) => {
    const batch = await findBatch(door, request.params.batch)
    const standing = standingNow(app, batch, await workersNow(app, ledger))
    const sheet = isWaiting(batch) ? await ledger.approvalSheet(batch.batchId) : null
    return showPage(reply, `Batch ${batch.batchId}`, batchPage(batch, standing, sheet, formsOf(request, door, sheet)))
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
  return reply.redirect(`/batches/${encodeURIComponent(batchId)}`, 303)
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

// ───────────────────────────────────────────────────────────── What is shown

function overview(name: string, waiting: readonly Html[], latest: readonly Html[]): Html {
  const needs =
    waiting.length === 0
      ? html`<p>No batch waits for approval.</p>`
      : table(`${plural(waiting.length, 'batch waits', 'batches wait')} for approval`, waiting)
  const list =
    latest.length === 0
      ? html`<p>No batch was handed in yet.</p>`
      : table(latest.length < SHOWN_MOST ? 'All batches' : `The latest ${SHOWN_MOST} batches`, latest)
  return html`${whoText(name)}${needs}${list}`
}

function table(caption: string, rows: readonly Html[]): Html {
  return html`<table><caption>${caption}</caption><thead><tr><th scope="col">Batch</th><th scope="col">From</th><th scope="col">Merchant</th><th scope="col">Rows</th><th scope="col">State</th><th scope="col">Recorded</th></tr></thead><tbody>${rows}</tbody></table>`
}

function whoText(name: string): Html {
  return html`<p>You are ${name}. <a href="/sessions">Your sessions</a></p>`
}

function batchRow(batch: BatchView, { state }: Standing): Html {
  const { batchId, fileName, merchant, rows, createdAtMs } = batch
  return html`<tr><th scope="row"><a href="/batches/${encodeURIComponent(batchId)}">${batchId}</a></th><td>${fileName ?? 'messages'}</td><td>${merchant}</td><td>${rows}</td><td>${state.replaceAll('_', ' ')}</td><td>${isoOf(createdAtMs)}</td></tr>`
}

function batchPage(batch: BatchView, { state, why }: Standing, sheet: ApprovalSheet | null, forms: Html): Html {
  const reason = whyText(why)
  const lines = sheet === null ? totalLines(batch) : sheetLines(sheet)
  const waits = sheet === null ? null : html`<p>It waits for ${approvalsText(sheet)}.</p>`
  return html`<p><a href="/">All batches</a></p><p>${state.replaceAll('_', ' ')}${reason === null ? '' : `: ${reason}`}</p>${waits}<pre>${lines.map((line) => html`${line}\n`)}</pre>${forms}`
}

/** Nothing is missing without its reason. */
function formsOf(request: FastifyRequest, door: ConsoleDoor, sheet: ApprovalSheet | null): Html {
  const visitor = visitorOf(request)
  if (sheet === null) return html``
  if (!visitor.may('approve')) return html`<p>Your roles do not let you decide on it: that takes an approver.</p>`
  if (!visitor.isFresh) return html`<p>To decide on it, <a href="/step-up">show your password again</a>.</p>`
  return html`${approveForm(request, door, sheet)}${rejectForm(request, door, sheet, visitor)}`
}

function approveForm(request: FastifyRequest, door: ConsoleDoor, sheet: ApprovalSheet): Html {
  const { batchId, digest } = sheet
  return html`<h2>Approve</h2><p>${meaningText(sheet)}</p><form method="post" action="/batches/${encodeURIComponent(batchId)}/approve">${hidden(request, door)}<input type="hidden" name="digest" value="${digest}"><p><label>Type ${totalToType(sheet)} <input name="total" required autocomplete="off" maxlength="200"></label></p>${REASON}<p><button>Approve</button></p></form>`
}

function rejectForm(request: FastifyRequest, door: ConsoleDoor, { batchId }: ApprovalSheet, { person }: Visitor): Html {
  return html`<h2>Reject</h2><p>None of its rows will be sent. It is kept that ${person.name} rejected it.</p><form method="post" action="/batches/${encodeURIComponent(batchId)}/reject">${hidden(request, door)}${REASON}<p><button>Reject</button></p></form>`
}

const REASON = html`<p><label>Reason <input name="reason" required autocomplete="off" maxlength="${REASON_LONGEST}"></label></p>`

function hidden(request: FastifyRequest, door: ConsoleDoor): Html {
  return html`<input type="hidden" name="form" value="${newFormToken(secretIn(request, door) ?? '')}">`
}
