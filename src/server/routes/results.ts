// The reconciliation of a batch, as a file.

import * as z from 'zod'
import { DOWNLOAD_TYPES, type DownloadWanted, openDownload } from '../../app/downloads.ts'
import { callerOf, type Door, type Server } from '../door.ts'
import { addRoute } from '../route.ts'
import { BATCH_PARAMS } from '../schemas.ts'
import type { RouteName } from '../table.ts'
import { findBatch } from './batches.ts'

export function addResults(server: Server, door: Door): void {
  addFile(server, door, 'getResultsCsv', 'The reconciliation of a batch as CSV', { form: 'csv', what: 'results' })
  addFile(server, door, 'getResultsXlsx', 'The same as a workbook', { form: 'xlsx', what: 'results' })
  addFile(server, door, 'getResultsJsonl', 'The same as lines of JSON', { form: 'jsonl', what: 'results' })
  addFile(server, door, 'getSummaryCsv', 'The sums of that reconciliation', { form: 'csv', what: 'summary' })
}

function addFile(server: Server, door: Door, name: RouteName, summary: string, wanted: DownloadWanted): void {
  addRoute(server, name, {
    summary,
    description:
      'Finished or not: a row without an outcome is PENDING. With If-None-Match, 304 where nothing has changed.',
    params: BATCH_PARAMS,
    replies: {
      200: { content: { [DOWNLOAD_TYPES[wanted.form].split(';')[0] as string]: { schema: z.string() } } },
      304: z.null(),
    },
    async answer({ params, request, reply }) {
      const caller = callerOf(request)
      const batch = await findBatch(door.ledger, params.batch, caller.key)
      const known = /^W\/"([\w-]+)"$/.exec(request.headers['if-none-match'] ?? '')?.[1] ?? null
      const file = await openDownload(door.app, door.ledger, { ...wanted, batch, actor: caller.actor, known })
      if (file === null) return reply.code(304).header('etag', `W/"${known}"`).send()
      return reply
        .type(file.type)
        .header('content-length', String(file.bytes))
        .header('etag', `W/"${file.edition}"`)
        .header('content-disposition', `attachment; filename="${file.name}"`)
        .send(file.stream)
    },
  })
}
