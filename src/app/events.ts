// Events as they go out: bodies made of what the ledger has.

import type { App } from '../app.ts'
import { EVENT_TYPES, type EventBody, type EventFact, eventBody, isEventPattern } from '../domain/event.ts'
import { Fault } from '../domain/fault.ts'
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

/** Types and groups of them, parted by commas. `field`: where they were written. Throws a usage fault. */
export function parseEventTypes(field: string, text: string): readonly string[] {
  const types = text
    .split(',')
    .map((type) => type.trim())
    .filter((type) => type !== '')
  const unknown = types.filter((type) => !isEventPattern(type))
  if (types.length > 0 && unknown.length === 0) return types
  const what = types.length === 0 ? 'names none' : `has ${unknown.join(', ')}`
  throw new Fault(
    'usage',
    `${field} ${what}. The types are: ${EVENT_TYPES.join(', ')}; or groups such as batch.*. Nothing was changed.`,
  )
}
