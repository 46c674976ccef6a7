// Why an instruction was not taken, or why that is not known. The two are never mixed up.

import type { State } from './instruction.ts'

/** A recorded instruction with the same content as a refused one, or with its reference. */
export interface LooksLike {
  readonly reference: string
  readonly batch: string
  readonly row: number
  readonly state: State
  /** false: it may change. */
  readonly final: boolean
}

/** What is asked about the instructions of a refused batch. */
export interface BatchQuestion {
  readonly code: string
  /** Which one, counted from 0; absent: `instructions` says how many. */
  readonly instruction?: number
  readonly instructions?: number
  /** The recorded one that it is like. */
  readonly looks_like?: LooksLike
}

/** One thing that is wrong. */
export interface WrongPart {
  /** null: it is about no field alone. */
  readonly field: string | null
  /** For programs. null: none was named. */
  readonly code: string | null
  readonly detail: string
}

/**
 * The ledger refused it: nothing of it was recorded, and nothing will be sent for it. With `looksLike` it may be done already: look there
 * before anything else. Otherwise mend it and hand it in again.
 */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly reasons: readonly string[]
  /** The same, field by field. */
  readonly errors: readonly WrongPart[]
  readonly looksLike: LooksLike | null
  /** Of the instruction that could not be cancelled; `final`: it stays so. null: it was not told. */
  readonly state: State | null
  readonly final: boolean | null
  /** Of a batch; empty: nothing is asked. */
  readonly questions: readonly BatchQuestion[]

  constructor(
    reasons: readonly string[],
    looksLike: unknown = null,
    { errors = [], questions = [], state, final }: RefusedBecause = {},
  ) {
    super(`refused: ${reasons.join('; ')}`)
    this.reasons = reasons
    this.errors = errors.length > 0 ? errors : reasons.map((detail) => ({ field: null, code: null, detail }))
    this.looksLike = isLooksLike(looksLike) ? looksLike : null
    this.questions = Array.isArray(questions) ? questions : []
    this.state = textIn(state) as State | null
    this.final = typeof final === 'boolean' ? final : null
  }
}

interface RefusedBecause {
  readonly errors?: readonly WrongPart[]
  readonly questions?: unknown
  readonly state?: unknown
  readonly final?: unknown
}

/** As a worker or a server says it, field by field; empty: it does not. */
export function partsIn(errors: unknown): readonly WrongPart[] {
  return Array.isArray(errors) ? errors.map(partIn) : []
}

function partIn(error: unknown): WrongPart {
  if (typeof error !== 'object' || error === null) return { field: null, code: null, detail: String(error) }
  const { field, code, detail } = error as Readonly<Record<string, unknown>>
  return { field: textIn(field), code: textIn(code), detail: textIn(detail) ?? JSON.stringify(error) }
}

export function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function isLooksLike(value: unknown): value is LooksLike {
  const { reference, batch, row, state, final } = Object(value) as Partial<Record<keyof LooksLike, unknown>>
  const areTexts = [reference, batch, state].every((text) => typeof text === 'string')
  return areTexts && typeof row === 'number' && typeof final === 'boolean'
}

/**
 * The request was refused before it was read as an instruction, and changed nothing: its key, address, size, form or headers are wrong, and
 * the same again is refused again; or there were too many (`retryAfter`). An earlier one under the same reference may have been recorded, so keep it.
 */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly errors: readonly WrongPart[]
  /** After so many seconds the same request is welcome. null: it is never, as it is. */
  readonly retryAfter: number | null

  constructor({
    status,
    code,
    detail,
    errors,
    retryAfter,
  }: Pick<RequestError, 'status' | 'code' | 'detail' | 'errors' | 'retryAfter'>) {
    const wrong = errors.map(({ field, detail }) => (field === null ? detail : `${field}: ${detail}`))
    super(`Nothing was recorded by this request (${status} ${code}): ${[detail, ...wrong].join(' ')}`)
    this.status = status
    this.code = code
    this.detail = detail
    this.errors = errors
    this.retryAfter = retryAfter
  }
}

/** Whether it was recorded is not known. Hand the same reference in again: it is not executed twice. */
export class UnsureError extends Error {
  override readonly name = 'UnsureError'
  /** Of the answer, where one came: an HTTP status and the code of its problem. */
  readonly status: number | null
  readonly code: string | null

  constructor(why: string, { cause, status = null, code = null }: UnsureBecause = {}) {
    super(
      `${why}. It may have been recorded, or may yet be: hand the same reference in again, it is not executed twice`,
      { cause },
    )
    this.status = status
    this.code = code
  }
}

/** Waiting helps no more: the key, the cursor or the user of Redis is refused. It says what to mend. */
export class ListeningError extends Error {
  override readonly name = 'ListeningError'
  /** Of an answer over HTTP: its status and the code of its problem. */
  readonly status: number | null
  readonly code: string | null

  constructor(why: string, { cause, status = null, code = null }: UnsureBecause = {}) {
    super(`no events come: ${why}`, { cause })
    this.status = status
    this.code = code
  }
}

interface UnsureBecause {
  readonly cause?: unknown
  readonly status?: number | null
  readonly code?: string | null
}
