// Through HTTP: POST /v1/instructions, and the pages of GET /v1/events.

import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ListeningError, partsIn, RefusedError, RequestError, textIn, UnsureError, type WrongPart } from './errors.ts'
import type { OutcomeEvent } from './event.ts'
import type { Environment, Instruction, Submitted } from './instruction.ts'
import { AGAIN_MS, type Transport, WITHIN_MS } from './transport.ts'

export interface HttpOptions {
  /** Such as `https://tranche.example:7800`. */
  readonly url: string
  /** `trk_…`, with the scope to hand in instructions, and to read events. */
  readonly key: string
  /** For which world it hands in; what the key is for where it is absent. */
  readonly environment?: Environment
  readonly withinMs?: number
  readonly events?: {
    /** The id of the last event that was dealt with. Absent: from the first. */
    readonly after?: string
    /** Called when all events up to this id are dealt with: keep it, and begin there next time. */
    readonly keep?: (after: string) => Promise<void> | void
    readonly types?: readonly string[]
  }
}

const PAGE = 100
/** In seconds, where an answer does not say. */
const RETRY_AFTER = 1

interface Answer {
  readonly status: number
  readonly body: unknown
  readonly isReplayed: boolean
  readonly retryAfter: number
}

export function openHttpTransport({
  url,
  key,
  environment,
  withinMs = WITHIN_MS,
  events = {},
}: HttpOptions): Transport {
  const at = (path: string) => new URL(path, url.endsWith('/') ? url : `${url}/`)
  async function ask(to: URL, request: RequestInit, stop?: AbortSignal): Promise<Answer> {
    const signals = [AbortSignal.timeout(withinMs), ...(stop === undefined ? [] : [stop])]
    const headers = { authorization: `Bearer ${key}`, ...request.headers }
    const answer = await fetch(to, { ...request, headers, redirect: 'manual', signal: AbortSignal.any(signals) })
    const isReplayed = answer.headers.get('idempotent-replayed') === 'true'
    const retryAfter = Number(answer.headers.get('retry-after')) || RETRY_AFTER
    return { status: answer.status, body: await answer.json().catch(() => null), isReplayed, retryAfter }
  }

  return {
    async submit(instruction) {
      const body = JSON.stringify({
        schema_version: 1,
        ...(environment !== undefined && { environment }),
        ...instruction,
      })
      const headers = { 'content-type': 'application/json', 'idempotency-key': idempotencyKey(instruction, body) }
      const answer = await ask(at('v1/instructions'), { method: 'POST', headers, body }).catch((error: unknown) => {
        throw new UnsureError('No answer came', { cause: error })
      })
      return submittedBy(instruction, answer)
    },
    async cancel(reference, reason, merchant) {
      const body = JSON.stringify({ reason, ...(merchant !== undefined && { merchant }) })
      const headers = { 'content-type': 'application/json', 'idempotency-key': idempotencyKey({ reference }, body) }
      const to = at(`v1/instructions/${encodeURIComponent(reference)}/cancel`)
      const answer = await ask(to, { method: 'POST', headers, body }).catch((error: unknown) => {
        throw new UnsureError('No answer came', { cause: error })
      })
      if (answer.status === 200) return
      throw notCancelled(answer.body) ?? whyNot(answer)
    },
    async submitBatch() {
      throw new TypeError('A batch is handed in through the queue: open the client with redis. Nothing was sent.')
    },
    onOutcome(handler) {
      const stopping = new AbortController()
      const { signal } = stopping
      const listening = (async () => {
        for (let after = events.after ?? null; !signal.aborted; ) {
          const page = await readPage(after).catch(waitedOut)
          const dealtWith = page === null ? null : await deal(page)
          if (dealtWith !== null) after = dealtWith
          if (dealtWith === null || page?.isLast === true) await sleep(AGAIN_MS, undefined, { signal }).catch(() => {})
        }
      })()

      async function readPage(after: string | null): Promise<{ list: readonly OutcomeEvent[]; isLast: boolean }> {
        const to = at('v1/events')
        to.searchParams.set('limit', String(PAGE))
        if (after !== null) to.searchParams.set('after', after)
        if (events.types !== undefined) to.searchParams.set('types', events.types.join(','))
        const { status, body } = await ask(to, {}, signal)
        const list = (body as { data?: unknown } | null)?.data
        if (status === 200 && Array.isArray(list)) return { list, isLast: list.length < PAGE }
        throw whyNoEvents(status, body)
      }

      /** The last one that was dealt with; null: none. What follows a failed one waits for it. */
      async function deal({ list }: { readonly list: readonly OutcomeEvent[] }): Promise<string | null> {
        let last: string | null = null
        for (const event of list) {
          if (signal.aborted) return last
          try {
            await handler(event)
            await events.keep?.(event.id)
          } catch {
            await sleep(AGAIN_MS, undefined, { signal }).catch(() => {})
            return last
          }
          last = event.id
        }
        return last
      }

      return {
        ended: listening,
        async close() {
          stopping.abort()
          await listening.catch(() => {})
        },
      }
    },
    close: async () => {},
  }
}

