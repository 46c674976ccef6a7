// Webhooks: endpoints, when a delivery is tried again, and when an endpoint is given up. Pure.

import type { BatchId } from './ids.ts'

export interface Endpoint {
  readonly id: string
  readonly url: string
  /** Types and groups of them; null: all but `row.*` and `access.*`. */
  readonly types: readonly string[] | null
  /** null: of all merchants. */
  readonly merchant: string | null
  /** It may be in a private network, and without TLS. */
  readonly allowsPrivate: boolean
  readonly createdAtMs: number
  readonly disabledAtMs: number | null
  readonly disabledWhy: string | null
  /** Since when every attempt has failed; null: the last one did not. */
  readonly failingSinceMs: number | null
}

/** The endpoint with what its bodies are signed with; the one before it for a day after a rotation. */
export interface SigningEndpoint extends Endpoint {
  readonly secrets: readonly string[]
}

export type DeliveryState = 'pending' | 'delivered' | 'dead'

export interface Delivery {
  readonly endpointId: string
  readonly eventId: string
  readonly type: string
  readonly batchId: BatchId | null
  readonly state: DeliveryState
  readonly attempts: number
  readonly nextAtMs: number | null
  readonly createdAtMs: number
  readonly lastAtMs: number | null
  readonly httpStatus: number | null
  /** The first of the answer, scrubbed, or why there was none. */
  readonly said: string | null
  /** It is sent once more because a person asked: one attempt, which says nothing of the endpoint's health. */
  readonly isReplay: boolean
}

/** How one attempt ended. */
export interface DeliveryResult {
  readonly eventId: string
  /** null: no answer came. */
  readonly httpStatus: number | null
  readonly said: string
  /** From Retry-After; null: it did not ask. */
  readonly askedToWaitMs: number | null
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
export const DAY_MS = 24 * HOUR

/** Before each attempt, from the one before it: eleven in 76 hours. */
export const SCHEDULE_MS = [
  ...[0, 5 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR),
]
const SPREAD = 0.1
const RETRY_AFTER_MOST_MS = DAY_MS
/** Of failures only, after which an endpoint is asked nothing more. */
const DISABLED_AFTER_MS = 5 * DAY_MS
/** An endpoint that has failed for less is not told of when it answers again. */
export const RECOVERED_AFTER_MS = HOUR
/** So long an earlier secret is signed with as well. */
export const EARLIER_SECRET_MS = 24 * HOUR

export function isTaken(httpStatus: number | null): boolean {
  return httpStatus !== null && httpStatus >= 200 && httpStatus < 300
}

/** When the attempt after the `attempts` that failed is made; null: there is none. `random`: from 0 to below 1. */
export function nextAttemptMs(
  attempts: number,
  askedToWaitMs: number | null,
  nowMs: number,
  random: number,
): number | null {
  const delay = SCHEDULE_MS[attempts]
  if (delay === undefined) return null
  const spread = Math.round(delay * (1 - SPREAD + 2 * SPREAD * random))
  return nowMs + Math.max(spread, Math.min(askedToWaitMs ?? 0, RETRY_AFTER_MOST_MS))
}

/** The three forms of dates in HTTP begin with the name of the day. */
const HTTP_DATE = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i

/** Seconds or a date, as milliseconds from now; null: it says nothing that can be read. */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text) * SECOND, RETRY_AFTER_MOST_MS)
  const atMs = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(atMs) ? null : Math.min(Math.max(0, atMs - nowMs), RETRY_AFTER_MOST_MS)
}

/** Why the endpoint gets nothing more; null: it does. */
export function whyDisabled(httpStatus: number | null, failingSinceMs: number, nowMs: number): string | null {
  if (httpStatus === 410) return 'it answered 410: it wants no more'
  return nowMs - failingSinceMs >= DISABLED_AFTER_MS ? 'every attempt of five days failed' : null
}

export interface WebhookFigures {
  readonly endpointId: string
  readonly pending: number
  readonly oldestPendingAtMs: number | null
  readonly disabled: boolean
}
