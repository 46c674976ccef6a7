// What a person reads who approves a batch, and what they decide.

import type { FastifyRequest } from 'fastify'
import type { ApprovalSheet } from '../../domain/approval.ts'
import type { BatchView } from '../../domain/batch.ts'
import { countIn, isoOf } from '../../domain/batch-status.ts'
import type { BatchId } from '../../domain/ids.ts'
import { accountWords } from '../../domain/person.ts'
import type { Unfitness } from '../../ports/ledger/approvals.ts'
import {
  approvalsText,
  meaningText,
  sheetLines,
  unfitText,
  withoutTotals,
  withoutTotalsOf,
} from '../../present/approval.ts'
import { askedText, countedText } from '../../present/asked.ts'
import { type Html, html } from '../../present/html.ts'
import { redirectDone } from '../done.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { fieldsOf, reasonIn } from '../forms.ts'
import { actElsewhereOnce } from '../once.ts'
import { form, freshly, moment, NOTHING, note, reasonField, table } from '../parts.ts'
import { batchPath } from '../paths.ts'
import { readingText } from '../reading-text.ts'
import { typedIn } from '../refused.ts'
import { assertTotalsTyped, totalFields } from '../totals.ts'
import { visitorOf } from '../visit.ts'
import { findBatch, type OfBatch } from './find-batch.ts'

export function addApproving(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  pages.post<OfBatch>('/batches/:batch/approve', { config: { page: 'approve' } }, async (request, reply) => {
    const { batchId } = await findBatch(door, request.params.batch)
    const fields = fieldsOf(request)
    const { digest = '' } = fields
    const sheet = await ledger.approvalSheet(batchId)
    if (sheet === null) throw new PageError(409, 'This batch needs no approval. Nothing was changed.')
    // Of what is decided, or is another one by now, the ledger says so.
    if (digest === sheet.digest && sheet.given < sheet.needed)
      assertTotalsTyped(fields, sheet, 'Nothing was approved: compare the rows with the list that you approve by.')
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

export interface Deciding {
  readonly shown: Html
  /** The reader is asked for the totals, now or once they may approve, so no part of the page shows them. */
  readonly typesTotals: boolean
}

/** Everything in the digest, nothing folded away. `earlier`: batches of the same merchant before this one. */
export async function decidingOn(
  request: FastifyRequest,
  door: ConsoleDoor,
  whole: ApprovalSheet,
  earlier: readonly BatchView[],
): Promise<Deciding> {
  const { actor, may } = visitorOf(request)
  const { batchId } = whole
  const unfit = may('approve') ? await door.ledger.unfitness({ batchId, actor, nowMs: door.app.clock.nowMs() }) : null
  const typesTotals = may('approve')
  const sheet = typesTotals ? withoutTotals(whole) : whole
  const own = typesTotals && unfit === null ? [`Yours. ${accountWords(visitorOf(request).person)}`] : []
  const moments = [whole.submittedAtMs, ...[visitorOf(request).person, ...whole.accounts].map((one) => one.createdAtMs)]
  const lines = [...sheetLines(sheet, readingText), ...own].map((line) => html`${withMoments(line, moments)}\n`)
  const forms = may('approve')
    ? formsOf(request, door, whole, unfit)
    : note('plain', html`Your roles do not let you decide on it: that takes an approver.`)
  const shown = html`<p>It waits for ${approvalsText(whole)}. <a href="${batchPath(batchId)}/rows">All its rows</a></p><pre>${lines}</pre>${earlierOf(earlier, may('approve') ? whole : null)}${forms}`
  return { shown, typesTotals }
}

/** As every moment of the page is shown, so that no reader compares two clocks. */
function withMoments(line: string, moments: readonly number[]): Html {
  const atMs = moments.find((one) => line.includes(isoOf(one)))
  if (atMs === undefined) return html`${line}`
  const [before = '', ...after] = line.split(isoOf(atMs))
  return html`${before}${moment(atMs)}${after.join(isoOf(atMs))}`
}

/** Whether this one is out of the ordinary. `toType`: an approver looks, who types the totals of this one or of another. */
function earlierOf(batches: readonly BatchView[], toType: ApprovalSheet | null): Html {
  if (batches.length === 0) return html`<p>It is the first batch of this merchant here.</p>`
  const columns = [
    { name: 'Batch' },
    { name: 'Recorded' },
    { name: 'Asked', kind: 'text' },
    { name: 'Declined', kind: 'number' },
  ] as const
  const textOf = (batch: BatchView) => {
    const asked = batch.totals.filter(({ state }) => state !== 'INVALID' && state !== 'DUPLICATE')
    return askedText(toType === null ? asked : withoutTotalsOf(toType, batch, asked))
  }
  const rows = batches.map((batch) => [
    html`<a href="${batchPath(batch.batchId)}">${batch.batchId}</a>`,
    moment(batch.createdAtMs),
    html`${textOf(batch)}`,
    html`${countIn(batch, 'DECLINED')}`,
  ])
  return table('Batches of this merchant before it', columns, rows)
}

/** Nothing is missing without its reason. */
function formsOf(request: FastifyRequest, door: ConsoleDoor, sheet: ApprovalSheet, unfit: Unfitness | null): Html {
  const { batchId } = sheet
  const reject = () => rejectForm(request, door, sheet)
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
  const fields = html`<input type="hidden" name="digest" value="${digest}">${totalFields(sheet)}${reasonField('It is kept in the history.', typedIn(request, action))}`
  const what = rowsToSend(sheet)
  const asked = form(request, door, { action, fields, button: `Approve ${what}` })
  return html`<p><strong>${meaningText(sheet, what)}</strong></p>${asked}`
}

/** Whoever reads it types the totals. */
function rowsToSend({ totals }: ApprovalSheet): string {
  return countedText(totals.filter(({ state }) => state === 'READY'))
}

function rejectForm(request: FastifyRequest, door: ConsoleDoor, sheet: ApprovalSheet): Html {
  const { batchId } = sheet
  const action = `${batchPath(batchId)}/reject`
  const asked = form(request, door, {
    action,
    fields: reasonField('It is kept in the history.', typedIn(request, action)),
    button: `Reject ${rowsToSend(sheet)}`,
    kind: 'other',
  })
  return html`<p>None of its rows will be sent. The history names ${visitorOf(request).person.name}.</p>${asked}`
}
