// What the pages of webhooks show: endpoints, deliveries, and the forms of their acts.

import type { FastifyRequest } from 'fastify'
import type { EventBody } from '../../domain/event.ts'
import type { Delivery, Endpoint, WebhookFigures } from '../../domain/webhook.ts'
import { type Html, html } from '../../present/html.ts'
import type { ConsoleDoor } from '../door.ts'
import { facts, form, freshly, idText, moment, NOTHING, note, reasonField, table } from '../parts.ts'
import { typedIn } from '../refused.ts'
import { visitorOf } from '../visit.ts'

export function webhookPath(id: string): string {
  return `/webhooks/${encodeURIComponent(id)}`
}

export function deliveryPath(endpointId: string, eventId: string): string {
  return `${webhookPath(endpointId)}/deliveries/${encodeURIComponent(eventId)}`
}

// ───────────────────────────────────────────────────────────── Endpoints

const ENDPOINT_COLUMNS = [
  { name: 'Webhook' },
  { name: 'Address', kind: 'text' },
  { name: 'State', kind: 'text' },
  { name: 'Events', kind: 'text' },
  { name: 'To be sent', kind: 'number' },
  { name: 'Oldest of them' },
] as const

export function endpointsTable(endpoints: readonly Endpoint[], figures: readonly WebhookFigures[]): Html {
  if (endpoints.length === 0) return html`<p>There is no webhook: no other program is told of what happens here.</p>`
  const rows = endpoints.map((one) => {
    const figure = figures.find(({ endpointId }) => endpointId === one.id)
    return [
      html`<a href="${webhookPath(one.id)}">${one.id}</a>`,
      html`${one.url}`,
      healthOf(one),
      html`${eventsText(one)}`,
      html`${figure?.pending ?? 0}`,
      moment(figure?.oldestPendingAtMs ?? null),
    ]
  })
  return table('Where events are sent', ENDPOINT_COLUMNS, rows)
}

function healthOf({ disabledAtMs, disabledWhy, failingSinceMs }: Endpoint): Html {
  if (disabledAtMs !== null)
    return html`<strong>disabled</strong> since ${moment(disabledAtMs)}: ${disabledWhy ?? 'no reason is known'}`
  return failingSinceMs === null ? html`working` : html`<strong>failing</strong> since ${moment(failingSinceMs)}`
}

function eventsText({ types, merchant }: Endpoint): string {
  const gets = types === null ? 'all but row.* and access.*' : types.join(', ')
  return merchant === null ? gets : `${gets}; of merchant ${merchant}`
}

export function endpointFacts(endpoint: Endpoint, pending: number, delivered: Delivery | undefined): Html {
  const { url, allowsPrivate, createdAtMs, disabledAtMs, failingSinceMs } = endpoint
  const trouble =
    disabledAtMs !== null
      ? note(
          'refused',
          html`<p>Nothing more is sent there by itself. What happens meanwhile is kept and sent once an administrator enables it.</p>`,
        )
      : failingSinceMs !== null
        ? note(
            'warn',
            html`<p>Every attempt has failed since ${moment(failingSinceMs)}. Each event is tried eleven times within 76 hours; after five days of failures the webhook is disabled.</p>`,
          )
        : NOTHING
  const about = facts([
    ['Address', html`${url}`],
    ['State', healthOf(endpoint)],
    ['Events', html`${eventsText(endpoint)}`],
    ['Network', html`${allowsPrivate ? 'may be private, and without TLS' : 'public, with TLS'}`],
    ['Added', moment(createdAtMs)],
    ['To be sent', html`${pending}`],
    ['Latest event that arrived', delivered === undefined ? html`none is kept` : moment(delivered.lastAtMs)],
  ])
  return html`${trouble}${about}`
}

/** Of what was made just now. null: by the first answer to the form, which showed it. */
export function secretShown({ id, secret }: { readonly id: string | null; readonly secret: string | null }): Html {
  const on =
    id === null
      ? html`<p><a href="/webhooks">Webhooks</a></p>`
      : html`<p><a href="${webhookPath(id)}">Webhook ${id}</a></p>`
  if (secret === null)
    return html`${note('warn', html`<p>This form was sent before, and had its effect then. The secret was in the first answer and is not shown again. If you do not have it, make a new secret on the page of the webhook.</p>`)}${on}`
  return html`${note('plain', html`<p>Keep this secret where the receiver can read it: it is not shown again. Anyone who has it can forge events.</p><p>${idText(secret)}</p>`)}${on}`
}

