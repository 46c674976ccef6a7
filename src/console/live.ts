// Pages that change while they are looked at: one look at the ledger a second for all who watch the same, sent to each of them.

import type { ServerResponse } from 'node:http'
import { setImmediate as turnOfOthers } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import type { AttentionNow } from '../app/attention.ts'
import { isoOf } from '../domain/batch-status.ts'
import { messageOf } from '../domain/errors.ts'
import { type ConsoleDoor, PageError, type Pages } from './door.ts'
import { batchNow } from './pages/batch-live.ts'
import { findBatch } from './pages/find-batch.ts'
import { overviewShape } from './pages/overview.ts'
import { attentionFor, frameFigures, shapeWith } from './status-line.ts'
import { visitorOf } from './visit.ts'

/** What pages show under these names: figures, and positions in a drawing. All of it is text, and no more than text. */
export type Figures = Readonly<Record<string, string>>

/** `shape`: where it changes, figures alone do not tell it, and the page is asked for again. */
export interface Seen {
  readonly figures: Figures
  readonly shape: string
}

const LOOK_EVERY_MS = 1_000
/** Said again so often: a reader who hears nothing for longer knows that it is stale. */
const REPEAT_EVERY_MS = 4_000
const LIVES_MOST_MS = 3_600_000
const UNSENT_MOST_BYTES = 256 * 1024
const CLIENTS_MOST = 1_000
/** Then requests for pages have their turn. */
const TOLD_AT_ONCE = 50
const OF_A_SESSION_MOST = 5
const OF_A_PERSON_MOST = 20

interface Client {
  readonly subject: string
  readonly personId: string
  readonly sessionId: string
  readonly sinceMs: number
  readonly response: ServerResponse
}

interface Said {
  /** Without the moment. */
  readonly content: string
  readonly atMs: number
}

export function addLive(pages: Pages, door: ConsoleDoor): void {
  const hub = createHub(door)
  pages.addHook('preClose', hub.close)
  pages.get<{ Querystring: { batch?: string } }>('/live', { config: { page: 'live' } }, async (request, reply) => {
    const refused = hub.refusal(request)
    if (refused !== null) throw new PageError(503, refused)
    const { batch = '' } = request.query
    if (batch !== '') await findBatch(door, batch)
    reply.hijack()
    const headers = reply.getHeaders() as Record<string, string>
    reply.raw.writeHead(200, { ...headers, 'content-type': 'text/event-stream; charset=utf-8' })
    hub.add(request, batch, reply.raw)
  })
}

function createHub(door: ConsoleDoor) {
  const { app, ledger } = door
  const clients = new Set<Client>()
  const said = new Map<string, Said>()
  const stop = new AbortController()
  let isLooking = false

  return {
    refusal(request: FastifyRequest): string | null {
      const { session, person } = visitorOf(request)
      const own = [...clients].filter(({ sessionId }) => sessionId === session.id).length
      const ofPerson = [...clients].filter(({ personId }) => personId === person.id).length
      if (clients.size >= CLIENTS_MOST || own >= OF_A_SESSION_MOST || ofPerson >= OF_A_PERSON_MOST)
        return 'Too many pages are watched at once. This one shows how it was when you opened it.'
      return null
    },
    add(request: FastifyRequest, subject: string, response: ServerResponse): void {
      const { person, session } = visitorOf(request)
      const ids = { personId: person.id, sessionId: session.id }
      const client = { subject, ...ids, sinceMs: app.clock.monotonicMs(), response }
      clients.add(client)
      response.on('error', () => clients.delete(client))
      response.on('close', () => clients.delete(client))
      said.delete(subject) // told at the next look, whatever was told before
      if (!isLooking) void look()
    },
    async close(): Promise<void> {
      stop.abort()
      for (const { response } of clients) response.destroy()
    },
  }

  /** As long as somebody watches. */
  async function look(): Promise<void> {
    isLooking = true
    while (clients.size > 0 && !stop.signal.aborted) {
      try {
        await tell()
      } catch (error) {
        // Whoever watches hears nothing, and says so.
        app.log.warn({ why: app.scrub(messageOf(error)) }, 'the pages that are watched could not be told anything')
      }
      await app.clock.sleep(LOOK_EVERY_MS, stop.signal)
    }
    said.clear()
    isLooking = false
  }

  async function tell(): Promise<void> {
    await dismiss()
    const now = await attentionFor(door)
    for (const [subject, watching] of Map.groupBy(clients, (client) => client.subject)) {
      const { figures, shape } = await seenOf(door, subject, now)
      const content = JSON.stringify({ figures, shape: shapeWith(now, shape) })
      const before = said.get(subject)
      const nowMs = app.clock.monotonicMs()
      if (before?.content === content && nowMs - before.atMs < REPEAT_EVERY_MS) continue
      const text = `data: ${content.slice(0, -1)},"at":"${isoOf(app.clock.nowMs())}"}\n\n`
      said.set(subject, { content, atMs: nowMs })
      for (const [n, { response }] of watching.entries()) {
        if (n % TOLD_AT_ONCE === TOLD_AT_ONCE - 1) await turnOfOthers()
        response.write(text)
      }
    }
    for (const subject of said.keys())
      if (![...clients].some((client) => client.subject === subject)) said.delete(subject)
  }

  /** Whose session has ended, who does not read, and who has watched for long enough: the page asks again. */
  async function dismiss(): Promise<void> {
    const nowMs = app.clock.monotonicMs()
    for (const [personId, own] of Map.groupBy(clients, (client) => client.personId)) {
      const open = new Set((await ledger.sessions(personId, app.clock.nowMs())).map(({ id }) => id))
      for (const client of own) {
        const { response, sessionId, sinceMs } = client
        if (open.has(sessionId) && response.writableLength < UNSENT_MOST_BYTES && nowMs - sinceMs < LIVES_MOST_MS)
          continue
        clients.delete(client)
        response.destroy()
      }
    }
  }
}

/** `subject`: a batch; empty: the overview. */
async function seenOf(door: ConsoleDoor, subject: string, now: AttentionNow): Promise<Seen> {
  const frame = frameFigures(now)
  if (subject === '') return { figures: frame, shape: await overviewShape(door, now) }
  const seen = await batchNow(door, subject, now)
  return { figures: { ...frame, ...seen?.figures }, shape: seen?.shape ?? 'gone' }
}
