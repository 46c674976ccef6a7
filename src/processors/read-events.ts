// Reads events for whoever asks for those after one that it knows.

import { type EventFact, type EventPosition, type EventType, isAskedFor, ROW_EVENTS } from '../domain/event.ts'
import { Fault } from '../domain/fault.ts'
import type { EventLedger } from '../ports/ledger/events.ts'

export interface EventsAsked {
  /** The id of the last event that was dealt with; null: from the first. */
  readonly after: string | null
  /** null: all. */
  readonly types: readonly string[] | null
  readonly limit: number
  /** Whether the asker may know of it; absent: of all. */
  readonly sees?: (fact: EventFact) => boolean
}

type Reading = Pick<EventLedger, 'gatherEvents' | 'eventsEnd' | 'events' | 'positionBefore'>

const START: EventPosition = { move: 0, event: 0 }

/** Fewer than `limit`: there are no more now. Faults where the ledger does not know the event that it should go on from. */
export async function readEvents(
  ledger: Reading,
  { after, types, limit, sees = () => true }: EventsAsked,
  nowMs: number,
): Promise<readonly EventFact[]> {
  await ledger.gatherEvents(nowMs)
  const upTo = await ledger.eventsEnd()
  let position = after === null ? START : await ledger.positionBefore(after)
  if (position === null) throw unknownFault(after ?? '')
  let known = after
  const isWanted = (type: EventType) => types === null || isAskedFor(type, types)
  const rows = ROW_EVENTS.some(isWanted) ? 'all' : 'doubts'
  const found: EventFact[] = []
  while (position.move < upTo.move || position.event < upTo.event) {
    const { facts, reached } = await ledger.events(position, upTo, rows)
    const at = known === null ? -1 : facts.findIndex(({ id }) => id === known)
    known = null
    found.push(...facts.slice(at + 1).filter((fact) => isWanted(fact.type) && sees(fact)))
    if (found.length >= limit) return found.slice(0, limit)
    position = reached
  }
  return found
}

function unknownFault(id: string): Fault {
  return new Fault(
    'usage',
    `This ledger has no event ${id}. Where an older state of it was put back, it forgot what came after. Nothing was read: begin from the first event again, and go by the ids for what you have dealt with.`,
  )
}
