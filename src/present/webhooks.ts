// Endpoints and deliveries, as lines and as JSON.

import type { Delivery, Endpoint } from '../domain/webhook.ts'

const isoOf = (atMs: number) => new Date(atMs).toISOString()
const isoOrNull = (atMs: number | null) => (atMs === null ? null : isoOf(atMs))

export function toJsonEndpoint(endpoint: Endpoint, pending: number): object {
  const { id, url, types, merchant, allowsPrivate, createdAtMs, disabledAtMs, disabledWhy, failingSinceMs } = endpoint
  return {
    ...{ id, url, events: types, merchant, allow_private: allowsPrivate, created_at: isoOf(createdAtMs), pending },
    ...{ disabled_at: isoOrNull(disabledAtMs), disabled_why: disabledWhy, failing_since: isoOrNull(failingSinceMs) },
  }
}

export function endpointLines(endpoint: Endpoint, pending: number): string[] {
  const { id, url, types, merchant } = endpoint
  const gets = types === null ? 'all but row.* and access.*' : types.join(', ')
  return [
    `${id}  ${url}`,
    `  ${gets}${merchant === null ? '' : ` of ${merchant}`}; ${pending} to be delivered; ${healthText(endpoint)}`,
  ]
}

export function healthText({ disabledAtMs, disabledWhy, failingSinceMs }: Endpoint): string {
  if (disabledAtMs !== null) return `DISABLED since ${isoOf(disabledAtMs)}: ${disabledWhy ?? 'no reason is known'}`
  return failingSinceMs === null ? 'it takes them' : `failing since ${isoOf(failingSinceMs)}`
}

export function toJsonDelivery(delivery: Delivery): object {
  const { eventId, endpointId, type, state, attempts, httpStatus, said } = delivery
  return {
    ...{ event: eventId, endpoint: endpointId, type, state, attempts },
    ...{ created_at: isoOf(delivery.createdAtMs), last_at: isoOrNull(delivery.lastAtMs) },
    ...{ next_at: isoOrNull(delivery.nextAtMs), http_status: httpStatus, answer: said, replay: delivery.isReplay },
  }
}

const SAID_CHARACTERS = 80

export function deliveryLine({
  eventId,
  endpointId,
  type,
  state,
  attempts,
  httpStatus,
  said,
  createdAtMs,
  nextAtMs,
}: Delivery): string {
  const came =
    attempts === 0 ? '' : ` ${httpStatus ?? 'no answer'}${said ? ` "${said.slice(0, SAID_CHARACTERS)}"` : ''}`
  const next = nextAtMs === null ? '' : `; next ${isoOf(nextAtMs)}`
  return `${isoOf(createdAtMs)}  ${endpointId}  ${eventId}  ${type}  ${state} (${attempts})${came}${next}`
}
