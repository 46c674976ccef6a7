// Requests that change something: each has its effect once, however often it comes.

import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiRequest, KeptRequest } from '../domain/api-request.ts'
import type { OnceLedger } from '../ports/ledger/requests.ts'
import { callerOf, type Door } from './door.ts'
import { inProgress } from './faults.ts'
import { ProblemError } from './problems.ts'

/** What a request came to, and by which its object is found again. */
export type Subject = KeptRequest['subject']

interface Effect {
  /** Throws where it cannot be done: nothing was changed then, and nothing is kept of the request. */
  readonly act: (once: OnceLedger, request: ApiRequest) => Promise<Subject>
  /** As it is now: of a request that comes again, what has become of it since. */
  readonly show: (subject: Subject) => Promise<unknown>
}

/** Those that are being worked on in this process. Of two processes, the ledger lets one have its effect. */
const RUNNING = new Set<string>()

export async function answerOnce(
  door: Door,
  request: FastifyRequest,
  reply: FastifyReply,
  effect: Effect,
): Promise<unknown> {
  const asked = askedBy(door, request)
  const { holder, target, key } = asked
  const name = JSON.stringify([door.ledger.ledgerId, holder, target, key])
  if (RUNNING.has(name)) throw inProgress()
  RUNNING.add(name)
  try {
    const kept = await door.ledger.keptRequest(asked)
    if (kept === null) return await effect.show(await effect.act(door.ledger.once(asked), asked))
    if (kept.sha256 !== asked.sha256) throw reused()
    reply.header('idempotent-replayed', 'true')
    return await effect.show(kept.subject)
  } finally {
    RUNNING.delete(name)
  }
}

function askedBy({ app }: Door, request: FastifyRequest): ApiRequest {
  const given = request.headers['idempotency-key']
  if (given === undefined || given === '')
    throw new ProblemError(
      'idempotency_key_missing',
      'Give the request an Idempotency-Key of its own, and repeat it with the same key. Nothing was changed.',
    )
  if (typeof given !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(given))
    throw new ProblemError(
      'idempotency_key_invalid',
      'The Idempotency-Key must have 1 to 255 visible characters of ASCII. Nothing was changed.',
    )
  return {
    holder: callerOf(request).key.id,
    target: `${request.method} ${pathOf(request)}`,
    key: digestOf(given), // whatever was written into it, the ledger does not hold it
    sha256: digestOf(canonical(request.body ?? null)),
    nowMs: app.clock.nowMs(),
  }
}

/** Written in one way, however the caller has spelled it. */
function pathOf({ routeOptions, params }: FastifyRequest): string {
  const given = Object(params) as Readonly<Record<string, string>>
  return (routeOptions.url ?? '').replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(given[name] ?? ''))
}

function reused(): ProblemError {
  return new ProblemError(
    'idempotency_key_reused',
    'This Idempotency-Key was used for another request. Nothing was changed: give each request its own key.',
  )
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The same text for the same content, in whatever order its members come. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  )
}
