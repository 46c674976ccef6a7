// Hands outcomes to the queues that asked for them, each at least once, in the order of the record. What Redis has and loses before a service
// took it is not handed over again: the events of the record have it.

import { type EventBody, type EventFact, type EventPosition, isForProducers } from '../domain/event.ts'
import type { EventLedger } from '../ports/ledger/events.ts'
import type { OutcomeQueues } from '../ports/webhooks.ts'

export interface PublishingParts {
  readonly ledger: Pick<EventLedger, 'events' | 'publishedUpTo' | 'keepPublished' | 'isAnyQueueAsked'>
  readonly queues: OutcomeQueues
  readonly bodyOf: (fact: EventFact) => EventBody
  /** A queue that is told of everything of a merchant; null: none. */
  readonly standingQueueOf: (merchant: string) => string | null
  /** Whether any merchant has one. */
  readonly hasStanding: boolean
}

/** What was passed over without a word is remembered so often that a restart does not look at all of it again. */
const KEPT_EVERY_MOVES = 50_000

export interface Publishing {
  /** Resolves when all up to there is handed over; rejects where a queue cannot take it now. */
  publish(upTo: EventPosition): Promise<void>
}

export function createPublishing(parts: PublishingParts): Publishing {
  const { ledger, hasStanding } = parts
  let at: EventPosition | null = null
  let keptAt = 0

  async function keep(position: EventPosition): Promise<void> {
    await ledger.keepPublished(position)
    keptAt = position.move
  }

  return {
    async publish(upTo) {
      if (at === null) {
        at = await ledger.publishedUpTo()
        keptAt = at.move
      }
      if (!isBehind(upTo, at)) return
      const isAsked = hasStanding || (await ledger.isAnyQueueAsked())
      while (isAsked && isBehind(upTo, at)) {
        const { facts, reached } = await ledger.events(at, upTo, hasStanding ? 'all' : 'asked')
        const told = await hand(facts, parts)
        at = reached
        if (told > 0 || at.move - keptAt >= KEPT_EVERY_MOVES) await keep(at)
      }
      at = upTo
      if (at.move - keptAt >= KEPT_EVERY_MOVES) await keep(at)
    },
  }
}

export function isBehind(later: EventPosition, earlier: EventPosition): boolean {
  return later.move > earlier.move || later.event > earlier.event
}

async function hand(facts: readonly EventFact[], parts: PublishingParts): Promise<number> {
  const byQueue = Map.groupBy(
    facts
      .filter(({ type }) => isForProducers(type))
      .flatMap((fact) => queuesOf(fact, parts).map((queue) => ({ queue, fact }))),
    ({ queue }) => queue,
  )
  for (const [queue, told] of byQueue)
    await parts.queues.publish(
      queue,
      told.map(({ fact }) => parts.bodyOf(fact)),
    )
  return byQueue.size
}

function queuesOf({ replyTo, merchant }: EventFact, { standingQueueOf }: PublishingParts): readonly string[] {
  const standing = merchant === null ? null : standingQueueOf(merchant)
  return [...new Set(standing === null ? replyTo : [...replyTo, standing])]
}
