// Endpoints of webhooks, and what became of the deliveries to them.

import type { FastifyRequest } from 'fastify'
import * as z from 'zod'
import { endpointFault, newEndpoint } from '../../app/webhooks.ts'
import { seesMerchant } from '../../domain/api-key.ts'
import { isEventPattern } from '../../domain/event.ts'
import type { Endpoint } from '../../domain/webhook.ts'
import { isLoopback } from '../../files/networks.ts'
import { toJsonDelivery, toJsonEndpoint } from '../../present/webhooks.ts'
import { callerOf, type Door, type Server } from '../door.ts'
import { answerOnce } from '../once.ts'
import { answerPage, pageOf } from '../pages.ts'
import { notFound, ProblemError } from '../problems.ts'
import { addRoute } from '../route.ts'
import { DELIVERY, ENDPOINT, LENGTH_FIRST } from '../schemas.ts'
import { assertMayFollow } from './events.ts'

const ID = z.string().regex(/^ep_[0-9a-z]{1,40}$/)
const TYPES = z.array(z.string().max(64, LENGTH_FIRST).refine(isEventPattern, 'is no type of an event')).min(1).max(50)
const NEW = z.strictObject({
  url: z.string().max(2_000).describe('https, and not in a private or reserved network.'),
  events: TYPES.optional().describe(
    'Types or groups, such as `batch.*`; absent: all but `row.*` and `access.*`. Those of `access.*` need the scope `audit:read` too.',
  ),
  merchant: z.string().min(1).max(100).optional().describe('Only its events; a key of some merchants must name one.'),
})
const REPLAY = z.strictObject({
  endpoint: ID,
  event: z.string().max(64).optional(),
  since: z.iso.datetime({ offset: true }).optional().describe('Those that are not delivered, since then.'),
  until: z.iso.datetime({ offset: true }).optional(),
  delivered: z.boolean().default(false).describe('Those that were delivered as well.'),
})
const LISTED = z.strictObject({
  endpoint: ID.optional(),
  state: z.enum(['pending', 'delivered', 'dead']).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
})

type Request = Pick<FastifyRequest, 'caller'>

export function addEndpoints(server: Server, door: Door): void {
  const { ledger } = door
  const seen = async (request: Request): Promise<readonly Endpoint[]> => {
    const { key } = callerOf(request)
    const isSeen = ({ merchant }: Endpoint) =>
      key.merchants === null || (merchant !== null && seesMerchant(key, merchant))
    return (await ledger.endpoints()).filter(isSeen)
  }
  addRoute(server, 'listEndpoints', {
    summary: 'Endpoints of webhooks',
    replies: { 200: pageOf(ENDPOINT) },
    answer: async ({ request }) =>
      answerPage<object, never>(door, request, { limit: 200 }, async () => {
        const figures = new Map((await ledger.webhookFigures()).map((one) => [one.endpointId, one.pending]))
        return { data: (await seen(request)).map((one) => toJsonEndpoint(one, figures.get(one.id) ?? 0)), next: null }
      }),
  })
  addAdding(server, door)
  const shown = async (request: Request, id: string): Promise<void> => {
    if (!(await seen(request)).some((one) => one.id === id)) throw notFound('There is no such endpoint.')
  }
  addRoute(server, 'removeEndpoint', {
    summary: 'Send nothing there any more, and forget what was still to be sent',
    params: z.strictObject({ endpoint: ID }),
    replies: { 200: z.object({ id: z.string(), removed: z.literal(true) }) },
    async answer({ params: { endpoint: id }, request, reply }) {
      return answerOnce(door, request, reply, {
        async act(once) {
          await shown(request, id)
          await once.removeEndpoint(id, callerOf(request).actor, door.app.clock.nowMs())
          return {}
        },
        show: async () => ({ id, removed: true }),
      })
    },
  })
  addDeliveries(server, door, { seen, shown })
}

/** A developer's program listens beside the sandbox that it tries. */
function isOwnMachine(url: string): boolean {
  return URL.canParse(url) && isLoopback(new URL(url).hostname)
}

