// Webhooks: where events are sent, what became of each, and sending them once more. A secret is in the answer that made it, and nowhere else.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { bodyMaker, parseEventTypes } from '../../app/events.ts'
import { assertEndpoint, newEndpoint, newWebhookSecret } from '../../app/webhooks.ts'
import type { DoorActor } from '../../domain/actor.ts'
import { parseMoment } from '../../domain/instant.ts'
import type { Delivery, Endpoint } from '../../domain/webhook.ts'
import type { OnceLedger } from '../../ports/ledger/requests.ts'
import { html } from '../../present/html.ts'
import { redirectDone } from '../done.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { fieldsOf, reasonIn } from '../forms.ts'
import { showScreen } from '../frame.ts'
import { actOnce } from '../once.ts'
import { visitorOf } from '../visit.ts'
import {
  addWebhookForm,
  changesOf,
  deliveriesOf,
  deliveryFacts,
  deliveryPath,
  endpointFacts,
  endpointsTable,
  replayForm,
  replayOneForm,
  secretShown,
  webhookPath,
} from './webhooks-shown.ts'

interface OfWebhook {
  readonly Params: { readonly endpoint: string }
  readonly Querystring: { readonly state?: string }
}
interface OfDelivery {
  readonly Params: { readonly endpoint: string; readonly event: string }
}

const SHOWN_MOST = 100

export function addWebhookPages(pages: Pages, door: ConsoleDoor): void {
  addLooking(pages, door)
  addChanging(pages, door)
  addReplaying(pages, door)
}

function addLooking(pages: Pages, door: ConsoleDoor): void {
  const { app, ledger } = door
  pages.get('/webhooks', { config: { page: 'webhooks' } }, async (request, reply) => {
    const [endpoints, figures] = [await ledger.endpoints(), await ledger.webhookFigures()]
    const main = html`${endpointsTable(endpoints, figures)}${addWebhookForm(request, door)}`
    return showScreen(door, request, reply, { title: 'Webhooks', section: 'Webhooks', main })
  })
  pages.get<OfWebhook>('/webhooks/:endpoint', { config: { page: 'webhook' } }, async (request, reply) => {
    const endpoint = await endpointOf(door, request.params.endpoint)
    const state = stateIn(request.query.state)
    const latest = (asked: Delivery['state'] | undefined, most: number) =>
      ledger.deliveries({ endpointId: endpoint.id, state: asked }, most)
    const [[delivered], deliveries] = [await latest('delivered', 1), await latest(state, SHOWN_MOST)]
    const pending = (await ledger.webhookFigures()).find(({ endpointId }) => endpointId === endpoint.id)?.pending ?? 0
    const main = html`${endpointFacts(endpoint, pending, delivered)}${deliveriesOf(endpoint, deliveries, state, SHOWN_MOST)}${replayForm(request, door, endpoint)}${changesOf(request, door, endpoint)}`
    return showScreen(door, request, reply, { title: `Webhook ${endpoint.id}`, section: 'Webhooks', main })
  })
  pages.get<OfDelivery>(
    '/webhooks/:endpoint/deliveries/:event',
    { config: { page: 'delivery' } },
    async (request, reply) => {
      const endpoint = await endpointOf(door, request.params.endpoint)
      const delivery = await deliveryOf(door, endpoint, request.params.event)
      const [fact] = await ledger.eventsById([delivery.eventId])
      const body = fact === undefined ? null : bodyMaker(app, ledger.ledgerId)(fact)
      const main = html`${deliveryFacts(request, endpoint, delivery, body)}${replayOneForm(request, door, endpoint, delivery)}`
      return showScreen(door, request, reply, { title: `Delivery of ${delivery.type}`, section: 'Webhooks', main })
    },
  )
}

function addChanging(pages: Pages, door: ConsoleDoor): void {
  pages.post('/webhooks', { config: { page: 'addWebhook' } }, async (request, reply) => {
    const wanted = await wantedIn(door, request)
    const endpoint = { ...wanted, ...(await newEndpoint(wanted.url)) }
    const { reason, actor, nowMs } = actingIn(door, request)
    const isDone = await actOnce(door, request, (once) => once.addEndpoint(endpoint, actor, nowMs, reason))
    const main = secretShown(isDone ? endpoint : { id: null, secret: null })
    const done = isDone ? { done: 'The webhook was added: events are sent there from now on. No money moves.' } : {}
    return showScreen(door, request, reply, { title: isDone ? 'The webhook was added' : 'Added before', main, ...done })
  })
  pages.post<OfWebhook>('/webhooks/:endpoint/rotate', { config: { page: 'rotateWebhook' } }, async (request, reply) => {
    const { endpoint: id } = request.params
    const secret = await newWebhookSecret()
    const isDone = await change(door, request, (once, { reason, actor, nowMs }) =>
      once.rotateSecret(id, secret, actor, nowMs, reason),
    )
    const main = secretShown({ id, secret: isDone ? secret : null })
    const done = isDone ? { done: 'A new secret was made: events are signed with it from now on. No money moves.' } : {}
    return showScreen(door, request, reply, {
      title: isDone ? 'A new secret was made' : 'Rotated before',
      main,
      ...done,
    })
  })
  pages.post<OfWebhook>('/webhooks/:endpoint/remove', { config: { page: 'removeWebhook' } }, async (request, reply) => {
    const { endpoint: id } = request.params
    const isNow = await change(door, request, (once, { reason, actor, nowMs }) =>
      once.removeEndpoint(id, actor, nowMs, reason),
    )
    return redirectDone(door, request, reply, '/webhooks', { done: { act: 'remove-webhook', id }, isAgain: !isNow })
  })
  pages.post<OfWebhook>('/webhooks/:endpoint/enable', { config: { page: 'enableWebhook' } }, async (request, reply) => {
    const { endpoint: id } = request.params
    const isNow = await change(door, request, (once, { reason, actor, nowMs }) =>
      once.enableEndpoint(id, actor, nowMs, reason),
    )
    return redirectDone(door, request, reply, webhookPath(id), { done: { act: 'enable-webhook', id }, isAgain: !isNow })
  })
  pages.post<OfWebhook>('/webhooks/:endpoint/ping', { config: { page: 'pingWebhook' } }, async (request, reply) => {
    const { endpoint: id } = request.params
    const isNow = await actOnce(door, request, async (once) =>
      assertThere(await once.pingEndpoint(id, door.app.clock.nowMs())),
    )
    return redirectDone(door, request, reply, webhookPath(id), { done: { act: 'ping-webhook', id }, isAgain: !isNow })
  })
}

