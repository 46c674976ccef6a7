// Forms that change something: each has its effect once, however often it is sent, by the token of the form.

import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { type ApiRequest, type KeptRequest, RequestRepeated } from '../domain/api-request.ts'
import type { OnceLedger, RequestLedger } from '../ports/ledger/requests.ts'
import { type ConsoleDoor, PageError } from './door.ts'
import { fieldsOf } from './forms.ts'
import { visitorOf } from './visit.ts'

/** False: it had its effect before, and nothing was done now. */
export async function actOnce(
  { app, ledger }: ConsoleDoor,
  request: FastifyRequest,
  act: (once: OnceLedger) => Promise<unknown>,
): Promise<boolean> {
  const asked = askedBy(request, app.clock.nowMs())
  if ((await effectOf(ledger, asked)) !== null) return false
  try {
    await act(ledger.once(asked))
    return true
  } catch (error) {
    if (error instanceof RequestRepeated) return false
    throw error
  }
}

/** The same for one of several things that a form asks for, each of which has its effect by itself. null: it had it before. */
export async function actPartOnce<T>(
  { app, ledger }: ConsoleDoor,
  request: FastifyRequest,
  part: string,
  act: (once: OnceLedger) => Promise<T>,
): Promise<T | null> {
  const whole = askedBy(request, app.clock.nowMs())
  const asked = { ...whole, key: digestOf(`${whole.key} ${part}`) }
  if ((await effectOf(ledger, asked)) !== null) return null
  try {
    return await act(ledger.once(asked))
  } catch (error) {
    if (error instanceof RequestRepeated) return null
    throw error
  }
}

type Subject = KeptRequest['subject']

/** Those that are under way. A second press waits for what comes of the first. */
const RUNNING = new Map<string, Promise<Subject>>()

interface Elsewhere {
  readonly subject: Subject
  /** False: it had its effect before, and nothing was done now. */
  readonly isNow: boolean
}

/** The same for what is noted after it was done. It answers with what the form came to, however often it is sent. */
export async function actElsewhereOnce(
  { app, ledger }: ConsoleDoor,
  request: FastifyRequest,
  act: (asked: ApiRequest) => Promise<Subject>,
): Promise<Elsewhere> {
  const asked = askedBy(request, app.clock.nowMs())
  const before = await effectOf(ledger, asked)
  if (before !== null) return { subject: before, isNow: false }
  const { nowMs: _, ...same } = asked
  const name = JSON.stringify([ledger.ledgerId, same])
  const running = RUNNING.get(name)
  if (running !== undefined) return { subject: await running, isNow: false }
  const acting = act(asked).then(async (subject) => {
    await ledger.keepRequest(asked, subject)
    return subject
  })
  RUNNING.set(name, acting)
  return { subject: await acting.finally(() => RUNNING.delete(name)), isNow: true }
}

function askedBy(request: FastifyRequest, nowMs: number): ApiRequest {
  const { formKey } = request
  if (formKey === null) throw new Error('bug: this form has no token')
  const { form: _, ...fields } = fieldsOf(request)
  return {
    holder: visitorOf(request).person.id,
    target: `${request.method} ${request.url.split('?')[0]}`,
    key: digestOf(formKey),
    sha256: digestOf(JSON.stringify(Object.entries(fields).toSorted())),
    nowMs,
  }
}

/** null: it had none. */
async function effectOf(ledger: Pick<RequestLedger, 'keptRequest'>, asked: ApiRequest): Promise<Subject | null> {
  const kept = await ledger.keptRequest(asked)
  if (kept === null || kept.sha256 === asked.sha256) return kept?.subject ?? null
  throw new PageError(409, 'This form was already sent with other values. Nothing was changed: open the page again.')
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
