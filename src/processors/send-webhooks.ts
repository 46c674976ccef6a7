// Delivers events to endpoints: what is to be delivered is noted first, then sent, and sent again until it is taken or given up. One
// endpoint that is dead takes a few places of its own, and holds up nobody else.

import { type EventBody, type EventFact, type EventPosition, isAskedFor, ROW_EVENTS } from '../domain/event.ts'
import { type Delivery, type DeliveryResult, isTaken, retryAfterMs, type SigningEndpoint } from '../domain/webhook.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLedger } from '../ports/ledger/events.ts'
import type { WebhookLedger } from '../ports/ledger/webhooks.ts'
import type { Log } from '../ports/log.ts'
import type { WebhookSender } from '../ports/webhooks.ts'
import { atMost } from './at-most.ts'
import { isBehind } from './publish-outcomes.ts'

export interface WebhookParts {
  readonly ledger: Pick<EventLedger, 'events' | 'eventsById'> &
    Pick<WebhookLedger, 'takenUpTo' | 'takeDeliveries' | 'dueDeliveries' | 'settleDeliveries'>
  readonly clock: Clock
  readonly log: Log
  readonly sender: WebhookSender
  readonly bodyOf: (fact: EventFact) => EventBody
  readonly random: () => number
  readonly onAttempt: (endpointId: string, result: 'delivered' | 'failed') => void
}

export interface Webhooks {
  /** Notes what is new for these endpoints, and sees to it that what is due is being sent. */
  look(endpoints: readonly SigningEndpoint[], upTo: EventPosition): Promise<void>
  /** Lets what is due go out for a few seconds, then cuts off what is open: it is sent again, with the same ids. */
  stop(): Promise<void>
}

const AT_ONCE_OF_ONE = 4
const AT_ONCE = 32
/** They share a commit. */
const TAKEN_AT_ONCE = 64
const KEPT_EVERY_MOVES = 50_000
const LAST_MS = 3_000

export function createWebhooks(parts: WebhookParts): Webhooks {
  const { log, clock, sender } = parts
  const permits = createPermits(AT_ONCE)
  const running = new Map<string, Promise<void>>()
  const reached = new Map<string, EventPosition>()
  const stopping = new AbortController()

  return {
    async look(endpoints, upTo) {
      for (const endpoint of endpoints) {
        const { id, disabledAtMs } = endpoint
        if (disabledAtMs === null) await take(endpoint, upTo, reached, parts)
        if (running.has(id) || stopping.signal.aborted) continue
        const sending = deliver(endpoint, permits, stopping.signal, parts)
          .catch((error: unknown) => log.error({ err: error, endpoint: id }, 'webhooks: they are tried again'))
          .finally(() => running.delete(id))
        running.set(id, sending)
      }
    },
    async stop() {
      const over = Promise.all(running.values())
      await atMost(clock, LAST_MS, over)
      stopping.abort()
      await sender.close()
      await over
    },
  }
}

/** A page at a time, with how far it reaches in the same transaction: nothing is left out, and nothing noted twice. */
async function take(
  { id, types, merchant }: SigningEndpoint,
  upTo: EventPosition,
  reached: Map<string, EventPosition>,
  { ledger, clock }: WebhookParts,
): Promise<void> {
  const rows = ROW_EVENTS.some((type) => isAskedFor(type, types)) ? 'all' : 'doubts'
  let at = reached.get(id) ?? (await ledger.takenUpTo(id))
  for (let keptAt = at; at !== null && isBehind(upTo, at); ) {
    const page = await ledger.events(at, upTo, rows)
    const wanted = page.facts.filter(
      (fact) => isAskedFor(fact.type, types) && (merchant === null || fact.merchant === merchant),
    )
    at = page.reached
    if (wanted.length > 0 || at.move - (keptAt?.move ?? 0) >= KEPT_EVERY_MOVES) {
      await ledger.takeDeliveries(id, wanted, at, clock.nowMs())
      keptAt = at
    }
    reached.set(id, at)
  }
}

async function deliver(
  endpoint: SigningEndpoint,
  permits: Permits,
  stopped: AbortSignal,
  parts: WebhookParts,
): Promise<void> {
  const { ledger, clock, log } = parts
  const { id, url } = endpoint
  let isFailing = endpoint.failingSinceMs !== null
  while (!stopped.aborted) {
    const due = await ledger.dueDeliveries(id, clock.nowMs(), isFailing ? 1 : TAKEN_AT_ONCE)
    if (due.length === 0) return
    const facts = new Map((await ledger.eventsById(due.map(({ eventId }) => eventId))).map((fact) => [fact.id, fact]))
    const results = await sendAll(endpoint, due, facts, { permits, stopped, parts })
    if (results.length === 0) return // cut off
    isFailing = results.some(({ httpStatus }) => !isTaken(httpStatus))
    const changed = await ledger.settleDeliveries(id, results, clock.nowMs(), parts.random)
    for (const { httpStatus } of results) parts.onAttempt(id, isTaken(httpStatus) ? 'delivered' : 'failed')
    if (changed === 'disabled') {
      log.error({ endpoint: id, url }, 'a webhook endpoint is disabled: it gets nothing more until a person enables it')
      return
    }
    if (changed === 'recovered') log.info({ endpoint: id, url }, 'a webhook endpoint takes events again')
  }
}

interface Sending {
  readonly permits: Permits
  readonly stopped: AbortSignal
  readonly parts: WebhookParts
}

/** Behind one that was not taken the others are left for later: its endpoint is asked with one at a time first. */
async function sendAll(
  endpoint: SigningEndpoint,
  due: readonly Delivery[],
  facts: ReadonlyMap<string, EventFact>,
  { permits, stopped, parts }: Sending,
): Promise<DeliveryResult[]> {
  const { clock, sender, bodyOf } = parts
  const results: DeliveryResult[] = []
  const left = [...due]
  let hasFailed = false
  async function sendOn(): Promise<void> {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      if (hasFailed || stopped.aborted) return
      const release = await permits.acquire()
      try {
        const result = await sendOne(next.eventId, facts.get(next.eventId))
        // What was cut off by our own end is sent again, with the same id.
        if (stopped.aborted && result.httpStatus === null) return
        results.push(result)
        hasFailed ||= !isTaken(result.httpStatus)
      } finally {
        release()
      }
    }
  }
  async function sendOne(eventId: string, fact: EventFact | undefined): Promise<DeliveryResult> {
    if (fact === undefined)
      return { eventId, httpStatus: null, said: 'the ledger has no such event', askedToWaitMs: null }
    const nowMs = clock.nowMs()
    const { httpStatus, said, retryAfter } = await sender.send(endpoint, eventId, JSON.stringify(bodyOf(fact)), nowMs)
    return { eventId, httpStatus, said, askedToWaitMs: retryAfterMs(retryAfter, nowMs) }
  }
  await Promise.all(Array.from({ length: AT_ONCE_OF_ONE }, sendOn))
  return results
}

interface Permits {
  /** Resolves to what gives it back. */
  acquire(): Promise<() => void>
}

function createPermits(most: number): Permits {
  let free = most
  const waiting: Array<() => void> = []
  const release = () => {
    const next = waiting.shift()
    if (next === undefined) free += 1
    else next()
  }
  return {
    async acquire() {
      if (free > 0) free -= 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      return release
    },
  }
}
