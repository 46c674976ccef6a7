// Checks of uploaded files: read by a process of their own, one at a time, and looked at page by page. Nothing is recorded.

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyRequest } from 'fastify'
import * as z from 'zod'
import { type FilesCaller, ownUpload, startCheck } from '../../app/checking.ts'
import { type Check, detailsIn, endInterrupted, readCheck, rejectsDisposition, rejectsIn } from '../../app/checks.ts'
import { identityOf } from '../../domain/actor.ts'
import { type ApiKey, isOfOtherWorld, seesMerchant } from '../../domain/api-key.ts'
import { isoOf } from '../../domain/batch-status.ts'
import { linesFrom } from '../../files/lines.ts'
import { otherWorld } from '../access.ts'
import { CHECK_REQUEST, givenBy } from '../check-request.ts'
import { callerOf, type Door, type Server } from '../door.ts'
import { answerPage, PAGING, pageOf } from '../pages.ts'
import { notFound, ProblemError } from '../problems.ts'
import { refusalsTold } from '../refusal-words.ts'
import { addRoute } from '../route.ts'
import { CHECK, CHECK_PARAMS } from '../schemas.ts'
import type { RouteName } from '../table.ts'
import { readingsOf } from '../traces.ts'

export async function addChecks(server: Server, door: Door): Promise<void> {
  const { app, spool, queue } = door
  await endInterrupted(spool, app.clock.nowMs())
  const note = readingNotes(door)
  addRoute(server, 'startCheck', {
    summary: 'Read an uploaded file to its end, and record nothing',
    description:
      'A file may be checked again in another way. Card data is not taken over this door: a file that holds some is removed at once.',
    body: CHECK_REQUEST,
    replies: { 202: CHECK },
    async answer({ body, request, reply }) {
      const { key } = callerOf(request)
      const merchant = merchantFor(door, key, body.merchant)
      const caller = filesCaller(request)
      const upload = await ownUpload(door, body.file, caller)
      if (upload === null) throw notFound('There is no such file; files are kept for 24 hours.')
      const record = await startCheck(door, caller, { upload, merchant, given: givenBy(body, merchant) })
      reply.code(202).header('location', `/v1/checks/${record.id}`)
      return toJson(record, queue.placeOf(record.id))
    },
  })
  addRoute(server, 'getCheck', {
    summary: 'How far a check is, and what it found',
    params: CHECK_PARAMS,
    replies: { 200: CHECK },
    async answer({ params, request }) {
      const check = await findCheck(door, params.check, callerOf(request).key)
      const causes = check.result?.causes
      await note(request, check, 'check', Array.isArray(causes) ? causes.length : 0)
      return toJson(check, queue.placeOf(params.check))
    },
  })
  addDetails(server, door, note, 'listCheckedRows', 'rows', 'Every row as it was understood')
  addDetails(server, door, note, 'listFaults', 'faults', 'Everything that is wrong with rows')
  addDetails(server, door, note, 'listLookalikes', 'lookalikes', 'Rows that look like another one')
  addRejects(server, door, note)
}

type NoteReading = (request: FastifyRequest, check: Check, kind: string, rows: number) => Promise<void>

/** Cells of files hold names. The key that handed the file in knows them. */
function readingNotes(door: Door): NoteReading {
  const note = readingsOf(door)
  return async (request, { id, by, file: { sha256 } }, kind, rows) => {
    const file = `${id.slice(0, 8)}.${kind}`
    if (by !== identityOf(callerOf(request).actor)) await note(request, { kind, file, rows, sha256 })
  }
}

/** With the key as it came: whose it is, the process finds out by itself. */
export function filesCaller(request: FastifyRequest): FilesCaller {
  const secret = (request.headers.authorization ?? '').slice('Bearer '.length)
  return { kind: 'key', secret, identity: identityOf(callerOf(request).actor), address: request.ip }
}

/** One that the key does not see is not there. */
function merchantFor({ app }: Door, key: ApiKey, asked: string | undefined): string {
  const names = [...app.config.merchants.keys()].filter((name) => seesMerchant(key, name))
  const name = asked ?? (names.length === 1 ? names[0] : undefined)
  const merchant = names.includes(name ?? '') ? app.config.merchants.get(name ?? '') : undefined
  if (merchant !== undefined && isOfOtherWorld(key, merchant)) throw otherWorld(key)
  if (merchant !== undefined) return merchant.name
  throw notFound(asked === undefined ? 'Say which merchant is meant.' : 'There is no such merchant.')
}