export function addWebhookForm(request: FastifyRequest, door: ConsoleDoor): Html {
  if (!visitorOf(request).may('administer'))
    return html`<p>Your roles do not let you add or change a webhook: that takes an administrator.</p>`
  const typed = typedIn(request, '/webhooks')
  const { url = '', types = '', merchant = '' } = typed
  const fields = html`<div class="field"><label>Address<span class="hint"> https, outside your own network </span><input name="url" type="url" required autocomplete="off" maxlength="2000" value="${url}"></label></div><div class="field"><label>Event types<span class="hint"> such as batch.*, doubt.opened; empty: all but row.* and access.* </span><input name="types" autocomplete="off" maxlength="1000" value="${types}"></label></div><div class="field"><label>Merchant<span class="hint"> empty: all </span><input name="merchant" autocomplete="off" maxlength="100" value="${merchant}"></label></div>${reasonField('It is kept in the audit.', typed)}<p>It receives the events from now on. The secret with which they are signed is shown once.</p>`
  return html`<h2>Add a webhook</h2>${freshly(request, '/webhooks', () => form(request, door, { action: '/webhooks', fields, button: 'Add the webhook' }), 'add one')}`
}

export function changesOf(request: FastifyRequest, door: ConsoleDoor, endpoint: Endpoint): Html {
  if (!visitorOf(request).may('administer'))
    return html`<p>Your roles do not let you change this webhook: that takes an administrator.</p>`
  const { id, disabledAtMs } = endpoint
  const path = webhookPath(id)
  const act = (name: string, button: string, says: string) =>
    form(request, door, {
      ...{ action: `${path}/${name}`, button, kind: 'other' },
      fields: html`<p>${says}</p>${reasonField('It is kept in the audit.', typedIn(request, `${path}/${name}`))}`,
    })
  const ping = form(request, door, {
    action: `${path}/ping`,
    fields: html`<p>A test event is sent there once, within a second while a worker or server runs. Its delivery stands above.</p>`,
    button: 'Send a test event',
  })
  const enable =
    disabledAtMs === null
      ? NOTHING
      : html`<h2>Enable</h2>${act('enable', 'Enable the webhook', 'It is sent all that it missed, in order. What was given up is sent by “Send again”.')}`
  const forms = () =>
    html`${enable}<h2>New secret</h2>${act('rotate', 'Make a new secret', 'It is shown once. For a day each event is signed with the secret before as well, so that the receiver can be changed. A second new secret within that day ends the first secret at once.')}<h2>Remove</h2>${act('remove', `Remove ${id}`, 'Nothing more is sent there, also what still waits. Its deliveries and its secret are deleted.')}`
  return html`<h2>Test</h2>${ping}${freshly(request, path, forms, 'enable it, make a new secret or remove it')}`
}

// ───────────────────────────────────────────────────────────── Deliveries

const STATES: Readonly<Record<Delivery['state'], string>> = {
  pending: 'to be sent',
  delivered: 'arrived',
  dead: 'given up',
}

const DELIVERY_COLUMNS = [
  { name: 'Event' },
  { name: 'Type', kind: 'text' },
  { name: 'State', kind: 'word' },
  { name: 'Attempts', kind: 'number' },
  { name: 'Last attempt' },
  { name: 'Answer', kind: 'text' },
  { name: 'Next attempt' },
] as const

export function deliveriesOf(
  { id }: Endpoint,
  deliveries: readonly Delivery[],
  state: Delivery['state'] | undefined,
  most: number,
): Html {
  const path = webhookPath(id)
  const link = (name: string, href: string, isShown: boolean) =>
    isShown ? html`<a href="${href}" aria-current="true">${name}</a>` : html`<a href="${href}">${name}</a>`
  const filters = Object.entries(STATES).map(
    ([value, name]) => html` · ${link(name, `${path}?state=${value}`, value === state)}`,
  )
  const rows = deliveries.map((one) => [
    html`<a href="${deliveryPath(id, one.eventId)}">${one.eventId}</a>`,
    html`${one.type}`,
    html`${STATES[one.state]}`,
    html`${one.attempts}`,
    moment(one.lastAtMs),
    html`${answerText(one)}`,
    moment(one.nextAtMs),
  ])
  const shown =
    rows.length === 0
      ? html`<p>There are none. Those that ended are kept for 30 days.</p>`
      : table(rows.length < most ? 'Latest first' : `The latest ${most}`, DELIVERY_COLUMNS, rows)
  return html`<h2>Deliveries</h2><p>${link('all', path, state === undefined)}${filters}</p>${shown}`
}

