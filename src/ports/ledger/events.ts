// The ledger, for whatever tells other programs what happened. The record is the outbox: of rows it tells by their moves, and nothing is
// written for that when they are sent.

import type { EventFact, EventPosition, Held } from '../../domain/event.ts'
import type { BatchId } from '../../domain/ids.ts'

/** Of which rows events are wanted. `doubts`: what opens or ends a doubt; `asked`: rows for which a queue is named. */
export type RowsAsked = 'all' | 'doubts' | 'asked'

export interface EventPage {
  readonly facts: readonly EventFact[]
  readonly reached: EventPosition
}

export interface EventLedger {
  /**
   * Notes what the record says of batches, accounts and refused messages since it was called last. Whoever reads events calls it first;
   * calling it twice notes nothing twice.
   */
  gatherEvents(nowMs: number): Promise<void>
  /** Nothing that is written later comes before it. */
  eventsEnd(): Promise<EventPosition>
  /**
   * In one order for ever, those after the one position up to the other. A look goes only so far that others can use the connection
   * meanwhile: ask again from the position that it reached, until that is `upTo`.
   */
  events(after: EventPosition, upTo: EventPosition, asked?: RowsAsked): Promise<EventPage>
  /** From where the event with this id comes first, or nearly; null: the ledger has none such. */
  positionBefore(id: string): Promise<EventPosition | null>
  /** Those of them that there are. */
  eventsById(ids: readonly string[]): Promise<readonly EventFact[]>
  /** What holds the rows of the batch that wait; null: nothing. */
  heldBy(batchId: BatchId): Promise<Held | null>
  /** Whether any message ever named a queue. */
  isAnyQueueAsked(): Promise<boolean>
  /** Up to where queues for outcomes have been told. */
  publishedUpTo(): Promise<EventPosition>
  keepPublished(position: EventPosition): Promise<void>
  /** When the first row ended, or came into doubt, that queues are not told of yet: one that names a queue, or one of this merchant. null: none. */
  untoldSinceMs(merchant: string | null): Promise<number | null>
  /** One process at a time tells either kind. Resolves to what lets the next one; null: another does. It ends with its process. */
  holdDelivery(to: ToldTo): Promise<DeliveryHold | null>
}

/** Queues need a Redis, webhooks none: a process without one must not keep another from telling queues. */
export type ToldTo = 'queues' | 'webhooks'

export interface DeliveryHold {
  /** Whether it is still held, for all that this process knows. */
  isHeld(): boolean
  release(): void
}
