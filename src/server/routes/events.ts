// Events: what happened to batches and rows, after the last one that a service has dealt with.

import * as z from 'zod'
import { eventsAfter } from '../../app/events.ts'
import { type ApiKey, seesMerchant } from '../../domain/api-key.ts'
import { EVENT_TYPES, type EventFact, isAskedFor, isEventPattern, isOfAccess } from '../../domain/event.ts'
import { callerOf, type Door, type Server } from '../door.ts'
import { ProblemError } from '../problems.ts'
import { addRoute } from '../route.ts'
import { EVENT, LENGTH_FIRST } from '../schemas.ts'

const MOST = 200

const TYPES = z
  .string()
  .max(1_000, LENGTH_FIRST)
  .transform((text) => text.split(','))
  .refine((types) => types.every(isEventPattern), `is of ${EVENT_TYPES.join(', ')}, or a group such as batch.*`)

const ASKED = z.strictObject({
  after: z
    .string()
    .max(64)
    .optional()
    .describe('The id of the last event that was dealt with; absent: from the first.'),
  limit: z.coerce.number().int().min(1).max(MOST).default(50),
  types: TYPES.optional().describe(
    'Types or groups, such as `batch.*`, separated by commas; absent: all. Those of `access.*` need the scope `audit:read` too.',
  ),
})

export function addEvents(server: Server, { app, ledger }: Door): void {
  addRoute(server, 'listEvents', {
    summary: 'Events after one of them, in the order in which they were recorded',
    description:
      'The id of the last event is where to go on. Fewer than `limit` means that there are no more now. After an older state of the ledger was put back, an id from after that state is refused: begin from the first again.',
    query: ASKED,
    replies: { 200: z.object({ data: z.array(EVENT) }) },
    async answer({ query: { after = null, limit, types = null }, request }) {
      const { key } = callerOf(request)
      assertMayFollow(key, types)
      return { data: await eventsAfter(app, ledger, { after, types, limit, sees: (fact) => isSeen(fact, key) }) }
    },
  })
}

/** Who may come in is told in the audit, so that it takes the scope of that. */
export function assertMayFollow(key: ApiKey, types: readonly string[] | null): void {
  if (types === null || mayReadAudit(key) || !EVENT_TYPES.some((type) => isOfAccess(type) && isAskedFor(type, types)))
    return
  throw new ProblemError('scope_missing', 'This key lacks the scope audit:read for access.*. Nothing was changed.')
}

function mayReadAudit({ scopes }: ApiKey): boolean {
  return scopes.includes('audit:read')
}

/** What concerns no merchant is for keys of all. */
function isSeen({ type, merchant }: EventFact, key: ApiKey): boolean {
  if (isOfAccess(type) && !mayReadAudit(key)) return false
  return key.merchants === null || (merchant !== null && seesMerchant(key, merchant))
}