const ANSWER_CHARACTERS = 80

function answerText({ attempts, httpStatus, said }: Delivery): string {
  if (attempts === 0) return '–'
  const beginning = said === null || said === '' ? '' : ` ${said.slice(0, ANSWER_CHARACTERS).toWellFormed()}`
  return `${httpStatus ?? 'no answer:'}${beginning}`
}

export function deliveryFacts(
  request: FastifyRequest,
  { id, url }: Endpoint,
  delivery: Delivery,
  body: EventBody | null,
): Html {
  const { eventId, type, state, attempts, createdAtMs, lastAtMs, nextAtMs, httpStatus, said, isReplay } = delivery
  const about = facts([
    ['Event', idText(eventId)],
    ['Type', html`${type}`],
    ['Webhook', html`<a href="${webhookPath(id)}">${id}</a>, ${url}`],
    ['State', html`${STATES[state]}${isReplay ? ', once more as a person asked' : ''}`],
    ['Attempts', html`${attempts}`],
    ['Noted', moment(createdAtMs)],
    ['Last attempt', moment(lastAtMs)],
    ['Status of the answer', attempts === 0 ? null : html`${httpStatus ?? 'no answer came'}`],
    ['Next attempt', nextAtMs === null ? null : moment(nextAtMs)],
  ])
  const answer =
    said === null || said === '' ? NOTHING : html`<h2>How the last answer begins</h2><pre tabindex="0">${said}</pre>`
  return html`${about}${answer}<h2>What is sent</h2>${bodyShown(request, body)}`
}

/** It tells of batches and rows. */
function bodyShown(request: FastifyRequest, body: EventBody | null): Html {
  if (!visitorOf(request).may('view'))
    return html`<p>Your roles do not let you read it: it tells of batches and rows.</p>`
  if (body === null) return html`<p>The ledger no longer has this event.</p>`
  return html`<pre tabindex="0">${JSON.stringify(body, null, 2)}</pre>`
}

const ONCE_MORE =
  'The receiver is asked once more, under the same event id: one that keeps ids notices that it has the event already. No money moves.'

/** A replay of the ledger leaves it to its turn. */
const WAITS = 'The webhook is disabled: what still waits is sent when an administrator enables it, not before.'

export function replayForm(request: FastifyRequest, door: ConsoleDoor, { id, disabledAtMs }: Endpoint): Html {
  if (!visitorOf(request).may('operate'))
    return html`<h2>Send again</h2><p>Your roles do not let you send events again: that takes an operator.</p>`
  const action = `${webhookPath(id)}/replay`
  const typed = typedIn(request, action)
  const fields = html`<p>All that have not arrived, of those noted since then. ${ONCE_MORE}${disabledAtMs === null ? '' : ` ${WAITS}`}</p><div class="field"><label>Since<span class="hint"> such as 2026-11-21T09:00:00Z </span><input name="since" required autocomplete="off" maxlength="40" value="${typed.since ?? ''}"></label></div>${reasonField('It is kept in the audit.', typed)}`
  return html`<h2>Send again</h2>${form(request, door, { action, fields, button: 'Send again what has not arrived' })}`
}

export function replayOneForm(
  request: FastifyRequest,
  door: ConsoleDoor,
  { disabledAtMs }: Endpoint,
  { endpointId, eventId, state, isReplay }: Delivery,
): Html {
  if (!visitorOf(request).may('operate'))
    return html`<p>Your roles do not let you send it again: that takes an operator.</p>`
  if (disabledAtMs !== null && state === 'pending' && !isReplay) return html`<p>${WAITS}</p>`
  const action = `${deliveryPath(endpointId, eventId)}/replay`
  const fields = html`<p>${ONCE_MORE}</p>${reasonField('It is kept in the audit.', typedIn(request, action))}`
  return html`<h2>Send again</h2>${form(request, door, { action, fields, button: 'Send this event again' })}`
}
