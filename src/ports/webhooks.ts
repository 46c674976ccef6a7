// What sends webhooks, and what hands outcomes to queues, for whoever delivers.

import type { EventBody } from '../domain/event.ts'
import type { SigningEndpoint } from '../domain/webhook.ts'

export interface WebhookAnswer {
  /** null: none came. */
  readonly httpStatus: number | null
  /** The first of it, scrubbed, or why there was none. */
  readonly said: string
  /** As it stands in the answer. */
  readonly retryAfter: string | null
}

export interface WebhookSender {
  /** One attempt, over within seconds. It never rejects. */
  send(
    endpoint: Pick<SigningEndpoint, 'url' | 'secrets' | 'allowsPrivate'>,
    eventId: string,
    body: string,
    nowMs: number,
  ): Promise<WebhookAnswer>
  close(): Promise<void>
}

export interface OutcomeQueues {
  /** Rejects where they could not be handed over for certain: they are handed over again, with the same ids. */
  publish(queue: string, bodies: readonly EventBody[]): Promise<void>
  close(): Promise<void>
}
