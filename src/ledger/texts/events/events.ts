// Reading events, and how far queues for outcomes have been told.

import type { EventPosition } from '../../../domain/event.ts'
import type { EventLedger } from '../../../ports/ledger/events.ts'
import { type Engine, FAULTING } from '../engine.ts'
import { change, exists, one, type Script } from '../script.ts'
import { gather, hasNews } from './gather.ts'
import { heldBy } from './held.ts'
import { endOf, eventsBetween, factsOf, IS_TOLD, NAMES_QUEUE } from './page.ts'

const PUBLISHED = "SELECT move, event FROM told_up_to WHERE reader = 'queues'"
const ANY_QUEUE = `
    SELECT 1 AS n WHERE EXISTS (SELECT 1 FROM reply_to) OR EXISTS (SELECT 1 FROM refused WHERE reply_to IS NOT NULL)`
const UNTOLD = `
    SELECT m.at AS "atMs" FROM move m
    WHERE m.id > coalesce((SELECT move FROM told_up_to WHERE reader = 'queues'), 0) AND ${IS_TOLD} AND (${NAMES_QUEUE} OR EXISTS (
      SELECT 1 FROM instruction i JOIN account a ON a.id = i.account_id WHERE i.id = m.row_id AND a.name = :merchant))
    ORDER BY m.id LIMIT 1`
const KEEP = `
    INSERT INTO told_up_to (reader, move, event) VALUES ('queues', :move, :event)
    ON CONFLICT (reader) DO UPDATE SET move = excluded.move, event = excluded.event`

/** `seal`: brings the chain up to what is committed, where each commit does not do so itself. */
export function eventsOn(
  engine: Engine,
  ledgerId: string,
  seal: () => Promise<void> = async () => {},
): Omit<EventLedger, 'holdDelivery'> {
  let settled: EventPosition | null = null
  return {
    async gatherEvents(nowMs) {
      if (!(await engine.read(hasNews))) return
      await seal() // the head that an event tells binds what it tells of
      await engine.write(() => gather(nowMs), FAULTING)
    },
    async eventsEnd() {
      const seen = await engine.read(endOf)
      // Nothing came since: what is below was settled then.
      if (seen.move === settled?.move && seen.event === settled.event) return seen
      // Ids are given before their rows are committed: only at a moment at which nothing is written the last one is the last.
      settled = await engine.read(endOf, 'settled')
      return settled
    },
    events: (after, upTo, asked = 'all') => engine.read(() => eventsBetween(ledgerId, after, upTo, asked)),
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
    heldBy: (batchId) => engine.read(() => heldBy(batchId)),
    isAnyQueueAsked: () => engine.read(() => exists(ANY_QUEUE)),
    publishedUpTo: () => engine.read(published),
    untoldSinceMs: (merchant) =>
      engine.read(function* () {
        if (merchant === null && !(yield* exists('SELECT 1 AS n FROM reply_to LIMIT 1'))) return null
        return (yield* one<{ atMs: number }>(UNTOLD, { merchant: merchant ?? '' }))?.atMs ?? null
      }),
    keepPublished: ({ move, event }) => engine.write(() => change(KEEP, { move, event }), FAULTING),
  }
}

function* published(): Script<EventPosition> {
  return (yield* one<EventPosition>(PUBLISHED)) ?? { move: 0, event: 0 }
}
