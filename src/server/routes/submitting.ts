// From a check to a batch: the very bytes that were checked, read in the same way, and recorded by a process of their own.

import * as z from 'zod'
import type { IngestEnded } from '../../domain/ingest.ts'
import { EXPECTED, expectedBy } from '../check-request.ts'
import type { Check } from '../checks.ts'
import { callerOf, type Door, type Server } from '../door.ts'
import { answerOnce, type Subject } from '../once.ts'
import { notFound, ProblemError } from '../problems.ts'
import { refusalsTold } from '../refusal-words.ts'
import { addRoute } from '../route.ts'
import { BATCH } from '../schemas.ts'
import { findBatch, showBatch } from './batches.ts'
import { findDone, shownBy } from './checks.ts'

const ASKED = z.strictObject({
  check: z.string().regex(/^[0-9a-f]{32}$/),
  expect: EXPECTED,
  allow_lookalikes: z
    .int()
    .min(0)
    .max(999_999_999)
    .optional()
    .describe('As many as the check has, when every one is meant.'),
  run_key: z.string().min(1).max(100).optional().describe('That of the check; another one makes other references.'),
  canary: z.int().min(1).max(999_999_999).optional(),
  max_declined: z.int().min(0).max(99).optional(),
})
type Asked = z.output<typeof ASKED>

export function addSubmitting(server: Server, door: Door): void {
  const { app, ledger, queue, ingest } = door
  addRoute(server, 'submitBatch', {
    summary: 'Record a checked file as a batch',
    description:
      'The same file is the same batch, and is answered with 200. What it must hold is asked for again, so that no other file is meant. A batch that people must approve says so, and nothing of it is sent before: no key can approve.',
    body: ASKED,
    replies: { 200: BATCH.describe('It is known: nothing was recorded.'), 201: BATCH.describe('It is recorded.') },
    async answer({ body, request, reply }) {
      const { key } = callerOf(request)
      return answerOnce(door, request, reply, {
        async act(_, asked) {
          const check = await findDone(door, body.check, key)
          const upload = await door.spool.upload(check.file.id)
          if (upload === null) throw notFound('The file of this check has expired: upload it again.')
          if (upload.sha256 !== check.result?.file_sha256) throw otherBytes()
          const { name, sha256 } = check.file
          const parts = { key: shownBy(request), address: request.ip, path: upload.path, name, sha256 }
          const given = givenFor(check, body)
          // The server may be told to end meanwhile: what is being recorded comes to its end.
          const ended = await queue.run(asked.key, () => ingest({ act: 'submit', ...parts, given }, NEVER))
          const subject = subjectOf(ended)
          await ledger.keepRequest(asked, subject)
          return subject
        },
        async show({ kind, batch }) {
          reply.code(kind === 'recorded' ? 201 : 200).header('location', `/v1/batches/${batch}`)
          return showBatch(app, ledger, await findBatch(ledger, String(batch), key))
        },
      })
    },
  })
}

function givenFor({ result }: Check, asked: Asked): Record<string, unknown> {
  const given = result?.given as Readonly<Record<string, unknown>>
  const { canary, allow_lookalikes: lookalikes, max_declined: declined } = asked
  if (asked.run_key !== undefined && asked.run_key !== given.runKey)
    throw refused('The check was made under another run key: check the file again under this one.')
  // Without any total the money of the file would be taken as it comes.
  const totals = result?.totals_read as readonly { readonly currency: string }[]
  const missing = totals.find(({ currency }) => currency !== '' && asked.expect.totals[currency] === undefined)
  if (missing !== undefined)
    throw refused(
      `No total is expected in ${missing.currency}, and the file has rows of it: say what they must add up to.`,
    )
  return {
    ...{ ...given, ...expectedBy(asked.expect), yes: true },
    ...(canary === undefined ? {} : { canary: String(canary) }),
    ...(declined === undefined ? {} : { maxDeclined: String(declined) }),
    ...(lookalikes === undefined ? {} : { allowLookalikes: String(lookalikes) }),
  }
}

const NEVER = new AbortController().signal
const NOTHING = 'Nothing was recorded and nothing was sent.'

function refused(why: string, refusals: unknown = []): ProblemError {
  const errors = refusalsTold(refusals).map(({ kind, detail }) => ({ field: kind, detail }))
  return new ProblemError('file_refused', `${why} ${NOTHING}`, { errors })
}

function otherBytes(): ProblemError {
  return refused('The file is not the one that was checked.')
}

function subjectOf({ said, exit }: IngestEnded): Subject {
  if (said === null || exit === null)
    throw new ProblemError(
      'starting_or_stopping',
      'The file was not read to its end. Ask again under the same Idempotency-Key: whatever was recorded is the same batch then.',
      { retryAfterS: 5 },
    )
  const { kind, batch, error, refusals } = said as Said
  if (error !== undefined)
    throw new ProblemError(
      error.code === 'refused' || error.code === 'usage' ? 'file_refused' : 'ledger_unavailable',
      error.message,
    )
  switch (kind) {
    case 'recorded':
    case 'known':
      return { kind, batch: batch as string }
    case 'read-otherwise':
      throw refused(`These bytes are batch ${batch} already, which reads them in another way.`)
    case 'braked-otherwise':
      throw refused(`This file is batch ${batch} already, which keeps the brakes that it was recorded with.`)
    case 'holds-other':
      throw refused(`This file is batch ${batch} already, and holds other than is expected.`, refusals)
    default:
      throw refused('The file is refused.', refusals)
  }
}

interface Said {
  readonly kind?: string
  readonly batch?: string
  readonly error?: { readonly code: string; readonly message: string }
  readonly refusals?: unknown
}