function addAdding(server: Server, door: Door): void {
  const { app, ledger } = door
  addRoute(server, 'addEndpoint', {
    summary: 'Send events there from now on',
    description:
      'The secret is in the first answer alone: bodies are signed with it as Standard Webhooks says. Endpoints in a private network are added at the machine; a sandbox takes those of its own machine.',
    body: NEW,
    replies: { 201: ENDPOINT.extend({ secret: z.string().optional() }) },
    async answer({ body: { url: written, events: types = null, merchant = null }, request, reply }) {
      const { key, actor } = callerOf(request)
      assertMayFollow(key, types)
      const isTheirs = merchant === null ? key.merchants === null : seesMerchant(key, merchant)
      const allowsPrivate = door.isSandbox === true && isOwnMachine(written)
      const fault = isTheirs ? await endpointFault(ledger, { url: written, merchant, allowsPrivate }) : null
      if (!isTheirs || fault?.of === 'merchant') throw notFound('There is no such merchant.')
      if (fault !== null) throw urlProblem(fault.why)
      const { id, url, secret } = await newEndpoint(written)
      reply.code(201)
      return answerOnce(door, request, reply, {
        async act(once) {
          await once.addEndpoint({ id, url, secret, types, merchant, allowsPrivate }, actor, app.clock.nowMs())
          return { id }
        },
        async show({ id: kept }) {
          const found = (await ledger.endpoints()).find((one) => one.id === kept)
          if (found === undefined) throw notFound('The endpoint was removed since.')
          return { ...toJsonEndpoint(found, 0), ...(kept === id && { secret }) }
        },
      })
    },
  })
}

function urlProblem(fault: string): ProblemError {
  return new ProblemError('request_invalid', 'The address cannot be asked. No endpoint was added.', {
    errors: [{ pointer: '/url', field: 'url', code: 'invalid', detail: fault }],
  })
}

interface Seeing {
  readonly seen: (request: Request) => Promise<readonly Endpoint[]>
  readonly shown: (request: Request, id: string) => Promise<void>
}

function addDeliveries(server: Server, door: Door, { seen, shown }: Seeing): void {
  const { app, ledger } = door
  addRoute(server, 'listDeliveries', {
    summary: 'What was sent to endpoints, what is still to be sent, and what was given up; the latest first',
    query: LISTED,
    replies: { 200: pageOf(DELIVERY) },
    answer: async ({ query: { endpoint: endpointId, state, limit }, request }) =>
      answerPage<object, never>(door, request, { limit }, async () => {
        const ids = (await seen(request))
          .map(({ id }) => id)
          .filter((id) => endpointId === undefined || id === endpointId)
        const found = await Promise.all(ids.map((id) => ledger.deliveries({ endpointId: id, state }, limit)))
        const latest = found.flat().toSorted((one, other) => other.createdAtMs - one.createdAtMs)
        return { data: latest.slice(0, limit).map(toJsonDelivery), next: null }
      }),
  })
  addRoute(server, 'replayDeliveries', {
    summary: 'Send again: one event, or all that is not delivered, under the same ids',
    body: REPLAY,
    replies: { 200: z.object({ replayed: z.int() }) },
    async answer({ body, request, reply }) {
      const { endpoint: endpointId, event: eventId, since, until, delivered } = body
      await shown(request, endpointId)
      if (eventId === undefined && since === undefined)
        throw new ProblemError('request_invalid', 'Name an event, or since when. Nothing was changed.')
      const momentOf = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text))
      const asked = { endpointId, eventId, sinceMs: momentOf(since), untilMs: momentOf(until) }
      const isUndelivered = eventId === undefined && !delivered
      return answerOnce(door, request, reply, {
        async act(once) {
          const { actor } = callerOf(request)
          return { count: await once.replay({ ...asked, isUndelivered }, actor, app.clock.nowMs()) }
        },
        show: async ({ count = 0 }) => ({ replayed: Number(count) }),
      })
    },
  })
}
