// Forms that change something: each has its effect once, however often it is sent, by the token of the form.

import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { type ApiRequest, RequestRepeated } from '../domain/api-request.ts'
import type { OnceLedger } from '../ports/ledger/requests.ts'
import { type ConsoleDoor, PageError } from './door.ts'
import { fieldsOf } from './forms.ts'
import { visitorOf } from './visit.ts'

/** False: it had its effect before, and nothing was done now. */
export async function actOnce(
  { app, ledger }: ConsoleDoor,
  request: FastifyRequest,
  act: (once: OnceLedger) => Promise<unknown>,
): Promise<boolean> {
  const { formKey } = request
  if (formKey === null) throw new Error('bug: this form has no token')
  const { form: _, ...fields } = fieldsOf(request)
  const asked: ApiRequest = {
    holder: visitorOf(request).person.id,
    target: `${request.method} ${request.url}`,
    key: digestOf(formKey),
    sha256: digestOf(JSON.stringify(Object.entries(fields).toSorted())),
    nowMs: app.clock.nowMs(),
  }
  const kept = await ledger.keptRequest(asked)
  if (kept !== null && kept.sha256 !== asked.sha256)
    throw new PageError(
      409,
      'This form was sent before, filled in otherwise. Nothing was changed: open the page again.',
    )
  if (kept !== null) return false
  try {
    await act(ledger.once(asked))
    return true
  } catch (error) {
    if (error instanceof RequestRepeated) return false
    throw error
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
