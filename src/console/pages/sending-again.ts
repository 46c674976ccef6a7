// To have a row in doubt sent once more: by one person, or proposed by one and confirmed or refused by another.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Found, resolutionOf, restUntilMsOf } from '../../app/doubts.ts'
import { type DoubtRow, type Foreseen, type Proposal, type Resolution, standingProposal } from '../../domain/doubt.ts'
import { isProblem } from '../../domain/problem.ts'
import { spell } from '../../domain/words.ts'
import { nounOf } from '../../present/asked.ts'
import { FINDING_NAMES, meaningOf, mustRest } from '../../present/findings.ts'
import { type Html, html } from '../../present/html.ts'
import { amountText } from '../../present/text.ts'
import { redirectDone } from '../done.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { fieldsOf, reasonIn } from '../forms.ts'
import { actOnce } from '../once.ts'
import { form, freshly, moment, NOTHING, note, reasonField } from '../parts.ts'
import { doubtPath, instructionPath } from '../paths.ts'
import { visitorOf } from '../visit.ts'
import { linked, pageWays } from '../ways.ts'
import { doubtShown, fieldsOfRow, restNote, shownIn, typedOf, wholeIn } from './doubt-forms.ts'

interface OfRow {
  readonly Params: { readonly row: string }
}

export function addSendingAgain(pages: Pages, door: ConsoleDoor): void {
  pages.post<OfRow>('/doubts/:row/confirm', { config: { page: 'confirmProposal' } }, async (request, reply) => {
    const shown = shownIn(request)
    const [attempt, proposedAtMs] = [wholeIn(fieldsOf(request).attempt ?? ''), proposedIn(request)]
    const isNow = await actOnce(door, request, async (once) => {
      const doubt = await doubtShown(door, request.params.row, shown)
      const order = confirmationOf(door, doubt, { attempt, proposedAtMs, reason: reasonIn(request) })
      const resolved = await once.resolve(order, visitorOf(request).actor, door.app.clock.nowMs())
      if (resolved.kind === 'refused')
        throw new PageError(409, `${spell(resolved.reason, pageWays)}. Nothing was changed.`)
      if (resolved.kind === 'proposed')
        throw new PageError(409, 'You proposed this yourself, so another person must confirm it. Nothing was changed.')
    })
    const { reference, batchId: batch, rowNo: row } = shown
    const told = { done: { act: 'confirm', reference, batch, row }, isAgain: !isNow } as const
    return redirectDone(door, request, reply, instructionPath(reference, shown), told)
  })
  const end = async (request: FastifyRequest<OfRow>, reply: FastifyReply, act: 'refuse' | 'withdraw') => {
    const shown = shownIn(request)
    const refusal = { proposedAtMs: proposedIn(request), reason: reasonIn(request) }
    const isNow = await actOnce(door, request, async (once) => {
      const { batchId, rowNo } = await doubtShown(door, request.params.row, shown)
      const told = { ...refusal, batchId, rowNo }
      if (await once.refuseProposal(told, visitorOf(request).actor, door.app.clock.nowMs())) return
      throw new PageError(409, 'This proposal no longer stands. Nothing was changed: open the page again.')
    })
    const { reference, batchId: batch, rowNo: row } = shown
    const told = { done: { act, reference, batch, row }, isAgain: !isNow } as const
    return redirectDone(door, request, reply, `/doubts/${encodeURIComponent(request.params.row)}`, told)
  }
  pages.post<OfRow>('/doubts/:row/refuse', { config: { page: 'refuseProposal' } }, (request, reply) =>
    end(request, reply, 'refuse'),
  )
  pages.post<OfRow>('/doubts/:row/withdraw', { config: { page: 'withdrawProposal' } }, (request, reply) =>
    end(request, reply, 'withdraw'),
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

const HERE = 'once-more'

/** At the top of whatever page tells of the row: whoever comes for the proposal finds it. `at`: the page of the doubt; '' on it. */
export function proposalNote({ app }: ConsoleDoor, doubt: DoubtRow, at: string): Html {
  const proposal = standingProposal(doubt, app.clock.nowMs())
  if (proposal === null) return NOTHING
  return note(
    'warn',
    html`<strong>Proposed:</strong> ${proposal.by} proposed to send it once more. Nothing is sent before another person confirms it. <a href="${at}#${HERE}">To the proposal</a>`,
  )
}

export async function sendingAgainOf(request: FastifyRequest, door: ConsoleDoor, doubt: DoubtRow): Promise<Html> {
  const nowMs = door.app.clock.nowMs()
  const proposal = standingProposal(doubt, nowMs)
  const restUntilMs = restUntilMsOf(doubt, door.app)
  const mustWait = mustRest('send-again', doubt) && nowMs < restUntilMs
  if (proposal === null && !visitorOf(request).may('operate')) return NOTHING
  const ways = () => (proposal === null ? orderOf(request, door, doubt) : decisionOf(request, door, doubt, proposal))
  const now = mustWait ? restNote(FINDING_NAMES['send-again'], restUntilMs) : await ways()
  return html`<h2 id="${HERE}">Send it once more?</h2>${now}`
}

/** `refund R-1, EUR 95.00`. */
function itself({ instruction: { operation, reference, money } }: DoubtRow): string {
  const amount = money === null ? '' : `, ${money.currency} ${amountText(money.amountMinor, money.currency)}`
  return `${nounOf(operation)} ${reference}${amount}`
}

function orderOf(request: FastifyRequest, door: ConsoleDoor, doubt: DoubtRow): Html {
  const path = doubtPath(doubt.rowId)
  const [button, act] = doubt.twoPeople
    ? [`Propose to send ${itself(doubt)}, once more`, 'propose that']
    : [`Send ${itself(doubt)}, once more`, 'have it sent']
  const proposing = doubt.twoPeople ? html`<input type="hidden" name="proposes" value="yes">` : NOTHING
  const two = doubt.twoPeople
    ? html`<p>This takes two people: you propose it, and nothing is sent before another person, who may approve, confirms it.</p>`
    : NOTHING
  const action = `${path}/resolve`
  const typed = typedOf(request, action, doubt)
  const why = typed.found === undefined || typed.found === 'send-again' ? typed : {}
  const fields = html`${fieldsOfRow(doubt)}<input type="hidden" name="found" value="send-again">${proposing}${reasonField('Where you looked, and did not find it. It is kept in the history.', why)}`
  const asked = () => form(request, door, { action, fields, button })
  return html`<p>${meaningOf('send-again', doubt)}</p>${two}${freshly(request, path, asked, act)}`
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
    html`<p><strong>Proposed</strong> by ${by} at ${moment(atMs)}. Nothing is sent before another person confirms it; otherwise it lapses at ${moment(untilMs)}.</p><p>Why: ${reason}</p>`,
  )
  const means = html`<p>If another person confirms it: ${lowered(meaningOf('send-again', doubt))}</p>`
  const word = await foreseeConfirming(request, door, doubt, proposal)
  const end = endingForm(request, door, doubt, proposal, word.kind === 'proposed')
  const whyNot = whyNotConfirmed(request, word)
  if (whyNot !== null) return html`${told}${means}${note('plain', html`<p>${whyNot}</p>`)}${end}`
  const confirm = () =>
    form(request, door, {
      action: `${path}/confirm`,
      button: `Confirm: send ${itself(doubt)}, once more`,
      fields: fieldsOn(
        doubt,
        proposal,
        reasonField(
          'Where you looked, and did not find it. It is kept in the history.',
          typedOf(request, `${path}/confirm`, doubt),
        ),
      ),
    })
  return html`${told}${means}<div class="beside"><section><h3>Confirm it</h3>${freshly(request, path, confirm, 'confirm it')}</section><section><h3>Refuse it</h3>${end}</section></div>`
}

function lowered(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`
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

/** Known before anything is typed. null: they may. */
function whyNotConfirmed(request: FastifyRequest, word: Foreseen): Html | null {
  if (word.kind === 'proposed') return html`You proposed it yourself, so another person, who may approve, confirms it.`
  if (!visitorOf(request).may('approve')) return html`Your roles do not let you confirm it: that takes an approver.`
  return word.kind === 'refused' ? html`${linked(word.reason)}.` : null
}

function fieldsOn(doubt: DoubtRow, { atMs }: Proposal, reason: Html): Html {
  return html`${fieldsOfRow(doubt)}<input type="hidden" name="proposed" value="${atMs}">${reason}`
}

/** It sends nothing, so it takes one person: whoever proposed it takes it back, and any other one refuses it. */
function endingForm(
  request: FastifyRequest,
  door: ConsoleDoor,
  doubt: DoubtRow,
  proposal: Proposal,
  isOwn: boolean,
): Html {
  const { may } = visitorOf(request)
  if (!may('approve') && !may('operate')) return NOTHING
  const action = may('approve') && !(isOwn && may('operate')) ? 'refuse' : 'withdraw'
  const path = `${doubtPath(doubt.rowId)}/${action}`
  const reason = reasonField('Why it is not to be sent. It is kept in the history.', typedOf(request, path, doubt))
  return form(request, door, {
    ...{ action: path, kind: 'other' },
    button: `${isOwn ? 'Take back my proposal to send' : 'Refuse to send'} ${itself(doubt)}, once more`,
    fields: fieldsOn(doubt, proposal, reason),
  })
}
