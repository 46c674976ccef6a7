// Reading events, and how far queues for outcomes have been told.

import type { EventPosition } from '../../../domain/event.ts'
import type { EventLedger } from '../../../ports/ledger/events.ts'
import { type Engine, FAULTING } from '../engine.ts'
import { change, one, type Script } from '../script.ts'
import { gather, hasNews } from './gather.ts'
import { endOf, eventsBetween, factsOf } from './page.ts'

const PUBLISHED = "SELECT move, event FROM told_up_to WHERE reader = 'queues'"
const KEEP = "UPDATE told_up_to SET move = :move, event = :event WHERE reader = 'queues'"

export function eventsOn(engine: Engine, ledgerId: string): Omit<EventLedger, 'holdDelivery'> {
  return {
    async gatherEvents(nowMs) {
      if (await engine.read(hasNews)) await engine.write(() => gather(nowMs), FAULTING)
    },
    async eventsEnd() {
      // Ids are given before their rows are committed: only at a moment at which nothing is written the last one is the last.
      return engine.read(endOf, 'settled')
    },
    events: (after, upTo, limit) => engine.read(() => eventsBetween(ledgerId, after, upTo, limit)),
    async positionBefore(id) {
      const [fact] = await engine.read(() => factsOf(ledgerId, id))
      if (fact === undefined) return null
      const { move, event } = fact.at
      return id.startsWith('e') ? { move, event: event - 1 } : { move: move - 1, event }
    },
    eventsById: (ids) =>
      engine.read(function* () {
        const facts = []
        for (const id of ids) facts.push(...(yield* factsOf(ledgerId, id)))
        return facts
      }),
    publishedUpTo: () => engine.read(published),
    keepPublished: ({ move, event }) => engine.write(() => change(KEEP, { move, event }), FAULTING),
  }
}

function* published(): Script<EventPosition> {
  return (yield* one<EventPosition>(PUBLISHED))!
}