function addReplaying(pages: Pages, door: ConsoleDoor): void {
  pages.post<OfWebhook>('/webhooks/:endpoint/replay', { config: { page: 'replayWebhook' } }, async (request, reply) => {
    const { id: endpointId } = await endpointOf(door, request.params.endpoint)
    const asked = { endpointId, sinceMs: momentIn(fieldsOf(request).since ?? ''), isUndelivered: true }
    return replay(door, request, reply, asked, webhookPath(endpointId))
  })
  pages.post<OfDelivery>(
    '/webhooks/:endpoint/deliveries/:event/replay',
    { config: { page: 'replayDelivery' } },
    async (request, reply) => {
      const endpoint = await endpointOf(door, request.params.endpoint)
      const { eventId, endpointId } = await deliveryOf(door, endpoint, request.params.event)
      return replay(door, request, reply, { endpointId, eventId }, deliveryPath(endpointId, eventId))
    },
  )
}

async function replay(
  door: ConsoleDoor,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Parameters<OnceLedger['replay']>[0] & { readonly endpointId: string },
  to: string,
): Promise<FastifyReply> {
  const { reason, actor, nowMs } = actingIn(door, request)
  const isNow = await actOnce(door, request, async (once) => {
    if ((await once.replay(asked, actor, nowMs, reason)) > 0) return
    throw new PageError(422, 'Every delivery since then has arrived, or there was none. Nothing was changed.')
  })
  return redirectDone(door, request, reply, to, { done: { act: 'replay', id: asked.endpointId }, isAgain: !isNow })
}

interface Acting {
  readonly reason: string
  readonly actor: DoorActor
  readonly nowMs: number
}

function actingIn({ app }: ConsoleDoor, request: FastifyRequest): Acting {
  return { reason: reasonIn(request), actor: visitorOf(request).actor, nowMs: app.clock.nowMs() }
}

/** False: it was changed before, by this form. */
function change(
  door: ConsoleDoor,
  request: FastifyRequest<OfWebhook>,
  act: (once: OnceLedger, acting: Acting) => Promise<boolean>,
): Promise<boolean> {
  const acting = actingIn(door, request)
  return actOnce(door, request, async (once) => assertThere(await act(once, acting)))
}

function assertThere(isThere: boolean): void {
  if (!isThere) throw new PageError(404, 'There is no such webhook, or it was removed. Nothing was changed.')
}

async function endpointOf({ ledger }: ConsoleDoor, id: string): Promise<Endpoint> {
  const found = (await ledger.endpoints()).find((one) => one.id === id)
  if (found !== undefined) return found
  throw new PageError(404, 'There is no such webhook, or it was removed. Nothing was changed.')
}

async function deliveryOf({ ledger }: ConsoleDoor, { id: endpointId }: Endpoint, eventId: string): Promise<Delivery> {
  const [found] = eventId === '' ? [] : await ledger.deliveries({ endpointId, eventId }, 1)
  if (found !== undefined) return found
  throw new PageError(404, 'There is no such delivery. Those that ended are kept for 30 days. Nothing was changed.')
}

async function wantedIn({ ledger }: ConsoleDoor, request: FastifyRequest) {
  const { url = '', types = '', merchant = '' } = fieldsOf(request)
  const wanted = {
    url: url.trim(),
    types: types.trim() === '' ? null : parseEventTypes('The list of event types', types),
    merchant: merchant.trim() === '' ? null : merchant.trim(),
    allowsPrivate: false,
  }
  const inOwnNetwork = 'For one in your own network, ask whoever runs this server to add it there'
  await assertEndpoint(ledger, wanted, inOwnNetwork)
  return wanted
}

function stateIn(text: string | undefined): Delivery['state'] | undefined {
  return text === 'pending' || text === 'delivered' || text === 'dead' ? text : undefined
}

function momentIn(text: string): number {
  const atMs = parseMoment(text.trim())
  if (typeof atMs === 'number') return atMs
  throw new PageError(
    422,
    'Write since when, with the offset from UTC, such as 2026-11-21T09:00:00Z or 2026-11-21T10:00:00+01:00. Nothing was changed.',
  )
}
