// What a request is refused with: application/problem+json (RFC 9457), under codes that stay.

import { STATUS_CODES } from 'node:http'
import { maskCardData } from '../domain/card-secrets.ts'
import { type EarlierRow, toLooksLike } from '../domain/message.ts'
import { REFUSAL_CODES } from '../domain/refusal-code.ts'
import { isFinal, type State, statusOf } from '../domain/states.ts'
import { bounded, FIELD_CODES, fieldCodeOf, partsOfReason, type WrongField } from '../domain/wrong-field.ts'

export const PROBLEMS = {
  body_too_large: 413,
  check_unfinished: 409,
  cursor_invalid: 400,
  doubt_too_early: 409,
  file_cut: 400,
  file_empty: 400,
  file_refused: 422,
  file_too_large: 413,
  form_invalid: 400,
  environment_refused: 403,
  host_refused: 421,
  idempotency_in_progress: 409,
  idempotency_key_invalid: 400,
  idempotency_key_missing: 400,
  idempotency_key_reused: 422,
  instruction_refused: 422,
  internal: 500,
  json_invalid: 400,
  key_expired: 401,
  key_missing: 401,
  key_revoked: 401,
  key_unknown: 401,
  ledger_stopped: 409,
  ledger_unavailable: 503,
  media_type_unsupported: 415,
  network_refused: 403,
  not_found: 404,
  rate_limited: 429,
  refused: 409,
  request_invalid: 400,
  scope_missing: 403,
  spool_full: 507,
  starting_or_stopping: 503,
  uploads_busy: 429,
} as const satisfies Readonly<Record<string, number>>
export type ProblemCode = keyof typeof PROBLEMS

/** Why a file is refused that can be read. */
const FILE_CODES = [
  ...(['bad_rows', 'unidentified', 'correction', 'lookalikes', 'execute_at', 'above_limit'] as const),
  ...(['count', 'total', 'total_unknown', 'currency'] as const),
]
/** What is wrong with a part of a request, for programs. */
export const PART_CODES = [...new Set([...FIELD_CODES, ...REFUSAL_CODES, ...FILE_CODES])]
type PartCode = (typeof PART_CODES)[number]

export function fileCode(kind: string): PartCode {
  return FILE_CODES.find((code) => code === kind.replaceAll('-', '_')) ?? 'invalid'
}

/** Where in the request, and what about it. */
export interface ProblemPart {
  /** JSON pointer into the body; a parameter has none. */
  readonly pointer?: string
  readonly field?: string
  readonly code: PartCode
  readonly detail: string
}

const NAME_CHARACTERS = 100

export function partAt(
  path: readonly string[],
  said: Pick<ProblemPart, 'code' | 'detail'>,
  isOfBody = true,
): ProblemPart {
  const names = path.map(shownName)
  const pointer = names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  return { ...(isOfBody && { pointer }), ...(names.length > 0 && { field: names.join('.') }), ...said }
}

/** To search a long name for card numbers takes long, and a part of one is in none of its digits. */
function shownName(name: string): string {
  if (name.length <= NAME_CHARACTERS) return maskCardData(name)
  return name.slice(0, NAME_CHARACTERS).replace(/\p{Nd}/gu, '0')
}

export function partOfReason(reason: string): ProblemPart {
  const { field, code, detail } = partsOfReason(reason)
  return field === null ? { code, detail } : partAt(field.split('.'), { code, detail })
}

/** A body that is not as the description has it; or parameters. */
export function invalidRequest(wrong: readonly WrongField[], isOfBody: boolean): ProblemError {
  const errors = bounded<WrongField, ProblemPart>(
    wrong,
    ({ path, detail }) => partAt(path, { code: fieldCodeOf(detail), detail }, isOfBody),
    (detail) => ({ code: 'more', detail }),
  )
  return new ProblemError('request_invalid', 'The request is not valid. Nothing was changed.', { errors })
}

interface ProblemOptions {
  /** The recorded row that an instruction may repeat. */
  readonly looksLike?: EarlierRow | undefined
  readonly errors?: readonly ProblemPart[]
  /** Of the row that it is about. */
  readonly state?: State | null
  readonly retryAfterS?: number
  readonly cause?: unknown
}

/** Thrown by whatever answers a request. `detail`: what happened, what it means for the money, what to do. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly code: ProblemCode
  readonly errors: readonly ProblemPart[]
  readonly retryAfterS: number | null
  readonly looksLike: EarlierRow | null
  readonly state: State | null

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    const { errors = [], retryAfterS, looksLike, state, cause } = options
    super(detail, { cause })
    this.code = code
    this.errors = errors
    this.retryAfterS = retryAfterS ?? null
    this.looksLike = looksLike ?? null
    this.state = state ?? null
  }

  get status(): number {
    return PROBLEMS[this.code]
  }
}

/** Of what a key does not see, too: whether it is there is nobody's business. */
export function notFound(what: string): ProblemError {
  return new ProblemError('not_found', `${what} Nothing was changed.`)
}

/** Whether what is refused beside a recorded row asks for something else. Of a refusal only the texts are kept, so they tell it. */
export function asksForOther(errors: readonly ProblemPart[]): boolean {
  return errors.some(({ code, detail }) => code === 'lookalike' && !MAY_BE_DONE.test(detail))
}

const MAY_BE_DONE = /^it looks like |may have been executed|was authorized and captured for the same/

export function problemBody(problem: ProblemError, requestId: string): object {
  const { code, status, message, errors, looksLike, state } = problem
  return {
    type: `urn:tranche:problem:${code}`,
    title:
      looksLike === null
        ? (STATUS_CODES[status] ?? 'Error')
        : asksForOther(errors)
          ? 'It does not fit what is recorded'
          : 'It may be done already',
    status,
    detail: message,
    code,
    request_id: requestId,
    ...(state === null ? {} : { state: statusOf(state), final: isFinal(state) }),
    ...(errors.length === 0 ? {} : { errors }),
    ...(looksLike === null ? {} : { looks_like: toLooksLike(looksLike) }),
  }
}
