// The reconciliation of a batch, as a file: written beside what else is, then sent, so that a slow reader holds up nobody.

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import type { FastifyReply } from 'fastify'
import * as z from 'zod'
import { spoolResults } from '../../app/results.ts'
import { openTemporaryFolder } from '../../app/temporary-folder.ts'
import type { BatchView } from '../../domain/batch.ts'
import { type Caller, callerOf, type Door, type Server } from '../door.ts'
import { addRoute } from '../route.ts'
import { BATCH_PARAMS } from '../schemas.ts'
import type { RouteName } from '../table.ts'
import { findBatch } from './batches.ts'

const TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  jsonl: 'application/jsonl; charset=utf-8',
} as const
type Form = keyof typeof TYPES

interface Wanted {
  readonly form: Form
  readonly what: 'results' | 'summary'
}

export function addResults(server: Server, door: Door): void {
  addFile(server, door, 'getResultsCsv', 'The reconciliation of a batch as CSV', { form: 'csv', what: 'results' })
  addFile(server, door, 'getResultsXlsx', 'The same as a workbook', { form: 'xlsx', what: 'results' })
  addFile(server, door, 'getResultsJsonl', 'The same as lines of JSON', { form: 'jsonl', what: 'results' })
  addFile(server, door, 'getSummaryCsv', 'The sums of that reconciliation', { form: 'csv', what: 'summary' })
}

/** One at a time: each reads the whole batch. */
let writing: Promise<unknown> = Promise.resolve()

function addFile(server: Server, door: Door, name: RouteName, summary: string, wanted: Wanted): void {
  addRoute(server, name, {
    summary,
    description:
      'Finished or not: a row without an outcome is PENDING. With If-None-Match, 304 where nothing has changed.',
    params: BATCH_PARAMS,
    replies: {
      200: { content: { [TYPES[wanted.form].split(';')[0] as string]: { schema: z.string() } } },
      304: z.null(),
    },
    async answer({ params, request, reply }) {
      const caller = callerOf(request)
      const batch = await findBatch(door.ledger, params.batch, caller.key)
      const known = /^W\/"([\w-]+)"$/.exec(request.headers['if-none-match'] ?? '')?.[1] ?? null
      const turn = writing.catch(() => {}).then(() => sendFile(door, reply, { ...wanted, batch, caller, known }))
      writing = turn
      return turn
    },
  })
}

interface Sending extends Wanted {
  readonly batch: BatchView
  readonly caller: Caller
  readonly known: string | null
}

async function sendFile(
  door: Door,
  reply: FastifyReply,
  { form, what, batch, caller, known }: Sending,
): Promise<FastifyReply> {
  const { app, ledger } = door
  const { batchId, sandbox } = batch
  const folder = openTemporaryFolder('tranche-download-')
  try {
    const name = `${sandbox ? 'SANDBOX-' : ''}${batchId}.${what}.${form}`
    const out = join(folder.path, `${sandbox ? 'SANDBOX-' : ''}${batchId}.results.${form}`)
    const spooled = await spoolResults(app, ledger, batchId, { out, known })
    if (spooled === null) return reply.code(304).header('etag', `W/"${known}"`).send()
    const path = what === 'results' ? spooled.written.path : spooled.written.summaryPath
    const details = { kind: what, file: name, rows: spooled.written.rows }
    const noted = await ledger.recordAct({ what: 'export', actor: caller.actor, batchId, details }, app.clock.nowMs())
    if (noted !== 'recorded') app.log.warn({ why: noted }, 'a download was not noted in the record')
    const { size } = await stat(path)
    const stream = createReadStream(path)
    void finished(stream, { writable: false })
      .catch(() => {})
      .finally(folder.close)
    return reply
      .type(TYPES[form])
      .header('content-length', String(size))
      .header('etag', `W/"${spooled.edition}"`)
      .header('content-disposition', `attachment; filename="${name}"`)
      .send(stream)
  } catch (error) {
    folder.close()
    throw error
  }
}
