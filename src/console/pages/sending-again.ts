// To have a row in doubt sent once more: by one person, or proposed by one and confirmed or refused by another.

import type { FastifyRequest } from 'fastify'
import { type Found, resolutionOf, restUntilMsOf } from '../../app/doubts.ts'
import { type DoubtRow, type Foreseen, type Proposal, type Resolution, standingProposal } from '../../domain/doubt.ts'
import { isProblem } from '../../domain/problem.ts'
import { spell } from '../../domain/words.ts'
import { nounOf } from '../../present/asked.ts'
import { FINDING_NAMES, meaningOf, mustRest } from '../../present/findings.ts'
import { type Html, html } from '../../present/html.ts'
import { amountText } from '../../present/text.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { fieldsOf, reasonIn } from '../forms.ts'
import { actOnce } from '../once.ts'
import { form, freshly, moment, NOTHING, note, reasonField } from '../parts.ts'
import { doubtPath, instructionPath } from '../paths.ts'
import { visitorOf } from '../visit.ts'
import { pageWays } from '../ways.ts'
import { doubtShown, fieldsOfRow, restNote, shownIn, wholeIn } from './doubt-forms.ts'

interface OfRow {
  readonly Params: { readonly row: string }
}

export function addSendingAgain(pages: Pages, door: ConsoleDoor): void {
  pages.post<OfRow>('/doubts/:row/confirm', { config: { page: 'confirmProposal' } }, async (request, reply) => {
    const shown = shownIn(request)
    const [attempt, proposedAtMs] = [wholeIn(fieldsOf(request).attempt ?? ''), proposedIn(request)]
    await actOnce(door, request, async (once) => {
      const doubt = await doubtShown(door, request.params.row, shown)
      const order = confirmationOf(door, doubt, { attempt, proposedAtMs, reason: reasonIn(request) })
      const resolved = await once.resolve(order, visitorOf(request).actor, door.app.clock.nowMs())
      if (resolved.kind === 'refused')
        throw new PageError(409, `${spell(resolved.reason, pageWays)}. Nothing was changed.`)
      if (resolved.kind === 'proposed')
        throw new PageError(409, 'You proposed this yourself, so another person must confirm it. Nothing was changed.')
    })
    return reply.redirect(instructionPath(shown.reference, shown), 303)
  })
  const refuse = async (request: FastifyRequest<OfRow>): Promise<string> => {
    const shown = shownIn(request)
    const refusal = { proposedAtMs: proposedIn(request), reason: reasonIn(request) }
    await actOnce(door, request, async (once) => {
      const { batchId, rowNo } = await doubtShown(door, request.params.row, shown)
      const told = { ...refusal, batchId, rowNo }
      if (await once.refuseProposal(told, visitorOf(request).actor, door.app.clock.nowMs())) return
      throw new PageError(409, 'This proposal does not stand any more. Nothing was changed: open the page again.')
    })
    return `/doubts/${request.params.row}`
  }
  pages.post<OfRow>('/doubts/:row/refuse', { config: { page: 'refuseProposal' } }, async (request, reply) =>
    reply.redirect(await refuse(request), 303),
  )
  pages.post<OfRow>('/doubts/:row/withdraw', { config: { page: 'withdrawProposal' } }, async (request, reply) =>
    reply.redirect(await refuse(request), 303),
  )
}

type Confirmation = Pick<Found, 'attempt' | 'reason'> & { readonly proposedAtMs: number }

function confirmationOf({ app }: ConsoleDoor, doubt: DoubtRow, { proposedAtMs, ...said }: Confirmation): Resolution {
  const made = resolutionOf(doubt, { ...said, finding: 'send-again', transactionId: null }, app)
  if (isProblem(made)) throw new PageError(422, `${made.problem}. Nothing was changed.`)
  return { ...made, proposedAtMs }
}

function proposedIn(request: FastifyRequest): number {
  const { proposed = '' } = fieldsOf(request)
  if (/^[1-9]\d{0,14}$/.test(proposed)) return Number.parseInt(proposed, 10)
  throw new PageError(400, 'The form does not say which proposal it is of. Nothing was changed: open the page again.')
}

// ───────────────────────────────────────────────────────────── At the page of the doubt

