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
  /** For programs. null: the queue names none. */
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
  /** Of a batch; empty: nothing is asked. */
  readonly questions: readonly BatchQuestion[]

  constructor(
    reasons: readonly string[],
    looksLike: unknown = null,
    { errors = reasons.map(partOf), questions = [] }: { errors?: readonly WrongPart[]; questions?: unknown } = {},
  ) {
    super(`refused: ${reasons.join('; ')}`)
    this.reasons = reasons
    this.errors = errors
    this.looksLike = isLooksLike(looksLike) ? looksLike : null
    this.questions = Array.isArray(questions) ? questions : []
  }
}

function partOf(reason: string): WrongPart {
  const [, field = null, detail = reason] = /^([\w.-]+): (.+)$/s.exec(reason) ?? []
  return { field, code: null, detail }
}

function isLooksLike(value: unknown): value is LooksLike {
  const { reference, batch, row, state, final } = Object(value) as Partial<Record<keyof LooksLike, unknown>>
  const areTexts = [reference, batch, state].every((text) => typeof text === 'string')
  return areTexts && typeof row === 'number' && typeof final === 'boolean'
}

/**
 * The request was refused before it was read as an instruction: its key, its form or its headers are wrong. It changed nothing, and the
 * same again is refused again. An earlier one under the same reference may have been recorded, so keep the reference when it is mended.
 */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly errors: readonly WrongPart[]

  constructor({ status, code, detail, errors }: Pick<RequestError, 'status' | 'code' | 'detail' | 'errors'>) {
    const wrong = errors.map(({ field, detail }) => (field === null ? detail : `${field}: ${detail}`))
    super(`Nothing was recorded by this request (${status} ${code}): ${[detail, ...wrong].join(' ')}`)
    this.status = status
    this.code = code
    this.detail = detail
    this.errors = errors
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
