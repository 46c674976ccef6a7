// What people, services and the machine did, in order of time.

import * as z from 'zod'
import { actsPage } from '../../app/paging.ts'
import type { LogEntry, LogPosition } from '../../domain/acts.ts'
import { type ApiKey, seesMerchant } from '../../domain/api-key.ts'
import { toJsonLogEntry } from '../../present/history.ts'
import { callerOf, type Door, type Server } from '../door.ts'
import { answerPage, PAGING, pageOf } from '../pages.ts'
import { addRoute } from '../route.ts'
import { AUDIT_ENTRY } from '../schemas.ts'

const ASKED = z.strictObject({
  ...PAGING,
  since: z.iso.datetime({ offset: true }).optional().describe('RFC 3339; absent: from the first.'),
})

export function addAudit(server: Server, door: Door): void {
  addRoute(server, 'listAudit', {
    summary: 'Every act, the oldest first',
    description: 'A key of one merchant finds what was done to it and to its batches.',
    query: ASKED,
    replies: { 200: pageOf(AUDIT_ENTRY).extend({ head: z.string().describe('Of the chain over the record.') }) },
    async answer({ query, request }) {
      const { key } = callerOf(request)
      const sinceMs = query.since === undefined ? null : Date.parse(query.since)
      const page = await answerPage<object, LogPosition>(door, request, query, async (after) => {
        const fits = key.merchants === null ? null : (entry: LogEntry) => isSeen(entry, key)
        const found = await actsPage(door.ledger, sinceMs, { after, limit: query.limit, fits })
        return { ...found, data: found.data.map(toJsonLogEntry) }
      })
      return { ...page, head: await door.ledger.head() }
    },
  })
}

/** What concerns no merchant concerns all of them. */
function isSeen({ merchant }: LogEntry, key: ApiKey): boolean {
  return key.merchants === null || (merchant !== null && seesMerchant(key, merchant))
}