export async function sendingAgainOf(request: FastifyRequest, door: ConsoleDoor, doubt: DoubtRow): Promise<Html> {
  const nowMs = door.app.clock.nowMs()
  const proposal = standingProposal(doubt, nowMs)
  const restUntilMs = restUntilMsOf(doubt, door.app)
  const mustWait = mustRest('send-again', doubt) && nowMs < restUntilMs
  const { may } = visitorOf(request)
  if (proposal === null && !may('operate')) return NOTHING
  const ways = () => (proposal === null ? orderOf(request, door, doubt) : decisionOf(request, door, doubt, proposal))
  const name = FINDING_NAMES['send-again']
  const now = mustWait ? restNote(name, restUntilMs) : html`<p>${meaningOf('send-again', doubt)}</p>${await ways()}`
  return html`<h2>Send it once more?</h2>${now}`
}

/** `refund R-1, EUR 95.00`. */
function itself({ instruction: { operation, reference, money } }: DoubtRow): string {
  const amount = money === null ? '' : `, ${money.currency} ${amountText(money.amountMinor, money.currency)}`
  return `${nounOf(operation)} ${reference}${amount}`
}

function orderOf(request: FastifyRequest, door: ConsoleDoor, doubt: DoubtRow): Html {
  const button = doubt.twoPeople ? `Propose to send ${itself(doubt)}, once more` : `Send ${itself(doubt)}, once more`
  const proposing = doubt.twoPeople ? html`<input type="hidden" name="proposes" value="yes">` : NOTHING
  const two = doubt.twoPeople
    ? html`<p>This takes two people: you propose it, and nothing is sent before another person, who may approve, confirms it.</p>`
    : NOTHING
  const fields = html`${fieldsOfRow(doubt)}<input type="hidden" name="found" value="send-again">${proposing}${reasonField('Where you looked, and did not find it. It is kept in the history.')}`
  return html`${two}${freshly(request, doubtPath(doubt.rowId), () => form(request, door, { action: `${doubtPath(doubt.rowId)}/resolve`, fields, button }))}`
}

/** By the judgement that would record it. */
async function foreseeConfirming(
  request: FastifyRequest,
  door: ConsoleDoor,
  doubt: DoubtRow,
  { atMs: proposedAtMs }: Proposal,
): Promise<Foreseen> {
  const order = confirmationOf(door, doubt, { attempt: doubt.attempt, proposedAtMs, reason: '' })
  const [foreseen] = await door.ledger.foresee([order], visitorOf(request).actor, door.app.clock.nowMs())
  return foreseen as Foreseen
}

async function decisionOf(
  request: FastifyRequest,
  door: ConsoleDoor,
  doubt: DoubtRow,
  proposal: Proposal,
): Promise<Html> {
  const { by, atMs, untilMs, reason } = proposal
  const path = doubtPath(doubt.rowId)
  const told = note(
    'warn',
    html`<p><strong>Proposed</strong> by ${by} at ${moment(atMs)}: another person confirms it, and until then nothing is sent. It expires at ${moment(untilMs)}.</p><p>${reason}</p>`,
  )
  const { may } = visitorOf(request)
  const fieldsWith = (hint: string) =>
    html`${fieldsOfRow(doubt)}<input type="hidden" name="proposed" value="${atMs}">${reasonField(hint)}`
  const back = may('operate')
    ? form(request, door, {
        ...{ action: `${path}/withdraw`, kind: 'other', button: `Take the proposal for ${itself(doubt)} back` },
        fields: fieldsWith('Why it is not to be sent. It is kept in the audit.'),
      })
    : NOTHING
  const refuse = form(request, door, {
    ...{ action: `${path}/refuse`, kind: 'other', button: `Refuse to send ${itself(doubt)}, once more` },
    fields: fieldsWith('Why it is not to be sent. It is kept in the audit.'),
  })
  if (!may('approve')) return html`${told}<p>Your roles do not let you confirm it: that takes an approver.</p>${back}`
  const confirm = () =>
    html`${form(request, door, {
      action: `${path}/confirm`,
      button: `Confirm: send ${itself(doubt)}, once more`,
      fields: fieldsWith('Where you looked, and did not find it. It is kept in the history.'),
    })}`
  const word = await foreseeConfirming(request, door, doubt, proposal)
  if (word.kind === 'proposed')
    return html`${told}<p>You proposed it yourself, so another person confirms it.</p>${back}`
  if (word.kind === 'refused') return html`${told}<p>${spell(word.reason, pageWays)}.</p>${refuse}`
  return html`${told}${freshly(request, path, confirm)}${refuse}`
}
