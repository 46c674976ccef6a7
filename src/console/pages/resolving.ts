// What a person found at the gateway about a row in doubt: the question, and the answer handed to the ledger.

import type { FastifyRequest } from 'fastify'
import { resolutionOf, restUntilMsOf } from '../../app/doubts.ts'
import type { DoubtRow, Resolution } from '../../domain/doubt.ts'
import { isProblem } from '../../domain/problem.ts'
import { FINDINGS, type Finding, parseFinding } from '../../domain/resolution.ts'
import { resultStatusOf } from '../../domain/states.ts'
import { spell } from '../../domain/words.ts'
import { askedText } from '../../present/asked.ts'
import { FINDING_NAMES, meaningOf, mustRest } from '../../present/findings.ts'
import { type Html, html } from '../../present/html.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { fieldsOf, reasonIn } from '../forms.ts'
import { actOnce } from '../once.ts'
import { form, moment, note, reasonField, stepUpLink } from '../parts.ts'
import { visitorOf } from '../visit.ts'
import { doubtPath, instructionPath, pageWays } from '../ways.ts'

interface OfRow {
  readonly Params: { readonly row: string }
}

export function addResolving(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  pages.post<OfRow>('/doubts/:row/resolve', { config: { page: 'resolve' } }, async (request, reply) => {
    const found = findingIn(request)
    const shown = shownIn(request)
    if (found === 'send-again' && !visitorOf(request).isFresh)
      return reply.redirect(`/step-up?to=${encodeURIComponent(`/doubts/${request.params.row}`)}`, 303)
    await actOnce(door, request, async (once) => {
      const doubt = (await ledger.doubts()).find(({ rowId }) => String(rowId) === request.params.row)
      if (doubt === undefined || doubt.batchId !== shown.batchId || doubt.rowNo !== shown.rowNo)
        throw await noLongerInDoubt(door, shown)
      const resolution = resolutionIn(request, doubt, found, door)
      const resolved = await once.resolve(resolution, visitorOf(request).actor, app.clock.nowMs())
      if (resolved.kind === 'refused')
        throw new PageError(409, `${spell(resolved.reason, pageWays)}. Nothing was changed.`)
    })
    return reply.redirect(instructionPath(shown.reference, shown), 303)
  })
}

function findingIn(request: FastifyRequest): Finding {
  const finding = parseFinding(fieldsOf(request).found ?? '')
  if (finding !== undefined) return finding
  throw new PageError(422, 'Say what you found at the gateway: one of the four answers. Nothing was changed.')
}

interface Shown {
  readonly reference: string
  readonly batchId: string
  readonly rowNo: number
}

/** The row that stood on the page. */
function shownIn(request: FastifyRequest): Shown {
  const { reference = '', batch: batchId = '', number = '' } = fieldsOf(request)
  return { reference, batchId, rowNo: wholeIn(number) }
}

function wholeIn(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number.parseInt(text, 10)
  throw new PageError(400, 'The form does not say which row it is of. Nothing was changed: open the page again.')
}

function resolutionIn(request: FastifyRequest, doubt: DoubtRow, finding: Finding, { app }: ConsoleDoor): Resolution {
  const { attempt = '', transaction_id = '' } = fieldsOf(request)
  const transactionId = transaction_id.trim() === '' ? null : transaction_id.trim()
  const found = { finding, transactionId, attempt: wholeIn(attempt), reason: reasonIn(request) }
  const made = resolutionOf(doubt, found, app)
  if (!isProblem(made)) return made
  throw new PageError(422, `The transaction id was not accepted: ${made.problem}; ${made.remedy}. Nothing was changed.`)
}

async function noLongerInDoubt({ ledger }: ConsoleDoor, { reference, batchId, rowNo }: Shown): Promise<PageError> {
  const now = (await ledger.find(reference)).find((one) => one.batchId === batchId && one.rowNo === rowNo)
  const is = now === undefined ? 'not in this ledger' : `${resultStatusOf(now.state)} by now`
  return new PageError(
    409,
    `${reference} (row ${rowNo} of batch ${batchId}) is no longer in doubt: it is ${is}. What you found was not recorded, and nothing was changed. See its history before you do anything else: search for ${reference}.`,
  )
}

// ───────────────────────────────────────────────────────────── The question

export function questionOf(request: FastifyRequest, door: ConsoleDoor, doubt: DoubtRow): Html {
  const title = html`<h2>What did you find at the gateway?</h2>`
  if (!visitorOf(request).may('operate'))
    return html`${title}<p>Your roles do not let you say: that takes an operator.</p>`
  const { instruction, batchId, rowNo, rowId, attempt } = doubt
  const { operation, money, reference } = instruction
  const asked = askedText([
    { operation, count: 1, currency: money?.currency ?? '', amountMinor: money?.amountMinor ?? 0n },
  ])
  const choices = FINDINGS.map((finding) => choiceOf(request, door, doubt, finding))
  const fields = html`<input type="hidden" name="attempt" value="${attempt}"><input type="hidden" name="batch" value="${batchId}"><input type="hidden" name="number" value="${rowNo}"><input type="hidden" name="reference" value="${reference}"><fieldset><legend>Of attempt ${attempt}</legend>${choices}</fieldset><div class="field"><label>Transaction id, if it was approved or declined<span class="hint"> as the gateway shows it, digits only </span><input name="transaction_id" inputmode="numeric" autocomplete="off" maxlength="40"></label></div>${reasonField('What you found, and where. It is kept in the history.')}`
  const button = `Record what I found about ${asked}`
  return html`${title}${form(request, door, { action: `${doubtPath(rowId)}/resolve`, fields, button })}`
}

/** What cannot be chosen now stands there with the reason, and from when on it can. */
function choiceOf(request: FastifyRequest, { app }: ConsoleDoor, doubt: DoubtRow, finding: Finding): Html {
  const name = FINDING_NAMES[finding]
  const restUntilMs = restUntilMsOf(doubt, app)
  if (mustRest(finding, doubt) && app.clock.nowMs() < restUntilMs)
    return note(
      'plain',
      html`<strong>${name}</strong>: not before ${moment(restUntilMs)}. A request that was given up may still be executed. Look again then.`,
    )
  if (finding === 'send-again' && !visitorOf(request).isFresh)
    return note('plain', html`<strong>${name}</strong>: for this, ${stepUpLink(request, doubtPath(doubt.rowId))}.`)
  return html`<div class="choice"><label><input type="radio" name="found" value="${finding}" required> <strong>${name}</strong>. ${meaningOf(finding, doubt)}</label></div>`
}
