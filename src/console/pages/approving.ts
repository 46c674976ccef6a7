// What a person reads who approves a batch, and what they decide.

import type { FastifyRequest } from 'fastify'
import type { ApprovalSheet } from '../../domain/approval.ts'
import type { BatchView } from '../../domain/batch.ts'
import { countIn } from '../../domain/batch-status.ts'
import type { BatchId } from '../../domain/ids.ts'
import type { Unfitness } from '../../ports/ledger/approvals.ts'
import {
  approvalsText,
  isTotalTyped,
  meaningText,
  sheetLines,
  TOTAL_HINT,
  toBeSent,
  totalAsked,
  unfitText,
} from '../../present/approval.ts'
import { askedText } from '../../present/asked.ts'
import { type Html, html } from '../../present/html.ts'
import { redirectDone } from '../done.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { fieldsOf, reasonIn } from '../forms.ts'
import { actElsewhereOnce } from '../once.ts'
import { form, freshly, moment, NOTHING, note, reasonField, table } from '../parts.ts'
import { batchPath } from '../paths.ts'
import { readingText } from '../reading-text.ts'
import { typedIn } from '../refused.ts'
import { type Visitor, visitorOf } from '../visit.ts'
import { findBatch, type OfBatch } from './find-batch.ts'

export function addApproving(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  pages.post<OfBatch>('/batches/:batch/approve', { config: { page: 'approve' } }, async (request, reply) => {
    const { batchId } = await findBatch(door, request.params.batch)
    const { digest = '', total = '' } = fieldsOf(request)
    const sheet = await ledger.approvalSheet(batchId)
    if (sheet === null) throw new PageError(409, 'This batch needs no approval. Nothing was changed.')
    // Of what is decided, or is another one by now, the ledger says so.
    if (digest === sheet.digest && sheet.given < sheet.needed && !isTotalTyped(total, sheet))
      throw new PageError(
        422,
        `You typed “${total.trim()}”. That is not the total that would be sent. Nothing was approved: compare the page with the list that you approve by.`,
      )
    const { isNow } = await actElsewhereOnce(door, request, async () => {
      await ledger.approve({ ...decisionOf(request, batchId, app.clock.nowMs()), digest })
      return {}
    })
    return redirectDone(door, request, reply, batchPath(batchId), {
      done: { act: 'approve', batch: batchId },
      isAgain: !isNow,
    })
  })
  pages.post<OfBatch>('/batches/:batch/reject', { config: { page: 'reject' } }, async (request, reply) => {
    const { batchId } = await findBatch(door, request.params.batch)
    const { isNow } = await actElsewhereOnce(door, request, async () => {
      await ledger.reject(decisionOf(request, batchId, app.clock.nowMs()))
      return {}
    })
    return redirectDone(door, request, reply, batchPath(batchId), {
      done: { act: 'reject', batch: batchId },
      isAgain: !isNow,
    })
  })
}

function decisionOf(request: FastifyRequest, batchId: BatchId, nowMs: number) {
  return { batchId, reason: reasonIn(request), actor: visitorOf(request).actor, nowMs }
}

/** Everything in the digest, nothing folded away. `earlier`: batches of the same merchant before this one. */
export async function waitingOf(
  request: FastifyRequest,
  door: ConsoleDoor,
  sheet: ApprovalSheet,
  earlier: readonly BatchView[],
): Promise<Html> {
  const lines = sheetLines(sheet, readingText).map((line) => html`${line}\n`)
  return html`<p>It waits for ${approvalsText(sheet)}. <a href="${batchPath(sheet.batchId)}/rows">All its rows</a></p><pre>${lines}</pre>${earlierOf(earlier)}${await formsOf(request, door, sheet)}`
}

/** Whether this one is out of the ordinary. */
function earlierOf(batches: readonly BatchView[]): Html {
  if (batches.length === 0) return html`<p>It is the first batch of this merchant here.</p>`
  const columns = [
    { name: 'Batch' },
    { name: 'Recorded' },
    { name: 'Asked', kind: 'text' },
    { name: 'Declined', kind: 'number' },
  ] as const
  const rows = batches.map((batch) => [
    html`<a href="${batchPath(batch.batchId)}">${batch.batchId}</a>`,
    moment(batch.createdAtMs),
    html`${askedText(batch.totals.filter(({ state }) => state !== 'INVALID' && state !== 'DUPLICATE'))}`,
    html`${countIn(batch, 'DECLINED')}`,
  ])
  return table('Batches of this merchant before it', columns, rows)
}

/** Nothing is missing without its reason. */
async function formsOf(request: FastifyRequest, door: ConsoleDoor, sheet: ApprovalSheet): Promise<Html> {
  const visitor = visitorOf(request)
  if (!visitor.may('approve'))
    return note('plain', html`Your roles do not let you decide on it: that takes an approver.`)
  const { batchId } = sheet
  const unfit = await door.ledger.unfitness({ batchId, actor: visitor.actor, nowMs: door.app.clock.nowMs() })
  const reject = () => rejectForm(request, door, sheet, visitor)
  // To reject, which sends nothing, nobody is unfit: not even who handed it in.
  if (unfit !== null)
    return html`<h2>Approve</h2>${unfitNote(unfit)}<h2>Reject</h2>${freshly(request, batchPath(batchId), reject, 'reject it')}`
  return freshly(
    request,
    batchPath(batchId),
    () =>
      html`<div class="beside"><section><h2>Approve</h2>${approveForm(request, door, sheet)}</section><section><h2>Reject</h2>${reject()}</section></div>`,
    'decide on it',
  )
}

/** Known before anything is typed; the ledger asks the same once more when a form comes. */
function unfitNote({ why, untilMs }: Unfitness): Html {
  const from = untilMs === null ? NOTHING : html` You can from ${moment(untilMs)} on.`
  return note('plain', html`<p>You cannot approve it. ${unfitText(why)}${from}</p>`)
}

function approveForm(request: FastifyRequest, door: ConsoleDoor, sheet: ApprovalSheet): Html {
  const { batchId, digest } = sheet
  const action = `${batchPath(batchId)}/approve`
  const fields = html`<input type="hidden" name="digest" value="${digest}"><div class="field"><label>Type ${totalAsked(sheet)}<span class="hint"> ${TOTAL_HINT} </span><input name="total" required autocomplete="off" maxlength="200"></label></div>${reasonField('It is kept in the history.', typedIn(request, action))}`
  const asked = form(request, door, {
    action,
    fields,
    button: `Approve ${toBeSent(sheet.totals)}`,
  })
  return html`<p><strong>${meaningText(sheet)}</strong></p>${asked}`
}

function rejectForm(request: FastifyRequest, door: ConsoleDoor, sheet: ApprovalSheet, { person }: Visitor): Html {
  const { batchId, totals } = sheet
  const action = `${batchPath(batchId)}/reject`
  const asked = form(request, door, {
    action,
    fields: reasonField('It is kept in the history.', typedIn(request, action)),
    button: `Reject ${toBeSent(totals)}`,
    kind: 'other',
  })
  return html`<p>None of its rows will be sent. The history names ${person.name}.</p>${asked}`
}
