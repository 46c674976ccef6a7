// tranche webhooks: where events are sent, and what became of them. It writes to the ledger alone; whoever delivers does the sending.

import { parseEventTypes } from '../app/events.ts'
import { assertEndpoint, newEndpoint, newWebhookSecret } from '../app/webhooks.ts'
import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import type { Delivery } from '../domain/webhook.ts'
import { plural } from '../present/text.ts'
import { deliveryLine, endpointLines, toJsonDelivery, toJsonEndpoint } from '../present/webhooks.ts'
import { onLedger } from './on-ledger.ts'
import { parseSince } from './since.ts'
import type { Terminal } from './terminal.ts'

export interface AddArguments {
  readonly events?: string
  readonly merchant?: string
  readonly allowPrivate?: boolean
}

export interface DeliveriesArguments {
  readonly endpoint?: string
  readonly state?: string
  readonly since?: string
  readonly last?: string
}

export interface ReplayArguments {
  readonly endpoint?: string
  readonly since?: string
  readonly until?: string
  readonly delivered?: boolean
}

const NOTHING = 'Nothing was changed.'
const KEEP_IT = 'Keep it where the receiver can read it: it is not shown again. Anyone who has it can forge events.'

export async function addWebhook(app: App, written: string, given: AddArguments, terminal: Terminal): Promise<number> {
  const { merchant = null, allowPrivate: allowsPrivate = false } = given
  const types = given.events === undefined ? null : parseEventTypes('--events', given.events)
  return onLedger(app, async (ledger) => {
    await assertEndpoint(
      ledger,
      { url: written, merchant, allowsPrivate },
      'If it is in your own network: --allow-private',
    )
    const { id, url, secret } = await newEndpoint(written)
    await ledger.addEndpoint({ id, url, secret, types, merchant, allowsPrivate }, app.actor, app.clock.nowMs())
    terminal.object({ id, secret })
    terminal.data(`${id}  ${url}`, `secret: ${secret}`)
    terminal.say(
      KEEP_IT,
      `It receives every event from now on, while a worker or tranche serve runs. Try it: tranche webhooks ping ${id}`,
    )
  })
}

export async function listWebhooks(app: App, terminal: Terminal): Promise<number> {
  return onLedger(app, async (ledger) => {
    const [endpoints, figures] = [await ledger.endpoints(), await ledger.webhookFigures()]
    const pendingOf = (id: string) => figures.find(({ endpointId }) => endpointId === id)?.pending ?? 0
    terminal.object({ endpoints: endpoints.map((one) => toJsonEndpoint(one, pendingOf(one.id))) })
    terminal.data(...endpoints.flatMap((one) => endpointLines(one, pendingOf(one.id))))
    if (endpoints.length === 0) terminal.say('There are no endpoints. Add one: tranche webhooks add URL')
  })
}

export async function removeWebhook(app: App, id: string, terminal: Terminal): Promise<number> {
  return onLedger(app, async (ledger) => {
    assertThere(await ledger.removeEndpoint(id, app.actor, app.clock.nowMs()), id)
    terminal.object({ id, removed: true })
    terminal.say(`${id} is removed: nothing more is sent there, and its secret is deleted.`)
  })
}

export async function enableWebhook(app: App, id: string, terminal: Terminal): Promise<number> {
  return onLedger(app, async (ledger) => {
    assertThere(await ledger.enableEndpoint(id, app.actor, app.clock.nowMs()), id)
    terminal.object({ id, enabled: true })
    terminal.say(
      `${id} is enabled: it is sent all that it missed, in order. What was given up: tranche webhooks replay.`,
    )
  })
}

export async function rotateWebhook(app: App, id: string, terminal: Terminal): Promise<number> {
  return onLedger(app, async (ledger) => {
    const secret = await newWebhookSecret()
    assertThere(await ledger.rotateSecret(id, secret, app.actor, app.clock.nowMs()), id)
    terminal.object({ id, secret })
    terminal.data(`secret: ${secret}`)
    terminal.say(KEEP_IT, 'For a day each body is signed with the secret before as well: change the receiver by then.')
  })
}

export async function pingWebhook(app: App, id: string, terminal: Terminal): Promise<number> {
  return onLedger(app, async (ledger) => {
    assertThere(await ledger.pingEndpoint(id, app.clock.nowMs()), id)
    terminal.object({ id, pinged: true })
    terminal.say(`A running worker sends it within a second. See: tranche webhooks deliveries --endpoint ${id}`)
  })
}

function assertThere(isThere: boolean, id: string): void {
  if (isThere) return
  throw new Fault('usage', `There is no endpoint "${id}". ${NOTHING} tranche webhooks list shows all.`)
}

const SHOWN = 100

export async function listDeliveries(app: App, given: DeliveriesArguments, terminal: Terminal): Promise<number> {
  const asked = {
    endpointId: given.endpoint,
    state: parseState(given.state),
    sinceMs: given.since === undefined ? undefined : parseSince('--since', given.since, 'Nothing was looked up.'),
  }
  const most = parseLast(given.last)
  return onLedger(app, async (ledger) => {
    const deliveries = await ledger.deliveries(asked, most)
    terminal.object({ deliveries: deliveries.map(toJsonDelivery) })
    terminal.data(...deliveries.map(deliveryLine))
    if (deliveries.length === 0) terminal.say('There are no deliveries. Those of the last 30 days are kept.')
  })
}

function parseState(text: string | undefined): Delivery['state'] | undefined {
  if (text === undefined || text === 'pending' || text === 'delivered' || text === 'dead') return text
  throw new Fault('usage', `--state ${text}: write pending, delivered or dead. Nothing was looked up.`)
}

function parseLast(text: string | undefined): number {
  if (text === undefined) return SHOWN
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new Fault('usage', `--last ${text}: write how many deliveries to show, such as 500.`)
}

export async function replayWebhooks(
  app: App,
  eventId: string | undefined,
  given: ReplayArguments,
  terminal: Terminal,
): Promise<number> {
  if (eventId === undefined && given.since === undefined)
    throw new Fault('usage', `Name an event, or with --since the time from which on all is sent again. ${NOTHING}`)
  const momentOf = (option: string, text: string | undefined) =>
    text === undefined ? undefined : parseSince(option, text, NOTHING)
  const asked = {
    ...{ eventId, endpointId: given.endpoint },
    ...{ sinceMs: momentOf('--since', given.since), untilMs: momentOf('--until', given.until) },
  }
  const isUndelivered = eventId === undefined && given.delivered !== true
  return onLedger(app, async (ledger) => {
    const count = await ledger.replay({ ...asked, isUndelivered }, app.actor, app.clock.nowMs())
    terminal.object({ replayed: count })
    terminal.say(
      count === 0
        ? 'Nothing fits, so nothing is sent again. tranche webhooks deliveries shows what there is.'
        : `${plural(count, 'delivery is', 'deliveries are')} tried once more while a worker runs, under the same ids: a receiver that keeps ids notices.`,
    )
  })
}
