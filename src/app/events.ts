// Events as they go out: bodies made of what the ledger has.

import type { App } from '../app.ts'
import { type EventBody, type EventFact, eventBody } from '../domain/event.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { EventsAsked } from '../processors/read-events.ts'

/** The category of a reason goes by the rules of its merchant. */
export function bodyMaker({ config }: Pick<App, 'config'>, ledgerId: string): (fact: EventFact) => EventBody {
  return (fact) => eventBody(fact, ledgerId, config.merchants.get(fact.merchant ?? '')?.reasonRules ?? [])
}

export async function eventsAfter(app: App, ledger: Ledger, asked: EventsAsked): Promise<readonly EventBody[]> {
  const { readEvents } = await import('../processors/read-events.ts')
  return (await readEvents(ledger, asked, app.clock.nowMs())).map(bodyMaker(app, ledger.ledgerId))
}
