// From a check to a batch: the very bytes that were checked, read in the same way, and recorded by a process of their own.

import * as z from 'zod'
import type { Check } from '../../app/checks.ts'
import { type HandedIn, handIn } from '../../app/handing-in.ts'
import { EXPECTED, expectedBy } from '../check-request.ts'
import { callerOf, type Door, type Server } from '../door.ts'
import { answerOnce, type Subject } from '../once.ts'
import { fileCode, notFound, ProblemError, type ProblemPart, partAt } from '../problems.ts'
import { refusalsTold } from '../refusal-words.ts'
import { addRoute } from '../route.ts'
import { BATCH } from '../schemas.ts'
import { findBatch, showBatch } from './batches.ts'
import { filesCaller, findDone } from './checks.ts'

const ASKED = z.strictObject({
  check: z.string().regex(/^[0-9a-f]{32}$/),
  expect: EXPECTED,
  allow_lookalikes: z
    .int()
    .min(0)
    .max(999_999_999)
    .optional()
    .describe('As many as the check has, when every one is meant.'),
  allow_execute_at: z
    .int()
    .min(0)
    .max(999_999_999)
    .optional()
    .describe('As many as the refusal names, when every far execute_at is meant.'),
  allow_above_limit: z
    .int()
    .min(0)
    .max(999_999_999)
    .optional()
    .describe('Rows above the limit of a whole day: as many as the check has, when every one is meant.'),
  expires_after: z
    .string()
    .regex(/^\d{1,6}[smhd]$/)
    .refine((text) => !/^0+[smhd]$/.test(text), 'is no time: nothing would be sent')
    .optional()
    .describe(
      'Such as 15m, 2h or 3d: rows that are not sent so long after they were handed in, or after their execute_at, are cancelled.',
    ),
  run_key: z.string().min(1).max(100).optional().describe('That of the check; another one makes other references.'),
  canary: z.int().min(1).max(999_999_999).optional(),
  max_declined: z.int().min(0).max(99).optional(),
})
type Asked = z.output<typeof ASKED>

export function addSubmitting(server: Server, door: Door): void {
  const { app, ledger } = door
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
          const parts = { check, given: givenFor(check, body), name: asked.key }
          const subject = subjectOf(await handIn(door, filesCaller(request), parts))
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
  const { canary, allow_lookalikes: lookalikes, allow_above_limit: above, max_declined: declined } = asked
  const { allow_execute_at: executeAt, expires_after: expiresAfter } = asked
  // Without any total the money of the file would be taken as it comes.
  const totals = result?.totals_read as readonly { readonly currency: string }[]
  const currencies = new Set(totals.map(({ currency }) => currency).filter((currency) => currency !== ''))
  const wrong = [...currencies]
    .filter((currency) => asked.expect.totals[currency] === undefined)
    .map((currency) => partAt(['expect', 'totals', currency], UNTOTALLED))
  if (asked.run_key !== undefined && asked.run_key !== given.runKey) wrong.push(partAt(['run_key'], OTHER_RUN_KEY))
  if (wrong.length > 0) throw refused('The request does not fit the check.', wrong)
  return {
    ...{ ...given, ...expectedBy(asked.expect) },
    ...(canary === undefined ? {} : { canary: String(canary) }),
    ...(declined === undefined ? {} : { maxDeclined: String(declined) }),
    ...(lookalikes === undefined ? {} : { allowLookalikes: String(lookalikes) }),
    ...(executeAt === undefined ? {} : { allowExecuteAt: String(executeAt) }),
    ...(expiresAfter === undefined ? {} : { expiresAfter }),
    ...(above === undefined ? {} : { allowAboveLimit: String(above) }),
  }
}

const UNTOTALLED = {
  code: 'missing',
  detail: 'No total is expected in this currency, and the file has rows of it: say what they must add up to.',
} as const
const OTHER_RUN_KEY = {
  code: 'invalid',
  detail: 'The check was made under another run key: check the file again under this one.',
} as const

const NOTHING = 'Nothing was recorded and nothing was sent.'

function refused(why: string, errors: readonly ProblemPart[] = []): ProblemError {
  return new ProblemError('file_refused', `${why} ${NOTHING}`, { errors })
}

function partsIn(refusals: unknown): ProblemPart[] {
  return refusalsTold(refusals).map(({ kind, detail }) => ({ field: kind, code: fileCode(kind), detail }))
}

function subjectOf(handed: HandedIn): Subject {
  switch (handed.kind) {
    case 'recorded':
    case 'known':
      return { kind: handed.kind, batch: handed.batch }
    case 'gone':
      throw notFound('The file of this check has expired: upload it again.')
    case 'other-bytes':
      throw refused('The file is not the one that was checked.')
    case 'unread':
      throw new ProblemError(
        'starting_or_stopping',
        'The file was not read to its end. Ask again under the same Idempotency-Key: whatever was recorded is the same batch then.',
        { retryAfterS: 5 },
      )
    case 'fault':
      throw new ProblemError(handed.isOurs ? 'ledger_unavailable' : 'file_refused', handed.message)
    case 'read-otherwise':
      throw refused(`These bytes are batch ${handed.batch} already, which reads them in another way.`)
    case 'braked-otherwise':
      throw refused(`This file is batch ${handed.batch} already, which keeps the brakes that it was recorded with.`)
    case 'holds-other':
      throw refused(
        `This file is batch ${handed.batch} already, and holds other than is expected.`,
        partsIn(handed.refusals),
      )
    case 'refused':
      throw refused('The file is refused.', partsIn(handed.refusals))
  }
}