/** What passes by itself: too many requests, trouble of the server, an answer that was cut off. Whatever else is answered stays so. */
function whyNoEvents(status: number, body: unknown): Error {
  const why = `the events were answered with ${status}`
  if (status === 200 || status === 408 || status === 425 || status === 429 || status >= 500) return new Error(why)
  const { code, detail } = Object(body) as { code?: unknown; detail?: unknown }
  const said = typeof detail === 'string' ? `${why}: ${detail}` : why
  return new ListeningError(said, { status, code: typeof code === 'string' ? code : null })
}

function waitedOut(error: unknown): null {
  if (error instanceof ListeningError) throw error
  return null
}

/** Of all that is said: mended under the same reference, it is another request. The ledger goes by the reference alone. */
function idempotencyKey({ reference }: Pick<Instruction, 'reference'>, body: string): string {
  return createHash('sha256').update(`${reference}\n${body}`).digest('hex')
}

/** A request that is replayed has its first answer: the ledger had the instruction before. */
function submittedBy(instruction: Instruction, answer: Answer): Submitted {
  const { status, body, isReplayed } = answer
  const said = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const isTaken = (status === 201 && said.status === 'accepted') || (status === 200 && said.status === 'duplicate')
  if (isTaken)
    return {
      reference: instruction.reference,
      ...said,
      ...(isReplayed && { status: 'duplicate' }),
    } as unknown as Submitted
  if (status === 422 && said.code === 'instruction_refused') throw refusedBy(said)
  throw whyNot(answer)
}

/** null: it was no refusal. */
function notCancelled(body: unknown): RefusedError | null {
  const { code, detail, state, final } = Object(body) as Readonly<Record<string, unknown>>
  if (code !== 'refused' && code !== 'not_found') return null
  const said = String(detail)
  return new RefusedError([said], null, { errors: [{ field: null, code, detail: said }], state, final })
}

const TOO_MANY = 429

/** A problem with one of these changed nothing. A conflict (409) may come while an earlier request is being worked on. */
function changedNothing(status: number): boolean {
  return status >= 400 && status < 500 && status !== 409
}

/** Only the server's own problems are certain: a proxy may answer with the same status after it has passed the request on. */
function whyNot({ status, body, ...answer }: Answer): RequestError | UnsureError {
  const { type, code: named, detail, errors } = Object(body) as Readonly<Record<string, unknown>>
  const code = textIn(named)
  if (code !== null && changedNothing(status) && type === `urn:tranche:problem:${code}`)
    return new RequestError({
      ...{ status, code, detail: textIn(detail) ?? '', errors: partsIn(errors) },
      retryAfter: status === TOO_MANY ? answer.retryAfter : null,
    })
  return new UnsureError(`It was answered with ${status}${code === null ? '' : ` (${code})`}`, { status, code })
}

function refusedBy({ errors, detail, looks_like }: Readonly<Record<string, unknown>>): RefusedError {
  const parts = partsIn(errors)
  if (parts.length === 0) return new RefusedError([textIn(detail) ?? 'no reason was given'], looks_like)
  return new RefusedError(parts.map(reasonOf), looks_like, { errors: parts })
}

/** As the queue says it. */
function reasonOf({ field, code, detail }: WrongPart): string {
  const about = field ?? (code !== null && OF_ANYTHING.has(code) ? null : code)
  return about === null ? detail : `${about}: ${detail}`
}

const OF_ANYTHING: ReadonlySet<string> = new Set(['missing', 'unknown', 'invalid', 'more'])