/** That of another merchant is not there, nor is one of a person. */
async function findCheck({ spool, app }: Door, id: string, key: ApiKey): Promise<Check & { path: string }> {
  const check = await readCheck(spool, id, app.clock.nowMs())
  if (check === null || !check.by.startsWith('key:') || !seesMerchant(key, check.merchant))
    throw notFound('There is no such check; checks are kept for 24 hours.')
  return check
}

function toJson({ id, state, file, merchant, startedAtMs, expiresAtMs, result, problem }: Check, place: number | null) {
  const found = result ?? {}
  const { columns, causes, numbers_passed: passed, ok } = found
  return {
    ...{ check: id, state, ...(place === null ? {} : { waits_for: place }), merchant },
    file: { id: file.id, name: file.name, sha256: file.sha256, bytes: file.bytes },
    ...{ started_at: isoOf(startedAtMs), expires_at: isoOf(expiresAtMs) },
    ...(state === 'done' ? { ok, review: reviewIn(found), refusals: refusalsTold(found.refusals) } : {}),
    ...(state === 'done' ? { mapping: columns, columns: found.details_columns, causes, numbers_passed: passed } : {}),
    ...(state === 'refused' ? { refused: refusedIn(found) } : {}),
    ...(problem === null ? {} : { problem }),
  }
}

function reviewIn(found: Readonly<Record<string, unknown>>): object {
  const names = [
    'rows',
    'accepted',
    'duplicate',
    'invalid',
    'lookalikes',
    'above_limit',
    'held_by_doubt',
    'declined_cards',
    'late_captures',
    'old_refunds',
    'faults_total',
  ]
  const sums = ['totals', 'totals_read', 'amounts_unread', 'extents', 'again', 'correction', 'cancelled_before']
  return Object.fromEntries([...names, ...sums].map((name) => [name, found[name] ?? null]))
}

function refusedIn({ code, line, column, problem, remedy }: Readonly<Record<string, unknown>>): object {
  return { code, line, column, problem, remedy }
}

const LISTED = z.strictObject(PAGING)

function addDetails(
  server: Server,
  door: Door,
  note: NoteReading,
  name: RouteName,
  what: string,
  summary: string,
): void {
  addRoute(server, name, {
    summary,
    description: 'In the order of the file. Where the whole file was refused there are none.',
    params: CHECK_PARAMS,
    query: LISTED,
    replies: { 200: pageOf(z.looseObject({ row: z.int(), line: z.int() })) },
    async answer({ params, query, request }) {
      const check = await findDone(door, params.check, callerOf(request).key)
      return answerPage<object, number>(door, request, query, async (after) => {
        const { lines, next } = await linesFrom(join(detailsIn(check.path), `${what}.jsonl`), after ?? 0, query.limit)
        await note(request, check, what, lines.length)
        return { data: lines.map((line) => JSON.parse(line) as object), next }
      })
    },
  })
}

/** Read to its end. */
export async function findDone(door: Door, id: string, key: ApiKey): Promise<Check & { path: string }> {
  const check = await findCheck(door, id, key)
  if (check.state === 'done') return check
  const isOpen = check.state === 'queued' || check.state === 'reading'
  throw new ProblemError(
    'check_unfinished',
    isOpen
      ? 'The file is not read to its end yet: ask again in a second.'
      : `The check has no rows: it ${check.state === 'failed' ? 'failed' : 'was refused'}.`,
    isOpen ? { retryAfterS: 1 } : {},
  )
}

function addRejects(server: Server, door: Door, note: NoteReading): void {
  addRoute(server, 'getRejectsCsv', {
    summary: 'The rows that cannot be sent as written, to be mended and uploaded again',
    params: CHECK_PARAMS,
    replies: { 200: { content: { 'text/csv': { schema: z.string() } } } },
    async answer({ params, request, reply }) {
      const check = await findDone(door, params.check, callerOf(request).key)
      const { path } = check
      const size = await stat(rejectsIn(path)).then(
        ({ size: bytes }) => bytes,
        () => null,
      )
      if (size === null) throw notFound('No row of the file is bad.')
      await note(request, check, 'rejects', Number(check.result?.invalid))
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-length', String(size))
        .header('content-disposition', rejectsDisposition(check))
        .send(createReadStream(rejectsIn(path)))
    },
  })
}
