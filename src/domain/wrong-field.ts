// Everything that is wrong with the fields of a message or a request, in one answer. Pure.

import { codeOf, fieldOf, type RefusalCode } from './refusal-code.ts'

/** As the check of a schema reports it. */
export interface Issue {
  readonly code?: string | undefined
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly keys?: readonly string[]
  readonly expected?: string
  /** What is too small or too big: `string`, `array` or a number. */
  readonly origin?: string
  readonly minimum?: number | bigint
  readonly maximum?: number | bigint
}

/** An empty path: the whole of it is wrong. */
export interface WrongField {
  readonly path: readonly string[]
  readonly detail: string
}

const MISSING = 'is missing'
const UNKNOWN = 'is not a field here'
/** The others are like them, or are found when these are mended. */
const TOLD_MOST = 100

/** What is wrong with a field where no other code says more, for programs. `more`: how many are left out. */
export const FIELD_CODES = ['missing', 'unknown', 'invalid', 'more'] as const
export type FieldCode = (typeof FIELD_CODES)[number]

export function wrongFieldsIn(issues: readonly Issue[], value: unknown): WrongField[] {
  return issues.flatMap((issue) => {
    const { code, path, keys = [] } = issue
    const at = path.map(String)
    if (code === 'unrecognized_keys') return keys.map((key) => ({ path: [...at, key], detail: UNKNOWN }))
    return [{ path: at, detail: at.length > 0 && valueAt(value, path) === undefined ? MISSING : textOf(issue) }]
  })
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}
/** As the check of a schema begins where the schema has no words of its own. */
const OF_CHECK = /^(Invalid input|Too small|Too big): /

function textOf({ code, message, expected = '', origin, minimum, maximum }: Issue): string {
  if (!OF_CHECK.test(message)) return message
  if (code === 'invalid_type') return `is not ${TYPES[expected] ?? expected}`
  const unit = origin === 'string' ? ' characters' : origin === 'array' ? ' entries' : ''
  if (code === 'too_big') return `${unit === '' ? 'is' : 'has'} more than ${maximum}${unit}`
  if (code !== 'too_small') return message
  if (unit === '') return `is less than ${minimum}`
  return minimum === 1 ? 'is empty' : `has fewer than ${minimum}${unit}`
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((part, name) => (Object(part) as Record<PropertyKey, unknown>)[name], value)
}

/** The fields that are wrong, by their paths. */
export type Judged = ReadonlySet<string>

export function judgedIn(wrong: readonly WrongField[]): Judged {
  return new Set(wrong.map(({ path }) => path.join('.')))
}

/** The other fields of an object, so that what is wrong with them is told at once. `under`: where the object is, with its dot. */
export function rightFieldsOf(value: unknown, judged: Judged, under = ''): object {
  return Object.fromEntries(Object.entries(Object(value)).filter(([name]) => !judged.has(`${under}${name}`)))
}

/** Reasons about the other fields: each is judged once. */
export function reasonsBeside(judged: Judged, reasons: readonly string[], under = ''): string[] {
  return reasons.filter((reason) => {
    const { field } = partsOfReason(reason)
    return field === null || !judged.has(`${under}${field}`)
  })
}

export function reasonOf({ path, detail }: WrongField): string {
  return path.length === 0 ? detail : `${path.join('.')}: ${detail}`
}

/** So many that an answer stays short, and behind them how many are left out. Those are not looked at: a stranger may send many. */
export function bounded<T, U>(all: readonly T[], tell: (one: T) => U, toMore: (text: string) => U): readonly U[] {
  const more = all.length - TOLD_MOST
  return [...all.slice(0, TOLD_MOST).map(tell), ...(more > 0 ? [toMore(`and ${more} more`)] : [])]
}

interface ReasonParts {
  /** null: it is about no field alone. */
  readonly field: string | null
  readonly code: RefusalCode | FieldCode
  readonly detail: string
}

/** A reason begins with the field that is wrong, or with a code; of one instruction of many, behind its place (`instructions.1.`). */
export function partsOfReason(reason: string): ReasonParts {
  const [, name, detail] = /^([\w.-]{1,200}): (.+)$/s.exec(reason) ?? []
  if (name === undefined || detail === undefined) return { field: null, code: fieldCodeOf(reason), detail: reason }
  const last = name.lastIndexOf('.') + 1
  const code = codeOf(name.slice(last), detail)
  if (code === null) return { field: name, code: fieldCodeOf(detail), detail }
  const path = [name.slice(0, Math.max(0, last - 1)), fieldOf(code) ?? ''].filter((part) => part !== '')
  return { field: path.length === 0 ? null : path.join('.'), code, detail }
}

export function fieldCodeOf(detail: string): FieldCode {
  if (detail === MISSING) return 'missing'
  if (detail.endsWith(UNKNOWN)) return 'unknown'
  return /^and \d+ more$/.test(detail) ? 'more' : 'invalid'
}
