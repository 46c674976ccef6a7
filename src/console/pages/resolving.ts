// What a person found at the gateway about a row in doubt: the question, and the answer handed to the ledger.

import type { FastifyRequest } from 'fastify'
import { resolutionOf, restUntilMsOf } from '../../app/doubts.ts'
import type { DoubtRow, Resolution, Resolved } from '../../domain/doubt.ts'
import { isProblem } from '../../domain/problem.ts'
import { FINDINGS, type Finding, parseFinding } from '../../domain/resolution.ts'
import { spell } from '../../domain/words.ts'
import { askedText } from '../../present/asked.ts'
import { FINDING_NAMES, meaningOf, mustRest } from '../../present/findings.ts'
import { type Html, html } from '../../present/html.ts'
import { type Done, redirectDone } from '../done.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { fieldsOf, reasonIn } from '../forms.ts'
import { actOnce } from '../once.ts'
import { form, NOTHING, reasonField } from '../parts.ts'
import { doubtPath, instructionPath, stepUpPath } from '../paths.ts'
import { visitorOf } from '../visit.ts'
import { pageWays } from '../ways.ts'
import { doubtShown, fieldsOfRow, restNote, type Shown, shownIn, typedOf, wholeIn } from './doubt-forms.ts'

interface OfRow {
  readonly Params: { readonly row: string }
}

export function addResolving(pages: Pages, door: ConsoleDoor): void {
  const { app } = door
  pages.post<OfRow>('/doubts/:row/resolve', { config: { page: 'resolve' } }, async (request, reply) => {
    const found = findingIn(request)
    const shown = shownIn(request)
    if (found === 'send-again' && !visitorOf(request).isFresh)
      return reply.redirect(stepUpPath(`/doubts/${request.params.row}`), 303)
    let resolved: Exclude<Resolved, { kind: 'refused' }> | undefined
    const isNow = await actOnce(door, request, async (once) => {
      const doubt = await doubtShown(door, request.params.row, shown)
      const resolution = resolutionIn(request, doubt, found, door)
      const said = await once.resolve(resolution, visitorOf(request).actor, app.clock.nowMs())
      if (said.kind === 'refused')
        throw new PageError(isMistyped(said.why) ? 422 : 409, `${spell(said.reason, pageWays)}. Nothing was changed.`)
      resolved = said
    })
    const done = doneBy(found, shown, fieldsOf(request).proposes === 'yes', resolved)
    return redirectDone(door, request, reply, await whereNow(door, request.params.row, shown), {
      done,
      isAgain: !isNow,
    })
  })
}

/** The row is as it was shown: what was typed is shown again, to be corrected. */
function isMistyped(why: Extract<Resolved, { kind: 'refused' }>['why']): boolean {
  return why === 'transaction-taken' || why === 'order-id'
}

/** `resolved` absent: the form had its effect before. `proposes`: as it told the person. */
function doneBy(
  finding: Finding,
  { reference, batchId: batch, rowNo: row }: Shown,
  proposes: boolean,
  resolved: Exclude<Resolved, { kind: 'refused' }> | undefined,
): Done {
  const which = { reference, batch, row }
  switch (resolved?.kind) {
    case 'proposed':
      return { act: 'propose', ...which }
    case 'already':
      return { act: 'already', ...which }
    case 'resolved':
      return { act: finding, ...which, paused: resolved.paused.length }
    case undefined:
      return { act: proposes ? 'propose' : finding, ...which }
  }
}

/** What was proposed is in doubt still. */
async function whereNow({ ledger }: ConsoleDoor, row: string, shown: Shown): Promise<string> {
  const doubt = (await ledger.doubts()).find(({ rowId }) => String(rowId) === row)
  return doubt?.proposal == null ? instructionPath(shown.reference, shown) : doubtPath(doubt.rowId)
}

function findingIn(request: FastifyRequest): Finding {
  const finding = parseFinding(fieldsOf(request).found ?? '')
  if (finding !== undefined) return finding
  throw new PageError(422, 'Say what you found at the gateway: one of the four answers. Nothing was changed.')
}

function resolutionIn(request: FastifyRequest, doubt: DoubtRow, finding: Finding, { app }: ConsoleDoor): Resolution {
  const { attempt = '', transaction_id = '', proposes } = fieldsOf(request)
  const transactionId = transaction_id.trim() === '' ? null : transaction_id.trim()
  const found = { finding, transactionId, attempt: wholeIn(attempt), reason: reasonIn(request) }
  const made = resolutionOf(doubt, found, app)
  // Who sends it, or proposes that, confirms nobody's proposal by it.
  if (!isProblem(made))
    return finding === 'send-again' ? { ...made, proposedAtMs: null, onlyProposes: proposes === 'yes' } : made
  throw new PageError(422, `The transaction id was not accepted: ${made.problem}; ${made.remedy}. Nothing was changed.`)
}

// ───────────────────────────────────────────────────────────── The question

export function questionOf(request: FastifyRequest, door: ConsoleDoor, doubt: DoubtRow): Html {
  const title = html`<h2>What did you find at the gateway?</h2>`
  if (!visitorOf(request).may('operate'))
    return html`${title}<p>Your roles do not let you say: that takes an operator.</p>`
  const { instruction, rowId, attempt } = doubt
  const { operation, money } = instruction
  const asked = askedText([
    { operation, count: 1, currency: money?.currency ?? '', amountMinor: money?.amountMinor ?? 0n },
  ])
  const action = `${doubtPath(rowId)}/resolve`
  const typed = typedOf(request, action, doubt)
  const choices = FOUND.map((finding) => choiceOf(door, doubt, finding, typed.found === finding))
  const { transaction_id: transaction = '' } = typed
  const written = transaction === '' ? NOTHING : html` value="${transaction}"`
  const fields = html`${fieldsOfRow(doubt)}<fieldset><legend>Of attempt ${attempt}</legend>${choices}</fieldset><div class="field"><label>Transaction id of what was approved or declined<span class="hint"> as the gateway shows it, digits only; leave it empty only where the gateway shows none </span><input name="transaction_id" inputmode="numeric" autocomplete="off" maxlength="40"${written}></label></div>${reasonField('What you found, and where. It is kept in the history.', typed.found === 'send-again' ? {} : typed)}`
  const button = `Record what I found about ${asked}`
  return html`${title}${form(request, door, { action, fields, button })}`
}

/** That it be sent once more is a decision of its own. */
const FOUND = FINDINGS.filter((finding) => finding !== 'send-again')

/** What cannot be chosen now stands there with the reason, and from when on it can. */
function choiceOf({ app }: ConsoleDoor, doubt: DoubtRow, finding: Finding, isChosen: boolean): Html {
  const name = FINDING_NAMES[finding]
  const restUntilMs = restUntilMsOf(doubt, app)
  if (mustRest(finding, doubt) && app.clock.nowMs() < restUntilMs) return restNote(name, restUntilMs)
  return html`<div class="choice"><label><input type="radio" name="found" value="${finding}" required${isChosen ? html` checked` : NOTHING}> <strong>${name}</strong>. ${meaningOf(finding, doubt)}</label></div>`
}
