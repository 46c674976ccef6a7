// Errors of whatever kind, as the problem that a caller is told of.

import type { FastifyError } from 'fastify'
import { TooManyWait } from '../app/ingest-queue.ts'
import { RequestRepeated } from '../domain/api-request.ts'
import { Fault, type FaultCode } from '../domain/fault.ts'
import { spell, type Way } from '../domain/words.ts'
import { asking } from '../present/asking.ts'
import { settingMember } from './check-request.ts'
import { type ProblemCode, ProblemError } from './problems.ts'

/** How the API spells what can be done next: fields of a request, and words for what is done at another machine. Never a command. */
export function httpWays(way: Way): string | null {
  if ('atTerminal' in way) return spell(asking(way.atTerminal), plainAct)
  if ('set' in way) return settingMember(way)
  // As another way to do it, it is none of this door.
  if (way.act === 'run-again') return way.lead === undefined ? 'hand the same file in again' : null
  return `${plainAct(way)}, at the machine of the ledger`
}

function plainAct(way: Way): string | null {
  if (!('act' in way)) return null
  return `${way.act.replaceAll('-', ' ')}${'as' in way && way.act === 'adopt' ? ` (${way.as})` : ''}`
}

const OF_FAULTS = {
  usage: 'refused',
  refused: 'refused',
  stopped: 'ledger_stopped',
  config: 'ledger_unavailable',
  full: 'ledger_unavailable',
  storage: 'ledger_unavailable',
  unavailable: 'ledger_unavailable',
  interrupted: 'starting_or_stopping',
} as const satisfies Record<FaultCode, ProblemCode>

const AGAIN_AFTER_S = 5
const READ_AGAIN_AFTER_S = 10

/** `scrub`: of the configuration, whose secrets a fault may quote. */
export function problemOf(error: unknown, scrub: (text: string) => string): ProblemError {
  if (error instanceof ProblemError) return error
  if (error instanceof RequestRepeated) return inProgress()
  if (error instanceof TooManyWait)
    return new ProblemError('uploads_busy', error.message, { retryAfterS: READ_AGAIN_AFTER_S })
  if (error instanceof Fault) {
    const code = OF_FAULTS[error.code]
    const again = code === 'ledger_unavailable' || code === 'starting_or_stopping' ? { retryAfterS: AGAIN_AFTER_S } : {}
    const { state } = error
    return new ProblemError(code, scrub(error.linesIn(httpWays).join(' ')), { cause: error, state, ...again })
  }
  return ofFramework(error as FastifyError) ?? new ProblemError('internal', INTERNAL, { cause: error })
}

const INTERNAL =
  'Tranche failed; its log has the details under the request id. A change may have been made: repeat the request with the same Idempotency-Key, and it is not made twice.'

export function inProgress(): ProblemError {
  return new ProblemError(
    'idempotency_in_progress',
    'The same request is being worked on. Nothing is done twice: ask again in a second.',
    { retryAfterS: 1 },
  )
}

function ofFramework(error: Partial<FastifyError>): ProblemError | null {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ProblemError('body_too_large', 'The body of the request is too large. Nothing was changed.')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return new ProblemError('json_invalid', 'The body is not the JSON that its headers promise. Nothing was changed.')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return unsupportedMedia()
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
    case 'FST_ERR_NOT_FOUND':
      return new ProblemError('not_found', 'There is nothing under this address.')
    default:
      return null
  }
}

export function unsupportedMedia(): ProblemError {
  return new ProblemError('media_type_unsupported', 'Send the body as application/json, in UTF-8. Nothing was changed.')
}
