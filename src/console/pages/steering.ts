// Pause, resume and cancel: what a person decides about a batch, and what that means for its rows.

import type { FastifyRequest } from 'fastify'
import type { AttentionNow } from '../../app/attention.ts'
import { assertSteerable, type Steering } from '../../app/steering.ts'
import { toMendIn } from '../../domain/attention.ts'
import type { BatchView } from '../../domain/batch.ts'
import { countIn, isPaused, waitsForApproval } from '../../domain/batch-status.ts'
import { livingWorkers } from '../../domain/worker.ts'
import { askedText } from '../../present/asked.ts'
import { type Html, html } from '../../present/html.ts'
import { plural } from '../../present/text.ts'
import { redirectDone } from '../done.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { reasonIn } from '../forms.ts'
import { showScreen } from '../frame.ts'
import { actOnce } from '../once.ts'
import { form, NOTHING, reasonField } from '../parts.ts'
import { batchPath } from '../paths.ts'
import { typedIn } from '../refused.ts'
import { visitorOf } from '../visit.ts'
import { findBatch, nameOf, type OfBatch } from './find-batch.ts'

export function addSteering(pages: Pages, door: ConsoleDoor): void {
  for (const what of ['pause', 'resume', 'cancel'] as const) addAct(pages, door, what)
  pages.get<OfBatch>('/batches/:batch/cancel', { config: { page: 'cancelPage' } }, async (request, reply) => {
    const batch = await findBatch(door, request.params.batch)
    assertSteerable('cancel', batch)
    if (countIn(batch, 'READY') === 0)
      throw new PageError(
        422,
        'All rows were sent, and their answers are awaited: nothing is left to cancel. Nothing was changed.',
      )
    return showScreen(door, request, reply, {
      title: `Cancel what is left of ${nameOf(batch)}`,
      main: cancelling(request, door, batch),
    })
  })
}

function addAct(pages: Pages, door: ConsoleDoor, what: Steering): void {
  pages.post<OfBatch>(`/batches/:batch/${what}`, { config: { page: what } }, async (request, reply) => {
    const batch = await findBatch(door, request.params.batch)
    const reason = reasonIn(request)
    const isNow = await actOnce(door, request, async (once) => {
      assertSteerable(what, batch)
      await once[what](batch.batchId, reason, visitorOf(request).actor, door.app.clock.nowMs())
    })
    const done = { act: what, batch: batch.batchId }
    return redirectDone(door, request, reply, batchPath(batch.batchId), { done, isAgain: !isNow })
  })
}

/** What can be done to it now. What a visitor may not do is said, and not hidden. */
export function steeringForms(
  request: FastifyRequest,
  door: ConsoleDoor,
  batch: BatchView,
  { workers }: Pick<AttentionNow, 'workers'>,
): Html {
  const open = countIn(batch, 'READY') + countIn(batch, 'SENDING')
  const paused = isPaused(batch)
  const isOver = open === 0 || batch.hold === 'cancelled'
  const toLookAt = batch.lateAnswers > 0 || toMendIn(batch).length > 0
  if (isOver && !paused && !toLookAt) return NOTHING
  const title = html`<h2>${titleOf({ isOver, paused, toLookAt })}</h2>`
  if (!visitorOf(request).may('operate'))
    return html`${title}<p>Your roles do not let you pause, resume or cancel it: that takes an operator.</p>`
  const path = batchPath(batch.batchId)
  const waits = waitsForApproval(batch) ? 'Nothing of it is sent before it is approved.' : null
  const goesOn = `It goes on where it stopped${livingWorkers(workers).length === 0 ? ', as soon as a worker runs' : ''}.`
  const left = isOver ? 'Nothing of it waits to be sent.' : (waits ?? 'It is not paused, and goes on as it does.')
  const meaning = paused && !isOver ? (waits ?? goesOn) : `${left} It says that you have looked.`
  const why = (act: Steering, hint: string, label?: string) =>
    reasonField(hint, typedIn(request, `${path}/${act}`), label)
  // Beside the form that pauses it, whose reason is another.
  const found = paused || isOver ? why('resume', 'What did you find?') : why('resume', '', 'What did you find?')
  const resume =
    paused || toLookAt
      ? form(request, door, {
          action: `${path}/resume`,
          fields: html`<p>${meaning} Resuming approves nothing.</p>${found}`,
          button: 'Resume',
        })
      : NOTHING
  const pause =
    paused || isOver
      ? NOTHING
      : form(request, door, {
          action: `${path}/pause`,
          fields: html`<p>Nothing more of it is sent until it is resumed. Requests that are open are answered and recorded.</p>${why('pause', 'It is kept in the history.')}`,
          button: 'Pause',
          kind: 'other',
        })
  const cancel =
    countIn(batch, 'READY') === 0 ? NOTHING : html`<p><a href="${path}/cancel">Cancel what is not sent yet</a></p>`
  return html`${title}${resume}${pause}${cancel}`
}

type Steerable = Readonly<Record<'isOver' | 'paused' | 'toLookAt', boolean>>

function titleOf({ isOver, paused, toLookAt }: Steerable): string {
  if (isOver) return 'Resume'
  if (paused) return 'Resume or cancel'
  return toLookAt ? 'Resume, pause or cancel' : 'Pause or cancel'
}

function cancelling(request: FastifyRequest, door: ConsoleDoor, batch: BatchView): Html {
  const [ready, sending] = [countIn(batch, 'READY'), countIn(batch, 'SENDING')]
  const left = askedText(batch.totals.filter(({ state }) => state === 'READY'))
  const over = batch.rows - ready - sending
  const action = `${batchPath(batch.batchId)}/cancel`
  const fields = html`<p><strong>${left} will not be sent.</strong> ${sending === 0 ? '' : `${plural(sending, 'row is', 'rows are')} open: their answers are awaited and recorded. `}${over === 1 ? '1 row has an outcome already and stays as it is' : `${over} rows have an outcome already and stay as they are`}. This cannot be undone; what was cancelled can be handed in again from the results, as a new batch.</p>${reasonField('It is kept in the history.', typedIn(request, action))}`
  const asked = form(request, door, {
    action,
    fields,
    button: `Cancel ${left}`,
  })
  return html`${asked}<p><a href="${batchPath(batch.batchId)}">Leave it as it is</a></p>`
}
