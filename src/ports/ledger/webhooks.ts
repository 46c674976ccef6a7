// The ledger, for webhooks: where events go, what is still to be delivered, and what became of it.

import type { Actor } from '../../domain/actor.ts'
import type { EventPosition } from '../../domain/event.ts'
import type { Delivery, DeliveryResult, Endpoint, SigningEndpoint, WebhookFigures } from '../../domain/webhook.ts'

export interface NewEndpoint {
  readonly id: string
  readonly url: string
  readonly secret: string
  readonly types: readonly string[] | null
  readonly merchant: string | null
  readonly allowsPrivate: boolean
}

/** Which deliveries are meant. Absent: whichever. */
export interface DeliveriesAsked {
  readonly endpointId?: string | undefined
  readonly eventId?: string | undefined
  readonly state?: Delivery['state'] | undefined
  /** Pending or dead. */
  readonly isUndelivered?: boolean
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
}

export interface WebhookLedger {
  /** It is told of what happens from now on. Resolves to its id. `reason`, here and below: why, as a person wrote it. */
  addEndpoint(endpoint: NewEndpoint, actor: Actor, nowMs: number, reason?: string): Promise<string>
  endpoints(): Promise<readonly Endpoint[]>
  /** false: there is none with this id. So of all below. */
  removeEndpoint(id: string, actor: Actor, nowMs: number, reason?: string): Promise<boolean>
  /** The secret before is signed with as well for a day. */
  rotateSecret(id: string, secret: string, actor: Actor, nowMs: number, reason?: string): Promise<boolean>
  /** It goes on where it was disabled. */
  enableEndpoint(id: string, actor: Actor, nowMs: number, reason?: string): Promise<boolean>
  /** For this endpoint alone, once. */
  pingEndpoint(id: string, nowMs: number): Promise<boolean>
  /** Latest first, at most `most`. */
  deliveries(asked: DeliveriesAsked, most: number): Promise<readonly Delivery[]>
  /**
   * Sends again what fits, also what was delivered, and also where the endpoint is disabled. One event that is named may be older than
   * the endpoint. Resolves to how many.
   */
  replay(asked: DeliveriesAsked, actor: Actor, nowMs: number, reason?: string): Promise<number>

  /** With their secrets, for whoever signs. */
  signingEndpoints(nowMs: number): Promise<readonly SigningEndpoint[]>
  /** How far its events have been taken. */
  takenUpTo(endpointId: string): Promise<EventPosition | null>
  /** Notes these as to be delivered, in one transaction with how far they reach. */
  takeDeliveries(
    endpointId: string,
    events: readonly { readonly id: string; readonly type: string }[],
    upTo: EventPosition,
    nowMs: number,
  ): Promise<void>
  /** Those that are due, by when; of a disabled endpoint replays alone. */
  dueDeliveries(endpointId: string, nowMs: number, most: number): Promise<readonly Delivery[]>
  /** What became of one attempt each. Answers with what changed for the endpoint. `random`: from 0 to below 1. */
  settleDeliveries(
    endpointId: string,
    results: readonly DeliveryResult[],
    nowMs: number,
    random: () => number,
  ): Promise<'disabled' | 'recovered' | null>
  /** Delivered ones and dead ones that are older are forgotten, a few hundred at a time. */
  forgetDeliveries(beforeMs: number): Promise<void>
  webhookFigures(): Promise<readonly WebhookFigures[]>
}
